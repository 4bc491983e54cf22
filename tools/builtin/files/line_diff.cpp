// SPDX-License-Identifier: MIT
#include "tools/builtin/files/line_diff.hpp"

#include <algorithm>
#include <unordered_map>

namespace riffle::tools {

namespace {

using sequence = std::vector<std::size_t>;  ///< lines as numbers

/// Equal lines get equal numbers.
class numbering {
 public:
  sequence of(const std::vector<std::string_view>& lines) {
    sequence result;
    result.reserve(lines.size());
    for (const auto line : lines)
      result.push_back(known_.try_emplace(line, known_.size()).first->second);
    return result;
  }

 private:
  std::unordered_map<std::string_view, std::size_t> known_;
};

/// The greedy algorithm between two sequences that begin and end differently.
/// Diagonal k holds x - y; `rounds_[d]` the furthest x after d edits.
class myers {
 public:
  myers(const sequence& a, const sequence& b, std::size_t most)
      : a_{a},
        b_{b},
        most_{
            static_cast<std::ptrdiff_t>(std::min(most, a.size() + b.size()))} {}

  /// False: more edits are needed than allowed.
  bool run() {
    for (std::ptrdiff_t d = 0; d <= most_; ++d) {
      auto& round = rounds_.emplace_back(static_cast<std::size_t>(2 * d + 1));
      for (auto k = -d; k <= d; k += 2) {
        auto x = begin_of(d, k);
        while (x < size(a_) && x - k < size(b_) && a_[at(x)] == b_[at(x - k)])
          ++x;
        round[at(k + d)] = x;
        if (x >= size(a_) && x - k >= size(b_)) return true;
      }
    }
    return false;
  }

  /// The changes of a successful run, last first.
  [[nodiscard]] std::vector<line_change> changes() const {
    std::vector<line_change> result;
    auto x = size(a_);
    auto y = size(b_);
    for (auto d = static_cast<std::ptrdiff_t>(rounds_.size()) - 1; d > 0; --d) {
      const bool added = comes_down(d, x - y);
      const auto k = added ? x - y + 1 : x - y - 1;
      x = furthest(d - 1, k);
      y = x - k;
      note(result, added, at(x), at(y));
    }
    return result;
  }

 private:
  static std::size_t at(std::ptrdiff_t i) {
    return static_cast<std::size_t>(i);
  }
  static std::ptrdiff_t size(const sequence& x) {
    return static_cast<std::ptrdiff_t>(x.size());
  }

  [[nodiscard]] std::ptrdiff_t furthest(std::ptrdiff_t d,
                                        std::ptrdiff_t k) const {
    return rounds_[at(d)][at(k + d)];
  }

  /// Whether the d-th edit on diagonal k adds a line (else it removes one).
  [[nodiscard]] bool comes_down(std::ptrdiff_t d, std::ptrdiff_t k) const {
    return k == -d ||
           (k != d && furthest(d - 1, k - 1) < furthest(d - 1, k + 1));
  }

  [[nodiscard]] std::ptrdiff_t begin_of(std::ptrdiff_t d,
                                        std::ptrdiff_t k) const {
    if (d == 0) return 0;
    return comes_down(d, k) ? furthest(d - 1, k + 1)
                            : furthest(d - 1, k - 1) + 1;
  }

  /// One edit at (x, y), joined with the one after it if nothing is between.
  static void note(std::vector<line_change>& to, bool added, std::size_t x,
                   std::size_t y) {
    const std::size_t old_count = added ? 0 : 1;
    const std::size_t new_count = added ? 1 : 0;
    if (!to.empty() && to.back().old_at == x + old_count &&
        to.back().new_at == y + new_count) {
      to.back().old_at = x;
      to.back().new_at = y;
      to.back().old_count += old_count;
      to.back().new_count += new_count;
      return;
    }
    to.push_back({x, old_count, y, new_count});
  }

  const sequence& a_;
  const sequence& b_;
  std::ptrdiff_t most_;
  std::vector<std::vector<std::ptrdiff_t>> rounds_;
};

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    result.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return result;
}

std::vector<line_change> diff_lines(const std::vector<std::string_view>& before,
                                    const std::vector<std::string_view>& after,
                                    std::size_t most_edits) {
  numbering numbers;
  auto a = numbers.of(before);
  auto b = numbers.of(after);
  const auto head = static_cast<std::size_t>(
      std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  const auto same = std::min(a.size(), b.size()) - head;
  std::size_t tail = 0;
  while (tail < same && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  a = {a.begin() + static_cast<std::ptrdiff_t>(head),
       a.end() - static_cast<std::ptrdiff_t>(tail)};
  b = {b.begin() + static_cast<std::ptrdiff_t>(head),
       b.end() - static_cast<std::ptrdiff_t>(tail)};
  if (a.empty() && b.empty()) return {};
  if (a.empty() || b.empty()) return {{head, a.size(), head, b.size()}};
  myers algorithm{a, b, most_edits};
  if (!algorithm.run()) return {{head, a.size(), head, b.size()}};
  auto result = algorithm.changes();
  std::reverse(result.begin(), result.end());
  for (auto& x : result) {
    x.old_at += head;
    x.new_at += head;
  }
  return result;
}

}  // namespace riffle::tools
