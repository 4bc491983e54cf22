// SPDX-License-Identifier: MIT
#include "runtime/service/volleys.hpp"

#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/file_lock.hpp"
#include "runtime/service/run_folder.hpp"
#include "runtime/service/stored_request.hpp"
#include "runtime/storage/owner.hpp"

namespace riffle::service {

namespace {

constexpr const char* op = "volley";
constexpr const char* record_key = "volley";

/// From the first pause to the longest one between runs of one task.
constexpr duration retry_base = std::chrono::seconds{1};
constexpr duration retry_cap = std::chrono::seconds{60};

struct volley_record {
  volley_request request;
  std::string folder;  ///< where it was started
};

std::string to_text(const volley_record& x) {
  nlohmann::json out{{"version", 1},
                     {"workers", x.request.workers},
                     {"max_retries", x.request.max_retries},
                     {"fail_fast", x.request.fail_fast},
                     {"folder", x.folder},
                     {"tasks", nlohmann::json::array()}};
  for (const auto& task : x.request.tasks)
    out["tasks"].push_back({{"task", task.task},
                            {"session", task.session->value},
                            {"request", to_json(stored_request{task, {}})}});
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

expected<volley_record> read_record(const std::string& id,
                                    const std::string& text) {
  const auto damaged = [&] {
    return unexpected{error{errc::storage_corrupt, op,
                            "the record of volley " + id + " is damaged"}};
  };
  const auto from = nlohmann::json::parse(text, nullptr, false);
  if (!from.is_object() || !from.contains("tasks")) return damaged();
  try {
    volley_record x;
    x.request.workers = from.at("workers").get<std::uint32_t>();
    x.request.max_retries = from.at("max_retries").get<std::uint32_t>();
    x.request.fail_fast = from.at("fail_fast").get<bool>();
    x.folder = from.at("folder").get<std::string>();
    for (const auto& one : from.at("tasks")) {
      auto task =
          request_from_json(one.at("request").get<std::string>()).request;
      task.task = one.at("task").get<std::string>();
      task.session = session_id{one.at("session").get<std::string>()};
      x.request.tasks.push_back(std::move(task));
    }
    return x;
  } catch (const nlohmann::json::exception&) {
    return damaged();
  }
}

std::string working_folder() {
  std::error_code gone;
  return std::filesystem::current_path(gone).string();
}

expected<void> check_tasks(const volley_request& x) {
  if (x.tasks.empty())
    return unexpected{
        error{errc::invalid_request, op, "a volley needs a task"}};
  for (std::size_t i = 0; i < x.tasks.size(); ++i)
    if (x.tasks[i].task.empty())
      return unexpected{error{errc::invalid_request, op,
                              "task " + std::to_string(i + 1) + " of " +
                                  std::to_string(x.tasks.size()) +
                                  " is empty: say what is to be done"}};
  return {};
}

/// What is on record of the tasks, from the newest run of each.
class progress_of_tasks {
 public:
  progress_of_tasks(const std::string& id, storage::journal& journal)
      : id_{id}, journal_{journal} {}

  expected<void> add_to(volley_entry& x) {
    const auto runs = runs_of(*x.request.session);
    if (!runs) return unexpected{runs.error()};
    for (const auto& [task, run] : *runs)
      if (task == x.result.task) note(x, run);
    return {};
  }

 private:
  using placed_runs = std::vector<std::pair<std::size_t, storage::run_record>>;

  static void note(volley_entry& x, const storage::run_record& run) {
    ++x.result.attempts;
    x.result.run = run.id;
    x.result.session = run.session;
    x.open.reset();
    x.ended = false;
    switch (run.state) {
      case storage::run_state::active: x.open = run.id; return;
      // Somebody ended the volley; going on means to run it.
      case storage::run_state::cancelled: return;
      case storage::run_state::completed:
        x.result.status = task_status::completed;
        break;
      case storage::run_state::failed:
        x.result.status = task_status::failed;
        break;
    }
    x.ended = true;
  }

  /// Tasks that share a session are told apart by their place.
  expected<placed_runs> runs_of(const session_id& session) {
    const auto [i, is_new] = known_.try_emplace(session);
    if (!is_new) return i->second;
    auto whole = journal_.load_session(session);
    if (!whole && whole.error().code != errc::not_found)
      return unexpected{std::move(whole.error())};
    if (!whole) return i->second;
    for (auto& run : whole->runs) {
      const auto place = request_from_json(run.settings).place;
      if (place && place->volley == id_)
        i->second.emplace_back(place->task, std::move(run));
    }
    return i->second;
  }

  const std::string& id_;
  storage::journal& journal_;
  std::unordered_map<session_id, placed_runs> known_;
};

}  // namespace

expected<std::shared_ptr<unique_fd>> volleys::lock(
    const std::string& id) const {
  if (locks_.empty()) return std::make_shared<unique_fd>();
  if (auto made = storage::make_private_folder(locks_); !made)
    return unexpected{std::move(made.error())};
  const auto file = locks_ / (id + ".lock");
  auto fd = std::make_shared<unique_fd>(
      ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (*fd && try_lock(*fd, lock_kind::exclusive)) return fd;
  if (errno == EWOULDBLOCK)
    return unexpected{error{errc::session_busy, op,
                            "another process works on volley " + id +
                                "; it ends there, or by Ctrl-C there"}};
  return unexpected{error{errc::storage_unavailable, op,
                          "cannot lock " + file.string() + ": " +
                              std::generic_category().message(errno)}};
}

expected<opened_volley> volleys::open(
    volley_request x, id_source& ids,
    std::shared_ptr<volley_listener> who) const {
  if (auto ok = check_tasks(x); !ok) return unexpected{std::move(ok.error())};
  auto id = ids.make(volley_prefix);
  std::vector<volley_entry> entries;
  for (auto& task : x.tasks) {
    task.stop = {};
    if (!task.session) task.session = ids.next<session_id>();
    volley_entry entry{task};
    entry.result.task = entries.size();
    entries.push_back(std::move(entry));
  }
  auto text = to_text({x, working_folder()});
  if (auto ok = journal_->set_state({session_id{id}, record_key, text}); !ok)
    return unexpected{std::move(ok.error())};
  return put_together(std::move(id), std::move(x), std::move(entries), {},
                      std::move(who));
}

expected<opened_volley> volleys::reopen(
    const std::string& id, resume_options again,
    std::shared_ptr<volley_listener> who) const {
  const auto state = journal_->load_state(session_id{id});
  if (!state) return unexpected{state.error()};
  const auto found = state->find(record_key);
  if (found == state->end())
    return unexpected{
        error{errc::not_found, op, "there is no volley \"" + id + "\""}};
  auto record = read_record(id, found->second);
  if (!record) return unexpected{std::move(record.error())};
  if (auto ok = check_folder(record->folder, "volley " + id); !ok)
    return unexpected{std::move(ok.error())};
  progress_of_tasks progress{id, *journal_};
  std::vector<volley_entry> entries;
  for (const auto& task : record->request.tasks) {
    volley_entry entry{task};
    entry.result.task = entries.size();
    if (again.approval) entry.request.approval = *again.approval;
    if (again.model) entry.request.model = again.model;
    if (again.max_steps) entry.request.max_steps = again.max_steps;
    if (again.timeout > duration{}) entry.request.timeout = again.timeout;
    if (auto ok = progress.add_to(entry); !ok)
      return unexpected{std::move(ok.error())};
    entries.push_back(std::move(entry));
  }
  return put_together(id, std::move(record->request), std::move(entries),
                      std::move(again), std::move(who));
}

expected<opened_volley> volleys::put_together(
    std::string id, volley_request x, std::vector<volley_entry> entries,
    resume_options again, std::shared_ptr<volley_listener> who) const {
  auto held = lock(id);
  if (!held) return unexpected{std::move(held.error())};
  opened_volley out;
  out.tasks = entries;
  out.run = std::make_shared<volley_run>(id, std::move(entries),
                                         std::move(again), runs_, journal_,
                                         where_, std::move(who), *held);
  volley_setup setup;
  setup.limits.workers = x.workers;
  setup.limits.retries = {x.max_retries + 1, retry_base, retry_cap};
  setup.limits.fail_fast = x.fail_fast;
  setup.tasks = out.run->to_schedule();
  setup.port = out.run;
  out.begin = [door = door_, run = out.run, setup = std::move(setup)] {
    door->begin(run, setup);
  };
  out.id = std::move(id);
  return out;
}

}  // namespace riffle::service
