// SPDX-License-Identifier: MIT
// Decisions from another process, and kill -9 of the one that waits.
#include <filesystem>
#include <random>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

/// One command with an effect, then the end.
http_reply provider(const http_request& request) {
  const auto told = tool_messages(request);
  if (told.empty())
    return respond_sse(calls({{"bash", {{"command", "echo one >> effects"}}}}));
  return respond_sse(
      answer("It said: " + told.back().at("content").get<std::string>()));
}

finished run(const work_folder& folder, std::vector<std::string> arguments) {
  return riffle::testing::riffle(folder, std::move(arguments));
}

/// What waits for a decision, as another process sees it.
std::vector<json> pending(const work_folder& folder) {
  const auto listed = run(folder, {"proposals", "list", "--output", "json"});
  if (listed.status != 0) return {};  // the first run makes the store
  const auto all = json::parse(listed.out);
  return {all.begin(), all.end()};
}

std::string await_proposal(const work_folder& folder) {
  std::vector<json> found;
  REQUIRE(eventually([&] {
    found = pending(folder);
    return !found.empty();
  }));
  REQUIRE(found.size() == 1);
  return found[0].at("proposal_id");
}

std::vector<json> log_of(const work_folder& folder) {
  const auto log = run(folder, {"sessions", "events", "s1"});
  return checked_events(log.out);
}

const std::vector<std::string> ask{"run",       "go",  "--session", "s1",
                                   "--approve", "ask", "--output",  "jsonl"};
const std::vector<std::string> resume{"sessions", "resume", "s1", "--output",
                                      "jsonl"};

}  // namespace

TEST_CASE("another process decides about a call of a run that waits") {
  const work_folder folder;
  http_server server{provider};
  folder.configure(server.url("/v1"));
  program waits{installed_riffle(), folder, ask};
  const auto id = await_proposal(folder);
  CHECK(folder.lines("effects").empty());
  const auto waiting = pending(folder).at(0);
  CHECK(waiting.at("call_id").get<std::string>().starts_with("call_"));
  CHECK_FALSE(waiting.contains("id"));  // it would pass for the proposal's
  SECTION("approved") {
    CHECK(run(folder, {"proposals", "approve", id}).status == 0);
    CHECK(waits.wait().status == 0);
    CHECK(folder.lines("effects") == std::vector<std::string>{"one"});
    // Too late now, and said so.
    CHECK(run(folder, {"proposals", "deny", id}).status == 1);
  }
  SECTION("denied, with a reason") {
    CHECK(run(folder, {"proposals", "deny", id, "--reason", "not today"})
              .status == 0);
    const auto end = waits.wait();
    CHECK(folder.lines("effects").empty());
    CHECK(end.out.find("not today") != std::string::npos);
  }
  SECTION("edited") {
    // What cannot run is refused as it is told, and nothing is decided.
    const auto bad = run(folder, {"proposals", "edit", id, "--arguments",
                                  R"({"cmd": "echo two"})"});
    CHECK(bad.status == 2);
    CHECK(bad.err.find("invalid_arguments") != std::string::npos);
    CHECK(run(folder, {"proposals", "edit", id, "--arguments",
                       R"({"command": "echo two >> effects"})"})
              .status == 0);
    CHECK(waits.wait().status == 0);
    CHECK(folder.lines("effects") == std::vector<std::string>{"two"});
  }
  log_of(folder);
  for (const auto& request : server.requests()) check_results(request);
}

