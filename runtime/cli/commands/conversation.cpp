// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/conversation.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>
#include <variant>

#include "messages/event_line.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/cli.hpp"
#include "runtime/cli/commands/init.hpp"
#include "runtime/cli/commands/proposal_folder.hpp"
#include "runtime/cli/commands/requests.hpp"
#include "runtime/cli/commands/room.hpp"
#include "runtime/cli/commands/unfinished.hpp"
#include "runtime/cli/commands/waiting_run.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/waiting_log.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/diff_lines.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/people_text.hpp"
#include "runtime/cli/view/run_output.hpp"
#include "runtime/cli/view/run_report.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/service/match_id.hpp"
#include "runtime/service/model_links.hpp"
#include "runtime/service/run_folder.hpp"

namespace riffle::cli {

conversation::conversation(run_command options, named_use named,
                           config::config settings, chat_prompt& prompt,
                           console& io)
    : options_{std::move(options)},
      named_{std::move(named)},
      settings_{std::move(settings)},
      prompt_{prompt},
      io_{io},
      color_{use_color(options_.common, io.err)} {
  if (options_.session) session_ = session_id{*options_.session};
  show_approval();
}

void conversation::note(std::string_view text) {
  const std::string safe = safe_text(text);
  const auto line = color_ ? "\x1b[2m" + safe + "\x1b[0m\n" : safe + "\n";
  write(wrap_lines(line, io_.err.columns()));
}

void conversation::write(const std::string& lines) {
  if (shown_ != nullptr)
    *shown_ += lines;
  else
    io_.err.write(lines);
}

void conversation::complain(const error& x) { report(x, io_); }

std::optional<int> conversation::open(interrupts& signals) {
  room_wait room{{}, signals, io_};
  auto rt = with_room(
      room, [&] { return runtime::create(settings_, {.owns_process = true}); });
  if (room.status()) return room.status();
  if (!rt) return report(rt.error(), io_);
  rt_.emplace(std::move(*rt));
  return std::nullopt;
}

std::optional<int> conversation::begin(interrupts& signals) {
  if (const auto status = open(signals)) return status;
  const auto whole = snapshot();
  note("riffle " + std::string{version} + ", model " +
       named_model(model_name()) + told_agent() +
       (whole ? ", session " + short_id(session_->value) + ", " +
                    counted(whole->runs.size(), "run") + " so far"
              : "") +
       ". /help shows what can be typed.");
  if (const auto hint = init_hint(settings_);
      !whole && !options_.choices.model && !hint.empty())
    note(hint);
  tell_unusable();
  tell_refused();
  return std::nullopt;
}

/// Before a task is written that no model would get.
void conversation::tell_unusable() {
  const auto model = settings_.models.find(model_name());
  if (model == settings_.models.end()) return;
  const auto ok = service::check_model(model->first, model->second);
  if (ok) return;
  not_started(ok.error(), settings_, io_);
  note("Until then no task can be sent; /model chooses another model.");
}

std::string conversation::agent_name() const {
  return options_.agent.value_or(run_request{}.agent);
}

std::string conversation::told_agent() const {
  const auto name = agent_name();
  return name == run_request{}.agent ? std::string{} : ", agent " + name;
}

std::string conversation::model_name() const {
  const auto agent = settings_.agents.find(agent_name());
  return options_.choices.model.value_or(
      agent == settings_.agents.end() ? std::string{} : agent->second.model);
}

/// "default (qwen3)"; of PROVIDER/MODEL the name says it.
std::string conversation::named_model(const std::string& name) const {
  const auto known = settings_.models.find(name);
  return known == settings_.models.end() || name.ends_with(known->second.model)
             ? name
             : name + " (" + known->second.model + ")";
}

namespace {

/// What works elsewhere has not been answered.
std::uint64_t ended_of(const session_snapshot& x) {
  const bool works =
      !x.runs.empty() && x.runs.back().state == storage::run_state::active;
  return x.runs.size() - (works ? 1 : 0);
}

/// What a run has logged behind `after`, as far as it can be read soon.
void read_log(runtime& rt, const run_id& x, std::uint64_t after,
              const std::function<void(const event&)>& on) {
  constexpr auto longest = std::chrono::seconds{2};
  auto log = rt.events(x, after);
  if (!log) return;
  const auto until = std::chrono::steady_clock::now() + longest;
  while (!log->ended() && std::chrono::steady_clock::now() < until) {
    const auto batch = log->next(longest);
    if (!batch) break;
    for_each_line(batch->lines(), [&](std::string_view line) {
      if (const auto e = parse_line(line)) on(*e);
    });
  }
}

/// What the step of a run has said in which its process was killed; a plan's
/// step is a run of its own.
std::string cut_words(runtime& rt, const storage::run_record& x) {
  const bool plan = x.id.value.starts_with("plan_");
  if (plan || x.state != storage::run_state::active || x.step == 0 ||
      x.turn_committed)
    return {};
  std::string out;
  read_log(rt, x.id, x.attempt_seq, [&](const event& e) {
    if (const auto* said = std::get_if<events::llm_token>(&e.body))
      out += said->content;
    else if (std::holds_alternative<events::step_restarted>(e.body))
      out.clear();
  });
  return out;
}

}  // namespace

void conversation::know_all() {
  const auto whole = snapshot();
  seen_ = whole ? ended_of(*whole) : 0;
}

/// What was said last, for who goes on.
bool conversation::show_recap(bool offer_follows) {
  know_all();
  const auto whole = snapshot();
  if (!whole || whole->runs.empty()) return false;
  auto how = recap_how();
  how.offer_follows = offer_follows;
  const auto open = rt_->unfinished();
  how.worked_on =
      open && std::ranges::any_of(*open, [&](const unfinished_run& x) {
        return x.run.session == *session_ &&
               x.owner != storage::run_owner::gone;
      });
  if (how.worked_on) how.question = question_elsewhere(*rt_, *session_);
  if (whole->runs.back().state == storage::run_state::failed)
    how.failure = why_failed(whole->runs.back().id);
  if (!offer_follows && !how.worked_on)
    how.cut = cut_words(*rt_, whole->runs.back());
  io_.err.write(recap_text(*whole, how));
  return true;
}

/// Its log alone says it; empty: that cannot be read, or not soon.
std::string conversation::why_failed(const run_id& x) {
  constexpr std::size_t most = 300;
  run_report report;
  read_log(*rt_, x, 0, [&](const event& e) { report.on(e); });
  const auto why = report.failure();
  return why ? error_text(*why, most) : std::string{};
}

recap_options conversation::recap_how() const {
  const auto view = view_of(options_.common, options_.show, io_.out, io_.err);
  return {.columns = std::max<std::size_t>(io_.err.columns(), 20),
          .rendered = view.rendered,
          .styled = view.styled};
}

bool conversation::is_offered() {
  const auto open = rt_->unfinished();
  return session_ && open && speaks_of(*open, *session_, options_.common.level);
}

/// A run of the session that cannot go on here, and what to do; false: there is
/// none. Commands are lines of their own, and whole.
bool conversation::tell_left_elsewhere() {
  const auto open = rt_->unfinished();
  if (!session_ || !open) return false;
  const auto left = std::ranges::find_if(*open, [&](const unfinished_run& x) {
    return x.run.session == *session_ && x.owner == storage::run_owner::gone;
  });
  if (left == open->end()) return false;
  const auto folder = folder_of(left->run);
  const auto where = service::find_folder(folder);
  if (where == service::folder_state::here) return false;
  const auto& id = session_->value;
  const auto ends = "  riffle sessions forget " + id + "\n";
  if (where == service::folder_state::gone) {
    note(
        "Its last run was not finished, and its folder is gone. This ends it:");
    write(ends);
  } else {
    note(
        "Its last run was not finished, and goes on only where it worked. Go "
        "there, or end it as it is:");
    write("  " + go_there(folder) + "riffle sessions resume " + id + "\n" +
          ends);
  }
  return true;
}

/// What an interrupted run has said stands there once: as it goes on, or where
/// it does not.
bool conversation::catch_up(interrupts& signals) {
  const bool offered = is_offered();
  if (show_recap(offered)) io_.err.write("\n");
  const bool worked = finish_left(signals);
  if (!offered || worked || signals.asked_to_stop()) return worked;
  const auto whole = snapshot();
  if (!whole || whole->runs.empty()) return false;
  auto how = recap_how();
  how.cut = cut_words(*rt_, whole->runs.back());
  const auto left = declined_text(*whole, how);
  if (!left.empty()) io_.err.write(left + "\n");
  return false;
}

std::optional<session_snapshot> conversation::snapshot() {
  if (!session_) return std::nullopt;
  auto found = rt_->session(*session_);
  if (!found) return std::nullopt;
  return std::move(*found);
}

run_request conversation::request(std::string task) const {
  auto out = request_of(options_, std::move(task));
  out.session = session_;
  out.surroundings = surroundings_of(out.agent, settings_).text;
  if (!options_.choices.approval) out.approval = approve::ask;
  return out;
}

namespace {

bool is_yes_or_no(std::string_view text) {
  const auto word = lower(trimmed(text));
  return word == "y" || word == "n" || word == "yes" || word == "no";
}

}  // namespace

/// A yes behind what looked like a question and was none, as that of an
/// `rm -i` without a keyboard, is no task.
bool conversation::on(const std::string& text, interrupts& signals) {
  auto line = parse_chat_line(text);
  const bool unasked = std::exchange(unasked_, false);
  switch (line.what) {
    case chat_act::nothing: return true;
    case chat_act::shell:
      shell(line.rest, signals);
      // Of what was typed beside it each waits for an Enter anyway.
      unasked_ = prompt_.unsent().empty();
      return true;
    case chat_act::command:
      unasked_ = line.word == "undo";
      return command(line, signals) && can_go_on();
    case chat_act::task: break;
  }
  if (wants_to_leave(line.rest)) return false;
  if (unasked && is_yes_or_no(line.rest))
    hold_from_model("Not sent: no question stands there.");
  else
    send(line.rest, signals);
  return true;
}

/// The line waits for an Enter of its own.
void conversation::hold_from_model(const std::string& why) {
  note(why +
       (can_erase() ? " Enter again sends it." : " Type it again to send it."));
  prompt_.hold_back();
  prompt_.give_back();
}

/// Whoever answers must have read what he answers to.
std::string conversation::said_elsewhere() {
  const auto whole = snapshot();
  const auto ended = whole ? ended_of(*whole) : 0;
  if (ended <= seen_) return {};
  const auto n = ended - std::exchange(seen_, ended);
  constexpr std::size_t most = 300;
  const auto& last = whole->runs[ended - 1];
  auto out = counted(n, "turn") + (n == 1 ? " was" : " were") +
             " added to this session elsewhere; the last: > " +
             safe_line(last.task, 100);
  for (auto i = whole->messages.size(); i-- > 0;) {
    const auto& x = whole->messages[i];
    if (x.run != last.id || x.role != storage::message_role::assistant ||
        x.text.empty())
      continue;
    return out + "\n" + with_dots(safe_line(x.text, 2 * most), most);
  }
  return out;
}

/// False: he has not, and is told now; what he wanted is to be said again.
bool conversation::knows_the_last_turn(const char* otherwise) {
  const auto said = said_elsewhere();
  if (said.empty()) return true;
  note(said);
  note(otherwise);
  prompt_.hold_back();
  prompt_.give_back();
  return false;
}

std::string conversation::farewell() const {
  if (!session_) return {};
  return "Go on: riffle -c, or riffle chat --session " +
         short_id(session_->value);
}

}  // namespace riffle::cli
