// SPDX-License-Identifier: MIT
// What a person at a terminal does: options, Ctrl-C, a busy session.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

http_reply slow_command(const http_request&) {
  return respond_sse(calls({{"bash",
                             {{"command",
                               "while true; do sleep 0.05; echo x >> ticks; "
                               "done"}}}}));
}

bool gone(const work_folder& folder) {
  return processes_in(folder.path()).empty();
}

}  // namespace

TEST_CASE("who goes on with a session goes on with its model") {
  const work_folder folder;
  http_server own{respond_sse(answer("own"))};
  http_server other{respond_sse(answer("other"))};
  folder.configure(own.url("/v1"), "[models.\"vllm/x\"]\nbase_url = \"" +
                                       other.url("/v1") +
                                       "\"\n[agents.second]\n");
  const auto answered = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "run");
    words.emplace_back("go");
    const auto end = riffle::testing::riffle(folder, words);
    INFO(end.err);
    CHECK(end.status == 0);
    return end.out;
  };
  CHECK(answered({}) == "own\n");
  CHECK(answered({"-c", "-m", "vllm/x"}) == "other\n");
  CHECK(answered({"-c"}) == "other\n");
  CHECK(answered({"-c", "--agent", "second"}) == "own\n");
  CHECK(answered({"--session", "mine", "-m", "vllm/x"}) == "other\n");
  CHECK(answered({"--session", "mine"}) == "other\n");
  CHECK(answered({"--session", "mine", "-m", "default"}) == "own\n");
  CHECK(answered({"--session", "mine"}) == "own\n");
  CHECK(answered({}) == "own\n");
}

TEST_CASE("who goes on with a session goes on with its agent") {
  const work_folder folder;
  http_server own{respond_sse(answer("own"))};
  http_server other{respond_sse(answer("other"))};
  const auto configure = [&](const std::string& agent) {
    folder.configure(own.url("/v1"), "[models.second]\nbase_url = \"" +
                                         other.url("/v1") + "\"\n[agents." +
                                         agent + "]\nmodel = \"second\"\n");
  };
  configure("writer");
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "run");
    words.emplace_back("go");
    auto end = riffle::testing::riffle(folder, words);
    INFO(end.err);
    CHECK(end.status == 0);
    return end;
  };
  CHECK(run({"--agent", "writer"}).out == "other\n");
  CHECK(run({"-c"}).out == "other\n");
  CHECK(run({"-c", "--agent", "default"}).out == "own\n");
  CHECK(run({"-c"}).out == "own\n");
  CHECK(run({"--session", "mine", "--agent", "writer"}).out == "other\n");
  CHECK(run({"--session", "mine"}).out == "other\n");
  configure("editor");
  const auto gone = run({"--session", "mine"});
  CHECK(gone.out == "own\n");
  CHECK(gone.err.find("the agent of this session, \"writer\", is not in the "
                      "configuration any more; it goes on with the agent "
                      "\"default\"") != std::string::npos);
  // It was said, and is so from then on.
  CHECK(run({"--session", "mine"}).err.find("any more") == std::string::npos);
}

TEST_CASE("riffle alone says how to ask without a terminal") {
  const work_folder folder;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"-c"}}) {
    const auto end = riffle::testing::riffle(folder, words);
    CHECK(end.status == 2);
    CHECK(end.err.find("without one: riffle run TASK") != std::string::npos);
  }
}

TEST_CASE("Ctrl-C cancels, settles and ends with 130") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    DYNAMIC_SECTION("signal " << number) {
      const work_folder folder;
      http_server server{slow_command};
      folder.configure(server.url("/v1"));
      program running{installed_riffle(),
                      folder,
                      {"run", "go", "--approve", "all", "--output", "jsonl"}};
      REQUIRE(eventually([&] { return !folder.lines("ticks").empty(); }));
      running.signal(number);
      const auto end = running.wait(20s);
      CHECK(end.status == 130);
      CHECK(gone(folder));
      const auto events = checked_events(end.out);
      CHECK(of_type(events, "tool_result").at(0).at("data").at("outcome") ==
            "cancelled");
      CHECK(of_type(events, "run_finished").at(0).at("data").at("status") ==
            "cancelled");
    }
  }
}

TEST_CASE("the time limit of a run ends it with 124") {
  const work_folder folder;
  http_server server{slow_command};
  folder.configure(server.url("/v1"));
  const auto end =
      riffle::testing::riffle(folder, {"run", "go", "--approve", "all",
                                       "--timeout", "1s", "--output", "jsonl"});
  CHECK(end.status == 124);
  CHECK(gone(folder));
  const auto events = checked_events(end.out);
  CHECK(of_type(events, "error").at(0).at("data").at("code") == "timeout");
}

