// SPDX-License-Identifier: MIT
// Several tasks at once, as an application starts them.
#include "runtime/api/volley.hpp"

#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <sstream>

#include "messages/event_check.hpp"
#include "runtime/config/config.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;
using testing::scaled;
using testing::temp_folder;

namespace {

runtime make_runtime(const std::string& script,
                     const temp_folder* data = nullptr,
                     std::uint32_t max_runs = 0) {
  config::config config;
  config.runtime.max_runs = max_runs;
  if (data != nullptr)
    config.runtime.data_dir = (data->path() / "data").string();
  config.models["default"].dialect = "scripted";
  config.models["default"].max_concurrent = 0;
  config.agents["default"].tools = {};
  runtime_options options;
  if (data == nullptr) options.journal = storage::make_memory_journal();
  options.scripts["default"] = script;
  auto made = runtime::create(std::move(config), std::move(options));
  INFO((made ? "" : render(made.error())));
  REQUIRE(made);
  return std::move(*made);
}

const std::string echo = "[[steps]]\ntext = \"It was {{task}}.\"\n";

/// Reads all of a volley; the lines of each task.
struct read_volley {
  explicit read_volley(volley& x) {
    const auto end = std::chrono::steady_clock::now() + scaled(30s);
    while (!x.ended() && std::chrono::steady_clock::now() < end) {
      const auto update = x.next(scaled(1s));
      if (!update) continue;
      auto& lines = logs[update->task];
      CHECK_FALSE(results.contains(update->task));  // it is the last
      if (update->run) ++runs[update->task];
      if (update->events) lines += update->events->lines();
      if (update->result) results[update->task] = *update->result;
    }
    CHECK(x.ended());
  }
  std::map<std::size_t, std::string> logs;
  std::map<std::size_t, int> runs;
  std::map<std::size_t, task_result> results;
};

}  // namespace

TEST_CASE("a volley hands over whole logs, each in order, then its results") {
  auto runtime = make_runtime(echo);
  volley_request request;
  for (int i = 0; i < 40; ++i)
    request.tasks.push_back({.task = "t" + std::to_string(i)});
  request.workers = 7;
  auto started = runtime.start_volley(std::move(request));
  REQUIRE(started);
  CHECK(started->id().starts_with("volley_"));
  CHECK(started->tasks().size() == 40);
  const read_volley all{*started};
  CHECK_FALSE(started->failure());
  REQUIRE(all.results.size() == 40);
  for (const auto& [task, result] : all.results) {
    CHECK(result.task == task);
    CHECK(result.status == task_status::completed);
    CHECK(result.attempts == 1);
    CHECK(result.session == started->tasks()[task].session);
    event_checker checker;
    std::istringstream lines{all.logs.at(task)};
    for (std::string line; std::getline(lines, line);)
      CHECK_FALSE(checker.on_line(line));
    CHECK(checker.finish().empty());
    CHECK(all.logs.at(task).find("It was t" + std::to_string(task) + ".") !=
          std::string::npos);
  }
}

