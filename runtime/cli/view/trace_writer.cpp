// SPDX-License-Identifier: MIT
#include "runtime/cli/view/trace_writer.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "actors/core/context_window.hpp"
#include "actors/core/held_notice.hpp"
#include "actors/core/model_refusal.hpp"
#include "actors/core/writing_notice.hpp"
#include "actors/tools/proposal_texts.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/approval_picture.hpp"
#include "runtime/cli/view/diff_lines.hpp"
#include "runtime/cli/view/json_text.hpp"
#include "runtime/cli/view/people_text.hpp"
#include "runtime/cli/view/plan_text.hpp"
#include "runtime/service/file_changes.hpp"

namespace riffle::cli {

namespace {

constexpr std::int64_t between_progress_us = 500'000;
constexpr std::size_t longest_message = 200;
constexpr std::size_t longest_detail = 1000;  ///< where all is wanted
/// Of a call whose progress is shown: its end has more of it.
constexpr std::size_t longest_name = 32;

std::string failure_text(const events::tool_result& x, bool verbose) {
  std::string message;
  if (x.err)
    message = safe_line(for_people(*x.err),
                        verbose ? longest_detail : longest_message);
  if (x.how == outcome::failed && !message.empty()) return message;
  // The model had not written all of it.
  if (x.err && x.err->code == errc::truncated) return "not finished";
  std::string out{to_string(x.how)};
  for (auto& c : out) c = c == '_' ? ' ' : c;
  if (message.empty()) return out;
  return message.starts_with(out) ? message : out + ": " + message;
}

/// Its line names the file already.
std::string without_name(std::string why, const std::string& name) {
  if (!name.empty() && why.starts_with(name + " "))
    why.erase(0, name.size() + 1);
  return why;
}

/// What goes on, as long as it does.
bool is_of_now(std::string_view status) {
  return core::is_writing_notice(status) || core::read_held_notice(status) ||
         status == core::waiting_for_model || status == "the model writes" ||
         status == "the model thinks" ||
         status.starts_with("waiting for approval of ");
}

/// A plan's trace says what came of it.
bool speaks_for_itself(const std::string& tool) {
  return tool == "manage_plan";
}

}  // namespace

std::string trace_writer::on(const event& x) {
  const bool is_error = std::holds_alternative<events::failure>(x.body);
  if (options_.level == verbosity::quiet && !is_error) return {};
  run_ = x.run.value;
  before_ = x.at < options_.since;
  waited_.on(x);
  auto before = std::exchange(wanted_, {});
  const auto* decided = std::get_if<events::approval_resolved>(&x.body);
  if (decided && asked_.contains(decided->proposal)) before.clear();
  // Who asks again says why.
  const auto* again = std::get_if<events::approval_required>(&x.body);
  if (again && again->id == outdated_) before.clear();
  outdated_ = {};
  if (!before_ && !decided) before.insert(0, still_wanted());
  // What a stop kept from its beginning nobody asks about.
  const auto* ended = std::get_if<events::tool_result>(&x.body);
  if (ended && ended->attempts == 0 && is_stopped(*ended)) before.clear();
  return before + collapsed(x, shown(x));
}

/// Of what was asked before somebody watched, and nobody has decided since.
std::string trace_writer::still_wanted() {
  std::string out;
  for (const auto& [proposal, line] : std::exchange(old_wanted_, {}))
    if (asked_.contains(proposal)) out += line;
  return out;
}

/// `lines`: of `x`.
std::string trace_writer::collapsed(const event& x, std::string lines) {
  const bool ends = std::holds_alternative<events::run_finished>(x.body);
  if (ends) return repeated() + lines;
  if (lines.empty() || verbose()) return lines;
  const auto* result = std::get_if<events::tool_result>(&x.body);
  const bool bad = result && result->how != outcome::ok;
  // How long it took is no part of what went wrong.
  const bool timed = bad && result->attempts > 0;
  std::string what;
  if (bad) what = lines;
  const auto end = lines.find('\n');
  if (const auto at = lines.rfind(" — ", end); timed && at != lines.npos)
    what.erase(at, end - at);
  if (bad && what == last_error_) {
    ++again_;
    return {};
  }
  auto before = repeated();
  last_error_ = what;
  return before + lines;
}

std::string trace_writer::repeated() {
  last_error_.clear();
  const auto n = std::exchange(again_, 0);
  if (n == 0) return {};
  return tag("TOOL", true) + "… the same " +
         (n == 1 ? "once" : std::to_string(n) + " times") + " more\n";
}

std::string trace_writer::shown(const event& x) {
  return std::visit([&](const auto& body) { return on(body, x.at); }, x.body);
}

/// `label` cut so that the whole line fits; `rest`: what else stands in it.
std::string trace_writer::cut(const std::string& label,
                              std::string_view rest) const {
  constexpr std::size_t least = 20;
  constexpr std::size_t without_terminal = 78;
  if (columns_ == 0) return fit(label, without_terminal);
  const auto other = columns_of("[TOOL] ") + columns_of(rest);
  // What is too long without it, too, is wrapped: then the label is whole.
  return fit(label,
             columns_ > other + least ? columns_ - other : without_terminal);
}

std::string trace_writer::tag(std::string_view name, bool bad) const {
  std::string text = "[" + std::string{name} + "] ";
  if (!options_.color) return text;
  text.pop_back();
  return (bad ? "\x1b[31m" : "\x1b[2m") + text + "\x1b[0m ";
}

/// What a person decided about has one name.
std::string trace_writer::spelled(std::string name) const {
  return options_.ascii ? ascii_text(name) : name;
}

/// The tool's name stands out.
std::string trace_writer::named(const std::string& label) const {
  if (!options_.color) return label;
  const auto end = std::min(label.find_first_of(":@"), label.size());
  return "\x1b[1m" + label.substr(0, end) + "\x1b[0m" + label.substr(end);
}

std::string trace_writer::bad(const std::string& text) const {
  return options_.color ? "\x1b[31m" + text + "\x1b[0m" : text;
}

std::string trace_writer::faint(const std::string& text) const {
  return options_.color ? "\x1b[2m" + text + "\x1b[0m" : text;
}

std::string trace_writer::label_of(const call_id& id) const {
  const auto found = open_.find(id);
  return found == open_.end() ? safe_line(id.value, 64) : found->second.label;
}

/// What people need of the ids is said at the end.
std::string trace_writer::on(const events::run_started& x, wall_time) {
  if (!verbose()) return {};
  return tag("RUN") + safe_line(run_, 64) + ", session " +
         safe_line(x.session.value, 128) + "\n";
}

std::string trace_writer::on(const events::step_start& x, wall_time) {
  failed_.clear();
  if (!verbose()) return {};
  return tag("STEP") + std::to_string(x.step) + " of " +
         std::to_string(x.max_steps) + "\n";
}

/// Of what was tried again it was said why.
std::string trace_writer::on(const events::step_restarted& x, wall_time) {
  if (!verbose() && !failed_.empty() && x.reason == failed_) return {};
  return tag("STEP") + std::to_string(x.step) + " starts again (attempt " +
         std::to_string(x.attempt) +
         "): " + safe_line(x.reason, longest_message) + "\n";
}

std::string trace_writer::on(const events::tool_call& x, wall_time at) {
  auto words = words_of(x);
  auto label = spelled(words.on(x.node));
  std::string out;
  // Of what did not begin its end says so, and a question has said all of it.
  const bool seen = seen_.erase(x.id) > 0;
  if (verbose() && !seen && !speaks_for_itself(x.tool))
    out =
        call_line(x.tool, x.arguments.empty() ? x.arguments_text : x.arguments);
  open_.insert_or_assign(
      x.id, open_call{std::move(words), std::move(label), at, !x.node.empty(),
                      x.title.empty() ? "Using " + x.tool : x.title, seen,
                      x.tool == "bash" && x.eff != effect::read_only &&
                          !service::only_reads(x.tool, x.arguments),
                      is_search(x.tool, x.arguments)});
  if (x.status == events::call_status::not_started) std::swap(wanted_, out);
  return out;
}

std::string trace_writer::call_line(std::string_view tool,
                                    std::string_view arguments) const {
  return tag("CALL") + safe_line(tool, 64) + " " +
         safe_line(exact_text(readable_json(arguments)), longest_detail) + "\n";
}

/// The lines of the calls that are open have told it.
bool trace_writer::is_told(std::string_view status) const {
  return std::ranges::any_of(
      open_, [&](const auto& x) { return status.starts_with(x.second.title); });
}

std::string trace_writer::on(const events::tool_progress& x, wall_time at) {
  const auto found = open_.find(x.id);
  if (found == open_.end() || !options_.progress) return {};
  auto& call = found->second;
  const bool all = verbose();
  if (!all && at.us - call.shown.us < between_progress_us) return {};
  const auto text = progress_text(x.report);
  if (text.empty()) return {};
  constexpr std::string_view place = " on node ";
  if (const auto node = text.find(place); call.moves && call.shown.us == 0 &&
                                          text.starts_with("attempt ") &&
                                          node != std::string::npos)
    call.label = spelled(call.words.on(text.substr(node + place.size())));
  call.shown = at;
  remember(call, text);
  const auto rest = " (" + text + ")";
  return tag("TOOL") + named(fit(cut(call.label, rest), longest_name)) + rest +
         "\n";
}

/// The work may have been done elsewhere than the call's event said.
void trace_writer::name_place(const events::tool_result& x) {
  const auto found = open_.find(x.id);
  const auto node = result_node(x.metadata);
  if (found == open_.end() || !found->second.moves || node.empty()) return;
  auto& call = found->second;
  call.label = spelled(call.words.on(node));
}

/// What came of a call, and what it was about as far as there is room.
std::string trace_writer::end_line(const std::string& label,
                                   const std::string& rest,
                                   const std::string& time, bool red) const {
  return tag("TOOL", red) + named(cut(label, rest + time)) +
         (red ? bad(rest) : rest) + time + "\n";
}

std::string trace_writer::on(const events::tool_result& x, wall_time) {
  const bool good = x.how == outcome::ok;
  told_ = x.err ? x.err->message : std::string{};
  name_place(x);
  const auto label = label_of(x.id);
  const bool told = denied_.erase(x.id) > 0 &&
                    (x.how == outcome::denied || x.how == outcome::cancelled);
  const auto call = open_.extract(x.id);
  const bool silent = call && good && speaks_for_itself(x.tool);
  const bool stopped = is_stopped(x);
  const bool unbegun = stopped && never_began(x);
  if (unbegun && !told && !verbose()) ++not_begun_;
  if (told || silent || (unbegun && !verbose())) return {};
  const bool exited = x.how == outcome::failed && has_exit_code(x.metadata);
  const bool nothing =
      exited && call && call.mapped().searches && found_nothing(x.metadata);
  const auto waits = open_proposal(x);
  const auto rest =
      nothing          ? " → no matches"
      : good || exited ? result_detail(x.metadata)
      : !waits.empty()
          ? " waits for approval" + (verbose() ? " (" + waits + ")" : "")
      : unbegun ? std::string{" ✗ not begun"}
      : stopped ? " ✗ stopped"
                : " ✗ " + without_name(
                              failure_text(x, verbose()),
                              call ? call.mapped().words.about : std::string{});
  // Of what was cut off nobody knows it.
  const bool untimed =
      x.attempts == 0 || unbegun || x.how == outcome::interrupted;
  const auto time =
      untimed ? std::string{}
              : (stopped ? " after " : " — ") + short_duration(x.duration_ms);
  const bool bad = !good && !nothing && waits.empty();
  const auto out = end_line(label, rest, time, bad);
  const auto about = call ? call.mapped() : open_call{};
  return out + (verbose() ? written(about, x) : last_words(about, x));
}

std::string trace_writer::withdrawn() const {
  if (!verbose()) return tag("RETRY") + "the text above counts no more\n";
  return tag("STEP") + "what the model wrote above in this step is withdrawn\n";
}

/// Whole at first, then what changed.
std::string trace_writer::on(const events::plan_updated& x, wall_time) {
  auto plan = plan_text(x.plan, plan_);
  if (!plan_.empty() && plan.all == plan_) return {};
  plan_ = std::move(plan.all);
  auto out = tag("PLAN") + plan.summary + "\n";
  const auto room = std::max<std::size_t>(columns_, 40) - trace_bar.size();
  for (const auto& step : plan.steps)
    out.append(trace_bar)
        .append(columns_ == 0 ? step : fit(step, room))
        .append("\n");
  return out;
}

std::string trace_writer::on(const events::status& x, wall_time) {
  if (x.text.starts_with(core::asked_anew))
    return tag("MODEL") +
           safe_line(x.text.substr(std::string_view{core::asked_anew}.size()),
                     longest_message) +
           "\n";
  if (x.text.starts_with(asks_again))
    return tag("APPROVAL") + safe_line(x.text, longest_message) + "\n";
  if (!verbose() && core::is_forgetting(x.text))
    return tag("MODEL") + safe_line(x.text, longest_message) + "\n";
  // A status line has the others, and they would stand within the answer.
  const bool now = is_of_now(x.text) || !open_.empty();
  if (!verbose() || (!options_.progress && now) || is_told(x.text)) return {};
  return tag("STATUS") + safe_line(x.text, longest_message) + "\n";
}

/// What a person said, in its lines.
std::string trace_writer::on(const events::user_message& x, wall_time) {
  constexpr std::size_t longest = 1000;
  constexpr std::size_t most_lines = 10;
  const std::string below(std::string_view{"[YOU] "}.size(), ' ');
  std::string out;
  std::size_t lines = 0;
  for_each_line(x.text, [&](std::string_view line) {
    if (++lines > most_lines) return;
    auto text = with_dots(safe_line(line, 2 * longest), longest);
    if (out.empty())
      out = tag("YOU");
    else if (!text.empty())
      out += below;
    out += std::move(text) + "\n";
  });
  if (lines > most_lines)
    out += below + "… " + counted(lines - most_lines, "more line") + "\n";
  return out;
}

std::string trace_writer::on(const events::retry& x, wall_time) {
  if (x.what == events::retry_what::termination)
    return tag("RETRY") + "reminder " + std::to_string(x.attempt) + " of " +
           std::to_string(x.max_attempts) + ": " +
           safe_line(x.reason, longest_message) + "\n";
  auto out = tag("RETRY") + std::string{to_string(x.what)};
  // The reason says where it was, the result where it will have been.
  const auto call = x.id ? open_.find(*x.id) : open_.end();
  if (call != open_.end()) {
    call->second.label = spelled(call->second.words.on(""));
    call->second.moves = true;
    call->second.shown = {};  // where it runs now is said next
  }
  if (x.id) out += " " + label_of(*x.id);
  const bool same = x.attempt > 1 && failed_ == x.reason;
  failed_ = x.reason;
  last_attempt_ = x.attempt + 1 == x.max_attempts
                      ? "attempt " + std::to_string(x.max_attempts) + " of " +
                            std::to_string(x.max_attempts)
                      : std::string{};
  // The line of its call stands above it.
  const bool told = x.what == events::retry_what::step && !told_.empty() &&
                    x.reason.ends_with(told_);
  return out + ": attempt " + std::to_string(x.attempt) + " of " +
         std::to_string(x.max_attempts) +
         (core::is_rate_refusal(x.reason) ? " was refused" : " failed") +
         (same   ? " the same way"
          : told ? ""
                 : ": " + safe_line(for_people(x.reason), longest_message)) +
         (before_ ? "" : "; again in " + short_duration(x.delay_ms)) + "\n";
}

}  // namespace riffle::cli
