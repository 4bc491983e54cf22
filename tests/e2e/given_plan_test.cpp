// SPDX-License-Identifier: MIT
// `riffle plan` as the real program: exit statuses, forms of output, and
// kill -9 in each of its steps.
#include <csignal>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

/// One step, in braces, is a list of one.
json list(const json& x) { return x.is_array() ? x : json::array({x}); }

/// Answers each task with it.
http_reply echo(const http_request& request) {
  const auto body = json::parse(request.body);
  return respond_sse(answer(
      "did " + body.at("messages").back().at("content").get<std::string>()));
}

struct scene {
  explicit scene(http_server::handler answers = echo,
                 std::string_view more = {})
      : server{std::move(answers)} {
    folder.configure(server.url("/v1"), more);
  }
  finished plan(const json& steps, std::vector<std::string> more = {},
                const json& keys = json::object()) {
    json x = keys;
    x["steps"] = list(steps);
    folder.write("p.json", x.dump());
    std::vector<std::string> all{"plan", "p.json"};
    all.insert(all.end(), more.begin(), more.end());
    return riffle::testing::riffle(folder, all);
  }

  http_server server;
  work_folder folder;
};

json bash(const std::string& command) {
  return {{"tool", "bash"}, {"arguments", {{"command", command}}}};
}

json ask(const std::string& task) { return {{"instruction", task}}; }

const std::vector<std::string> all_approved{"--approve", "all"};

}  // namespace

TEST_CASE("a plan's answer goes to standard output, its steps to the other") {
  scene x;
  auto first = bash("echo found it");
  first["id"] = "look";
  const auto done =
      x.plan({first, ask("say {{steps.look.output}}")}, all_approved);
  CAPTURE(done.err);
  CHECK(done.status == 0);
  CHECK(done.out == "did say found it\n");
  CHECK(done.err.find("[1/2] ▶ look: bash") != std::string::npos);
  CHECK(done.err.find("[2/2] ✓ 2") != std::string::npos);
  CHECK(done.err.find("[PLAN] plan_") != std::string::npos);
}

TEST_CASE("json is one object, jsonl both kinds of logs") {
  scene x;
  const json steps{bash("echo 1"), ask("go")};
  const auto one =
      json::parse(x.plan(steps, {"--approve", "all", "--output", "json"}).out);
  CHECK(one.at("status") == "completed");
  CHECK(one.at("answer") == "did go");
  CHECK(one.at("session_id").get<std::string>().starts_with("ses_"));
  REQUIRE(one.at("steps").size() == 2);
  CHECK(one.at("steps")[0].at("output") == "1\n");
  CHECK(one.at("steps")[0].at("tools")[0].at("name") == "bash");
  CHECK(one.at("steps")[1].at("usage") == one.at("totals").at("usage"));
  CHECK(one.at("totals").at("usage").at("input_tokens") > 0);
  const auto lines = x.plan(steps, {"--approve", "all", "--output", "jsonl"});
  const auto all = checked_events(lines.out);
  CHECK(all.front().at("event_type") == "plan_started");
  CHECK(all.back().at("event_type") == "plan_finished");
  CHECK(of_type(all, "run_finished").size() == 1);
  x.folder.write("log.jsonl", lines.out);
  const auto checked =
      riffle::testing::riffle(x.folder, {"events", "check", "log.jsonl"});
  CHECK(checked.status == 0);
  CHECK(checked.out.find("2 runs") != std::string::npos);
}

TEST_CASE("the exit status of a plan") {
  scene x;
  CHECK(x.plan({bash("true")}, all_approved).status == 0);
  CHECK(x.plan({bash("exit 3")}, all_approved).status == 1);
  CHECK(x.plan(json::array()).status == 2);
  CHECK(x.plan({{{"tool", "nope"}}}).status == 2);
  auto fails = bash("false");
  fails["on_error"] = "continue";
  CHECK(x.plan({fails}, all_approved).status == 0);
  CHECK(x.plan({fails}).status == 3);  // nobody could be asked
  CHECK(x.plan({bash("true")}).status == 1);
  auto slow = bash("sleep 30");
  slow["timeout"] = "100ms";
  CHECK(x.plan({slow}, all_approved).status == 124);
  CHECK(
      x.plan({bash("sleep 30")}, all_approved, {{"timeout", "100ms"}}).status ==
      124);
  CHECK(x.plan({bash("sleep 30")}, {"--approve", "all", "--timeout", "100ms"})
            .status == 124);
  CHECK(x.plan({ask("go")}, {}, {{"require_streaming", true}}).status == 0);
  const auto deaf =
      x.plan({ask("go")}, {"--set", "models.default.streaming=false"},
             {{"require_streaming", true}});
  CHECK(deaf.status == 2);
  CHECK(deaf.err.find("agent_not_streaming") != std::string::npos);
}

