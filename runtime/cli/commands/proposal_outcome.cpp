// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/proposal_outcome.hpp"

#include <algorithm>

#include "runtime/cli/commands/proposal_folder.hpp"
#include "runtime/cli/view/proposal_text.hpp"
#include "runtime/service/run_folder.hpp"
#include "runtime/storage/for_later.hpp"

namespace riffle::cli {

namespace {

std::vector<storage::run_record> gone_of(
    expected<std::vector<unfinished_run>> all) {
  std::vector<storage::run_record> out;
  if (!all) return out;
  for (auto& x : *all)
    if (x.owner == storage::run_owner::gone) out.push_back(std::move(x.run));
  return out;
}

/// Of an approved call: what executes it, or nothing does yet.
run_id executing_run(const proposal& x) {
  const bool approved =
      x.decided && x.decided->how == events::proposal_outcome::approved;
  return x.what.waits && approved ? x.what.run : x.executed_by;
}

}  // namespace

gone_runs::gone_runs(storage::journal* journal) {
  if (journal != nullptr)
    all_ = gone_of(journal->unfinished_runs(service::most_unfinished));
}

gone_runs::gone_runs(runtime& rt)
    : all_{gone_of(rt.unfinished(service::most_unfinished))} {}

bool gone_runs::has(const run_id& x) const {
  return std::ranges::find(all_, x, &storage::run_record::id) != all_.end();
}

bool gone_runs::hold(const session_id& x) const {
  return std::ranges::find(all_, x, &storage::run_record::session) !=
         all_.end();
}

bool is_interrupted(const service::proposal_view& x, const gone_runs& gone,
                    storage::journal& journal) {
  if (!x.replaced_by.empty() || !gone.has(executing_run(x.it))) return false;
  return !x.it.what.waits || !executed_call(x, journal);
}

std::string how_to_resume(const proposal& x) {
  return go_there(x.what.folder) + "riffle sessions resume " +
         x.what.session.value;
}

/// The call that an approval led to; nothing: none has settled.
std::optional<storage::call_record> executed_call(
    const service::proposal_view& about, storage::journal& journal) {
  const auto& x = about.it;
  if (x.what.source != events::proposal_source::tool_call || !x.decided ||
      x.decided->how != events::proposal_outcome::approved)
    return std::nullopt;
  const auto session = journal.load_session(x.what.session);
  if (!session) return std::nullopt;
  for (const auto& call : session->calls) {
    const bool its =
        x.what.waits ? call.call.id == x.what.call : call.run == x.executed_by;
    if (its && call.stage == storage::call_stage::settled) return call;
  }
  return std::nullopt;
}

std::string outcome_text(const storage::call_record& x) {
  return std::string{to_string(x.how)} + (x.err ? ": " + x.err->message : "");
}

namespace {

/// What came of an execution that was begun before.
std::string executed_text(const proposal& x, runtime& rt) {
  constexpr auto cut = ", and its run was interrupted; this ends it:\n  ";
  const gone_runs gone{rt};
  if (x.what.waits)
    return gone.has(executing_run(x)) ? cut + how_to_resume(x) : std::string{};
  if (x.executed_by.empty()) return {};
  const auto run = rt.find_run(x.executed_by);
  if (!run) return {};
  if (run->state != storage::run_state::active)
    return ", and its execution is over: 'riffle proposals show " +
           x.what.id.value + "' tells what came of it";
  return gone.has(x.executed_by)
             ? ", and its execution was interrupted; this ends it:\n  " +
                   how_to_resume(x)
             : ", and is executed now, by another process";
}

/// Of an approval whose session has another run that has not ended.
std::string held_text(const proposal& x, const std::string& id, runtime& rt) {
  const auto approve =
      go_there(x.what.folder) + "riffle proposals approve " + id;
  if (gone_runs{rt}.hold(x.what.session))
    return ", but nothing was executed: an earlier run of its session was "
           "interrupted. The first of these ends that, the second executes "
           "this:\n  " +
           how_to_resume(x) + "\n  " + approve;
  return ", but nothing was executed: its session is busy. When that run has "
         "ended, this executes it:\n  " +
         approve;
}

}  // namespace

bool is_good_news(const decided& x) {
  return !x.queued &&
         (x.verdict == decision_verdict::accepted || x.started.has_value());
}

std::string verdict_text(const decided& x, const std::string& id, runtime& rt) {
  if (x.verdict == decision_verdict::unknown)
    return "there is no proposal \"" + id + "\"";
  if (x.verdict == decision_verdict::stale)
    return "proposal " + id + " was changed meanwhile; nothing was decided";
  // What was approved before, and not executed, is executed now.
  const bool late = x.verdict == decision_verdict::too_late;
  const bool follows = x.started || x.queued;
  auto out =
      is_good_news(x) && x.now
          ? decided_text(x.now->what)
          : (late && !follows ? "too late: proposal " : "proposal ") + id;
  out += late && follows ? " was " : " is ";
  if (x.now && x.now->decided) {
    const auto& by = *x.now->decided;
    out += std::string{to_string(by.how)} + " by " + by.by;
  }
  if (late && x.started) out += " before, and is executed now";
  if (late && !follows && x.now && storage::awaits_execution(*x.now))
    out += "; 'riffle proposals approve " + id + "' executes it";
  if (late && !follows && x.now) out += executed_text(*x.now, rt);
  const bool waited =
      x.verdict == decision_verdict::accepted && x.now && x.now->what.waits;
  if (waited)
    out += gone_runs{rt}.has(x.now->what.run)
               ? "; its run was interrupted, and this goes on with it:\n  " +
                     how_to_resume(*x.now)
               : std::string{"; its run goes on"};
  if (x.queued) out += held_text(*x.now, id, rt);
  return out;
}

/// It was approved, but its tool never began.
bool was_not_executed(const run& by, runtime& rt, console& io) {
  const auto session = rt.session(by.session());
  if (!session) return false;
  const auto call =
      std::ranges::find(session->calls, by.id(), &storage::call_record::run);
  if (call == session->calls.end() ||
      call->stage != storage::call_stage::settled || call->attempt > 0 ||
      call->how == outcome::ok || call->how == outcome::cancelled)
    return false;
  io.complain("nothing was executed, and the proposal is used up: " +
              outcome_text(*call));
  return true;
}

}  // namespace riffle::cli
