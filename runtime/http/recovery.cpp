// SPDX-License-Identifier: MIT
#include "runtime/http/recovery.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/service/run_folder.hpp"
#include "runtime/service/single_call.hpp"

namespace riffle::http {

namespace {

constexpr const char* server_op = "server";
constexpr std::size_t most_runs = 100'000;

/// Waits for the end of a run, and reads nothing of it.
class end_watch final : public subscriber {
 public:
  explicit end_watch(std::function<void()> f) : f_{std::move(f)} {}
  [[nodiscard]] std::uint64_t position() const override { return position_; }
  bool offer(const storage::event_block& block) override {
    position_ = block.last_seq;
    return true;
  }
  /// What it missed nobody needs; the runtime attaches who is behind no more.
  void behind() override {}
  void closed(const std::optional<error>&) override { f_(); }

 private:
  const std::function<void()> f_;
  std::atomic<std::uint64_t> position_ = 0;
};

}  // namespace

void recovery::look() {
  {
    const std::lock_guard lock{mutex_};
    if (std::exchange(looking_, true)) return;
  }
  at_.parts().works->submit([me = shared_from_this()] {
    if (!me->at_.is_stopping()) me->look_now();
    const std::lock_guard lock{me->mutex_};
    me->looking_ = false;
  });
}

/// Which of those that have not ended are this server's to go on with: a server
/// began them, nobody works on them, and it stands in their folder. A step of a
/// plan goes on with its plan, a run of a volley with that.
expected<recovery::found> recovery::find() {
  const auto all = at_.parts().sessions.unfinished(most_runs);
  if (!all) return unexpected{all.error()};
  auto volleys = at_.volleys()->unfinished();
  if (!volleys) return unexpected{volleys.error()};
  found out;
  out.volleys = std::move(*volleys);
  std::set<run_id> active;
  for (const auto& x : *all) {
    active.insert(x.run.id);
    if (x.owner != storage::run_owner::gone ||
        !origin_of(x.run).by.starts_with(origin_prefix))
      continue;
    const auto folder = folder_of(x.run);
    if (service::find_folder(folder) != service::folder_state::here)
      out.elsewhere.insert(folder);
    else if (auto volley = volley_of(x.run); !volley.empty())
      out.volleys.insert(std::move(volley));
    else if (service::is_waited_for(x.run.id))
      out.over.push_back(x.run.id);
    else if (!is_of_plan(x.run))
      out.runs.push_back(x.run.id);
  }
  std::ranges::reverse(out.runs);
  const std::lock_guard lock{mutex_};
  going_.look(active, std::chrono::steady_clock::now());
  return out;
}

void recovery::look_now() {
  const auto work = find();
  if (!work)
    return log_error(server_op, "what was cut off cannot be listed: " +
                                    render(work.error()));
  tell_elsewhere(work->elsewhere);
  for (const auto& id : work->over) end(id);
  const auto most = at_.parts().config->server.recover_at_once;
  {
    const std::lock_guard lock{mutex_};
    waiting_.assign(work->runs.begin(), work->runs.end());
  }
  go_on_with_next();
  std::size_t reopened = 0;
  for (const auto& id : work->volleys) {
    if (reopened == most) break;  // the others at the next look
    {
      const std::lock_guard lock{mutex_};
      if (refused_.contains(id)) continue;
    }
    if (at_.volleys()->knows(id)) continue;
    go_on_volley(id);
    ++reopened;
  }
}

/// As many as may go on at once.
void recovery::go_on_with_next() {
  const auto most = at_.parts().config->server.recover_at_once;
  for (;;) {
    run_id id;
    {
      const auto now = std::chrono::steady_clock::now();
      const std::lock_guard lock{mutex_};
      if (waiting_.empty() || !going_.has_room(most, now)) return;
      id = std::move(waiting_.front());
      waiting_.pop_front();
      if (going_.knows(id) || refused_.contains(id.value)) continue;
      going_.ask(id, now);
    }
    // The look may be a while ago.
    const auto run = at_.parts().sessions.find_run(id);
    if (run && run->state == storage::run_state::active) {
      go_on(id);
    } else {
      const std::lock_guard lock{mutex_};
      going_.over(id);
    }
  }
}

void recovery::over(const run_id& id) {
  {
    const std::lock_guard lock{mutex_};
    if (!going_.over(id) || waiting_.empty()) return;
  }
  try {
    at_.parts().works->submit([me = shared_from_this()] {
      if (!me->at_.is_stopping()) me->go_on_with_next();
    });
  } catch (const std::exception& e) {  // the next look sees to it
    log_warn(server_op, e.what());
  }
}

void recovery::go_on(const run_id& id) {
  const auto watch = [me = weak_from_this(), id](const run_id&,
                                                 const session_id&) {
    return std::make_shared<end_watch>([me, id] {
      if (const auto it = me.lock()) it->over(id);
    });
  };
  at_.parts().runs.resume(
      id, {}, watch,
      service::reply<run_opened>{
          [me = shared_from_this(), id](const expected<run_opened>& x) {
            me->answered(id, x);
          }});
}

void recovery::answered(const run_id& id, const expected<run_opened>& x) {
  {
    const std::lock_guard lock{mutex_};
    going_.answered(id);
  }
  if (x || x.error().code == errc::cancelled) return;
  // Another process took it: it may let go of it later.
  if (x.error().code == errc::session_busy) return over(id);
  try {
    at_.parts().works->submit([me = shared_from_this(), id, why = x.error()] {
      if (!me->at_.is_stopping()) me->refuse(id, why);
    });
  } catch (const std::exception& e) {  // the next look tries again
    log_warn(server_op, e.what());
  }
}

void recovery::refuse(const run_id& id, const error& why) {
  const auto run = at_.parts().sessions.find_run(id);
  const bool ended = run ? run->state != storage::run_state::active
                         : run.error().code == errc::not_found;
  if (!ended) {
    const std::lock_guard lock{mutex_};
    refused_.insert(id.value);
  }
  over(id);
  if (ended) return;
  log_about(log_level::warn, server_op, "a run cannot go on: " + render(why),
            {{"run_id", id.value}});
}

/// For its client it ended with the connection: it asks again, if at all.
void recovery::end(const run_id& id) {
  at_.parts().runs.cancel(
      id, "its client is gone", true,
      service::reply<storage::cancel_verdict>{
          [id](const expected<storage::cancel_verdict>& x) {
            if (!x && x.error().code != errc::session_busy)
              log_about(log_level::warn, server_op,
                        "a run cannot be ended: " + render(x.error()),
                        {{"run_id", id.value}});
          }});
}

void recovery::go_on_volley(const std::string& id) {
  // By 'riffle sessions cancel', while no server ran.
  if (at_.parts().volleys.is_asked_to_end(id)) return at_.volleys()->remove(id);
  const auto watch = at_.volleys()->listener();
  watch->id = id;
  auto again = at_.parts().volleys.reopen(
      id, {}, watch, [room = at_.room()] { return room->take(); });
  if (again) {
    if (auto ok = at_.volleys()->add(id); !ok)
      log_warn(server_op, "volley " + id + ": " + render(ok.error()));
    at_.volleys()->set(id, again->run);
    return again->begin();
  }
  // Another process works on it: it may let go of it later.
  if (again.error().code == errc::session_busy) return;
  {
    const std::lock_guard lock{mutex_};
    refused_.insert(id);
  }
  if (again.error().code == errc::not_found) at_.volleys()->remove(id);
  log_warn(server_op,
           "volley " + id + " cannot go on: " + render(again.error()));
}

void recovery::tell_elsewhere(const std::set<std::string>& folders) {
  for (const auto& folder : folders)
    if (told_.insert(folder).second)
      log_warn(server_op,
               "unfinished runs are of the folder " + folder +
                   ": a server that is started there goes on with them");
}

}  // namespace riffle::http