TEST_CASE("plan check tells all mistakes and starts nothing") {
  scene x;
  x.folder.write("bad.toml",
                 "[[steps]]\nid = \"a\"\ntool = \"nope\"\n[[steps]]\n"
                 "instruction = \"{{steps.z.output}}\"\ncolour = 1\n");
  const auto bad =
      riffle::testing::riffle(x.folder, {"plan", "check", "bad.toml"});
  CHECK(bad.status == 2);
  for (const auto* part :
       {"bad.toml:3:", "step 1 \"a\": tool: there is no tool",
        "bad.toml:5:", "step 2: instruction: refers to step \"z\"",
        "bad.toml:6:", "unknown key"})
    CHECK(bad.err.find(part) != std::string::npos);
  const auto as_json = riffle::testing::riffle(
      x.folder, {"plan", "check", "--output", "json", "bad.toml"});
  CHECK(json::parse(as_json.out).at("problems").size() == 3);
  const auto run = riffle::testing::riffle(x.folder, {"plan", "bad.toml"});
  CHECK(run.status == 2);
  CHECK(run.err.find("bad.toml:6:") != std::string::npos);
  CHECK(run.err.ends_with("\n(invalid_plan)\n"));
  x.folder.write("broken.toml", "steps = [\n");
  const auto broken =
      riffle::testing::riffle(x.folder, {"plan", "check", "broken.toml"});
  CHECK(broken.err.starts_with("broken.toml:"));
  CHECK(broken.err.find("broken.toml:", 1) == std::string::npos);
  x.folder.write("good.toml", "[[steps]]\ninstruction = \"go\"\n");
  const auto good =
      riffle::testing::riffle(x.folder, {"plan", "check", "good.toml"});
  CHECK(good.status == 0);
  CHECK(good.out == "ok: 1 step\n");
  const auto sessions = riffle::testing::riffle(x.folder, {"sessions", "list"});
  CHECK(sessions.out.find("plan_") == std::string::npos);
  CHECK(x.server.requests().empty());
}

TEST_CASE("Ctrl-C cancels a plan and its step") {
  scene x;
  x.folder.write(
      "p.json", json{{"steps", list(bash("echo x > begun; sleep 60"))}}.dump());
  program running{installed_riffle(),
                  x.folder,
                  {"plan", "--approve", "all", "--output", "jsonl", "p.json"}};
  REQUIRE(eventually([&] { return !x.folder.read("begun").empty(); }));
  running.signal(SIGINT);
  const auto end = running.wait();
  CHECK(end.status == 130);
  const auto all = checked_events(end.out);
  const auto data = all.back().at("data");
  CHECK(data.at("status") == "cancelled");
  CHECK(data.at("error").at("code") == "stream_interrupted");
  CHECK(of_type(all, "plan_step_finished")[0].at("data").at("status") ==
        "cancelled");
  CHECK(processes_in(x.folder).empty());
}

TEST_CASE("sessions cancel ends a plan that nobody works on") {
  scene x;
  x.folder.write(
      "p.json", json{{"steps", list(bash("echo x > begun; sleep 60"))}}.dump());
  std::string id;
  {
    program running{
        installed_riffle(), x.folder, {"plan", "--approve", "all", "p.json"}};
    REQUIRE(eventually([&] { return !x.folder.read("begun").empty(); }));
    const auto err = running.err();
    const auto at = err.find("plan_");
    REQUIRE(at != std::string::npos);
    id = err.substr(at, err.find(',', at) - at);
    running.signal(SIGKILL);
    static_cast<void>(running.wait());
  }
  CHECK(riffle::testing::riffle(x.folder, {"sessions", "cancel", id}).status ==
        0);
  const auto log =
      riffle::testing::riffle(x.folder, {"sessions", "events", id});
  const auto all = checked_events(log.out);
  CHECK(all.back().at("data").at("status") == "cancelled");
}

