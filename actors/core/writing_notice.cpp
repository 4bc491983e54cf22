// SPDX-License-Identifier: MIT
#include "actors/core/writing_notice.hpp"

#include <algorithm>
#include <string_view>

#include "runtime/base/text.hpp"

namespace riffle::core {

namespace {

constexpr std::uint64_t least_bytes = 400;     // that are worth a number
constexpr std::uint64_t bytes_of_a_token = 4;  // about, of English text
constexpr std::size_t longest_head = 512;
constexpr std::size_t longest_path = 60;

constexpr std::string_view writing = "writing ";
constexpr std::string_view so_far = " …";

/// The text behind `"path":` in the beginning of an object, if it is whole and
/// has nothing that is escaped.
std::string_view path_in(std::string_view head) {
  constexpr std::string_view key = "\"path\"";
  constexpr auto blank = " \t\r\n";
  const auto begin = head.find_first_not_of(blank);
  if (begin == std::string_view::npos || head[begin] != '{') return {};
  const auto first = head.find_first_not_of(blank, begin + 1);
  if (first == std::string_view::npos) return {};
  head.remove_prefix(first);
  if (!head.starts_with(key)) return {};
  const auto open = head.find_first_not_of(" \t\r\n:", key.size());
  if (open == std::string_view::npos || head[open] != '"') return {};
  const auto close = head.find_first_of("\"\\", open + 1);
  if (close == std::string_view::npos || head[close] != '"') return {};
  return head.substr(open + 1, close - open - 1);
}

}  // namespace

bool is_writing_notice(std::string_view status) {
  return status.starts_with(writing) &&
         status.find(so_far) != std::string_view::npos;
}

std::string_view begun_file(std::string_view tool, std::string_view arguments) {
  const bool makes_file = tool == "write" || tool == "edit";
  return makes_file ? path_in(arguments) : std::string_view{};
}

void writing_notice::on(const call_fragment& x) {
  const bool begins =
      !x.name.empty() || (x.index.has_value() && *x.index != index_);
  if (begins) {
    name_ = x.name;
    head_.clear();
    bytes_ = 0;
    told_.clear();
    last_.reset();
  }
  is_whole_ = x.closes || x.arguments_whole;
  if (x.index) index_ = *x.index;
  bytes_ += x.arguments.size();
  if (head_.size() < longest_head)
    head_ += x.arguments.substr(0, longest_head - head_.size());
}

/// The file, where the call is about one and says so first.
std::string writing_notice::what() const {
  const auto path = begun_file(name_, head_);
  return path.empty() ? "a call of " + name_ : with_dots(path, longest_path);
}

/// What it is as soon as that is known, then how far it is.
std::optional<std::string> writing_notice::take(time_point now) {
  if (name_.empty() || is_whole_) return std::nullopt;
  auto text = std::string{writing} + what() + std::string{so_far};
  const bool fresh = text != told_;
  if (!fresh && (now - *last_ < between || bytes_ < least_bytes))
    return std::nullopt;
  told_ = text;
  last_ = now;
  if (bytes_ < least_bytes) return text;
  return text + " " + short_count(bytes_ / bytes_of_a_token) + " tokens";
}

}  // namespace riffle::core