TEST_CASE("a run that is killed while it waits is decided about afterwards") {
  const work_folder folder;
  http_server server{provider};
  folder.configure(server.url("/v1"));
  std::string id;
  {
    program waits{installed_riffle(), folder, ask};
    id = await_proposal(folder);
    waits.signal(SIGKILL);
    waits.wait();
  }
  REQUIRE(pending(folder).size() == 1);
  SECTION("when it runs again") {
    program again{installed_riffle(), folder, resume};
    // The same proposal: it is not asked a second time.
    CHECK(await_proposal(folder) == id);
    CHECK(run(folder, {"proposals", "approve", id}).status == 0);
    CHECK(again.wait().status == 0);
  }
  SECTION("or before") {
    CHECK(run(folder, {"proposals", "approve", id}).status == 0);
    CHECK(folder.lines("effects").empty());
    CHECK(run(folder, resume).status == 0);
  }
  CHECK(folder.lines("effects") == std::vector<std::string>{"one"});
  const auto events = log_of(folder);
  CHECK(of_type(events, "approval_required").size() == 1);
  CHECK(of_type(events, "approval_resolved").size() == 1);
  CHECK(of_type(events, "run_finished").at(0).at("data").at("status") ==
        "completed");
  for (const auto& request : server.requests()) check_results(request);
}

TEST_CASE("a run that is killed around a decision acts once, or says it may",
          "[torture]") {
  const auto seed = fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  const int rounds = std::getenv("RIFFLE_TEST_FULL") != nullptr ? 300
                     : std::getenv("RIFFLE_TORTURE") != nullptr ? 20
                                                                : 4;
  for (int i = 0; i < rounds; ++i) {
    const work_folder folder;
    http_server server{provider};
    folder.configure(server.url("/v1"));
    program waits{installed_riffle(), folder, ask};
    const auto id = await_proposal(folder);
    CHECK(run(folder, {"proposals", "approve", id}).status == 0);
    const auto until = std::chrono::steady_clock::now() +
                       std::chrono::microseconds{random() % 300'000};
    eventually([&] { return std::chrono::steady_clock::now() >= until; });
    waits.signal(SIGKILL);
    waits.wait();
    run(folder, resume);
    const auto result =
        of_type(log_of(folder), "tool_result").at(0).at("data").at("outcome");
    const auto effects = folder.lines("effects").size();
    if (result == "ok")
      CHECK(effects == 1);
    else
      CHECK((result == "interrupted" && effects <= 1));
    CHECK(pending(folder).empty());
  }
}

TEST_CASE("an approved call that is killed is not executed again") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    if (tool_messages(request).empty())
      return respond_sse(
          calls({{"bash", {{"command", "echo one >> effects; sleep 60"}}}}));
    return respond_sse(answer("I wait."));
  }};
  folder.configure(server.url("/v1"), "[approvals]\nmode = \"propose\"\n");
  REQUIRE(run(folder, ask).status == 0);
  const auto id = await_proposal(folder);
  {
    program acts{installed_riffle(), folder, {"proposals", "approve", id}};
    REQUIRE(eventually([&] { return !folder.lines("effects").empty(); }));
    acts.signal(SIGKILL);
    acts.wait();
  }
  const auto asked = server.requests().size();
  CHECK(run(folder, resume).status == 1);
  CHECK(server.requests().size() == asked);  // it needs no model
  CHECK(folder.lines("effects").size() == 1);
  const auto results = of_type(log_of(folder), "tool_result");
  REQUIRE(results.size() == 2);
  CHECK(results[1].at("data").at("outcome") == "interrupted");
  CHECK(run(folder, {"proposals", "approve", id}).status == 1);
  CHECK(folder.lines("effects").size() == 1);
}

TEST_CASE("a proposal of a finished run is executed when it is approved") {
  const work_folder folder;
  http_server server{provider};
  folder.configure(server.url("/v1"), "[approvals]\nmode = \"propose\"\n");
  const auto first = run(folder, ask);
  CHECK(first.status == 0);
  CHECK(folder.lines("effects").empty());
  const auto id = await_proposal(folder);
  CHECK(run(folder, {"proposals", "approve", id}).status == 0);
  CHECK(folder.lines("effects") == std::vector<std::string>{"one"});
  // Again: it is not executed again.
  CHECK(run(folder, {"proposals", "approve", id}).status == 1);
  CHECK(folder.lines("effects").size() == 1);
  const auto events = log_of(folder);
  const auto started = of_type(events, "run_started");
  REQUIRE(started.size() == 2);
  CHECK(started[1].at("data").at("cause").at("proposal_id") == id);
  // The session goes on, and the model knows how it went.
  CHECK(run(folder, {"run", "and now?", "--session", "s1"}).status == 0);
  const auto last = server.requests().back();
  check_results(last);
  const auto told = tool_messages(last);
  REQUIRE(told.size() == 2);
  CHECK(told[0].at("content").get<std::string>().find(id) != std::string::npos);
}

