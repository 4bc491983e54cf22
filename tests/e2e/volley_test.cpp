// SPDX-License-Identifier: MIT
// Many tasks at once: the real program.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;
using words = std::vector<std::string>;

namespace {

/// The last thing that the user said.
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

}  // namespace

TEST_CASE("several tasks are answered in their order, whoever is first") {
  const work_folder folder;
  http_server server{[](const http_request& x) {
    const auto task = task_of(x);
    auto reply = http_reply::sse();
    if (task == "the first") reply.pause(300ms);
    return std::move(reply).send(answer("said " + task));
  }};
  folder.configure(server.url("/v1"));
  const auto end = run(folder, {"run", "the first", "the second", "the third"});
  CHECK(end.status == 0);
  CHECK(end.out ==
        "[1/3] the first\nsaid the first\n\n"
        "[2/3] the second\nsaid the second\n\n"
        "[3/3] the third\nsaid the third\n\n");
  CHECK(end.err.find("[1/3] ▶ the first") != std::string::npos);
  CHECK(end.err.find("[2/3] ✓ the second (") <
        end.err.find("[1/3] ✓ the first ("));
}

TEST_CASE("a volley as one object, and as events") {
  const work_folder folder;
  folder.write("tasks.txt",
               "one\n# no\n{\"task\": \"two\", \"session\": \"mine\"}\n");
  http_server server{[](const http_request& x) {
    if (task_of(x) == "two") return http_reply::json("{}", 400);
    return respond_sse(answer("fine"));
  }};
  folder.configure(server.url("/v1"));
  const auto end = run(folder, {"run", "--tasks-file", "tasks.txt", "three",
                                "--output", "json"});
  CHECK(end.status == 1);
  const auto x = json::parse(end.out);
  REQUIRE(x.at("results").size() == 3);
  CHECK(x.at("results")[0].at("task") == "one");
  CHECK(x.at("results")[0].at("answer") == "fine");
  CHECK(x.at("results")[0].at("status") == "completed");
  CHECK(x.at("results")[1].at("session_id") == "mine");
  CHECK(x.at("results")[1].at("status") == "failed");
  CHECK(x.at("results")[1].contains("error"));
  CHECK(x.at("results")[2].at("task") == "three");
  std::uint64_t sum = 0;
  for (const auto& one : x.at("results"))
    sum += one.at("usage").at("input_tokens").get<std::uint64_t>();
  CHECK(x.at("totals").at("usage").at("input_tokens") == sum);
  CHECK(x.at("volley_id").get<std::string>().starts_with("volley_"));

  const auto lines =
      run(folder, {"run", "a b", "c d", "--workers", "1", "--output", "jsonl"});
  CHECK(of_type(checked_events(lines.out), "run_finished").size() == 2);
}

TEST_CASE("no more tasks run than there are workers") {
  const work_folder folder;
  std::atomic<int> begun = 0;
  std::atomic<int> released = 0;
  std::atomic<int> most = 0;
  http_server server{[&](const http_request&) {
    const int n = ++begun;
    most = std::max(most.load(), n - released);
    return http_reply::sse()
        .stall("gate" + std::to_string(n))
        .send(answer("x"));
  }};
  folder.configure(server.url("/v1"));
  words all{"run", "--workers", "3", "--"};
  for (int i = 0; i < 9; ++i) all.push_back("task" + std::to_string(i));
  program volley{installed_riffle(), folder, all};
  for (int i = 1; i <= 9; ++i) {
    REQUIRE(eventually([&] { return begun >= std::min(9, i + 2); }));
    ++released;
    server.release("gate" + std::to_string(i));
  }
  CHECK(volley.wait().status == 0);
  CHECK(most == 3);
}

