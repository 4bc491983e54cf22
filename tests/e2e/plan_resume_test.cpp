// SPDX-License-Identifier: MIT
// What becomes of a plan whose step was cut, where nobody can be asked.
#include <csignal>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;
using words = std::vector<std::string>;

namespace {

json bash(const std::string& id, const std::string& command) {
  return {{"id", id}, {"tool", "bash"}, {"arguments", {{"command", command}}}};
}

/// A folder with a plan that was killed in its first step.
struct place {
  place() {
    folder.configure("http://127.0.0.1:9/v1");
    folder.write("p.json", plan().dump());
    program running{
        installed_riffle(), folder, {"plan", "--approve", "all", "p.json"}};
    REQUIRE(eventually([&] { return !folder.read("ran").empty(); }));
    const auto err = running.err();
    const auto at = err.find("plan_");
    REQUIRE(at != std::string::npos);
    id = err.substr(at, err.find(',', at) - at);
    running.signal(SIGKILL);
    static_cast<void>(running.wait());
    folder.write("go", "");
  }
  static json plan() {
    return {{"steps",
             {bash("deploy", "echo once >> ran; test -e go || sleep 60"),
              bash("tell", "echo told > told")}}};
  }
  [[nodiscard]] finished resume(words more) const {
    words all{"sessions", "resume", id, "--approve", "all"};
    all.insert(all.end(), more.begin(), more.end());
    return riffle::testing::riffle(folder, all);
  }
  [[nodiscard]] finished begin() const {
    return riffle::testing::riffle(folder,
                                   {"plan", "--approve", "all", "p.json"});
  }
  work_folder folder;
  std::string id;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what a cut step does is said with the resume, or by its plan") {
  const place x;
  const std::string how = GENERATE("", "stop", "continue", "retry");
  CAPTURE(how);
  const auto end = x.resume(how.empty() ? words{} : words{"--on-error", how});
  CAPTURE(end.err);
  const bool stops = how.empty() || how == "stop";
  CHECK(end.status == (stops ? 1 : 0));
  CHECK(x.folder.lines("ran").size() == (how == "retry" ? 2u : 1u));
  CHECK(x.folder.read("told") == (stops ? "" : "told\n"));
  CHECK(has(end.err, "look how far it came") == stops);
  // It has ended: who resumes it once more hears so.
  const auto again = x.resume({});
  CHECK(again.status == (stops ? 1 : 0));
  CHECK(has(again.err, stops ? "has failed, and a plan that has failed does "
                               "not go on"
                             : "nothing is unfinished"));
}

TEST_CASE("only the step that was open does what the resume says") {
  work_folder folder;
  folder.configure("http://127.0.0.1:9/v1");
  const json plan{
      {"steps",
       {bash("a", "echo a >> ran; test -e go || sleep 60; exit 3"),
        bash("b", "echo b >> ran; exit 3"), bash("c", "echo c >> ran")}}};
  folder.write("p.json", plan.dump());
  program running{
      installed_riffle(), folder, {"plan", "--approve", "all", "p.json"}};
  REQUIRE(eventually([&] { return !folder.read("ran").empty(); }));
  const auto err = running.err();
  const auto at = err.find("plan_");
  REQUIRE(at != std::string::npos);
  const auto id = err.substr(at, err.find(',', at) - at);
  running.signal(SIGKILL);
  static_cast<void>(running.wait());
  folder.write("go", "");
  const auto end = riffle::testing::riffle(
      folder, {"sessions", "resume", id, "--approve", "all", "--on-error",
               "continue", "--output", "json"});
  CAPTURE(end.out, end.err);
  CHECK(end.status == 1);  // b stops it, as before
  CHECK(folder.lines("ran") == words{"a", "b"});
  const auto steps = json::parse(end.out).at("steps");
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].at("error").at("code") == "interrupted");
}