TEST_CASE("a run that waits says what can be typed, for all that is open") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    if (tool_messages(request).empty())
      return respond_sse(calls(
          {{"read", {{"path", "one.txt"}}}, {"read", {{"path", "two.txt"}}}}));
    return respond_sse(answer("Done."));
  }};
  folder.configure(server.url("/v1"), "[tools.read]\napproval = \"ask\"\n");
  program waits{installed_riffle(), folder, {"run", "go", "--approve", "ask"}};
  std::vector<json> open;
  REQUIRE(eventually([&] {
    open = pending(folder);
    return open.size() == 2 &&
           waits.err().find("the run waits for 2 decisions") !=
               std::string::npos;
  }));
  CHECK(waits.err().find("\n  riffle proposals list\n") != std::string::npos);
  for (const auto& x : open) {
    const auto id = x.at("proposal_id").get<std::string>();
    CHECK(waits.err().find("\n  riffle proposals approve " + id + "\n") !=
          std::string::npos);
    CHECK(run(folder, {"proposals", "deny", id}).status == 0);
  }
  CHECK(waits.wait().status == 0);
  CHECK(folder.lines("effects").empty());
}

TEST_CASE("a volley and a plan that wait say what can be typed") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    if (tool_messages(request).empty())
      return respond_sse(calls({{"read", {{"path", "one.txt"}}}}));
    return respond_sse(answer("Done."));
  }};
  folder.configure(server.url("/v1"), "[tools.read]\napproval = \"ask\"\n");
  folder.write("p.toml", "[[steps]]\ninstruction = \"go\"\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> all = {
      {{"run", "go on", "and on", "--approve", "ask"},
       "the volley waits for 2 decisions"},
      {{"plan", "p.toml", "--approve", "ask"}, "the plan waits for a decision"},
  };
  for (const auto& [words, told] : all) {
    CAPTURE(told);
    program waits{installed_riffle(), folder, words};
    REQUIRE(eventually(
        [&] { return waits.err().find(told) != std::string::npos; }));
    for (const auto& x : pending(folder)) {
      const auto id = x.at("proposal_id").get<std::string>();
      CHECK(waits.err().find("\n  riffle proposals approve " + id + "\n") !=
            std::string::npos);
      CHECK(run(folder, {"proposals", "deny", id}).status == 0);
    }
    CHECK(waits.wait().status == 0);
  }
}

// -- what is told of a call that was approved later ---------------------------

namespace {

http_server::handler proposes_once(const std::string& tool,
                                   const json& arguments) {
  return [=](const http_request& request) {
    const auto last = json::parse(request.body).at("messages").back();
    return respond_sse(last.at("role") == "user" ? calls({{tool, arguments}})
                                                 : answer("ok"));
  };
}

/// A folder in which one call waits for a decision.
struct proposed_call {
  proposed_call(const std::string& tool, const json& arguments)
      : server{proposes_once(tool, arguments)} {
    folder.configure(server.url("/v1"), "[approvals]\nmode = \"propose\"\n");
    folder.write("e.txt", "one\n");
    REQUIRE(run({"run", "go", "--session", "s1"}).status == 0);
    const auto all =
        json::parse(run({"proposals", "list", "--output", "json"}).out);
    REQUIRE(all.size() == 1);
    id = all[0].at("proposal_id");
  }