TEST_CASE("what may pass is tried again, and only so often") {
  const work_folder folder;
  std::mutex mutex;
  std::map<std::string, int> asked;
  http_server server{[&](const http_request& x) {
    const std::lock_guard lock{mutex};
    const auto task = task_of(x);
    const int n = ++asked[task];
    if (task == "never works" || (task == "works later" && n == 1))
      return http_reply::json("{}", 503);
    return respond_sse(answer("fine"));
  }};
  folder.configure(server.url("/v1"),
                   "[models.default.retry]\nmax_attempts = 1\n");
  const auto end = run(folder, {"run", "works later", "never works", "is good",
                                "--max-retries", "1", "--output", "json"});
  CHECK(end.status == 1);
  const auto results = json::parse(end.out).at("results");
  CHECK(results[0].at("status") == "completed");
  CHECK(results[0].at("attempts") == 2);
  CHECK(results[1].at("status") == "failed");
  CHECK(results[1].at("attempts") == 2);
  CHECK(results[2].at("attempts") == 1);
  CHECK(asked["never works"] == 2);
}

TEST_CASE("the first failure ends the others, where that is wanted") {
  const work_folder folder;
  http_server server{[&](const http_request& x) {
    if (task_of(x) == "it fails") return http_reply::json("{}", 400);
    return http_reply::sse().pause(20s).send(answer("late"));
  }};
  folder.configure(server.url("/v1"));
  const auto end =
      run(folder, {"run", "it waits", "it fails", "not begun", "--workers", "2",
                   "--fail-fast", "--output", "json"});
  CHECK(end.status == 1);
  const auto results = json::parse(end.out).at("results");
  CHECK(results[0].at("status") == "cancelled");
  CHECK(results[0].at("error").at("message").get<std::string>().find(
            "another task failed") != std::string::npos);
  CHECK(results[1].at("status") == "failed");
  CHECK(results[2].at("status") == "not_run");
}

TEST_CASE("Ctrl-C ends a volley, and says how to go on") {
  const work_folder folder;
  std::atomic<bool> slow = true;
  http_server server{[&](const http_request& x) {
    if (task_of(x) == "is quick" || !slow) return respond_sse(answer("fine"));
    return http_reply::sse().pause(20s).send(answer("late"));
  }};
  folder.configure(server.url("/v1"));
  std::string id;
  {
    program volley{installed_riffle(),
                   folder,
                   {"run", "is quick", "is slow", "is late", "--workers", "2"}};
    REQUIRE(eventually([&] {
      return volley.err().find("✓ is quick") != std::string::npos &&
             volley.err().find("▶ is late") != std::string::npos;
    }));
    volley.signal(SIGINT);
    const auto end = volley.wait();
    CHECK(end.status == 130);
    id = volley_of(end.err);
    CHECK(end.err.find("2 of 3 tasks have not ended; go on with them: riffle "
                       "sessions resume " +
                       id) != std::string::npos);
  }
  slow = false;
  const auto before = server.requests().size();
  const auto end = run(folder, {"sessions", "resume", id, "--output", "json"});
  CHECK(end.status == 0);
  const auto results = json::parse(end.out).at("results");
  for (const auto& x : results) CHECK(x.at("answer") == "fine");
  CHECK(results[0].at("task") == "is quick");
  CHECK(server.requests().size() == before + 2);  // the quick one not again
}

TEST_CASE("a volley that is killed is finished by resume") {
  const work_folder folder;
  std::atomic<bool> slow = true;
  http_server server{[&](const http_request& x) {
    const auto task = task_of(x);
    if (!tool_messages(x).empty()) {
      if (slow && task == "task1")
        return http_reply::sse().pause(20s).send(answer("late"));
      return respond_sse(answer("done " + task));
    }
    return respond_sse(
        calls({{"bash", {{"command", "echo " + task + " >> effects"}}}}));
  }};
  folder.configure(server.url("/v1"));
  std::string id;
  {
    program volley{installed_riffle(),
                   folder,
                   {"run", "--approve", "all", "--workers", "2", "--", "task0",
                    "task1", "task2", "task3"}};
    REQUIRE(eventually([&] {
      return volley.err().find("✓ task3") != std::string::npos &&
             server.requests().size() >= 8;
    }));
    id = volley_of(volley.err());
    const auto busy = run(folder, {"sessions", "resume", id});
    CHECK(busy.status == 2);
    CHECK(busy.err.find("another process works on volley") !=
          std::string::npos);
    volley.signal(SIGKILL);
    CHECK(volley.wait().status == 128 + SIGKILL);
  }
  slow = false;
  const auto end = run(folder, {"sessions", "resume", id, "--approve", "all"});
  CHECK(end.status == 0);
  CHECK(end.out ==
        "[1/4] task0\ndone task0\n\n[2/4] task1\ndone task1\n\n"
        "[3/4] task2\ndone task2\n\n[4/4] task3\ndone task3\n\n");
  auto effects = folder.lines("effects");
  std::ranges::sort(effects);
  CHECK(effects == words{"task0", "task1", "task2", "task3"});  // each once
  const auto listed = run(folder, {"sessions", "list"});
  const auto ending = id.substr(id.size() - 6);
  CHECK(listed.out.starts_with(ending + "  just now    completed    "));
  CHECK(listed.out.find("   volley, 4 of 4 done\n  ") != std::string::npos);
  CHECK(run(folder, {"sessions", "show", ending}).out.starts_with(id + ", "));
  const auto objects =
      json::parse(run(folder, {"sessions", "list", "--output", "json"}).out);
  CHECK(objects.at(0).at("volley_id") == id);
  const auto again = run(folder, {"sessions", "resume", id});
  CHECK(again.status == 0);
  CHECK(folder.lines("effects").size() == 4);
}

