// SPDX-License-Identifier: MIT
#include "runtime/cli/view/recap_text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"
#include "runtime/cli/markdown/markdown.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/call_text.hpp"
#include "runtime/cli/view/diff_lines.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t shown_tasks = 2;
constexpr std::size_t question_rows = 3;
constexpr std::size_t answer_rows = 12;
constexpr std::size_t declined_rows = 24;

std::string faint(const std::string& line, const recap_options& how) {
  return how.styled ? "\x1b[2m" + line + "\x1b[0m\n" : line + "\n";
}

std::vector<std::string> rows_of_text(const std::string& text) {
  std::vector<std::string> out;
  for_each_line(text, [&](std::string_view line) { out.emplace_back(line); });
  return out;
}

std::string question_text(const std::string& task, const recap_options& how) {
  const auto rows = rows_of_text(safe_text(task));
  const auto room = std::max<std::size_t>(how.columns, 10) - 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(rows.size(), question_rows); ++i)
    out += (i == 0 ? "> " : "  ") + fit(rows[i], room) + "\n";
  if (rows.size() > question_rows)
    out +=
        faint("  … " + counted(rows.size() - question_rows, "more line"), how);
  return out;
}

std::string rendered_text(const std::string& text, const recap_options& how) {
  auto shown = safe_text(text);
  if (!how.rendered) return shown;
  markdown out{how.styled};
  const auto begin = out.on(shown, how.columns);
  return begin + out.finish(how.columns);
}

/// The last rows of it, at most so many.
std::string last_rows_of(const std::string& text, std::size_t most,
                         const recap_options& how) {
  const auto rows = rows_of_text(text);
  const auto from = rows.size() - std::min(rows.size(), most);
  std::string out;
  if (from > 0) out += faint("… " + counted(from, "line") + " before", how);
  for (auto i = from; i < rows.size(); ++i) out += rows[i] + "\n";
  return out;
}

std::string answer_text(const std::string& text, const recap_options& how) {
  return last_rows_of(rendered_text(text, how), answer_rows, how);
}

/// What its step has said that did not end.
std::string cut_of(const storage::session_snapshot& x,
                   const storage::run_record& run, const recap_options& how) {
  const bool last = &run == &x.runs.back();
  return last && run.state == storage::run_state::active ? how.cut
                                                         : std::string{};
}

/// Why it has no answer, in a word; empty: it has. `failure`: why it failed.
std::string end_text(storage::run_state x, const std::string& failure,
                     const recap_options& how) {
  switch (x) {
    case storage::run_state::failed:
      return failure.empty() ? "It failed." : "It failed: " + failure;
    case storage::run_state::cancelled: return "It was stopped.";
    case storage::run_state::active:
      if (how.worked_on && !how.question.empty())
        return "It waits for a decision in another terminal: " + how.question;
      return how.worked_on ? "It works in another terminal."
                           : "It was not finished.";
    default: return {};
  }
}

/// What was said and done about it.
std::string work_text(const storage::session_snapshot& x,
                      const storage::run_record& run,
                      const recap_options& how) {
  std::string answer;
  bool called = false;  // behind it
  for (const auto& m : x.messages)
    if (m.run == run.id && m.role == storage::message_role::assistant &&
        !m.text.empty()) {
      answer = m.text;
      called = !m.calls.empty();
    }
  if (auto cut = cut_of(x, run, how); !cut.empty()) {
    answer = std::move(cut);
    called = false;
  }
  const auto calls =
      run.tool_calls == 0
          ? std::string{}
          : faint("  " + counted(run.tool_calls, "tool call"), how);
  const auto said = answer_text(answer, how);
  return called ? said + calls : calls + said;
}

/// The calls of a message, a line each.
std::string calls_text(const storage::session_snapshot& x,
                       const storage::message_record& of,
                       const recap_options& how) {
  const auto room = std::max<std::size_t>(how.columns, 10) - 1;
  std::string out;
  for (const auto& id : of.calls) {
    const auto found = std::ranges::find_if(x.calls, [&](const auto& one) {
      return one.run == of.run && one.call.id == id;
    });
    if (found != x.calls.end())
      out += faint(fit("  " + words_of(found->call).on({}), room), how);
  }
  return out;
}

std::string task_text(const storage::session_snapshot& x,
                      const storage::run_record& run,
                      const recap_options& how) {
  auto out = question_text(run.task, how);
  // Who takes the offer sees it from its beginning.
  if (how.offer_follows && run.state == storage::run_state::active) return out;
  out += work_text(x, run, how);
  const bool last = &run == &x.runs.back();
  if (const auto end =
          end_text(run.state, last ? how.failure : std::string{}, how);
      !end.empty())
    for_each_line(end, [&](std::string_view line) {
      out += faint(std::string{line}, how);
    });
  return out;
}

}  // namespace

std::string title_of(const storage::session_snapshot& x) {
  constexpr std::size_t longest = 60;
  const auto given = x.state.find("session_title");
  if (given != x.state.end()) {
    const auto text = nlohmann::json::parse(given->second, nullptr, false);
    return safe_line(text.is_string() ? text.get<std::string>() : given->second,
                     longest);
  }
  return x.runs.empty() ? std::string{}
                        : safe_line(x.runs.front().task, longest);
}

std::string recap_text(const storage::session_snapshot& x,
                       const recap_options& how) {
  const auto n = x.runs.size();
  const auto from = n - std::min(n, shown_tasks);
  auto out = faint("\"" + title_of(x) + "\"", how);
  if (from > 0) out += faint("… " + counted(from, "earlier task"), how);
  for (auto i = from; i < n; ++i)
    out += (i == from ? "" : "\n") + task_text(x, x.runs[i], how);
  return out;
}

std::string declined_text(const storage::session_snapshot& x,
                          const recap_options& how) {
  if (x.runs.empty()) return {};
  const auto& run = x.runs.back();
  std::string out;
  const auto say = [&](const std::string& text) {
    auto shown = rendered_text(text, how);
    if (!shown.empty() && !shown.ends_with('\n')) shown += '\n';
    out += shown;
  };
  for (const auto& m : x.messages) {
    if (m.run != run.id || m.role != storage::message_role::assistant) continue;
    say(m.text);
    out += calls_text(x, m, how);
  }
  say(cut_of(x, run, how));
  return last_rows_of(out, declined_rows, how);
}

std::vector<const storage::call_record*> cut_calls(
    const storage::session_snapshot& x, const run_id& run) {
  std::vector<const storage::call_record*> out;
  for (const auto& one : x.calls)
    if (one.run == run && one.stage == storage::call_stage::intent &&
        one.call.eff == effect::mutating && !one.call.idempotent)
      out.push_back(&one);
  return out;
}

std::string cut_calls_text(const std::vector<std::string>& names,
                           std::size_t columns) {
  constexpr std::size_t most = 5;
  constexpr std::size_t without_terminal = 200;
  const auto n = names.size();
  if (n == 0) return {};
  auto out = counted(n, "call") + (n == 1 ? " was" : " were") +
             " under way when Riffle ended; nobody knows how far " +
             (n == 1 ? "it" : "each") + " came:\n";
  const auto room = columns > 2 ? columns - 1 : without_terminal;
  for (std::size_t i = 0; i < std::min(n, most); ++i)
    out += fit("  " + names[i], room) + "\n";
  if (n > most) out += "  … " + std::to_string(n - most) + " more\n";
  return out;
}

}  // namespace riffle::cli