TEST_CASE("a plan that begins anew says that it was not finished") {
  const place x;
  SECTION("the same plan, however it is written") {
    x.folder.write("p.json", place::plan().dump(2));
    const auto end = x.begin();
    CAPTURE(end.err);
    CHECK(end.status == 0);
    CHECK(has(end.err, "This plan was not finished: " + x.id +
                           " (at step 1 of 2, \"deploy\", begun "));
    CHECK(has(end.err, "It begins anew; 'riffle sessions resume " + x.id +
                           "' goes on with it instead"));
    CHECK(x.folder.lines("ran").size() == 2);
  }
  SECTION("another plan") {
    auto other = place::plan();
    other["timeout"] = "5m";
    x.folder.write("p.json", other.dump());
    const auto end = x.begin();
    CHECK(end.status == 0);
    CHECK_FALSE(has(end.err, "not finished"));
  }
  SECTION("who wants to hear errors alone") {
    const auto end = riffle::testing::riffle(
        x.folder, {"plan", "-q", "--approve", "all", "p.json"});
    CHECK(end.status == 0);
    CHECK(end.err.empty());
  }
}

namespace {

/// A plan that was stopped by Ctrl-C in its second step.
struct stopped_place {
  stopped_place() {
    folder.configure("http://127.0.0.1:9/v1");
    const json plan{{"steps",
                     {bash("a", "echo a >> ran; printf said"),
                      bash("b", "echo b >> ran; test -e go || sleep 60"),
                      bash("c", "echo 'c, {{steps.a.output}}' >> ran")}}};
    folder.write("p.json", plan.dump());
    program running{
        installed_riffle(), folder, {"plan", "--approve", "all", "p.json"}};
    REQUIRE(eventually([&] { return folder.lines("ran").size() == 2; }));
    const auto err = running.err();
    const auto at = err.find("plan_");
    REQUIRE(at != std::string::npos);
    id = err.substr(at, err.find(',', at) - at);
    running.signal(SIGINT);
    end = running.wait();
  }
  [[nodiscard]] words resuming(const words& more = {}) const {
    words all{"sessions", "resume", id, "--approve", "all", "--on-error"};
    if (more.empty() || more[0].starts_with("--")) all.push_back("retry");
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] finished resume(const words& more = {}) const {
    return riffle::testing::riffle(folder, resuming(more));
  }
  [[nodiscard]] words ran() const { return folder.lines("ran"); }

  work_folder folder;
  std::string id;
  finished end;
};

}  // namespace

TEST_CASE("a plan that was stopped goes on with the step that was cut") {
  const stopped_place x;
  CHECK(x.end.status == 130);
  CHECK(has(x.end.err,
            "go on with the step that was cut: riffle sessions "
            "resume " +
                x.id));
  x.folder.write("go", "");
  const auto end = x.resume({"--output", "jsonl"});
  CAPTURE(end.err);
  CHECK(end.status == 0);
  CHECK(x.ran() == words{"a", "b", "b", "c, said"});
  // Its log is a whole plan's, and it is another one.
  const auto all = checked_events(end.out);
  CHECK(of_type(all, "plan_step_finished").size() == 3);
  const auto next = of_type(all, "plan_started").at(0).at("data").at("plan_id");
  CHECK(next != x.id);
  // The one before has ended, and says so; so has the new one.
  const auto old = riffle::testing::riffle(
      x.folder, {"sessions", "show", x.id, "--output", "json"});
  CHECK(json::parse(old.out).at("runs").at(0).at("status") == "cancelled");
  // What was typed before names both now, and means the newest.
  const auto again = riffle::testing::riffle(
      x.folder, {"sessions", "resume", x.id.substr(0, 15)});
  CHECK(again.status == 0);
  CHECK(has(again.err,
            "nothing is unfinished in session " + next.get<std::string>()));
  CHECK(x.ran().size() == 4);
}

TEST_CASE("a plan that goes on is killed, stopped, and goes on again") {
  const stopped_place x;
  {
    program second{installed_riffle(), x.folder, x.resuming()};
    REQUIRE(eventually([&] { return x.ran().size() == 3; }));
    const bool killed = GENERATE(true, false);
    CAPTURE(killed);
    second.signal(killed ? SIGKILL : SIGINT);
    static_cast<void>(second.wait());
  }
  x.folder.write("go", "");
  const auto end = x.resume();
  CAPTURE(end.err);
  CHECK(end.status == 0);
  CHECK(x.ran() == words{"a", "b", "b", "b", "c, said"});
}

