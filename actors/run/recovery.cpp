// SPDX-License-Identifier: MIT
#include "actors/run/recovery.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "actors/core/dispatch_detail.hpp"
#include "actors/tools/proposal_tracker.hpp"
#include "messages/runtime_note.hpp"
#include "messages/unseen.hpp"
#include "messages/utf8.hpp"

namespace riffle {

namespace {

using storage::call_record;
using storage::call_stage;

std::string complete_answer(const call_record& x,
                            const core::answer_rule& rule) {
  if (x.call.tool != "complete" || x.how != outcome::ok) return {};
  return core::answer_in(x.call, rule);
}

std::string wrong_answer(const call_record& x) {
  const bool refused = x.call.tool == "complete" && x.err &&
                       (x.err->code == errc::invalid_arguments ||
                        x.err->code == errc::truncated);
  return refused ? x.err->message : std::string{};
}

bool has_begun(const call_record& x) {
  return x.stage == call_stage::intent || x.stage == call_stage::running;
}

/// Its work was cut, and may be done once more.
bool begins_again(const call_record& x) {
  return has_begun(x) && core::dispatch_detail::may_repeat(x.call);
}

/// How the calls of a step that are open were asked about.
struct step_questions {
  std::set<call_id> open;   ///< without an answer that counts
  std::set<call_id> again;  ///< after a consent that was void
  bool doubted = false;  ///< an earlier one failed, or had a "no" after a yes
};

step_questions questions_of(const storage::run_snapshot& snapshot) {
  step_questions out;
  for (const auto& [what, decided, run] : snapshot.session.proposals) {
    if (!what.waits) continue;
    out.open.insert(what.call);
    if (!what.replaces.empty()) out.again.insert(what.call);
  }
  return out;
}

bool gives_doubt(const call_record& x, const step_questions& asked) {
  return x.how != outcome::ok && x.call.eff == effect::mutating &&
         !x.call.control && (x.attempt > 0 || asked.again.contains(x.call.id));
}

void add_open(recovery_plan& out, const call_record& x,
              const step_questions& asked) {
  core::restored_call open;
  open.call = x.call;
  open.attempt = x.attempt;
  open.announced = x.announced;
  open.begun = has_begun(x);
  open.approved = x.approved;
  open.decision_reason = x.decision_reason;
  if (x.err) open.decision_code = x.err->code;
  open.asked = asked.open.contains(x.call.id) && !x.approved;
  open.again = open.asked && asked.again.contains(x.call.id);
  open.doubted = asked.doubted;
  if (!x.attempts.empty()) out.attempts.emplace(x.call.id, x.attempts);
  out.open.push_back(std::move(open));
}

const storage::message_record* committed_message(
    const storage::run_snapshot& snapshot) {
  const auto& run = snapshot.run;
  const storage::message_record* found = nullptr;
  if (!run.turn_committed) return found;
  for (const auto& m : snapshot.session.messages)
    if (m.run == run.id && m.step == run.step &&
        m.role == storage::message_role::assistant)
      found = &m;
  return found;
}

}  // namespace

core::settled_call to_settled(const call_record& x,
                              const config::tools_config& settings) {
  return {x.call.id,
          x.call.tool,
          x.how,
          {},
          core::digest_of(x.told),
          settings.of(x.call.tool).polling,
          x.err && x.err->code == errc::budget_exceeded,
          wrong_answer(x)};
}

std::vector<std::vector<core::observed_call>> earlier_steps(
    const storage::run_snapshot& snapshot,
    const config::tools_config& settings) {
  std::map<call_id, const call_record*> calls;
  for (const auto& x : snapshot.session.calls) calls.emplace(x.call.id, &x);
  std::vector<std::vector<core::observed_call>> out;
  for (const auto& m : snapshot.session.messages) {
    if (m.run != snapshot.run.id || m.step == snapshot.run.step ||
        m.role != storage::message_role::assistant)
      continue;
    auto& step = out.emplace_back();
    for (const auto& id : m.calls) {
      const auto found = calls.find(id);
      if (found == calls.end()) continue;
      const auto& x = *found->second;
      step.push_back(
          {x.call.tool, core::digest_of(x.call.tool + " " + asked_for(x.call)),
           core::digest_of(x.told), settings.of(x.call.tool).polling});
    }
  }
  return out;
}

recovery_plan plan_recovery(const storage::run_snapshot& snapshot,
                            const config::tools_config& settings,
                            const core::answer_rule& rule) {
  const auto& run = snapshot.run;
  recovery_plan out;
  out.progress = {
      run.step, run.step_attempt, run.turn_committed, run.turn_safe,
      0,        run.usage,        run.recoveries,     run.reminders};
  out.progress.left = snapshot.left;
  const auto* message = committed_message(snapshot);
  if (message != nullptr) {
    out.text = message->text;
    out.progress.turn_paused = message->paused;
  }
  std::vector<const call_record*> mine;
  for (const auto& x : snapshot.session.calls) {
    if (x.run != run.id) continue;
    ++out.progress.tool_calls;
    if (x.attempt > 0 && !x.call.control) ++out.calls_begun;
    if (x.call.step == run.step) mine.push_back(&x);
  }
  std::set<call_id> told_of;
  if (message != nullptr)
    told_of.insert(message->calls.begin(), message->calls.end());
  auto asked = questions_of(snapshot);
  std::ranges::stable_sort(mine, {},
                           [](const auto* x) { return x->call.index; });
  for (const auto* x : mine) {
    if (x->stage != call_stage::settled && x->attempt > 0 && !x->call.control)
      out.progress.calls_worked = true;
    const bool told = told_of.contains(x->call.id);
    if (x->stage == call_stage::settled && gives_doubt(*x, asked))
      asked.doubted = true;
    if (x->stage != call_stage::settled) {
      add_open(out, *x, asked);
    } else if (told) {
      out.settled.push_back(to_settled(*x, settings));
      out.settled.back().answer =
          run.cause.empty() ? complete_answer(*x, rule) : x->told;
    } else if (message == nullptr && x->how == outcome::ok &&
               x->call.eff == effect::read_only && x->attachments.empty()) {
      out.finished.push_back(
          {x->call.id, x->call.tool, x->call.arguments, x->told});
    }
    if (told)
      out.calls.push_back(
          {x->call.id, x->call.tool + " " + asked_for(x->call)});
  }
  return out;
}

std::string cut_note(const error& why) {
  return std::string{runtime_note} + "This answer was interrupted here (" +
         why.message + "); it is not complete.";
}

std::string session_plan(const storage::session_snapshot& session) {
  std::string plan;
  for (const auto& run : session.runs)
    if (!run.plan.empty()) plan = run.plan;
  return plan;
}

std::string session_phase(const storage::session_snapshot& session) {
  std::string phase;
  for (const auto& run : session.runs)
    if (!run.phase.empty()) phase = run.phase;
  return phase;
}

namespace {

/// What it was asked, and what it said last.
struct exchange {
  std::string_view asked;
  std::string_view answer;
};

exchange exchange_of(const run_id& run,
                     const storage::session_snapshot& session) {
  exchange out;
  for (const auto& m : session.messages) {
    if (m.run != run) continue;
    const bool user = m.role == storage::message_role::user;
    if (user && m.step == 0) out.asked = m.text;
    if (!user) out.answer = m.text;
  }
  return out;
}

/// Something that can be read, and no longer than what it stands for may be.
bool is_summary(std::string_view text) {
  constexpr std::size_t longest = 64u << 10;
  if (text.size() > longest) return false;
  while (!text.empty()) {
    const auto x = first_character(text);
    text.remove_prefix(x.size);
    const bool blank = x.code <= U' ' || is_unseen(x.code) || is_joiner(x.code);
    if (x.valid && !blank) return true;
  }
  return false;
}

}  // namespace

std::optional<summed_up_runs> session_summary_of(
    const storage::session_snapshot& session) {
  for (auto last = session.runs.size(); last-- > 0;) {
    const auto& run = session.runs[last];
    if (run.task != sum_up_task || run.state != storage::run_state::completed)
      continue;
    const auto said = exchange_of(run.id, session);
    if (!is_summary(said.answer) || !sums_up(run.task, said.asked)) continue;
    summed_up_runs out{
        "What came before, summed up:\n" + std::string{said.answer}, {}};
    for (std::size_t i = 0; i <= last; ++i) out.runs.insert(session.runs[i].id);
    return out;
  }
  return std::nullopt;
}

tracker_start plan_tracker(const storage::run_snapshot& snapshot) {
  tracker_start out;
  std::map<call_id, const call_record*> undecided;
  std::map<call_id, const call_record*> approved;
  for (const auto& x : snapshot.session.calls)
    if (x.stage == call_stage::waiting && x.approved.value_or(true))
      (x.approved ? approved : undecided).emplace(x.call.id, &x);
    else if (begins_again(x))
      approved.emplace(x.call.id, &x);
  for (const auto& x : snapshot.session.proposals) {
    const auto& what = x.what;
    if (what.run != snapshot.run.id) continue;
    if (!what.waits) {
      if (!x.decided) out.open_proposals.push_back(what);
      continue;
    }
    // Decided, but nothing was made of it: as if it came just now. The newest
    // of a call takes the place of those before it.
    if (const auto call = undecided.find(what.call); call != undecided.end())
      out.open.insert_or_assign(what.call,
                                undecided_call{call->second->call, what});
    if (const auto call = approved.find(what.call);
        call != approved.end() && x.decided &&
        x.decided->how == events::proposal_outcome::approved &&
        !(begins_again(*call->second) && what.definition.empty()))
      out.agreed.insert_or_assign(
          what.call, undecided_call{call->second->call, what, x.decided});
  }
  return out;
}

}  // namespace riffle
