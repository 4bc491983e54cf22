// SPDX-License-Identifier: MIT
#include "runtime/service/volley_record.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <functional>
#include <iterator>
#include <limits>
#include <ranges>
#include <set>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/file_lock.hpp"
#include "runtime/service/stored_request.hpp"
#include "runtime/storage/owner.hpp"

namespace riffle::service {

namespace {

constexpr const char* volley_op = "volley";
constexpr const char* end_key = "volley_end";

nlohmann::json shared_json(const shared_texts& x) {
  auto out = nlohmann::json::object();
  if (!x.context.empty()) out["context"] = x.context;
  if (!x.given.empty()) out["given"] = x.given;
  if (!x.surroundings.empty()) out["surroundings"] = x.surroundings;
  return out;
}

shared_texts read_shared(const nlohmann::json& from) {
  shared_texts out{from.value("context", ""), from.value("given", ""), {}};
  if (from.contains("surroundings"))
    from["surroundings"].get_to(out.surroundings);
  return out;
}

std::string to_text(const volley_record& x) {
  nlohmann::json out{{"version", 1},
                     {"workers", x.request.workers},
                     {"max_retries", x.request.max_retries},
                     {"fail_fast", x.request.fail_fast},
                     {"folder", x.folder},
                     {"tasks", nlohmann::json::array()}};
  put_configuration(out, x.configuration);
  if (auto shared = shared_json(x.request.shared); !shared.empty())
    out["shared"] = std::move(shared);
  for (const auto& task : x.request.tasks)
    out["tasks"].push_back({{"task", task.task},
                            {"session", task.session->value},
                            {"request", to_json(stored_request{task, {}})}});
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

expected<volley_record> read_record(const std::string& id,
                                    const std::string& text) {
  const auto damaged = [&] {
    return unexpected{error{errc::storage_corrupt, volley_op,
                            "the record of volley " + id + " is damaged"}};
  };
  const auto from = nlohmann::json::parse(text, nullptr, false);
  if (!from.is_object() || !from.contains("tasks") || from["tasks"].empty())
    return damaged();
  try {
    volley_record x;
    x.request.workers = from.at("workers").get<std::uint32_t>();
    x.request.max_retries = from.at("max_retries").get<std::uint32_t>();
    x.request.fail_fast = from.at("fail_fast").get<bool>();
    x.folder = from.at("folder").get<std::string>();
    // Volleys of older versions have none of these.
    x.configuration = read_configuration(from);
    if (from.contains("shared"))
      x.request.shared = read_shared(from.at("shared"));
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

unexpected cannot_lock(const std::filesystem::path& file, int number) {
  return unexpected{error{errc::storage_unavailable, volley_op,
                          "cannot lock " + file.string() + ": " +
                              std::generic_category().message(number)}};
}

}  // namespace

expected<void> store_volley(storage::journal& journal, const std::string& id,
                            const volley_record& x) {
  return journal.set_state({session_id{id}, volley_key, to_text(x)});
}

expected<volley_record> load_volley(storage::journal& journal,
                                    const std::string& id) {
  const auto state = journal.load_state(session_id{id});
  if (!state) return unexpected{state.error()};
  const auto found = state->find(volley_key);
  if (found == state->end())
    return unexpected{
        error{errc::not_found, volley_op, "there is no volley \"" + id + "\""}};
  return read_record(id, found->second);
}

expected<placed_runs> runs_in_session(storage::journal& journal,
                                      const std::string& id,
                                      const session_id& session) {
  storage::run_filter of;
  of.session = session;
  of.limit = std::numeric_limits<std::size_t>::max();
  auto runs = journal.list_runs(of);
  if (!runs) return unexpected{std::move(runs.error())};
  placed_runs out;
  for (auto& run : *runs | std::views::reverse) {
    const auto place = request_from_json(run.settings).place;
    if (place && place->volley == id)
      out.emplace_back(place->task, std::move(run));
  }
  return out;
}

expected<placed_runs> placed_runs_of_volley(storage::journal& journal,
                                            const std::string& id,
                                            const volley_record& x) {
  placed_runs placed;
  std::set<session_id> seen;
  for (const auto& task : x.request.tasks) {
    if (!seen.insert(*task.session).second) continue;
    auto some = runs_in_session(journal, id, *task.session);
    if (!some) return unexpected{std::move(some.error())};
    std::ranges::move(*some, std::back_inserter(placed));
  }
  std::ranges::stable_sort(placed, {}, [](const auto& y) { return y.first; });
  return placed;
}

expected<std::vector<storage::run_record>> runs_of_volley(
    storage::journal& journal, const std::string& id, const volley_record& x) {
  auto placed = placed_runs_of_volley(journal, id, x);
  if (!placed) return unexpected{std::move(placed.error())};
  std::vector<storage::run_record> out;
  out.reserve(placed->size());
  for (auto& [task, run] : *placed) out.push_back(std::move(run));
  return out;
}

expected<void> ask_volley_end(storage::journal& journal, const std::string& id,
                              const std::string& reason) {
  return journal.set_state({session_id{id}, end_key, reason});
}

std::optional<std::string> asked_volley_end(storage::journal& journal,
                                            const std::string& id) {
  const auto state = journal.load_state(session_id{id});
  if (!state) return std::nullopt;
  const auto found = state->find(end_key);
  if (found == state->end()) return std::nullopt;
  return found->second;
}

std::uint32_t tries_left(const std::optional<error>& failure,
                         std::uint32_t runs, std::uint32_t max_retries) {
  const bool again = failure && failure->retryable && runs <= max_retries;
  return again ? max_retries + 1 - runs : 0;
}

std::vector<std::string> left_volleys(const std::filesystem::path& folder) {
  std::vector<std::string> out;
  if (folder.empty()) return out;
  std::error_code gone;
  for (std::filesystem::directory_iterator i{folder, gone}, end;
       !gone && i != end; i.increment(gone)) {
    auto id = i->path().stem().string();
    if (is_volley(id) && i->path().extension() == ".lock" &&
        !is_worked_on(folder, id))
      out.push_back(std::move(id));
  }
  std::ranges::sort(out, std::greater{});
  return out;
}

bool is_worked_on(const std::filesystem::path& folder, const std::string& id) {
  if (folder.empty()) return false;
  const auto file = folder / (id + ".lock");
  const unique_fd fd{::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  return fd && !try_lock(fd, lock_kind::shared) && errno == EWOULDBLOCK;
}

volley_lock::~volley_lock() {
  // Still locked: whoever waits for the name finds that it leads elsewhere.
  if (leads_to(file_, fd_)) ::unlink(file_.c_str());
}

expected<std::shared_ptr<volley_lock>> lock_volley(
    const std::filesystem::path& folder, const std::string& id) {
  constexpr int most_tries = 100;
  if (folder.empty()) return std::shared_ptr<volley_lock>{};
  if (auto made = storage::make_private_folder(folder); !made)
    return unexpected{std::move(made.error())};
  auto file = folder / (id + ".lock");
  for (int tries = 0; tries < most_tries; ++tries) {
    unique_fd fd{
        ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (!fd) return cannot_lock(file, errno);
    // Who only looks (`is_worked_on`) holds it for a moment.
    const auto soon =
        std::chrono::steady_clock::now() + std::chrono::milliseconds{20};
    if (!lock_until(fd, lock_kind::exclusive, soon)) {
      if (errno != EWOULDBLOCK) return cannot_lock(file, errno);
      return unexpected{error{errc::session_busy, volley_op,
                              "another process works on volley " + id +
                                  "; it ends there, or by Ctrl-C there"}};
    }
    if (leads_to(file, fd))
      return std::make_shared<volley_lock>(std::move(file), std::move(fd));
  }
  return cannot_lock(file, EAGAIN);
}

}  // namespace riffle::service
