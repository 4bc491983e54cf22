// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/approval_dialog.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/diff_lines.hpp"
#include "tools/arguments.hpp"

namespace riffle::cli {

namespace {

using kind = approval_answer::kind;

constexpr std::size_t longest_line = 4000;
constexpr std::string_view bar = "│ ";
constexpr std::string_view blanks = " \t\r\n";

bool is_one_of(std::string_view x, std::string_view letter,
               std::string_view word) {
  return x == letter || x == word;
}

std::string pretty(const std::string& arguments) {
  const auto value = nlohmann::ordered_json::parse(arguments, nullptr, false);
  return value.is_discarded() ? arguments : value.dump(2);
}

}  // namespace

approval_dialog::approval_dialog(events::approval_required about,
                                 dialog_options options)
    : about_{std::move(about)}, options_{options} {}

/// Each line behind a bar, so that no text of a model can look like a prompt.
std::string approval_dialog::what_it_does(bool whole) const {
  constexpr std::size_t other_lines = 8;
  const auto room = options_.rows > 2 * other_lines
                        ? options_.rows - other_lines
                        : other_lines;
  const auto width = options_.columns > 8 ? options_.columns - 3 : 5;
  std::string out;
  std::size_t lines = 0;
  std::size_t hidden = 0;
  const auto add = [&](std::string_view line, std::string_view paint) {
    if (!whole && lines >= room) {
      ++hidden;
      return;
    }
    const auto shown = whole ? std::string{line} : fit(line, width);
    if (shown.size() != line.size()) ++hidden;
    ++lines;
    out.append(bar).append(paint).append(shown);
    out.append(paint.empty() ? "" : "\x1b[0m").append("\n");
  };
  const auto text = edited_.value_or(about_.arguments);
  for_each_line(safe_text(whole || edited_ ? pretty(text) : text),
                [&](std::string_view line) { add(line, ""); });
  // A preview shows what the arguments of the model would do.
  if (!edited_)
    for_each_line(safe_text(about_.preview), [&](std::string_view line) {
      add(line, options_.color ? paint_of(line) : "");
    });
  if (hidden > 0) out += "  (not all is shown: view shows the rest)\n";
  return out;
}

std::string approval_dialog::begin() const {
  std::string out =
      options_.color ? "\x1b[1m[APPROVAL]\x1b[0m " : "[APPROVAL] ";
  out += safe_line(about_.tool, 64) + ": " + safe_line(about_.title, 200) +
         " — " + safe_line(about_.reason, 200) + "\n";
  return out + what_it_does(false) + prompt();
}

std::string approval_dialog::prompt() const {
  if (for_ == waiting::reason)
    return "Why not? The model is told (Enter: no reason) > ";
  if (for_ == waiting::scope) {
    auto out = std::string{
        "Always, in this session and folder, for\n"
        "  c  calls with exactly these arguments\n"};
    if (has_pattern())
      out += "  p  calls that match " + safe_line(about_.pattern, 200) + "\n";
    return out + "  t  every call of " + safe_line(about_.tool, 64) +
           "\nWhich? [c]all, " + (has_pattern() ? "[p]attern, " : "") +
           "[t]ool, [b]ack > ";
  }
  const std::string changed = edited_ ? " with your arguments" : "";
  return "Run it" + changed +
         "? [y]es, [n]o, [e]dit, [a]lways, [v]iew, [s]top" +
         (options_.stops == "the run" ? "" : " " + options_.stops) + ", [?] > ";
}

std::string approval_dialog::last_line() const {
  const auto all = prompt();
  const auto before = all.rfind('\n');
  return before == all.npos ? all : all.substr(before + 1);
}

std::string approval_dialog::help() const {
  return std::string{} +
         "  y  runs this call with exactly these arguments\n"
         "  n  does not; 'n REASON' tells the model why\n"
         "  e  lets you change the arguments ($VISUAL or $EDITOR)\n"
         "  a  runs it, and further calls like it without asking: you are "
         "asked which\n"
         "  v  shows the arguments and what they do, all of it\n"
         "  s  does not run it and ends " +
         options_.stops + "\n";
}

dialog_step approval_dialog::decide(kind what) const {
  approval_answer out;
  out.what = what;
  if (what == kind::yes || what == kind::always) out.arguments = edited_;
  return {{}, std::move(out), false};
}

bool approval_dialog::has_pattern() const {
  return !about_.pattern.empty() && !edited_;
}

dialog_step approval_dialog::choose_scope(std::string_view word) {
  for_ = waiting::scope;
  if (!about_.always) {
    for_ = waiting::choice;
    return {"A rule of the configuration asks for each call like this one.\n" +
                prompt(),
            {},
            false};
  }
  auto scope = always_scope::none;
  if (is_one_of(word, "c", "call")) scope = always_scope::call;
  if (is_one_of(word, "t", "tool")) scope = always_scope::tool;
  if (has_pattern() && is_one_of(word, "p", "pattern"))
    scope = always_scope::pattern;
  if (is_one_of(word, "b", "back")) for_ = waiting::choice;
  if (scope == always_scope::none) return {prompt(), {}, false};
  auto out = decide(kind::always);
  out.decided->scope = scope;
  return out;
}

dialog_step approval_dialog::choose(std::string_view word,
                                    std::string_view rest) {
  if (is_one_of(word, "n", "no")) {
    if (rest.empty()) {
      for_ = waiting::reason;
      return {prompt(), {}, false};
    }
    auto out = decide(kind::no);
    out.decided->reason = rest;
    return out;
  }
  if (is_one_of(word, "a", "always")) return choose_scope(lower(rest));
  if (!rest.empty())
    return {"Only [n]o takes words behind it.\n" + prompt(), {}, false};
  if (is_one_of(word, "y", "yes")) return decide(kind::yes);
  if (is_one_of(word, "s", "stop")) return decide(kind::stop);
  if (is_one_of(word, "e", "edit")) return {{}, {}, true};
  if (is_one_of(word, "v", "view"))
    return {what_it_does(true) + prompt(), {}, false};
  if (is_one_of(word, "?", "help") || word == "h")
    return {help() + prompt(), {}, false};
  return {prompt(), {}, false};
}

dialog_step approval_dialog::on_line(std::string_view line) {
  const auto text = trimmed(line.substr(0, longest_line));
  const auto was = std::exchange(for_, waiting::choice);
  if (was == waiting::scope) return choose_scope(lower(text));
  if (was == waiting::reason) {
    auto out = decide(kind::no);
    out.decided->reason = text;
    return out;
  }
  const auto end = std::min(text.find_first_of(blanks), text.size());
  return choose(lower(text.substr(0, end)), trimmed(text.substr(end)));
}

dialog_step approval_dialog::on_edited(std::string_view text) {
  if (trimmed(text).empty())
    return {"Nothing came back; the arguments are as they were.\n" + prompt(),
            {},
            false};
  const auto value = tools::parse_object(text);
  if (!value)
    return {"These arguments cannot be used: " + safe_line(value.error(), 300) +
                "\n" + prompt(),
            {},
            false};
  auto compact = value->dump();
  const auto before = nlohmann::json::parse(about_.arguments, nullptr, false);
  if (before == *value) {
    edited_.reset();
    return {"The arguments are as they were.\n" + prompt(), {}, false};
  }
  edited_ = std::move(compact);
  return {what_it_does(false) + prompt(), {}, false};
}

std::string approval_dialog::refused(std::string_view why) const {
  return "This cannot be done: " + safe_line(why, 500) + "\n" + prompt();
}

std::string approval_dialog::editable() const {
  return pretty(edited_.value_or(about_.arguments)) + "\n";
}

}  // namespace riffle::cli
