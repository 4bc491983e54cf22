// SPDX-License-Identifier: MIT
#include "runtime/config/near.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace riffle::config {

namespace {

/// Levenshtein distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto above = row[j];
      const auto change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above + 1, row[j - 1] + 1, change});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word,
                    const std::vector<std::string>& among) {
  constexpr std::size_t longest_name = 100;
  if (word.size() > longest_name) return {};
  auto limit = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::string best;
  for (const auto& x : among) {
    const auto d = distance(word, x);
    if (d < limit && d < x.size()) {
      limit = d;
      best = x;
    }
  }
  return best;
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& x : words) {
    if (!out.empty()) out += ", ";
    out += x;
  }
  return out;
}

}  // namespace riffle::config