  finished run(std::vector<std::string> arguments,
               const std::map<std::string, std::string>& env = {}) const {
    return riffle::testing::riffle(folder, std::move(arguments), env);
  }
  [[nodiscard]] std::string outcome() const {
    const auto shown =
        json::parse(run({"proposals", "show", id, "--output", "json"}).out);
    return shown.value("outcome", "");
  }

  http_server server;
  work_folder folder;
  std::string id;
};

}  // namespace

TEST_CASE("an edit whose file is gone is not said to be done") {
  const proposed_call x{
      "edit",
      {{"path", "e.txt"}, {"old_string", "one"}, {"new_string", "two"}}};
  CHECK(x.outcome().empty());
  std::filesystem::remove(x.folder.path() / "e.txt");
  const auto end = x.run({"proposals", "approve", x.id});
  INFO(end.err);
  CHECK(end.status == 1);
  CHECK_THAT(end.err, Catch::Matchers::Contains("nothing was executed"));
  CHECK_THAT(x.outcome(), Catch::Matchers::Contains(": "));
  CHECK_THAT(x.run({"proposals", "show", x.id}).out,
             Catch::Matchers::Contains("outcome:  "));
}

TEST_CASE("a proposal shows what came of it") {
  const proposed_call x{"bash", {{"command", "echo one >> effects"}}};
  CHECK_THAT(x.run({"proposals", "list"}).out,
             Catch::Matchers::Contains(
                 "  bash: echo one >> effects  ("));  // it does not run
  CHECK(x.run({"proposals", "approve", x.id}).status == 0);
  CHECK(x.outcome() == "ok");
  CHECK_THAT(x.run({"proposals", "show", x.id}).out,
             Catch::Matchers::Contains("outcome:  ok\n"));
}

TEST_CASE("what a rule denies by now is approved and not executed") {
  const proposed_call x{"bash", {{"command", "echo one >> effects"}}};
  x.folder.write("riffle.toml", x.folder.read("riffle.toml") +
                                    "[tools.bash]\napproval = \"deny\"\n");
  const auto end = x.run({"proposals", "approve", x.id});
  INFO(end.err);
  CHECK(end.status == 1);
  CHECK_THAT(end.err, Catch::Matchers::Contains("nothing was executed"));
  CHECK(x.folder.lines("effects").empty());
  CHECK_THAT(x.outcome(), Catch::Matchers::StartsWith("denied: "));
}

TEST_CASE("a file that is not trusted is named where it lies") {
  const proposed_call x{"bash", {{"command", "echo one >> effects"}}};
  const work_folder other;
  other.write("riffle.toml", x.folder.read("riffle.toml"));
  const std::map<std::string, std::string> found{{"RIFFLE_CONFIG", ""}};
  const auto trusted = riffle::testing::riffle(
      other, {"config", "trust", "--yes", "riffle.toml"}, found);
  REQUIRE(trusted.status == 0);
  const auto end =
      riffle::testing::riffle(other, {"proposals", "approve", x.id}, found);
  const auto file =
      (std::filesystem::canonical(x.folder.path()) / "riffle.toml").string();
  INFO(end.err);
  CHECK(end.status == 2);
  CHECK_THAT(
      end.err,
      Catch::Matchers::Contains("riffle: " + file + " is not trusted") &&
          Catch::Matchers::Contains("riffle config trust '" + file + "'") &&
          !Catch::Matchers::Contains("of this folder"));
  CHECK(x.folder.lines("effects").empty());
}

TEST_CASE("a part of an id is enough to take an approval back") {
  const proposed_call x{"bash", {{"command", "echo one >> effects"}}};
  REQUIRE(x.run({"proposals", "approve", x.id, "--always", "tool"}).status ==
          0);
  const auto part = x.id.substr(x.id.size() - 8);
  CHECK(x.run({"proposals", "always", "--revoke", "zzzzzzzz"}).status == 2);
  const auto end = x.run({"proposals", "always", "--revoke", part});
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK_THAT(end.err, Catch::Matchers::Contains(x.id));
  CHECK(x.run({"proposals", "always"}).out.empty());
}