TEST_CASE("a plan whose output nobody reads is executed all the same") {
  scene x;
  x.folder.write(
      "p.json",
      json{{"steps", json::array({bash("sleep 0.3"), bash("echo x > done")})}}
          .dump());
  const auto command =
      "'" + installed_riffle().string() +
      "' plan --approve all --output jsonl p.json | true; sleep 0.1";
  x.folder.write("go.sh",
                 "cd '" + x.folder.path().string() + "' && " + command);
  program shell{"/bin/bash", x.folder, {"go.sh"}};
  static_cast<void>(shell.wait());
  CHECK(eventually([&] { return !x.folder.read("done").empty(); }));
}

TEST_CASE("a plan of ten steps survives ten kills, one in each step") {
  // Even steps are calls, odd ones agents; each says when it is under way.
  scene x{[](const http_request& request) {
    const auto body = json::parse(request.body);
    const auto told = tool_messages(request);
    const auto task =
        body.at("messages").back().at("content").get<std::string>();
    if (!task.starts_with("step")) return respond_sse(answer("done"));
    return respond_sse(
        calls({{"bash",
                {{"command", "echo " + task.substr(4) +
                                 " >> begun; test -e go || sleep 20"}}}}));
  }};
  json steps = json::array();
  for (int i = 0; i < 10; ++i) {
    const auto n = std::to_string(i);
    if (i % 2 == 1) {
      steps.push_back(ask("step" + n));
      continue;
    }
    // What was cut is `interrupted`; the plan runs it again.
    auto one = bash("echo " + n + " >> begun; test \"$(grep -c '^" + n +
                    "$' begun)\" -gt 1 || sleep 20; echo " + n + " >> ended");
    one["on_error"] = "retry";
    steps.push_back(std::move(one));
  }
  x.folder.write("p.json", json{{"steps", steps}}.dump());
  const auto has_begun = [&](int step) {
    for (const auto& line : x.folder.lines("begun"))
      if (line == std::to_string(step)) return true;
    return false;
  };
  std::string id;
  for (int step = 0; step < 10; ++step) {
    CAPTURE(step);
    std::vector<std::string> arguments{"plan", "--approve", "all", "p.json"};
    if (step > 0) arguments = {"sessions", "resume", id, "--approve", "all"};
    program running{installed_riffle(), x.folder, arguments};
    const bool begun = eventually([&] { return has_begun(step); }, 60s);
    CAPTURE(running.err());
    REQUIRE(begun);
    if (step == 0) {
      const auto err = running.err();
      const auto at = err.find("plan_");
      REQUIRE(at != std::string::npos);
      id = err.substr(at, err.find(',', at) - at);
    }
    running.signal(SIGKILL);
    CHECK(running.wait().status == 128 + SIGKILL);
  }
  x.folder.write("go", "");
  const auto end = riffle::testing::riffle(
      x.folder,
      {"sessions", "resume", id, "--approve", "all", "--output", "jsonl"});
  CAPTURE(end.err);
  CHECK(end.status == 0);
  const auto all = checked_events(end.out);
  CHECK(of_type(all, "plan_step_finished").size() == 10);
  for (const auto& e : of_type(all, "plan_step_finished"))
    CHECK(e.at("data").at("status") == "completed");
  CHECK(all.back().at("data").at("status") == "completed");
  // Each call that was cut was told as such, and then ran once more.
  CHECK(x.folder.lines("ended").size() == 5);
  std::size_t interrupted = 0;
  for (const auto& e : of_type(all, "tool_result"))
    if (e.at("data").at("outcome") == "interrupted") ++interrupted;
  CHECK(interrupted == 10);
  CHECK(processes_in(x.folder).empty());
  // What is finished is not run again.
  const auto again =
      riffle::testing::riffle(x.folder, {"sessions", "resume", id});
  CHECK(again.status == 0);
  CHECK(again.err.find("nothing is unfinished") != std::string::npos);
}
