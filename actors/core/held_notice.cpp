// SPDX-License-Identifier: MIT
#include "actors/core/held_notice.hpp"

#include <charconv>
#include <chrono>

namespace riffle::core {

namespace {

constexpr std::string_view next_in = ", next in ";

}  // namespace

std::string held_notice(std::optional<duration> next) {
  std::string out{held_back};
  if (!next) return out;
  const auto s = std::chrono::ceil<std::chrono::seconds>(*next).count();
  return out.append(next_in).append(std::to_string(s)).append("s");
}

std::optional<held_words> read_held_notice(std::string_view status) {
  if (!status.starts_with(held_back)) return {};
  status.remove_prefix(held_back.size());
  if (status.empty()) return held_words{};
  if (!status.starts_with(next_in) || !status.ends_with('s')) return {};
  status.remove_prefix(next_in.size());
  status.remove_suffix(1);
  std::uint32_t s = 0;
  const auto* end = status.data() + status.size();
  const auto read = std::from_chars(status.data(), end, s);
  if (read.ec != std::errc{} || read.ptr != end) return {};
  return held_words{std::chrono::seconds{s}};
}

bool is_rate_refusal(std::string_view reason) {
  constexpr std::string_view status = "HTTP 429";
  return reason.starts_with(status) &&
         (reason.size() == status.size() || reason[status.size()] == ':' ||
          reason[status.size()] == ' ');
}

}  // namespace riffle::core
