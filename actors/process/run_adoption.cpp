// SPDX-License-Identifier: MIT
#include "actors/process/run_adoption.hpp"

#include <chrono>
#include <sstream>
#include <thread>
#include <utility>

#include "messages/event_line.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

namespace {

using storage::run_owner;

constexpr const char* session_store_op = "session_store";
constexpr auto owner_timeout = std::chrono::milliseconds{3000};
/// So often other processes may come and go in between.
constexpr int most_tries = 3;

/// Attempts whose guards are free.
using waited_for = std::set<std::pair<call_id, std::uint32_t>>;

/// A runtime that is killed while it starts a process leaves its lock to that
/// process for a moment, until it is replaced by its program: so a lock is
/// looked at again before its owner counts as alive.
bool is_free(storage::journal& journal, const run_id& run) {
  const auto deadline = std::chrono::steady_clock::now() + owner_timeout;
  for (;;) {
    const auto owner = journal.owner_of_run(run);
    if (!owner || *owner != run_owner::elsewhere) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(owner_timeout / 30);
  }
}

/// Nothing may act after it was settled: what a dead runtime left behind has
/// to be gone before recovery settles its calls.
std::optional<error> wait_for_all(const storage::session_snapshot& session,
                                  const adopt_run_request& x,
                                  const guard_waiter& wait, waited_for& done) {
  for (const auto& call : session.calls) {
    const bool open = call.run == x.run &&
                      call.stage != storage::call_stage::settled &&
                      !x.acting.contains(call.call.id);
    if (!open || done.contains({call.call.id, call.attempt})) continue;
    if (auto why = wait(call)) return why;
    done.emplace(call.call.id, call.attempt);
  }
  return std::nullopt;
}

opened_run refuse(const run_id& run, error why) {
  log_warn(session_store_op,
           "run " + run.value + " is not adopted: " + render_chain(why));
  return {nullptr, std::move(why)};
}

/// What the open step of a run that was adopted had said, as its events have
/// it; its turn is not on record.
std::string said_by_open_step(storage::journal& journal,
                              const storage::run_snapshot& x) {
  constexpr std::size_t page_bytes = 1u << 20;
  std::string said;
  if (x.run.step == 0 || x.run.turn_committed) return said;
  for (auto since = x.run.attempt_seq;;) {
    const auto page = journal.read_events(x.run.id, since, page_bytes);
    if (!page) return {};
    for (const auto& block : page->blocks) {
      since = block.last_seq;
      std::istringstream lines{*block.lines};
      for (std::string line; std::getline(lines, line);) {
        const auto event = parse_line(line);
        if (!event) continue;
        const auto* token = std::get_if<events::llm_token>(&event->body);
        if (token != nullptr) said += token->content;
      }
    }
    if (page->end || page->blocks.empty()) return said;
  }
}

opened_run adopt_now(storage::journal& journal, const run_id& run) {
  auto answer = journal.adopt_run(run);
  if (!answer) return {nullptr, std::move(answer.error())};
  auto said = said_by_open_step(journal, *answer);
  return {std::make_shared<storage::run_snapshot>(std::move(*answer)),
          {},
          false,
          std::move(said)};
}

/// Nothing: what it would say is what the adoption says.
std::optional<error> wait_before(storage::journal& journal,
                                 const adopt_run_request& x,
                                 const guard_waiter& wait, waited_for& done) {
  const auto record = journal.load_run(x.run);
  if (!record || record->state != storage::run_state::active) return {};
  const auto session = journal.load_session(record->session);
  if (!session) return {};
  return wait_for_all(*session, x, wait, done);
}

}  // namespace

opened_run adopt_run(storage::journal& journal, const adopt_run_request& x,
                     const guard_waiter& wait) {
  if (!is_free(journal, x.run) || !wait) return adopt_now(journal, x.run);
  waited_for done;
  for (int n = 0; n < most_tries; ++n) {
    if (auto why = wait_before(journal, x, wait, done))
      return refuse(x.run, std::move(*why));
    const auto before = journal.owner_of_run(x.run);
    auto answer = adopt_now(journal, x.run);
    if (answer.failure) return answer;
    // Another process may have had it, and begun calls, since they were looked
    // for; what this one has begun it knows.
    const auto known = done.size();
    const auto no_wait = [](const storage::call_record&) {
      return std::optional<error>{};
    };
    auto seen = done;
    wait_for_all(answer.snapshot->session, x, no_wait, seen);
    if (seen.size() == known) return answer;
    if (!before || *before == run_owner::here) continue;
    if (auto let_go = journal.disown_run(x.run); !let_go) {
      auto out = refuse(x.run, std::move(let_go.error()));
      out.left_here = true;
      return out;
    }
  }
  return refuse(x.run, {errc::session_busy, session_store_op,
                        "other processes take the run again and again", true});
}

}  // namespace riffle