TEST_CASE("nobody has to read a volley") {
  // More than any buffer that could stand between holds.
  constexpr std::size_t tasks = 20;
  const std::string text(400'000, 'x');
  auto runtime =
      make_runtime("chunk = 4000\n[[steps]]\ntext = \"" + text + "\"\n");
  volley_request request;
  for (std::size_t i = 0; i < tasks; ++i)
    request.tasks.push_back({.task = "a"});
  auto started = runtime.start_volley(std::move(request));
  REQUIRE(started);
  const auto results = started->wait(scaled(60s));
  REQUIRE(results);
  REQUIRE(results->size() == tasks);
  for (const auto& x : *results) CHECK(x.answer.size() == text.size());
}

TEST_CASE("a callback gets the results with their answers, without a thread") {
  auto runtime = make_runtime(echo);
  auto started =
      runtime.start_volley({.tasks = {{.task = "a"}, {.task = "b"}}});
  REQUIRE(started);
  std::promise<expected<std::vector<task_result>>> told;
  auto results = told.get_future();
  started->on_end([&](const auto& x) { told.set_value(x); });
  REQUIRE(results.wait_for(scaled(20s)) == std::future_status::ready);
  const auto all = results.get();
  REQUIRE(all);
  REQUIRE(all->size() == 2);
  CHECK(all->at(0).answer == "It was a.");
  CHECK(all->at(1).answer == "It was b.");
  // Who asks when it is over is told at once.
  bool at_once = false;
  started->on_end([&](const auto& x) { at_once = x->size() == 2; });
  CHECK(at_once);
}

TEST_CASE("a volley that is not over is not waited for longer than wanted") {
  auto runtime =
      make_runtime("delay = \"20s\"\nchunk = 1\n[[steps]]\ntext = \"long\"\n");
  auto started = runtime.start_volley(
      {.tasks = {{.task = "a"}, {.task = "b"}}, .workers = 1});
  REQUIRE(started);
  const auto early = started->wait(1ms);
  REQUIRE_FALSE(early);
  CHECK(early.error().code == errc::timeout);
  started->cancel("enough");
  const auto results = started->wait(scaled(20s));
  REQUIRE(results);
  CHECK(results->at(0).status == task_status::cancelled);
  CHECK(results->at(1).status == task_status::not_run);
}

TEST_CASE("a volley without a task is refused, and so is an empty one") {
  auto runtime = make_runtime(echo);
  const auto none = runtime.start_volley({});
  REQUIRE_FALSE(none);
  CHECK(none.error().code == errc::invalid_request);
  const auto empty =
      runtime.start_volley({.tasks = {{.task = "a"}, {.task = ""}}});
  REQUIRE_FALSE(empty);
  CHECK(empty.error().message.find("task 2 of 2 is empty") !=
        std::string::npos);
}

TEST_CASE("what cannot start is its task's failure") {
  auto runtime = make_runtime(echo);
  auto started = runtime.start_volley(
      {.tasks = {{.task = "a", .agent = "nobody"}, {.task = "b"}}});
  REQUIRE(started);
  const auto results = started->wait(scaled(20s));
  REQUIRE(results);
  CHECK(results->at(0).status == task_status::failed);
  REQUIRE(results->at(0).failure);
  CHECK(results->at(0).failure->code == errc::not_found);
  CHECK(results->at(1).status == task_status::completed);
}

TEST_CASE("a volley with more workers than runs there may be fails no task") {
  auto runtime = make_runtime(echo, nullptr, 2);
  volley_request request;
  for (int i = 0; i < 12; ++i) request.tasks.push_back({.task = "t"});
  request.workers = 8;
  auto started = runtime.start_volley(std::move(request));
  REQUIRE(started);
  const auto results = started->wait(scaled(60s));
  REQUIRE(results);
  for (const auto& x : *results) {
    CHECK(x.status == task_status::completed);
    CHECK(x.attempts == 1);
  }
}

TEST_CASE("a volley is resumed by its id, and what ended is told at once") {
  const temp_folder folder;
  std::string id;
  {
    auto runtime = make_runtime(echo, &folder);
    auto started =
        runtime.start_volley({.tasks = {{.task = "a"}, {.task = "b"}}});
    REQUIRE(started);
    id = started->id();
    REQUIRE(started->wait(scaled(20s)));
    CHECK(std::filesystem::is_empty(folder.path() / "data" / "volleys"));
  }
  auto runtime = make_runtime("no script may run", &folder);
  auto again = runtime.resume_volley(id);
  REQUIRE(again);
  const read_volley all{*again};
  REQUIRE(all.results.size() == 2);
  CHECK(all.results.at(0).status == task_status::completed);
  CHECK(all.results.at(0).run);
  CHECK(all.results.at(0).answer == "It was a.");
  CHECK(all.runs.empty());
  const auto none = runtime.resume_volley("volley_x");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == errc::not_found);
}

TEST_CASE("a runtime that ends while a volley runs lets its handle go on") {
  std::optional<volley> left;
  {
    auto runtime = make_runtime(
        "delay = \"20s\"\nchunk = 1\n[[steps]]\ntext = \"long\"\n");
    auto started = runtime.start_volley(
        {.tasks = {{.task = "a"}, {.task = "b"}}, .workers = 1});
    REQUIRE(started);
    left.emplace(std::move(*started));
  }
  const auto results = left->wait(scaled(20s));
  if (results)
    for (const auto& x : *results) CHECK(x.status != task_status::completed);
  left->cancel();
  while (!left->ended())
    if (!left->next(scaled(1s))) break;
  CHECK(left->ended());
}

TEST_CASE("the end of a run is a call, without a thread that waits") {
  auto runtime = make_runtime(echo);
  std::promise<expected<run_outcome>> told;
  auto end = told.get_future();
  std::optional<run> kept;
  {
    auto started = runtime.start({.task = "a"});
    REQUIRE(started);
    started->on_end([&](const auto& x) { told.set_value(x); });
    kept = *started;
  }
  REQUIRE(end.wait_for(scaled(20s)) == std::future_status::ready);
  const auto outcome = end.get();
  REQUIRE(outcome);
  CHECK(outcome->answer == "It was a.");
  // Who asks when it is over is told at once, once.
  int at_once = 0;
  kept->on_end([&](const auto& x) { at_once += x->answer == "It was a."; });
  CHECK(at_once == 1);
}

TEST_CASE("who waits for the end of a run is told when its runtime ends") {
  std::promise<expected<run_outcome>> told;
  auto end = told.get_future();
  {
    auto runtime = make_runtime(
        "delay = \"20s\"\nchunk = 1\n[[steps]]\ntext = \"long\"\n");
    auto started = runtime.start({.task = "a"});
    REQUIRE(started);
    started->on_end([&](const auto& x) { told.set_value(x); });
  }
  REQUIRE(end.wait_for(scaled(20s)) == std::future_status::ready);
  const auto how = end.get();
  CHECK((!how || how->status == events::run_status::cancelled));
}
