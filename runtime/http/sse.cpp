// SPDX-License-Identifier: MIT
#include "runtime/http/sse.hpp"

#include <charconv>

namespace riffle::http {

namespace {

constexpr std::size_t longest_number = 15;

/// Takes a number off the front; leading zeros are not ours.
std::optional<std::uint64_t> take_number(std::string_view& text) noexcept {
  const auto end = text.find_first_not_of("0123456789");
  const auto digits = text.substr(0, end);
  if (digits.empty() || digits.size() > longest_number ||
      (digits.size() > 1 && digits.front() == '0'))
    return {};
  std::uint64_t x = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), x);
  text.remove_prefix(digits.size());
  return x;
}

bool take(std::string_view& text, char c) noexcept {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string_view event_type_of(std::string_view line) noexcept {
  // The members stand in the contract's order, and an id holds no quote.
  constexpr std::string_view key = "\"event_type\":\"";
  const auto at = line.find(key);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + key.size());
  return line.substr(0, line.find('"'));
}

std::string_view sse_type_of(std::string_view event_type) noexcept {
  return event_type == "error" ? "run_error" : event_type;
}

std::string to_sse(std::string_view lines, std::uint64_t first_seq,
                   std::string_view id_prefix) {
  std::string out;
  out.reserve(lines.size() + lines.size() / 2);
  for (auto seq = first_seq; !lines.empty(); ++seq) {
    const auto end = lines.find('\n');
    const auto line = lines.substr(0, end);
    out.append("id: ").append(id_prefix).append(std::to_string(seq));
    out.append("\nevent: ").append(sse_type_of(event_type_of(line)));
    out.append("\ndata: ").append(line).append("\n\n");
    if (end == std::string_view::npos) break;
    lines.remove_prefix(end + 1);
  }
  return out;
}

std::string sse_opening(std::uint64_t retry_ms, const std::string& id) {
  return "retry: " + std::to_string(retry_ms) +
         (id.empty() ? id : "\nid: " + id) + "\n\n";
}

std::string start_of_commit(std::uint64_t commit) {
  return std::to_string(commit) + ".0-0";
}

std::optional<std::uint64_t> parse_seq(std::string_view text) noexcept {
  const auto x = take_number(text);
  return text.empty() ? x : std::nullopt;
}

std::optional<session_place> parse_session_place(
    std::string_view text) noexcept {
  const auto ordinal = take_number(text);
  if (!ordinal || *ordinal == 0 || !take(text, '-')) return {};
  const auto seq = take_number(text);
  if (!seq || !text.empty()) return {};
  return session_place{*ordinal, *seq};
}

std::string feed_prefix(const storage::feed_place& x) {
  return std::to_string(x.commit) + "." + std::to_string(x.run) + "-";
}

std::optional<storage::feed_place> parse_feed_place(
    std::string_view text) noexcept {
  const auto commit = take_number(text);
  if (!commit || !take(text, '.')) return {};
  const auto run = take_number(text);
  if (!run || !take(text, '-')) return {};
  const auto seq = take_number(text);
  if (!seq || !text.empty()) return {};
  return storage::feed_place{*commit, *run, *seq};
}

}  // namespace riffle::http