TEST_CASE("a tool's time limit ends the call, not the run") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    if (tool_messages(request).empty()) return slow_command(request);
    return respond_sse(answer("too slow"));
  }};
  folder.configure(server.url("/v1"), "[tools.bash]\ntimeout = \"500ms\"\n");
  const auto end = riffle::testing::riffle(
      folder, {"run", "go", "--approve", "all", "--output", "jsonl"});
  CHECK(end.status == 0);
  CHECK(gone(folder));
  const auto result =
      of_type(checked_events(end.out), "tool_result").at(0).at("data");
  CHECK(result.at("outcome") == "timed_out");
  CHECK(result.at("error").at("code") == "timeout");
}

TEST_CASE("the step limit ends the run with its own error") {
  const work_folder folder;
  folder.write("a.txt", "A");
  http_server server{[n = 0](const http_request&) mutable {
    return respond_sse(calls({{"read", {{"path", "a.txt"}, {"limit", ++n}}}}));
  }};
  folder.configure(server.url("/v1"));
  const auto end = riffle::testing::riffle(
      folder, {"run", "go", "--max-steps", "3", "--output", "jsonl"});
  CHECK(end.status == 1);
  CHECK(server.request_count() == 3);
  CHECK(of_type(checked_events(end.out), "error").at(0).at("data").at("code") ==
        "max_steps_exceeded");
}

TEST_CASE("a session has one active run, and goes on with what was said") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    if (request.body.find("wait for me") != std::string::npos &&
        request.body.find("the second task") == std::string::npos)
      return http_reply::sse().stall("gate").send(answer("first"));
    return respond_sse(answer("second"));
  }};
  folder.configure(server.url("/v1"));
  program first{
      installed_riffle(), folder, {"run", "wait for me", "--session", "s1"}};
  REQUIRE(server.wait_for_requests(1));
  {
    const work_folder other;
    other.write("riffle.toml", folder.read("riffle.toml"));
    const auto busy =
        riffle::testing::riffle(other, {"run", "me too", "--session", "s1"});
    CHECK(busy.status == 2);
    CHECK(busy.err.find("session_busy") != std::string::npos);
  }
  server.release("gate");
  CHECK(first.wait().status == 0);
  CHECK(riffle::testing::riffle(folder,
                                {"run", "the second task", "--session", "s1"})
            .status == 0);
  const auto body = json::parse(server.requests().back().body);
  std::vector<json> said;
  for (const auto& m : body.at("messages"))
    if (m.at("role") != "system") said.push_back(m.at("content"));
  CHECK(said == std::vector<json>{"wait for me", "first", "the second task"});
  const auto log =
      riffle::testing::riffle(folder, {"sessions", "events", "s1"});
  CHECK(of_type(checked_events(log.out), "run_finished").size() == 2);
}

TEST_CASE("the outputs of a run") {
  const work_folder folder;
  http_server server{respond_sse(answer("the answer"))};
  folder.configure(server.url("/v1"));
  SECTION("json is one object") {
    const auto end =
        riffle::testing::riffle(folder, {"run", "go", "--output", "json"});
    const auto out = json::parse(end.out).at("results").at(0);
    CHECK(out.at("answer") == "the answer");
    CHECK(out.at("status") == "completed");
  }
  SECTION("jsonl is the log, byte for byte") {
    const auto end = riffle::testing::riffle(
        folder, {"run", "go", "--output", "jsonl", "--session", "s"});
    const auto log =
        riffle::testing::riffle(folder, {"sessions", "events", "s"});
    CHECK(end.out == log.out);
    CHECK_FALSE(end.out.empty());
  }
  SECTION("-q says nothing but the answer") {
    const auto end = riffle::testing::riffle(folder, {"run", "go", "-q"});
    CHECK(end.out == "the answer\n");
    CHECK(end.err.empty());
  }
}

TEST_CASE("without a key the message names the variable to set") {
  const work_folder folder;
  folder.configure("https://127.0.0.2:1/v1");
  const std::string key = GENERATE("", " ", "\t\n");
  const auto end =
      riffle::testing::riffle(folder, {"run", "go"}, {{"OPENAI_API_KEY", key}});
  CHECK(end.status == 2);
  CHECK(end.err.find("OPENAI_API_KEY") != std::string::npos);
}

TEST_CASE("what the help recommends works where the program is installed") {
  const work_folder folder;
  const auto help = riffle::testing::riffle(folder, {"--help"}).out;
  const auto at = help.find("--config '");
  REQUIRE(at != std::string::npos);
  const auto begin = at + std::string{"--config '"}.size();
  const auto file = help.substr(begin, help.find('\'', begin) - begin);
  CHECK(file.ends_with("/share/riffle/demo.toml"));
  const auto end =
      riffle::testing::riffle(folder, {"config", "check", "--config", file});
  INFO(end.err);
  CHECK(end.status == 0);
}
