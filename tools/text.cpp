// SPDX-License-Identifier: MIT
#include "tools/text.hpp"

#include <algorithm>
#include <utility>

namespace riffle::tools {

namespace {

/// As names are compared.
std::string plain(std::string_view name) {
  auto out = lower(name);
  std::ranges::replace(out, '-', '_');
  return out;
}

}  // namespace

std::vector<std::string> close_names(
    std::string_view name, const std::vector<std::string>& candidates) {
  const auto wanted = plain(name);
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const auto& candidate : candidates) {
    const auto text = plain(candidate);
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
  out.append(replacement_character);
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
