// SPDX-License-Identifier: MIT
#include "tools/text.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <numeric>
#include <utility>

namespace riffle::tools {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool continues(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
}

std::string lower(std::string_view text) {
  std::string result{text};
  for (auto& c : result)
    c = c == '-'
            ? '_'
            : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

std::string_view cut_utf8(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text;
  auto end = limit;
  while (end > 0 && limit - end < 4 && continues(text[end])) --end;
  return text.substr(0, end);
}

std::string with_dots(std::string_view text, std::size_t limit) {
  const auto part = cut_utf8(text, limit);
  return std::string{part} + (part.size() < text.size() ? "…" : "");
}

std::string_view tail_utf8(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text;
  auto begin = text.size() - limit;
  while (begin < text.size() && continues(text[begin])) ++begin;
  return text.substr(begin);
}

std::string human_size(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  static constexpr std::array units = {"KB", "MB", "GB", "TB", "PB", "EB"};
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", value, units.at(unit));
  return text.data();
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

std::vector<std::string> close_names(
    std::string_view name, const std::vector<std::string>& candidates) {
  const auto wanted = lower(name);
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const auto& candidate : candidates) {
    const auto text = lower(candidate);
    const auto distance = edit_distance(wanted, text);
    const bool part = wanted.size() >= 3 && text.size() >= 3 &&
                      (text.starts_with(wanted) || wanted.starts_with(text));
    const auto allowed = std::max<std::size_t>(1, wanted.size() / 3);
    if (distance <= allowed || part) found.emplace_back(distance, candidate);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> result;
  for (auto& [distance, candidate] : found) {
    if (result.size() == 3) break;
    result.push_back(std::move(candidate));
  }
  return result;
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

void utf8_stream::feed(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    if (size_ == 0) {  // fast path: ASCII as it is
      const auto end = std::find_if(bytes.begin(), bytes.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x80;
      });
      const auto count = static_cast<std::size_t>(end - bytes.begin());
      out.append(bytes.substr(0, count));
      bytes.remove_prefix(count);
      if (bytes.empty()) return;
    }
    step(static_cast<unsigned char>(bytes.front()), out);
    bytes.remove_prefix(1);
  }
}

void utf8_stream::finish(std::string& out) {
  if (size_ > 0) give_up(out);
}

void utf8_stream::give_up(std::string& out) {
  size_ = 0;
  ++replaced_;
  out.append(replacement);
}

// The well-formed sequences of the Unicode standard, table 3-7.
void utf8_stream::step(unsigned char byte, std::string& out) {
  if (size_ > 0) {
    if (byte < low_ || byte > high_) {
      give_up(out);
    } else {
      held_[size_++] = static_cast<char>(byte);
      low_ = 0x80;
      high_ = 0xBF;
      if (--need_ > 0) return;
      out.append(held_.data(), size_);
      size_ = 0;
      return;
    }
  }
  if (byte < 0x80) {
    out.push_back(static_cast<char>(byte));
    return;
  }
  held_[0] = static_cast<char>(byte);
  size_ = 1;
  low_ = byte == 0xE0 ? 0xA0 : byte == 0xF0 ? 0x90 : 0x80;
  high_ = byte == 0xED ? 0x9F : byte == 0xF4 ? 0x8F : 0xBF;
  if (byte >= 0xC2 && byte <= 0xDF)
    need_ = 1;
  else if (byte >= 0xE0 && byte <= 0xEF)
    need_ = 2;
  else if (byte >= 0xF0 && byte <= 0xF4)
    need_ = 3;
  else
    give_up(out);
}

}  // namespace riffle::tools