TEST_CASE("tasks of one session run one after the other") {
  const work_folder folder;
  http_server server{[](const http_request& x) {
    std::string said;
    const auto body = json::parse(x.body);
    for (const auto& m : body.at("messages"))
      if (m.at("role") == "user") said += m.at("content").get<std::string>();
    return http_reply::sse().pause(50ms).send(answer("after " + said));
  }};
  folder.configure(server.url("/v1"));
  const auto end = run(folder, {"run", "--session", "s", "--", "a", "b", "c"});
  CHECK(end.status == 0);
  CHECK(end.out ==
        "[1/3] a\nafter a\n\n[2/3] b\nafter ab\n\n[3/3] c\nafter abc\n\n");
}

TEST_CASE("a volley is deleted by its id, with what it made") {
  const work_folder folder;
  http_server server{
      [](const http_request&) { return respond_sse(answer("fine")); }};
  folder.configure(server.url("/v1"));
  REQUIRE(run(folder, {"run", "--session", "mine", "before"}).status == 0);
  folder.write("t.txt",
               "one\ntwo\n{\"task\": \"three\", \"session\": \"mine\"}\n");
  const auto id = volley_of(run(folder, {"run", "--tasks-file", "t.txt"}).err);
  const auto end = run(folder, {"sessions", "delete", id});
  CHECK(end.status == 0);
  CHECK(end.err.find("volley " + id +
                     " is deleted, with 2 sessions and 2 runs; 1 session "
                     "where something else has run too is kept") !=
        std::string::npos);
  const auto left =
      json::parse(run(folder, {"sessions", "list", "--output", "json"}).out);
  REQUIRE(left.size() == 1);
  CHECK(left.at(0).at("session_id") == "mine");
  const auto gone = run(folder, {"sessions", "resume", id});
  CHECK(gone.status == 2);
  const auto again = run(folder, {"sessions", "delete", id});
  CHECK(again.status == 2);
  CHECK(again.err.find("there is no volley \"" + id + "\"") !=
        std::string::npos);
}

TEST_CASE("a volley that there is not cannot be resumed") {
  const work_folder folder;
  folder.configure("http://127.0.0.1:9/v1");
  const auto end = run(folder, {"sessions", "resume", "volley_nothing"});
  CHECK(end.status == 2);
  CHECK(end.err.find("there is no volley \"volley_nothing\"") !=
        std::string::npos);
  const auto plan = run(folder, {"sessions", "resume", "plan_nothing"});
  CHECK(plan.status == 2);
  CHECK(plan.err.find("there is no plan \"plan_nothing\"") !=
        std::string::npos);
}

TEST_CASE("a mistake in one task starts none") {
  const work_folder folder;
  folder.configure("http://127.0.0.1:9/v1");
  folder.write("t.txt", "good\n{\"task\": \"x\", \"agent\": \"nobody\"}\n");
  const auto end = run(folder, {"run", "--tasks-file", "t.txt"});
  CHECK(end.status == 2);
  CHECK(end.err.find("task 2 of 2: there is no agent \"nobody\"") !=
        std::string::npos);
  CHECK(end.err.find("[VOLLEY]") == std::string::npos);
}
