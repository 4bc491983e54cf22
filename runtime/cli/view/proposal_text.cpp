// SPDX-License-Identifier: MIT
#include "runtime/cli/view/proposal_text.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/core/always_scope.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/call_text.hpp"
#include "runtime/cli/view/changed_words.hpp"
#include "runtime/cli/view/diff_lines.hpp"
#include "runtime/cli/view/json_text.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/service/views.hpp"
#include "runtime/storage/for_later.hpp"
#include "tools/subject_text.hpp"

namespace riffle::cli {

namespace {

bool is_call(const storage::proposal_state& x) {
  return x.what.source == events::proposal_source::tool_call;
}

/// It does not run yet: "rm a" of "Running: rm a".
std::string_view plain_title(const storage::proposal_record& x) {
  std::string_view title = x.title;
  for (const auto& [tool, words] : {std::pair{"bash", "Running: "},
                                    {"write", "Writing "},
                                    {"edit", "Editing "}})
    if (x.tool == tool && title.starts_with(words))
      title.remove_prefix(std::string_view{words}.size());
  return title;
}

std::string about(const storage::proposal_record& x, std::size_t most) {
  const bool call = x.source == events::proposal_source::tool_call;
  const auto title = plain_title(x);
  const bool named = x.tool == "write" || x.tool == "edit";
  const auto text = !call   ? exact_line(x.summary, most)
                    : named ? exact_name(title, most)
                            : exact_line(title, most);
  return call ? safe_line(x.tool, 64) + ": " + text : text;
}

void append_lines(std::string& out, std::string_view text,
                  std::size_t columns) {
  for_each_line(exact_text(text), [&](std::string_view line) {
    for (const auto& row : exact_rows(line, columns, "│ "))
      out.append(row).append("\n");
  });
}

/// Of a command of several lines the first one alone would say too little.
std::string more_lines(const std::string& arguments) {
  const auto x = nlohmann::json::parse(arguments, nullptr, false);
  const auto text = tools::any_subject_text(x);
  const auto n = std::ranges::count(trimmed(text), '\n');
  if (n == 0) return {};
  return " (" + counted(static_cast<std::uint64_t>(n), "more line") + ")";
}

/// What it is about; of arguments that say little, all of them.
std::string this_call(const storage::grant_record& x) {
  events::approval_required call;
  call.tool = x.tool;
  call.arguments = x.what;
  const auto name = call_name(call);
  const bool says_more =
      name.starts_with(x.tool + " ") && name.size() > x.tool.size() + 1;
  return says_more ? name.substr(x.tool.size() + 1) + more_lines(x.what)
                   : exact_line(x.what, 200);
}

void append_member(std::string& out, std::string_view name,
                   const std::string& value) {
  if (!value.empty()) out.append(name).append(value).append("\n");
}

std::string short_name(const proposal_id& x) {
  return safe_line(short_id(x.value), 64);
}

}  // namespace

std::string summary_text(const service::proposal_view& view, wall_time now,
                         const std::string& first) {
  const auto& x = view.it;
  auto state = service::status_of(view, now);
  state.resize(std::max<std::size_t>(state.size(), 9), ' ');
  return short_name(x.what.id) + "  " + state + "  " + about(x.what, 100) +
         "  (" + ago(x.what.made, now) + ", session " +
         safe_line(short_id(x.what.session.value), 64) +
         (x.what.folder.empty() ? ""
                                : ", in " + exact_name(x.what.folder, 200)) +
         ")\n" +
         (storage::awaits_execution(x)
              ? "  not executed yet: " +
                    (first.empty() ? std::string{} : first + ", then ") +
                    "riffle proposals approve " +
                    safe_line(x.what.id.value, 64) + "\n"
              : "");
}

std::string whole_text(const service::proposal_view& view, wall_time now,
                       std::size_t columns) {
  const auto& x = view.it;
  const auto& by = view.replaced_by;
  std::string out = safe_line(x.what.id.value, 64) + "  " +
                    service::status_of(view, now) + "  " + about(x.what, 500) +
                    "\n";
  if (is_call(x)) append_lines(out, readable_json(x.what.arguments), columns);
  append_member(out, "line ends: ", changed_line_ends(x.what.preview));
  append_lines(out,
               is_call(x) ? with_line_ends(x.what.preview) : x.what.summary,
               columns);
  append_member(out, "reason:   ", safe_line(x.what.reason, 500));
  append_member(out, "session:  ", safe_line(x.what.session.value, 128));
  append_member(out, "folder:   ", exact_name(x.what.folder, 500));
  const auto reach = std::string{core::reach_of_pattern(x.what.pattern)};
  const auto covers =
      exact_name(core::words_of_pattern(x.what.tool, x.what.pattern), 200) +
      (reach.empty() ? reach : "; " + reach);
  if (x.what.can_always)
    append_member(out, "always:   ",
                  "call" +
                      (x.what.pattern.empty()
                           ? std::string{}
                           : ", pattern " + exact_name(x.what.pattern, 200) +
                                 " (" + covers + ")") +
                      ", tool");
  append_member(out, "replaces: ", safe_line(x.what.replaces.value, 64));
  append_member(out, "now:      ", safe_line(by.value, 64));
  append_member(out, "made:     ", to_string(x.what.made));
  if (x.what.expires)
    append_member(out, "expires:  ", to_string(*x.what.expires));
  if (!x.decided) return out;
  auto decided = std::string{to_string(x.decided->how)} + " by " +
                 safe_line(x.decided->by, 64) + " at " +
                 to_string(x.decided->at);
  if (!x.decided->reason.empty())
    decided += ": " + safe_line(x.decided->reason, 500);
  append_member(out, "decision: ", decided);
  if (!x.decided->arguments.empty()) {
    out += "with these arguments instead:\n";
    append_lines(out, readable_json(x.decided->arguments), columns);
  }
  if (by.empty())
    append_member(out, "done by:  ", safe_line(x.executed_by.value, 64));
  return out;
}

std::string covered_text(const storage::grant_record& x) {
  std::string covers;
  switch (x.scope) {
    case always_scope::tool: covers = "every call"; break;
    case always_scope::pattern:
      covers = exact_name(core::words_of_pattern(x.tool, x.what), 200);
      break;
    default: covers = "this very call, " + this_call(x); break;
  }
  return safe_line(x.tool, 64) + ": " + covers;
}

std::string always_text(const std::string& tool, const std::string& pattern,
                        always_scope scope, bool kept) {
  const auto what = scope == always_scope::call ? "this very call"
                    : scope == always_scope::pattern
                        ? exact_name(core::words_of_pattern(tool, pattern), 200)
                        : "every call of " + safe_line(tool, 64);
  return "From now on without a question: " + what +
         (kept ? ", in every session of this folder" : ", in this session");
}

std::string always_text(const storage::proposal_state& x) {
  if (!x.decided || !storage::grant_of(x.what, *x.decided)) return {};
  return always_text(x.what.tool, x.what.pattern, x.decided->always,
                     x.decided->kept);
}

namespace {

std::string first_word(std::string_view command) {
  return safe_line(command.substr(0, command.find(' ')), 40);
}

}  // namespace

std::string why_no_pattern(std::string_view command) {
  using core::no_pattern;
  const auto x =
      core::offer_always({.text = std::string{command}, .shell = true});
  const auto first = first_word(x.command);
  switch (x.why) {
    case no_pattern::follows:
      return "what follows " + first + " can mean anything";
    case no_pattern::quoted:
      return "what stands in quotes behind " + first + " can mean anything";
    case no_pattern::alone: return first + " has one alone, not beside others";
    case no_pattern::piped: return first + " reads what comes from anywhere";
    case no_pattern::moved: return first + " is about another folder there";
    case no_pattern::too_long: return "it would be too long to read";
    case no_pattern::not_plain: return "there is more than plain words in it";
    // It would be bound to what a file holds, which could not be read.
    case no_pattern::none:
    case no_pattern::not_known: break;
  }
  return "nobody knows what it runs";
}

std::string decided_text(const storage::proposal_record& x) {
  return about(x, 100) + " (" + short_name(x.id) + ")";
}

std::string grant_text(const storage::grant_record& x, wall_time now) {
  return short_name(x.proposal) + "  " + covered_text(x) + "  (by " +
         safe_line(x.by, 64) + ", " + ago(x.at, now) +
         (x.session.value.empty()
              ? ", every session"
              : ", session " + safe_line(short_id(x.session.value), 64)) +
         ", in " + exact_name(x.folder, 200) + ")\n";
}

}  // namespace riffle::cli
