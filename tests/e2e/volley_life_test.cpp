// SPDX-License-Identifier: MIT
// A volley that is cancelled, killed, refused, looked at: the real program.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;
using words = std::vector<std::string>;

namespace {

std::string task_of(const http_request& x) {
  std::string task;
  const auto body = json::parse(x.body);
  for (const auto& m : body.at("messages"))
    if (m.at("role") == "user") task = m.at("content");
  return task;
}

finished run(const work_folder& folder, words arguments) {
  return riffle::testing::riffle(folder, std::move(arguments));
}

std::string volley_of(const std::string& err) {
  const auto at = err.find("volley_");
  REQUIRE(at != std::string::npos);
  return err.substr(at, err.find_first_of(", \n", at) - at);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Answers "quick" at once and everything else late, while it is slow.
struct slow_place {
  slow_place() { folder.configure(server.url("/v1")); }

  const work_folder folder;
  std::atomic<bool> slow = true;
  http_server server{[this](const http_request& x) {
    if (!slow || task_of(x).starts_with("quick"))
      return respond_sse(answer("fine " + task_of(x)));
    return http_reply::sse().pause(20s).send(answer("late"));
  }};
};

}  // namespace

TEST_CASE("sessions cancel ends a volley of another process, and all of it") {
  slow_place x;
  program volley{installed_riffle(),
                 x.folder,
                 {"run", "--workers", "2", "--", "quick", "b", "c", "d", "e"}};
  REQUIRE(eventually([&] { return has(volley.err(), "▶ c"); }));
  const auto id = volley_of(volley.err());
  const auto end =
      run(x.folder, {"sessions", "cancel", id, "--reason", "no money"});
  CAPTURE(end.err);
  CHECK(end.status == 0);
  CHECK(has(end.err, "volley " + id +
                         " is cancelled; 1 of 5 tasks had ended; go on with: "
                         "riffle sessions resume " +
                         id));
  const auto told = volley.wait();
  CHECK(told.status == 130);
  CHECK_FALSE(has(told.err, "▶ d"));  // nothing began in their place
  CHECK_FALSE(has(told.out, "cancelled: cancelled"));
  CHECK(has(told.out, "(cancelled: no money)"));
  const auto again = run(x.folder, {"sessions", "cancel", id});
  CHECK(again.status == 2);
  CHECK(has(again.err, "no run of volley " + id + " is under way"));
  // It can go on all the same.
  x.slow = false;
  const auto rest = run(x.folder, {"sessions", "resume", id});
  CHECK(rest.status == 0);
  CHECK(has(rest.out, "[5/5] e\nfine e\n"));
}

namespace {

/// Whose server fails, so that its tasks wait between two runs for seconds.
struct pausing_place {
  pausing_place() {
    folder.configure(server.url("/v1"),
                     "[models.default.retry]\nmax_attempts = 1\n");
    volley.emplace(
        installed_riffle(), folder,
        words{"run", "--max-retries", "9", "--", "one task", "another"});
  }
  /// Both tasks have had some runs and wait for the next one.
  void await_pause() const {
    REQUIRE(eventually([&] { return server.requests().size() >= 6; }));
    REQUIRE(eventually([&] {
      const auto runs = run(folder, {"sessions", "list", "--output", "json"});
      return !has(runs.out, "\"active\"");
    }));
  }

