// SPDX-License-Identifier: MIT
#include "runtime/http/recovery.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/service/run_folder.hpp"

namespace riffle::http {

namespace {

constexpr const char* op = "server";
constexpr std::size_t most_runs = 100'000;

/// So many at a time: each is opened before the next one is.
class queue_of_runs : public std::enable_shared_from_this<queue_of_runs> {
 public:
  queue_of_runs(service::runs runs, const std::vector<run_id>& all)
      : runs_{std::move(runs)}, left_{all.begin(), all.end()} {}

  void next() {
    run_id id;
    {
      const std::lock_guard lock{mutex_};
      if (left_.empty()) return;
      id = std::move(left_.front());
      left_.pop_front();
    }
    runs_.resume(id, {}, {},
                 service::reply<run_opened>{
                     [me = shared_from_this(), id](expected<run_opened> x) {
                       if (!x && x.error().code != errc::cancelled)
                         log_about(log_level::warn, op,
                                   "a run cannot go on: " + render(x.error()),
                                   {{"run_id", id.value}});
                       me->next();
                     }});
  }

 private:
  const service::runs runs_;
  std::mutex mutex_;
  std::deque<run_id> left_;
};

class quiet_listener final : public service::volley_listener {
 public:
  void begun(std::size_t, const run_opened&) override {}
  void over(const task_result&) override {}
  void all_over(const std::optional<error>&) override {}
};

}  // namespace

expected<unfinished_work> find_unfinished(const service::sessions& sessions) {
  const auto all = sessions.unfinished(most_runs);
  if (!all) return unexpected{all.error()};
  unfinished_work out;
  std::set<std::string> volleys;
  for (const auto& x : *all) {
    if (x.owner != storage::run_owner::gone ||
        !origin_of(x.run).by.starts_with(origin_prefix))
      continue;
    if (service::find_folder(folder_of(x.run)) != service::folder_state::here) {
      ++out.elsewhere;
    } else if (auto volley = volley_of(x.run); !volley.empty()) {
      volleys.insert(std::move(volley));
    } else if (!is_of_plan(x.run)) {
      out.runs.push_back(x.run.id);
    }
  }
  std::ranges::reverse(out.runs);  // the oldest has waited longest
  out.volleys.assign(volleys.begin(), volleys.end());
  return out;
}

void recover(const site_parts& parts, unfinished_work work) {
  const auto queue =
      std::make_shared<queue_of_runs>(parts.runs, std::move(work.runs));
  for (std::uint32_t i = 0; i < parts.config->server.recover_at_once; ++i)
    queue->next();
  for (const auto& id : work.volleys)
    parts.works->submit([volleys = parts.volleys, id] {
      auto again = volleys.reopen(id, {}, std::make_shared<quiet_listener>());
      if (again) return again->begin();
      log_warn(op, "volley " + id + " cannot go on: " + render(again.error()));
    });
}

}  // namespace riffle::http