TEST_CASE("a plan and what goes on from it are deleted together") {
  const stopped_place x;
  x.folder.write("go", "");
  REQUIRE(x.resume().status == 0);
  // The list shows one row for them, with the ending of the newest.
  const auto listed = riffle::testing::riffle(x.folder, {"sessions", "list"});
  CAPTURE(listed.out);
  const auto at = listed.out.find("Plan of ");
  REQUIRE(at != std::string::npos);
  CHECK(listed.out.find("Plan of ", at + 1) == std::string::npos);
  CHECK(has(listed.out, "  completed    2 runs   Plan of "));
  const auto line = listed.out.rfind('\n', at) + 1;
  const auto ending = listed.out.substr(line, 6);
  CHECK(has(riffle::testing::riffle(x.folder, {"sessions", "show", ending}).out,
            "Plan of "));
  const auto end =
      riffle::testing::riffle(x.folder, {"sessions", "delete", ending});
  CAPTURE(end.err);
  CHECK(end.status == 0);
  const auto left = riffle::testing::riffle(
      x.folder, {"sessions", "list", "--output", "json"});
  CHECK_FALSE(has(left.out, "plan_"));
}

TEST_CASE("a stopped plan is not deleted while another process goes on") {
  const stopped_place x;
  program second{installed_riffle(), x.folder, x.resuming()};
  REQUIRE(eventually([&] { return x.ran().size() == 3; }));
  const auto remove = [&](const std::string& id) {
    return riffle::testing::riffle(x.folder, {"sessions", "delete", id});
  };
  const auto listed = riffle::testing::riffle(
      x.folder, {"sessions", "list", "--output", "json"});
  std::string newest;
  for (const auto& one : json::parse(listed.out))
    if (const auto id = one.at("session_id").get<std::string>();
        id.starts_with("plan_") && id != x.id)
      newest = id;
  REQUIRE_FALSE(newest.empty());
  const auto old = remove(x.id);
  CHECK(old.status == 2);
  CHECK(has(old.err, "plan " + newest + " goes on from plan " + x.id +
                         ", and is under way. 'riffle sessions cancel " + x.id +
                         "' ends it; then it can be deleted"));
  CHECK(remove(newest).status == 2);
  const auto ended =
      riffle::testing::riffle(x.folder, {"sessions", "cancel", x.id});
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
  CHECK(second.wait().status == 130);
  CHECK(remove(x.id).status == 0);
  const auto left = riffle::testing::riffle(
      x.folder, {"sessions", "list", "--output", "json"});
  CHECK_FALSE(has(left.out, "plan_"));
}

TEST_CASE("a plan that was stopped between two tries counts them anew") {
  work_folder folder;
  folder.configure("http://127.0.0.1:9/v1");
  auto step = bash("a", "echo a >> ran; exit 3");
  step["on_error"] = "retry";
  folder.write("p.json", json{{"steps", json::array({step})}}.dump());
  program running{installed_riffle(),
                  folder,
                  {"plan", "--approve", "all", "--output", "jsonl", "p.json"}};
  REQUIRE(eventually(
      [&] { return has(running.out(), R"("event_type":"retry")"); }));
  running.signal(SIGINT);
  const auto end = running.wait();
  CHECK(end.status == 130);
  REQUIRE(folder.lines("ran").size() == 1);
  const auto at = end.out.find("plan_0");
  REQUIRE(at != std::string::npos);
  const auto again = riffle::testing::riffle(
      folder, {"sessions", "resume", end.out.substr(at, 31), "--approve", "all",
               "--on-error", "retry"});
  CAPTURE(again.err);
  CHECK(again.status == 1);
  CHECK(folder.lines("ran").size() == 4);  // three of its own
}

TEST_CASE("--on-error is refused for what is no plan") {
  const work_folder folder;
  folder.configure("http://127.0.0.1:9/v1");
  const auto end = riffle::testing::riffle(
      folder, {"sessions", "resume", "volley_1", "--on-error", "retry"});
  CHECK(end.status == 2);
  CHECK(has(end.err, "--on-error is about the steps of a plan"));
}

TEST_CASE("of a step that was cut and may have acted somebody has to speak") {
  const stopped_place x;
  x.folder.write("go", "");
  for (const auto* policy : {"", "stop"}) {
    words all{"sessions", "resume", x.id, "--approve", "all"};
    if (*policy) all.insert(all.end(), {"--on-error", policy});
    const auto none = riffle::testing::riffle(x.folder, all);
    CAPTURE(none.err);
    CHECK(none.status == 130);
    CHECK(has(none.err, "--on-error retry' runs that step again"));
    CHECK(x.ran().size() == 2);
  }
  const auto end = x.resume({"continue"});
  CAPTURE(end.err);
  CHECK(x.ran() == words{"a", "b", "c, said"});
}
