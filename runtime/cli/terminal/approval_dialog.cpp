// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/approval_dialog.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/core/always_scope.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/approval_picture.hpp"
#include "runtime/cli/view/call_text.hpp"
#include "runtime/cli/view/proposal_text.hpp"

namespace riffle::cli {

namespace {

using kind = approval_answer::kind;

constexpr std::size_t longest_line = 4000;
constexpr std::string_view blanks = " \t\r\n";

bool is_one_of(std::string_view x, std::string_view letter,
               std::string_view word) {
  return x == letter || x == word;
}

dialog_step shows(std::string text) { return {std::move(text), {}}; }

}  // namespace

bool is_answer_key(std::string_view x) {
  constexpr std::string_view keys = "ynaevs?";
  return x.size() == 1 && keys.find(x[0]) != keys.npos;
}

approval_dialog::approval_dialog(events::approval_required about,
                                 dialog_options options)
    : about_{std::move(about)}, options_{std::move(options)} {}

void approval_dialog::resize(std::size_t columns, std::size_t rows) {
  options_.columns = columns;
  options_.rows = rows;
}

call_edit approval_dialog::edit() const {
  return {about_.tool, edited_.value_or(about_.arguments), file_};
}

events::approval_required approval_dialog::shown() const {
  auto out = about_;
  if (!edited_) return out;
  out.arguments = *edited_;
  out.preview = preview_.value_or(edit().preview_of(*edited_));
  return out;
}

std::vector<std::string> approval_dialog::picture() const {
  return approval_picture(shown(), is_changed(),
                          {options_.columns, options_.rows, options_.color,
                           options_.ascii, false, is_others()});
}

std::string approval_dialog::left_out() const {
  return left_out_of_picture(shown(), is_changed(),
                             {options_.columns, options_.rows, false,
                              options_.ascii, false, is_others()});
}

std::string approval_dialog::what_it_does(bool whole) const {
  std::string out;
  for (const auto& row :
       approval_picture(shown(), is_changed(),
                        {options_.columns, options_.rows, options_.color,
                         options_.ascii, whole, is_others()}))
    out += row + "\n";
  return out;
}

std::string approval_dialog::scopes() const {
  std::string out = hint_ +
                    "Always, without a question, for\n"
                    "  c  calls with exactly these arguments\n";
  out += has_pattern() ? "  p  " + pattern_words() + "\n" + pattern_reach()
                       : why_no_pattern();
  return out + "  t  every call of " + safe_line(about_.tool, 64) +
         "\nin this session; a capital letter: in every session of this "
         "folder.\n'riffle proposals always' lists it and takes it back.\n"
         "Which? [c]all, " +
         (has_pattern() ? "[p]attern, " : "") + "[t]ool, [b]ack > ";
}

/// Of `bash`; empty: it has none.
std::string approval_dialog::command() const {
  if (about_.tool != "bash") return {};
  const auto x = nlohmann::json::parse(about_.arguments, nullptr, false);
  if (!x.is_object() || !x.contains("command") || !x["command"].is_string())
    return {};
  return x["command"].get<std::string>();
}

/// Of a command, whose beginning is what people look for there.
std::string approval_dialog::why_no_pattern() const {
  const auto line = command();
  if (line.empty() || edited_ || line == about_.pattern) return {};
  return "  (no pattern: " + cli::why_no_pattern(line) + ")\n";
}

std::string approval_dialog::pattern_words() const {
  return exact_name(core::words_of_pattern(about_.tool, about_.pattern), 200);
}

/// Below it, indented.
std::string approval_dialog::pattern_reach() const {
  const auto reach = core::reach_of_pattern(about_.pattern);
  if (reach.empty()) return {};
  constexpr std::string_view indent = "     ";
  std::string out;
  for (auto& row : wrapped(reach, options_.columns, indent, indent)) {
    while (row.ends_with(' ')) row.pop_back();
    out += row + "\n";
  }
  return out;
}

std::string approval_dialog::granted(always_scope scope, bool kept) const {
  return always_text(about_.tool, about_.pattern, scope, kept);
}

bool approval_dialog::leave_part() {
  const auto was = std::exchange(for_, waiting::choice);
  return was != waiting::choice;
}

std::string approval_dialog::prompt() const {
  if (for_ == waiting::reason) {
    // A step of a plan may have no model.
    const std::string told =
        options_.stops == "the plan" ? "" : "The model is told ";
    return "Why not? " + told +
           (options_.plain ? "(Enter: no reason) > "
                           : "(Enter: no reason, Tab: back)\n> ");
  }
  auto out = for_ == waiting::scope ? scopes() : choices();
  return options_.ascii ? ascii_text(out) : out;
}

/// In as few rows as there is room for, [?] behind its neighbour in each case.
std::string approval_dialog::choices() const {
  const std::string head =
      std::string{"Run it"} +
      // Its head has gone.
      (scrolled_ ? " (" + fit(call_name(about_), 40) + ")" : "") +
      (is_others()    ? " with the changed arguments"
       : is_changed() ? " with your arguments"
                      : "") +
      "?";
  const std::string first = "[y]es, [n]o, [e]dit, [a]lways, [v]iew,";
  const auto last = "[s]top" +
                    (options_.stops == "the run" ? "" : " " + options_.stops) +
                    ", [?] > ";
  if (options_.plain)
    return head + " (a letter and Enter)\n" + first + " " + last;
  const auto fits = [&](const std::string& row) {
    return columns_of(row) < options_.columns;
  };
  if (fits(head + " " + first + " " + last))
    return head + " " + first + " " + last;
  if (fits(head + " " + first)) return head + " " + first + "\n" + last;
  return head + "\n" + first + (fits(first + " " + last) ? " " : "\n") + last;
}

std::string approval_dialog::help() const {
  std::string out;
  const auto add = [&](std::string_view first, std::string_view text) {
    const std::string next(first.size(), ' ');
    for (auto& row : wrapped(text, options_.columns - 1, first, next)) {
      while (row.ends_with(' ')) row.pop_back();
      out += row + "\n";
    }
  };
  add("  y  ", "runs this call with exactly these arguments");
  add("  n  ", "does not; the model can be told why");
  add("  e  ", "lets you change it in $VISUAL or $EDITOR");
  add("  a  ",
      "runs it, and further calls like it without asking: you are asked which");
  add("  v  ", "shows what it does, all of it");
  add("  s  ", "does not run it and ends " + options_.stops);
  if (!options_.plain)
    add("  ", options_.line
                  ? "No Enter behind a letter. While something stands in the "
                    "input line, letters are that text's: Tab goes to the "
                    "question, and back. A key that is no answer goes to the "
                    "input line."
                  : "No Enter behind a letter; any other key does nothing.");
  return out;
}

dialog_step approval_dialog::decide(kind what) const {
  approval_answer out;
  out.what = what;
  if (what == kind::yes || what == kind::always) out.arguments = edited_;
  return {{}, std::move(out)};
}

/// One that means this very command says no more than the call.
bool approval_dialog::has_pattern() const {
  return !about_.pattern.empty() && !edited_ && about_.pattern != command();
}

dialog_step approval_dialog::choose_scope(std::string_view text) {
  for_ = waiting::scope;
  if (!about_.always) {
    for_ = waiting::choice;
    return shows(
        "A rule of the configuration wants each call like this one to be seen: "
        "it asks, or denies what this may be.\n");
  }
  const auto word = lower(text);
  // Of a word a capital may be a habit.
  const bool capital = text.size() == 1 && text != word;
  if (!has_pattern() && is_one_of(word, "p", "pattern")) {
    hint_ = "There is no pattern for this call: c, t or b.\n";
    return {};
  }
  auto scope = always_scope::none;
  if (is_one_of(word, "c", "call")) scope = always_scope::call;
  if (is_one_of(word, "t", "tool")) scope = always_scope::tool;
  if (is_one_of(word, "p", "pattern")) scope = always_scope::pattern;
  if (is_one_of(word, "b", "back")) for_ = waiting::choice;
  if (scope == always_scope::none) return {};
  auto out = decide(kind::always);
  out.decided->scope = scope;
  out.decided->kept = capital;
  return out;
}

dialog_step approval_dialog::choose(std::string_view word,
                                    std::string_view rest) {
  if (is_one_of(word, "n", "no")) {
    if (rest.empty()) {
      for_ = waiting::reason;
      return {};
    }
    auto out = decide(kind::no);
    out.decided->reason = rest;
    return out;
  }
  if (is_one_of(word, "a", "always")) return choose_scope(rest);
  if (!rest.empty()) return shows("Only [n]o takes words behind it.\n");
  if (is_one_of(word, "y", "yes")) return decide(kind::yes);
  if (is_one_of(word, "s", "stop")) return decide(kind::stop);
  if (is_one_of(word, "e", "edit")) return {{}, {}, true};
  if (is_one_of(word, "v", "view")) {
    auto all = what_it_does(true);
    scrolled_ =
        std::cmp_greater_equal(std::ranges::count(all, '\n'), options_.rows);
    // It stands right above.
    return shows(!options_.plain && all == what_it_does(false)
                     ? "Nothing of it is left out above.\n"
                     : std::move(all));
  }
  if (is_one_of(word, "?", "help") || word == "h") return shows(help());
  // Where lines are read an Enter alone says nothing.
  return word.empty() ? dialog_step{}
                      : shows(
                            "That is no answer: one of y, n, e, a, v, s, ? "
                            "and Enter.\n");
}

dialog_step approval_dialog::on_key(std::string_view letter) {
  hint_.clear();
  const auto known = for_ == waiting::scope ? std::string_view{"cptbCPTB?"}
                                            : std::string_view{"yYnNeEaAvVsS?"};
  if (letter.size() != 1 || known.find(letter) == known.npos)
    return {{}, {}, false, true};
  return on_line(letter);
}

dialog_step approval_dialog::on_line(std::string_view line) {
  hint_.clear();
  const auto text = trimmed(line.substr(0, longest_line));
  const auto was = std::exchange(for_, waiting::choice);
  if (was == waiting::scope) return choose_scope(text);
  if (was == waiting::reason) {
    auto out = decide(kind::no);
    out.decided->reason = text;
    return out;
  }
  const auto end = std::min(text.find_first_of(blanks), text.size());
  return choose(lower(text.substr(0, end)), trimmed(text.substr(end)));
}

void approval_dialog::set_file(std::optional<std::string> content) {
  file_ = std::move(content);
}

dialog_step approval_dialog::on_edited(std::string_view text) {
  broken_.reset();
  const auto from = opened_.value_or(edit());
  if (from.ending() == ".json" && trimmed(text).empty())
    return shows("Nothing came back; the arguments are as they were.\n");
  const auto now = from.arguments_of(text, file_);
  if (!now) {
    broken_ = {std::string{text}, from};
    return shows("This cannot be used: " + safe_line(now.error().message, 300) +
                 "\nIt is kept: 'e' opens it again.\n");
  }
  left_.reset();
  preview_.reset();
  const auto value = nlohmann::json::parse(*now, nullptr, false);
  if (nlohmann::json::parse(about_.arguments, nullptr, false) == value) {
    edited_.reset();
    return shows("The arguments are as they were.\n");
  }
  edited_ = *now;
  left_ = {std::string{text}, from};
  return shows(from.file() != file_ && from.replaces_all(*now, file_)
                   ? "The file has changed since you opened it: your text "
                     "takes the place of all of it.\n"
                   : "");
}

std::string approval_dialog::take_up(const editor_text& changes,
                                     const std::string& of) {
  // Of a file that is changed nobody knows what else has changed in it.
  if (about_.tool != "edit" && about_.arguments == of) {
    opened_ = changes.from;
    const auto step = on_edited(changes.text);
    if (edited_)
      return step.show + "What you had changed of it stands here again.\n";
    if (!broken_) return step.show;
  }
  broken_ = changes;
  return "What you had changed of it is kept: 'e' opens it again.\n";
}

/// The last text is the one that is kept, also if it never could be used.
std::string approval_dialog::drop_changes(std::string_view why) {
  edited_.reset();
  preview_.reset();
  if (!broken_) broken_ = std::move(left_);
  left_.reset();
  return refused(why) + "What you had changed is kept: 'e' opens it again.\n";
}

std::string approval_dialog::refused(std::string_view why) const {
  return "This cannot be done: " + safe_line(why, 500) + "\n";
}

/// A text that is opened once more is of what it was of before.
std::string approval_dialog::editable() {
  opened_ = broken_ ? broken_->from : edit();
  return broken_ ? broken_->text : opened_->text();
}

std::string approval_dialog::ending() const {
  return opened_ ? opened_->ending() : edit().ending();
}

std::size_t approval_dialog::first_line() const {
  return opened_ ? opened_->first_line() : edit().first_line();
}

std::string approval_dialog::told_before_edit() const {
  const bool whole =
      opened_ ? opened_->is_of_content() : edit().is_of_content();
  return about_.tool != "edit" || whole
             ? std::string{}
             : "What it replaces is not in the file as it is now, once: you "
               "edit its arguments.\n";
}

}  // namespace riffle::cli
