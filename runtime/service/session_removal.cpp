// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "runtime/service/sessions.hpp"
#include "runtime/service/stopped_plan.hpp"
#include "runtime/service/stored_request.hpp"
#include "runtime/service/volley_record.hpp"
#include "runtime/storage/readable_session.hpp"
#include "runtime/storage/storage_error.hpp"
#include "tools/kept_file.hpp"

namespace riffle::service {

namespace {

using storage::run_record;
using storage::session_snapshot;

bool is_active(const run_record& x) {
  return x.state == storage::run_state::active;
}

/// The run of a plan, which is alone in a session of its name.
const run_record* plan_in(const session_snapshot& x) {
  const bool alone =
      x.runs.size() == 1 && x.runs.front().id.value == x.session.value;
  return alone ? &x.runs.front() : nullptr;
}

/// What deleting a session needs of it: of thousands no more is kept.
struct going_session {
  session_snapshot session;  ///< its id, and those of its calls
  std::size_t runs = 0;
};

going_session to_go(const session_snapshot& x) {
  going_session out{{}, x.runs.size()};
  out.session.session = x.session;
  for (const auto& call : x.calls) {
    out.session.calls.emplace_back();
    out.session.calls.back().call.id = call.call.id;
  }
  return out;
}

/// Nothing: it is not there. A record of no id: it is, and cannot be read.
expected<std::optional<run_record>> plan_called(storage::journal& from,
                                                const run_id& id) {
  auto run = from.load_run(id);
  if (run) return std::optional{std::move(*run)};
  const auto left = storage::load_readable(from, session_id{id.value});
  if (left) return std::optional{run_record{}};
  if (left.error().code == errc::not_found) return std::optional<run_record>{};
  return unexpected{left.error()};
}

/// A plan with those that it goes on from and those that go on from it: they
/// share what their steps said. The oldest first; of one that cannot be read
/// nothing says what it goes on from.
expected<std::vector<run_id>> family_of(storage::journal& from,
                                        const run_record& plan) {
  auto oldest = plan;
  for (;;) {
    auto before = request_from_json(oldest.settings).goes_on_from;
    if (before.empty()) break;
    auto there = plan_called(from, before);
    if (!there) return unexpected{std::move(there.error())};
    if (!*there) break;
    oldest = **std::move(there);
    oldest.id = std::move(before);
  }
  std::vector<run_id> out{oldest.id};
  for (;;) {
    auto next = next_plan(out.back());
    const auto there = plan_called(from, next);
    if (!there) return unexpected{there.error()};
    if (!*there) return out;
    out.push_back(std::move(next));
  }
}

/// A plan that cannot be read does not say whose it is, but what goes on from
/// it does.
expected<void> check_not_needed(storage::journal& from,
                                const session_id& plan) {
  const auto next = next_plan({plan.value});
  const auto there = plan_called(from, next);
  if (!there) return unexpected{there.error()};
  if (!*there) return {};
  return unexpected{error{errc::invalid_request, "sessions",
                          "plan " + next.value + " goes on from " + plan.value +
                              " and needs what its steps said: delete " +
                              next.value + " instead, both go then"}};
}

}  // namespace

expected<removed_sessions> sessions::remove(const session_id& id) const {
  if (is_volley(id.value)) return remove_volley(id.value);
  const error none{errc::not_found, "sessions",
                   "there is no session \"" + id.value + "\""};
  if (!journal_) return unexpected{none};
  const auto found = storage::load_readable(*journal_, id);
  if (!found && found.error().code == errc::not_found) return unexpected{none};
  if (!found) return unexpected{found.error()};
  const auto& whole = found->session;
  if (plan_in(whole) != nullptr) return remove_plan(whole);
  if (found->lost_runs > 0)
    if (auto ok = check_not_needed(*journal_, id); !ok)
      return unexpected{std::move(ok.error())};
  if (auto ok = check_plan_over(whole); !ok)
    return unexpected{std::move(ok.error())};
  if (auto ok = remove_one(whole); !ok)
    return unexpected{std::move(ok.error())};
  return removed_sessions{1, whole.runs.size() + found->lost_runs, 0};
}

expected<removed_sessions> sessions::remove_volley(
    const std::string& id) const {
  if (!journal_)
    return unexpected{error{errc::not_found, "sessions",
                            "there is no volley \"" + id + "\""}};
  // Before it is locked: an id that is none's makes no file.
  if (auto known = load_volley(*journal_, id);
      !known && known.error().code != errc::storage_corrupt)
    return unexpected{std::move(known.error())};
  const auto held = lock_volley(volley_locks_, id);
  if (!held) return unexpected{held.error()};
  const auto record = load_volley(*journal_, id);
  if (!record && record.error().code == errc::storage_corrupt) {
    // Nothing says whose members they are: sessions like others.
    if (auto ok = journal_->delete_session(session_id{id}); !ok)
      return unexpected{std::move(ok.error())};
    return removed_sessions{};
  }
  if (!record) return unexpected{record.error()};
  std::set<session_id> members;
  for (const auto& task : record->request.tasks) members.insert(*task.session);
  auto out =
      remove_members({members.begin(), members.end()}, [&](const auto& run) {
        const auto place = request_from_json(run.settings).place;
        return place && place->volley == id;
      });
  if (!out) return out;
  if (auto ok = journal_->delete_session(session_id{id}); !ok)
    return unexpected{std::move(ok.error())};
  return out;
}

expected<removed_sessions> sessions::remove_plan(
    const session_snapshot& plan) const {
  const auto& run = *plan_in(plan);
  const auto all = family_of(*journal_, run);
  if (!all) return unexpected{all.error()};
  std::vector<session_snapshot> going;
  for (const auto& id : *all) {
    auto one = storage::load_readable(*journal_, session_id{id.value});
    if (!one && one.error().code == errc::not_found) continue;
    if (!one) return unexpected{std::move(one.error())};
    if (auto free = check_free(one->session); !free) {
      auto why = std::move(free.error());
      if (why.code == errc::session_busy && id != run.id)
        why.message = "plan " + id.value + " goes on from plan " +
                      run.id.value + ", and is under way";
      return unexpected{std::move(why)};
    }
    going.push_back(std::move(one->session));
  }
  const auto steps = request_from_json(run.settings).plan_session;
  std::vector<session_id> members;
  if (!steps.empty()) members.push_back(steps);
  auto out = remove_members(members, [&](const auto& one) {
    return std::ranges::count(*all, request_from_json(one.settings).of_plan) >
           0;
  });
  if (!out) return out;
  // The newest first: it needs those before it.
  for (; !going.empty(); going.pop_back()) {
    if (auto ok = remove_one(going.back()); !ok)
      return unexpected{std::move(ok.error())};
    ++out->runs;
  }
  return out;
}

/// All are looked at first, so that nothing is deleted while one is busy.
expected<removed_sessions> sessions::remove_members(
    const std::vector<session_id>& ids, const run_filter& belongs) const {
  removed_sessions out;
  std::vector<going_session> going;
  for (const auto& id : ids) {
    const auto whole = storage::load_readable(*journal_, id);
    if (!whole && whole.error().code == errc::not_found) continue;
    if (!whole) return unexpected{whole.error()};
    if (whole->session.runs.empty() && whole->lost_runs == 0) continue;
    // Of a run that cannot be read nothing says that it belongs to it.
    if (whole->lost_runs != 0 ||
        !std::ranges::all_of(whole->session.runs, belongs)) {
      ++out.kept;
      continue;
    }
    if (auto free = check_free(whole->session); !free)
      return unexpected{std::move(free.error())};
    going.push_back(to_go(whole->session));
  }
  for (const auto& x : going) {
    auto ok = remove_one(x.session);
    if (!ok && ok.error().code == errc::not_found) continue;
    if (!ok) return unexpected{std::move(ok.error())};
    ++out.sessions;
    out.runs += x.runs;
  }
  return out;
}

/// What later steps of a plan refer to stands in the session of its steps.
expected<void> sessions::check_plan_over(const session_snapshot& x) const {
  std::set<run_id> plans;
  for (const auto& run : x.runs)
    if (auto plan = request_from_json(run.settings).of_plan; !plan.empty())
      plans.insert(std::move(plan));
  for (const auto& first : plans) {
    const auto all = plans_from(*journal_, first);
    if (!all) return unexpected{all.error()};
    const auto plan = journal_->load_run(all->back());
    if (!plan && plan.error().code == errc::not_found) continue;
    if (!plan) return unexpected{plan.error()};
    if (is_active(*plan))
      return unexpected{error{
          errc::session_busy, "sessions",
          "session " + x.session.value + " has the steps of plan " +
              plan->id.value + ", which has not ended: its next steps may " +
              "need them; delete " + plan->id.value + " instead"}};
  }
  return {};
}

/// Whether nobody works on a run of it.
expected<void> sessions::check_free(const session_snapshot& x) const {
  const auto run = std::ranges::find_if(x.runs, is_active);
  if (run == x.runs.end()) return {};
  const auto owner = journal_->owner_of_run(run->id);
  if (!owner) return unexpected{owner.error()};
  if (*owner == storage::run_owner::gone) return {};
  return unexpected{error{errc::session_busy, "sessions",
                          "run " + run->id.value + " of session " +
                              x.session.value + " is under way"}};
}

/// The files go last: without its session nothing names them, while a session
/// without its files could not be read. Only where its rows cannot go for want
/// of room, they make it.
expected<void> sessions::remove_one(const session_snapshot& x) const {
  const auto remove_files = [&] {
    std::error_code ignored;
    bool any = false;
    for (const auto& call : x.calls)
      if (const auto file = tools::kept_file(outputs_, call.call.id);
          file && !outputs_.empty())
        any = std::filesystem::remove(*file, ignored) || any;
    return any;
  };
  auto done = journal_->delete_session(x.session);
  if (!done && storage::wants_room(done.error()) && remove_files())
    done = journal_->delete_session(x.session);
  if (done) remove_files();
  return done;
}

}  // namespace riffle::service
