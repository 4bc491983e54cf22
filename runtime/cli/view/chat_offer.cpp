// SPDX-License-Identifier: MIT
#include "runtime/cli/view/chat_offer.hpp"

#include <algorithm>
#include <utility>

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/chat_line.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t most_offered = 100;

/// "[NAME]" may be left out.
bool can_stand_alone(std::string_view arguments) {
  return arguments.empty() || arguments.starts_with('[');
}

list_entry entry_of(const chat_command_help& x) {
  const auto name = "/" + std::string{x.word};
  const auto arguments = x.arguments.empty() ? "" : " ";
  return {name + arguments + std::string{x.arguments}, std::string{x.about},
          name, true, can_stand_alone(x.arguments)};
}

/// What stands behind a '/' so is read by a model, and not sent unasked.
list_entry entry_of(const named_choice& x, std::string_view before) {
  constexpr std::size_t longest_name = 200;
  constexpr std::size_t longest_about = 200;
  return {std::string{before} + safe_line(x.name, longest_name),
          safe_line(x.about, longest_about), std::string{before} + x.name,
          x.ends, before.empty()};
}

/// How a name fits: the same, begins so, has it inside.
enum class fits : std::uint8_t { same, begins, inside, not_at_all };

fits fit_of(std::string_view name, const std::string& wanted) {
  const auto x = lower(name);
  if (x == wanted) return fits::same;
  if (x.starts_with(wanted)) return fits::begins;
  return x.find(wanted) == x.npos ? fits::not_at_all : fits::inside;
}

class ranked {
 public:
  explicit ranked(std::string_view part) : wanted_{lower(part)} {}

  void add(std::string_view name, list_entry x) {
    const auto how = fit_of(name, wanted_);
    if (how == fits::not_at_all || has_control(name)) return;
    exact_ = exact_ || how == fits::same;
    (how == fits::inside ? inside_ : begin_).add(x.by);
    all_.emplace_back(how, std::move(x));
  }

  typed_offer offer(std::size_t replaces) {
    std::ranges::stable_sort(all_, {}, &one::first);
    typed_offer out{.replaces = replaces};
    for (auto& x : all_)
      if (out.entries.size() < most_offered)
        out.entries.push_back(std::move(x.second));
    out.more = all_.size() - out.entries.size();
    out.marked = !exact_;
    const auto& best = begin_.count() > 0 ? begin_ : inside_;
    out.best = best.count();
    out.common = best.common();
    return out;
  }

 private:
  using one = std::pair<fits, list_entry>;
  std::string wanted_;
  std::vector<one> all_;
  alike begin_;
  alike inside_;
  bool exact_ = false;
};

begun_word argument_before(std::string_view line) {
  const auto end = line.find(' ');
  if (end == line.npos) return {};
  const auto begin = std::min(line.find_first_not_of(' ', end), line.size());
  return {word_kind::argument, std::string{line.substr(1, end - 1)},
          std::string{line.substr(begin)}};
}

}  // namespace

begun_word word_before(std::string_view before_cursor) {
  const bool behind_slash = before_cursor.starts_with('/');
  if (behind_slash &&
      before_cursor.find_first_of(" \n/", 1) == before_cursor.npos)
    return {word_kind::command, {}, std::string{before_cursor.substr(1)}};
  if (auto path = path_before(before_cursor); path.found) {
    const bool quoted = before_cursor.ends_with("@\"" + path.path);
    return {word_kind::path, {}, std::move(path.path), quoted};
  }
  const bool one_line = before_cursor.find('\n') == before_cursor.npos;
  return behind_slash && one_line ? argument_before(before_cursor)
                                  : begun_word{};
}

bool takes_path(std::string_view command) { return command == "save"; }

bool has_control(std::string_view name) {
  return std::ranges::any_of(
      name, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

void alike::add(std::string_view x) {
  if (count_++ == 0) {
    first_ = x;
    same_ = x.size();
  }
  const auto all = std::string_view{first_}.substr(0, same_);
  same_ =
      static_cast<std::size_t>(std::ranges::mismatch(all, x).in1 - all.begin());
}

std::string alike::common() const {
  return std::string{cut_utf8(first_, same_)};
}

std::string path_in_text(const std::string& path, bool quoted, bool whole) {
  if (!quoted && path.find(' ') == path.npos) return "@" + path;
  return "@\"" + path + (whole ? "\"" : "");
}

typed_offer offer_commands(const begun_word& x,
                           std::span<const named_choice> more) {
  ranked all{x.part};
  for (const auto& one : chat_commands()) all.add(one.word, entry_of(one));
  for (const auto& one : more) {
    if (!one.ends && one.name == x.part) continue;  // it stands there
    all.add(one.name, entry_of(one, "/"));
  }
  return all.offer(x.size());
}

typed_offer offer_names(const begun_word& x, std::span<const named_choice> all,
                        bool any) {
  ranked found{x.part};
  for (const auto& one : all) found.add(one.name, entry_of(one, ""));
  auto out = found.offer(x.size());
  out.marked = out.marked && !any && !x.part.empty();
  return out;
}

}  // namespace riffle::cli
