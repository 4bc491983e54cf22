// SPDX-License-Identifier: MIT
// Options that are given once count for each task, and for each step.
#include <atomic>
#include <set>
#include <sstream>

#include "tests/e2e/tasks_place.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;
using words = std::vector<std::string>;

TEST_CASE("what a plan is told on the command line, its steps are told") {
  tasks_place x;
  x.folder.write("p.json", two_steps);
  auto end =
      x.run({"plan", "--agent", "writer", "--session", "mine", "--context",
             "beside it all", "--output", "json", "p.json"});
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(json::parse(end.out).at("session_id") == "mine");
  const auto asked = x.asked();
  CHECK(asked.size() == 2);
  for (const auto& request : asked) {
    CHECK(said_by(request, "system").starts_with("You write."));
    CHECK(holds(said_by(request, "user"), "beside it all"));
  }
  end = x.run({"plan", "--stats", "p.json"});
  CHECK(holds(end.err, "[STATS] "));
  CHECK(holds(end.err, "2 steps"));
}

TEST_CASE("the limit of steps counts for each step's run of a plan") {
  const work_folder folder;
  http_server server{[](const http_request&) {
    return respond_sse(calls({{"read", {{"path", "p.json"}}}}));
  }};
  folder.configure(server.url("/v1"));
  folder.write("p.json", two_steps);
  const auto end =
      riffle::testing::riffle(folder, {"plan", "--max-steps", "2", "p.json"});
  INFO(end.err);
  CHECK(end.status == 1);
  CHECK(server.requests().size() <= 3);  // an agent's own limit is far higher
}

TEST_CASE("thoughts and statistics are shown where that is wanted") {
  const work_folder folder;
  http_server server{[](const http_request&) {
    const json thought = {{"id", "1"},
                          {"object", "chat.completion.chunk"},
                          {"model", "m"},
                          {"choices",
                           {{{"index", 0},
                             {"delta", {{"reasoning_content", "I wonder.\n"}}},
                             {"finish_reason", nullptr}}}}};
    return respond_sse("data: " + thought.dump() + "\n\n" + answer("ok"));
  }};
  folder.configure(server.url("/v1"));
  folder.write("p.json", two_steps);
  for (const words& of : {words{"run", "a b"}, words{"run", "a b", "c d"},
                          words{"plan", "p.json"}}) {
    CAPTURE(of);
    const auto without = riffle::testing::riffle(folder, of);
    CHECK_FALSE(holds(without.err, "[THINK]"));
    CHECK_FALSE(holds(without.err, "[STATS]"));
    auto more = of;
    more.insert(more.begin() + 1, {"--show-reasoning", "--stats"});
    const auto with = riffle::testing::riffle(folder, more);
    INFO(with.err);
    CHECK(with.status == 0);
    CHECK(holds(with.err, "[THINK] I wonder.\n"));
    CHECK(holds(with.err, "[STATS] "));
  }
}

TEST_CASE("what is said once counts for each of several tasks") {
  tasks_place x;
  x.folder.write("aside.txt", "stands aside\n");
  x.folder.write("form.json",
                 R"({"type": "object", "properties": {"n": {"type": "integer"}},
                     "required": ["n"], "additionalProperties": false})");
  const auto end =
      x.run({"run", "a b", "c d", "--context-file", "aside.txt", "--agent",
             "writer", "--schema", "form.json", "--max-steps", "2"});
  CHECK(end.status == 1);  // "ok" is no such answer
  const auto asked = x.asked();
  CHECK(asked.size() >= 2);
  for (const auto& request : asked) {
    CHECK(holds(said_by(request, "user"), "stands aside"));
    CHECK(said_by(request, "system").starts_with("You write."));
    CHECK(holds(request.dump(), "additionalProperties"));
  }
  const auto piped = x.sh("printf 'one\\ntwo\\n' | $RIFFLE --tasks-file -");
  CHECK(piped.status == 0);
  CHECK(piped.out == "[1/2] one\nok\n\n[2/2] two\nok\n\n");
}

TEST_CASE("a line for each call of each task, where that is wanted") {
  const work_folder folder;
  folder.write("a.txt", "A\n");
  http_server server{[](const http_request& x) {
    if (!tool_messages(x).empty()) return respond_sse(answer("ok"));
    return respond_sse(calls({{"read", {{"path", "a.txt"}}}}));
  }};
  folder.configure(server.url("/v1"));
  const auto end = riffle::testing::riffle(
      folder, {"run", "-q", "--emit-tool-trace", "a b", "c d"});
  CHECK(end.status == 0);
  std::set<std::string> runs;
  std::size_t lines = 0;
  std::istringstream in{end.err};
  for (std::string line; std::getline(in, line); ++lines) {
    const auto one = json::parse(line, nullptr, false);
    REQUIRE(one.is_object());
    CHECK(one.at("tool") == "read");
    runs.insert(one.at("run_id"));
  }
  CHECK(lines == 2);
  CHECK(runs.size() == 2);
}

TEST_CASE("what is chosen when a volley goes on counts for its tasks") {
  const work_folder folder;
  std::atomic<bool> hangs = true;
  http_server server{[&](const http_request& x) {
    if (hangs) return http_reply::sse().stall();
    if (holds(x.body, "calls much"))
      return respond_sse(calls({{"read", {{"path", "riffle.toml"}}}}));
    if (holds(x.body, "takes long"))
      return http_reply::sse().pause(60s).send(answer("late"));
    return respond_sse(answer("ok"));
  }};
  folder.configure(server.url("/v1"),
                   "model = \"m\"\n[models.other]\nbase_url = \"" +
                       server.url("/v1") + "\"\nmodel = \"m2\"\n");
  std::string id;
  {
    program volley{
        installed_riffle(),
        folder,
        {"run", "--workers", "1", "is held", "calls much", "takes long"}};
    REQUIRE(eventually([&] { return server.requests().size() == 1; }));
    id = id_in(volley.err(), "volley_");
    volley.signal(SIGKILL);
    volley.wait();
  }
  hangs = false;
  const auto end = riffle::testing::riffle(
      folder, {"sessions", "resume", id, "-m", "other", "--max-steps", "2",
               "--timeout", "3s", "--output", "json"});
  INFO(end.err);
  const auto results = json::parse(end.out).at("results");
  CHECK(end.status == 124);
  CHECK(results[0].at("answer") == "ok");
  CHECK(results[1].at("status") == "failed");
  CHECK(results[1].at("steps") == 2);
  CHECK(holds(results[2].dump(), "timeout"));
  const auto asked = server.requests();
  CHECK(asked.size() == 5);
  for (std::size_t i = 1; i < asked.size(); ++i)
    CHECK(json::parse(asked[i].body).at("model") == "m2");
}
