// SPDX-License-Identifier: MIT
#include "runtime/base/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#include "messages/utf8.hpp"

namespace riffle {

namespace {

template <class... T>
std::string format(const char* pattern, T... x) {
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), pattern, x...);
  return out.data();
}

/// In the largest of `units` of which there is at least one; each is `step` of
/// the one before. `brief`: no decimals from 10 on.
std::string in_units(double x, double step, bool brief,
                     const std::array<const char*, 6>& units) {
  const auto top = step - (brief ? 0.5 : 0.05);
  x /= step;
  std::size_t unit = 0;
  while (x >= top && unit + 1 < units.size()) {
    x /= step;
    ++unit;
  }
  return format("%.*f%s", brief && x >= 9.95 ? 0 : 1, x, units.at(unit));
}

std::string bytes_text(std::uint64_t bytes, bool brief) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  return in_units(static_cast<double>(bytes), 1024, brief,
                  {" KB", " MB", " GB", " TB", " PB", " EB"});
}

}  // namespace

std::string_view trimmed(std::string_view text,
                         std::string_view blanks) noexcept {
  const auto first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string lower(std::string_view text) {
  std::string out{text};
  for (auto& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string with_dots(std::string_view text, std::size_t limit) {
  const auto part = cut_utf8(text, limit);
  return std::string{part} + (part.size() < text.size() ? "…" : "");
}

std::string size_text(std::uint64_t bytes) { return bytes_text(bytes, false); }

std::string short_size(std::uint64_t bytes) { return bytes_text(bytes, true); }

std::string counted(std::uint64_t n, std::string_view what) {
  return std::to_string(n).append(" ").append(what).append(n == 1 ? "" : "s");
}

std::string short_count(std::uint64_t n) {
  if (n < 1000) return std::to_string(n);
  return in_units(static_cast<double>(n), 1000, true,
                  {"k", "M", "G", "T", "P", "E"});
}

std::string short_duration(std::uint64_t ms) {
  const auto two = [](const char* pattern, std::uint64_t x,
                      std::uint64_t unit) {
    return format(pattern, static_cast<unsigned long long>(x / unit),
                  static_cast<unsigned long long>(x % unit));
  };
  const auto tenths = (ms + 50) / 100;
  if (tenths < 600) return two("%llu.%llus", tenths, 10);
  const auto seconds = (ms + 500) / 1000;
  if (seconds < 3600) return two("%llum %02llus", seconds, 60);
  return two("%lluh %02llum", seconds / 60, 60);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, 128);
  b = b.substr(0, 128);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string nearest(std::string_view word,
                    const std::vector<std::string>& among) {
  constexpr std::size_t longest_name = 100;
  if (word.size() > longest_name) return {};
  auto limit = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::string best;
  for (const auto& x : among) {
    const auto d = edit_distance(word, x);
    if (d < limit && d < x.size()) {
      limit = d;
      best = x;
    }
  }
  return best;
}

std::string join_some(const std::vector<std::string>& names,
                      std::size_t limit) {
  std::string result;
  const auto shown = std::min(limit, names.size());
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) result += ", ";
    result += names[i];
  }
  if (names.size() > shown)
    result += " and " + std::to_string(names.size() - shown) + " more";
  return result;
}

}  // namespace riffle