  const work_folder folder;
  http_server server{
      [](const http_request&) { return http_reply::json("{}", 503); }};
  std::optional<program> volley;
};

}  // namespace

TEST_CASE("Ctrl-C between two runs of its tasks ends a volley as in a run") {
  pausing_place x;
  x.await_pause();
  const auto id = volley_of(x.volley->err());
  x.volley->signal(SIGINT);
  const auto end = x.volley->wait();
  CAPTURE(end.err, end.out);
  CHECK(end.status == 130);
  CHECK(has(end.err, "riffle sessions resume"));
  CHECK(has(end.err, id));
}

TEST_CASE("sessions cancel ends a volley between two runs of its tasks") {
  pausing_place x;
  x.await_pause();
  const auto id = volley_of(x.volley->err());
  const auto end = run(x.folder, {"sessions", "cancel", id});
  CAPTURE(end.err);
  CHECK(end.status == 0);
  const auto told = x.volley->wait();
  CAPTURE(told.err, told.out);
  CHECK(told.status == 130);
  // It was asked to end in a pause, and begins no further runs.
  CHECK(x.server.requests().size() <= 10);
}

TEST_CASE("sessions cancel ends what a killed volley has left") {
  slow_place x;
  std::string id;
  {
    program volley{
        installed_riffle(), x.folder, {"run", "--", "quick", "b", "c"}};
    REQUIRE(eventually([&] {
      return has(volley.err(), "✓ quick") && x.server.requests().size() == 3;
    }));
    id = volley_of(volley.err());
    volley.signal(SIGKILL);
    volley.wait();
  }
  const auto offered = run(x.folder, {"run", "quick one"});
  CHECK(has(offered.err,
            "A volley of 3 tasks of this folder was not finished: " + id));
  CHECK(has(offered.err, "'riffle sessions resume " + id + "' finishes it"));
  CHECK(run(x.folder, {"completion", "--names", "unfinished"}).out ==
        id + "\n");  // and none of its tasks
  const auto end =
      run(x.folder, {"sessions", "cancel", id, "--output", "json"});
  CAPTURE(end.err);
  CHECK(end.status == 0);
  const auto told = json::parse(end.out);
  CHECK(told == json{{"volley_id", id},
                     {"state", "cancelled"},
                     {"ended", 1},
                     {"tasks", 3}});
  CHECK_FALSE(has(run(x.folder, {"run", "quick two"}).err, "not finished"));
  const auto none = run(x.folder, {"sessions", "cancel", "volley_x"});
  CHECK(none.status == 2);
  CHECK(has(none.err, "there is no volley \"volley_x\""));
}

TEST_CASE("a volley is shown by its id, and its events too") {
  slow_place x;
  const auto made = run(x.folder, {"run", "--", "quick1", "quick2"});
  const auto id = volley_of(made.err);
  const auto shown = run(x.folder, {"sessions", "show", id});
  CHECK(shown.status == 0);
  CHECK(shown.out.starts_with(id + ", 2 tasks, in "));
  CHECK(has(shown.out, "\n[1/2] completed: quick1\nsession "));
  CHECK(has(shown.out, "**You:** quick2\n\nfine quick2\n"));
  const auto object = json::parse(
      run(x.folder, {"sessions", "show", id, "--output", "json"}).out);
  CHECK(object.at("volley_id") == id);
  CHECK(object.at("tasks").at(1).at("task") == "quick2");
  CHECK(object.at("tasks").at(1).at("status") == "completed");
  CHECK(object.at("tasks").at(1).at("session").contains("runs"));
  const auto events = run(x.folder, {"sessions", "events", id});
  CHECK(of_type(checked_events(events.out), "run_finished").size() == 2);
  for (const auto* what : {"show", "events"}) {
    const auto none = run(x.folder, {"sessions", what, "volley_x"});
    CHECK(none.status == 2);
    CHECK(has(none.err, "there is no volley \"volley_x\""));
  }
  const auto names = run(x.folder, {"completion", "--names", "sessions"});
  CHECK(has(names.out, id + "\n"));
}

TEST_CASE("the statistics of a volley are told for each task and in total") {
  slow_place x;
  const auto end = run(x.folder, {"run", "--stats", "--", "quick1", "quick2"});
  CHECK(has(end.err, "[1/2]\n[STATS] completed: 1 step"));
  CHECK(has(end.err, "[STATS] all tasks: 2 steps, 0 tool calls"));
}

TEST_CASE("quiet tells on standard error what did not go well") {
  const work_folder folder;
  http_server server{[](const http_request& x) {
    if (task_of(x) == "bad") return http_reply::json("{}", 400);
    return respond_sse(answer("fine"));
  }};
  folder.configure(server.url("/v1"));
  const auto end = run(folder, {"run", "-q", "--", "good", "bad"});
  CHECK(end.status == 1);
  CHECK(end.out == "[1/2] good\nfine\n\n");
  CHECK(end.err.starts_with("[2/2] bad\n(failed: HTTP 400"));
}

TEST_CASE("a plan that was cancelled asks a model again for the cut step") {
  slow_place x;
  x.folder.write("p.json",
                 R"({"steps":[{"id":"a","instruction":"quick one"},)"
                 R"({"id":"b","instruction":"slow one"},)"
                 R"({"id":"c","instruction":"{{steps.a.output}}"}]})");
  std::string id;
  {
    program plan{installed_riffle(), x.folder, {"plan", "p.json"}};
    REQUIRE(eventually([&] { return x.server.requests().size() == 2; }));
    const auto err = plan.err();
    const auto at = err.find("plan_");
    REQUIRE(at != std::string::npos);
    id = err.substr(at, err.find(',', at) - at);
    CHECK(run(x.folder, {"sessions", "cancel", id}).status == 0);
    CHECK(plan.wait().status == 130);
  }
  x.slow = false;
  const auto end = run(x.folder, {"sessions", "resume", id});
  CAPTURE(end.err);
  CHECK(end.status == 0);
  CHECK(has(end.out, "fine fine quick one"));
  std::vector<std::string> asked;
  for (const auto& one : x.server.requests()) asked.push_back(task_of(one));
  CHECK(asked == words{"quick one", "slow one", "slow one", "fine quick one"});
}

TEST_CASE("a plan whose steps' session was deleted says that it cannot go on") {
  slow_place x;
  x.folder.write("p.json", R"({"steps":[{"instruction":"quick one"},)"
                           R"({"instruction":"slow one"}]})");
  program plan{
      installed_riffle(), x.folder, {"plan", "--session", "talk", "p.json"}};
  REQUIRE(eventually([&] { return x.server.requests().size() == 2; }));
  const auto err = plan.err();
  const auto id =
      err.substr(err.find("plan_"), err.find(',') - err.find("plan_"));
  plan.signal(SIGINT);
  CHECK(plan.wait().status == 130);
  CHECK(run(x.folder, {"sessions", "delete", "talk"}).status == 0);
  const auto end = run(x.folder, {"sessions", "resume", id});
  CAPTURE(end.err);
  CHECK(end.status == 2);
  CHECK(has(end.err, "what step \"1\" said has been deleted with its session"));
  CHECK(x.server.requests().size() == 2);
}

TEST_CASE(
    "a volley that is killed at each of its steps loses and repeats none") {
  // Each task calls a tool, then answers; the nth request of all is held, and
  // there the program is killed.
  const work_folder folder;
  std::atomic<std::size_t> held = 0;
  std::atomic<std::size_t> seen = 0;
  http_server server{[&](const http_request& x) {
    const auto n = ++seen;
    auto reply = http_reply::sse();
    if (held != 0 && n >= held) reply.pause(20s);
    const auto task = task_of(x);
    if (tool_messages(x).empty())
      return std::move(reply).send(
          calls({{"bash", {{"command", "echo " + task + " >> effects"}}}}));
    return std::move(reply).send(answer("done " + task));
  }};
  folder.configure(server.url("/v1"));
  words arguments{"run", "--approve", "all", "--workers", "1",
                  "--",  "t0",        "t1",  "t2"};
  std::string id;
  for (std::size_t step = 1; step <= 6; ++step) {
    CAPTURE(step);
    // What was asked and not answered is asked again: one more request.
    held = seen + (step == 1 ? 1 : 2);
    program volley{installed_riffle(), folder, arguments};
    const auto until = held.load();
    const bool there = eventually([&] { return seen >= until; });
    CAPTURE(volley.err());
    REQUIRE(there);
    if (step == 1) id = volley_of(volley.err());
    volley.signal(SIGKILL);
    CHECK(volley.wait().status == 128 + SIGKILL);
    arguments = {"sessions", "resume", id, "--approve", "all"};
  }
  held = 0;
  const auto end = run(folder, arguments);
  CAPTURE(end.err);
  CHECK(end.status == 0);
  CHECK(end.out ==
        "[1/3] t0\ndone t0\n\n[2/3] t1\ndone t1\n\n[3/3] t2\ndone t2\n\n");
  CHECK(folder.lines("effects") == words{"t0", "t1", "t2"});
}

TEST_CASE("a provider that crashes in a volley and comes back costs no task") {
  const work_folder folder;
  std::atomic<int> seen = 0;
  http_server server{[&](const http_request& x) {
    const int n = ++seen;
    // From the 5th to the 12th it cuts what it says, or says nothing at all.
    if (n >= 5 && n <= 12)
      return n % 2 == 0 ? http_reply::sse().reset()
                        : http_reply::sse().send(say("half ")).cut();
    return respond_sse(answer("fine " + task_of(x)));
  }};
  folder.configure(server.url("/v1"),
                   "[models.default.retry]\nmax_attempts = 10\nbase = "
                   "\"10ms\"\ncap = \"50ms\"\n");
  words arguments{"run", "--workers", "4", "--output", "json", "--"};
  for (int i = 0; i < 20; ++i) arguments.push_back("t" + std::to_string(i));
  const auto end = run(folder, arguments);
  CAPTURE(end.err);
  CHECK(end.status == 0);
  const auto results = json::parse(end.out).at("results");
  for (std::size_t i = 0; i < 20; ++i)
    CHECK(results.at(i).at("answer") == "fine t" + std::to_string(i));
  CHECK(seen == 28);
}

TEST_CASE("a storm of refusals costs a tenth of the requests at most") {
  // Ten requests in each second, then 429 with the time that is left.
  using clock = std::chrono::steady_clock;
  const work_folder folder;
  std::mutex mutex;
  clock::time_point window = clock::now();
  int in_window = 0;
  int refused = 0;
  const bool says_when = GENERATE(true, false);
  CAPTURE(says_when);
  http_server server{[&](const http_request& x) {
    const std::lock_guard lock{mutex};
    const auto now = clock::now();
    if (now >= window + 1s) {
      window = now;
      in_window = 0;
    }
    if (++in_window <= 10) return respond_sse(answer("fine " + task_of(x)));
    ++refused;
    auto reply = http_reply::json(R"({"error":{"message":"slow down"}})", 429);
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(window + 1s - now);
    if (says_when)
      reply.header("retry-after-ms", std::to_string(left.count()));
    else
      reply.header("retry-after", "1");
    return reply;
  }};
  folder.configure(server.url("/v1"));
  words arguments{"run", "--workers", "4",    "--max-retries",
                  "2",   "--output",  "json", "--"};
  for (int i = 0; i < 100; ++i) arguments.push_back("t" + std::to_string(i));
  const auto end = run(folder, arguments);
  CAPTURE(end.err);
  CHECK(end.status == 0);
  const auto results = json::parse(end.out).at("results");
  for (const auto& x : results) CHECK(x.at("status") == "completed");
  CAPTURE(refused);
  CHECK(server.requests().size() <= 110);
  CHECK(refused > 0);
}
