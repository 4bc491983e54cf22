// SPDX-License-Identifier: MIT
// What one task gets, each of several tasks and each step of a plan gets too.
#include <atomic>
#include <memory>

#include "tests/e2e/tasks_place.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/terminals.hpp"

using namespace riffle::testing;
using nlohmann::json;
using words = std::vector<std::string>;

namespace {

std::size_t times_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++n;
  return n;
}

}  // namespace

TEST_CASE("every task of a volley and every step is told where it works") {
  tasks_place x;
  x.folder.write("AGENTS.md", "canary-4417 is the rule.\n");
  x.folder.write("p.json", two_steps);
  for (const words& arguments :
       {words{"run", "a b"}, words{"run", "a b", "c d"},
        words{"run", "--max-retries", "1", "a b"}, words{"plan", "p.json"}}) {
    CAPTURE(arguments);
    const auto end = x.run(arguments);
    INFO(end.err);
    CHECK(end.status == 0);
    const auto asked = x.asked();
    CHECK_FALSE(asked.empty());
    for (const auto& request : asked) {
      const auto told = said_by(request, "system");
      CHECK(holds(told, "Where you work:\n- Folder: "));
      CHECK(times_of(told, "canary-4417 is the rule.") == 1);
    }
  }
}

TEST_CASE("a volley keeps what all are told once, and goes on with it") {
  const work_folder folder;
  std::atomic<bool> hangs = true;
  http_server server{[&](const http_request&) {
    if (hangs) return http_reply::sse().stall();
    return respond_sse(answer("ok"));
  }};
  folder.configure(server.url("/v1"));
  folder.write("AGENTS.md", "canary-4418 is the rule.\n");
  folder.write("aside.txt", "canary-4419 stands aside.\n");
  words arguments{"run", "--workers", "1", "--context-file", "aside.txt", "--"};
  for (int i = 0; i < 30; ++i) arguments.push_back("t" + std::to_string(i));
  program volley{installed_riffle(), folder, arguments};
  REQUIRE(eventually([&] { return server.requests().size() == 1; }));
  const auto id = id_in(volley.err(), "volley_");
  volley.signal(SIGKILL);
  volley.wait();
  std::string stored;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator{folder.path() / "data"})
    if (file.is_regular_file())
      stored += folder.read(
          std::filesystem::relative(file.path(), folder.path()).string());
  // Of the volley, and of the session that has begun; a page may be written
  // again behind the others.
  CHECK(times_of(stored, "canary-4418") > 0);
  CHECK(times_of(stored, "canary-4418") < 15);
  CHECK(times_of(stored, "canary-4419") < 15);
  // What goes on is told what was there when it was begun.
  folder.write("AGENTS.md", "Another rule.\n");
  hangs = false;
  const auto end = riffle::testing::riffle(folder, {"sessions", "resume", id});
  INFO(end.err);
  CHECK(end.status == 0);
  const auto all = server.requests();
  CHECK(all.size() == 31);
  for (const auto& request : all) {
    const auto asked = json::parse(request.body);
    CHECK(holds(said_by(asked, "system"), "canary-4418 is the rule."));
    CHECK(holds(said_by(asked, "user"), "canary-4419 stands aside."));
  }
}

TEST_CASE("what is piped in is told to every task of a volley") {
  tasks_place x;
  const auto told_to_all = [&](const std::string& line, std::size_t tasks) {
    CAPTURE(line);
    const auto end = x.sh(line);
    INFO(end.err);
    CHECK(end.status == 0);
    CHECK(holds(end.err, "Standard input goes to the model: 6 B\n"));
    const auto asked = x.asked();
    CHECK(asked.size() == tasks);
    for (const auto& request : asked)
      CHECK(holds(said_by(request, "user"),
                  "What came on standard input:\nPIPED\n"));
    return asked;
  };
  told_to_all("echo PIPED | $RIFFLE 'a b' 'c d'", 2);
  told_to_all("echo PIPED | $RIFFLE --max-retries 1 'a b'", 1);
  x.folder.write("tasks.jsonl",
                 "one\n{\"task\": \"two\", \"context\": \"of its own\"}\n");
  const auto asked = told_to_all(
      "echo PIPED | $RIFFLE --context 'of all' --tasks-file tasks.jsonl", 2);
  for (const auto& request : asked) {
    const auto said = said_by(request, "user");
    CHECK(holds(said, "two") == holds(said, "of its own\n\nWhat came"));
    CHECK(holds(said, "one") == holds(said, "of all\n\nWhat came"));
  }
  // What takes it itself, or does not want it.
  for (const auto* line :
       {"echo PIPED | $RIFFLE --no-stdin 'a b' 'c d'",
        "echo PIPED | $RIFFLE - 'c d'", "echo PIPED | $RIFFLE --tasks-file -",
        "echo PIPED | $RIFFLE --context-file - 'a b' 'c d'"}) {
    CAPTURE(line);
    const auto end = x.sh(line);
    CHECK(end.status == 0);
    CHECK_FALSE(holds(end.err, "tandard input"));
    for (const auto& request : x.asked())
      CHECK_FALSE(holds(request.dump(), "What came on standard input"));
  }
}

TEST_CASE("several tasks and a plan go on with a session, and its model") {
  tasks_place x;
  CHECK(x.run({"run", "remember blue", "-m", "other"}).status == 0);
  const auto session =
      json::parse(x.run({"sessions", "list", "--output", "json"}).out)
          .at(0)
          .at("session_id")
          .get<std::string>();
  REQUIRE(session.starts_with("ses_"));
  const auto ending = session.substr(session.size() - 6);
  x.folder.write("p.json", two_steps);
  x.folder.write("tasks.jsonl",
                 "{\"task\": \"listed\", \"session\": \"" + ending + "\"}\n");
  x.asked();
  for (const words& arguments :
       {words{"run", "more", "--session", ending},
        words{"run", "more of it", "and more", "--session", ending},
        words{"run", "--tasks-file", "tasks.jsonl"},
        words{"plan", "--session", ending, "p.json"}}) {
    CAPTURE(arguments);
    auto asking = arguments;
    asking.insert(asking.end(), {"--output", "json"});
    const auto end = x.run(asking);
    INFO(end.err);
    CHECK(end.status == 0);
    const auto told = json::parse(end.out);
    if (told.contains("results"))
      for (const auto& one : told.at("results"))
        CHECK(one.at("session_id") == session);
    else
      CHECK(told.at("session_id") == session);
    for (const auto& request : x.asked()) {
      CHECK(holds(said_by(request, "user"), "remember blue"));
      CHECK(request.at("model") == "m2");
    }
  }
  // A model that is named counts.
  CHECK(x.run({"run", "a b", "c d", "--session", ending, "-m", "default"})
            .status == 0);
  for (const auto& request : x.asked()) CHECK(request.at("model") == "m");
  // A new name is a new session's, of all of them.
  const auto fresh = json::parse(
      x.run({"run", "a b", "c d", "--session", "fresh", "--output", "json"})
          .out);
  for (const auto& one : fresh.at("results"))
    CHECK(one.at("session_id") == "fresh");
}

TEST_CASE("a part of a volley's id means it, wherever a session is named") {
  tasks_place x;
  const auto id = id_in(x.run({"run", "a b", "c d"}).err, "volley_");
  const auto first = id.substr(0, id.size() - 4);
  const auto last = id.substr(id.size() - 6);
  for (const auto& part : {first, last}) {
    CAPTURE(part);
    const auto shown = x.run({"sessions", "show", part});
    CHECK(shown.status == 0);
    CHECK(shown.out.starts_with(id + ", 2 tasks"));
    CHECK(of_type(checked_events(x.run({"sessions", "events", part}).out),
                  "run_finished")
              .size() == 2);
    const auto cancel = x.run({"sessions", "cancel", part});
    CHECK(cancel.status == 2);
    CHECK(holds(cancel.err, "no run of volley " + id + " is under way"));
    const auto again = x.run({"sessions", "resume", part});
    CHECK(again.status == 0);
    CHECK(holds(again.out, "[2/2] c d\nok\n"));
  }
  // What is deleted twice by a part may be two.
  const auto kept = x.run({"sessions", "delete", first});
  CHECK(kept.status == 2);
  CHECK(holds(kept.err, "name it as a whole, or as lists show it: " + last));
  const auto gone = x.run({"sessions", "delete", last});
  CHECK(gone.status == 0);
  CHECK(holds(gone.err, "volley " + id + " is deleted, with 2 sessions"));
  CHECK(x.run({"sessions", "show", first}).status == 2);
}

TEST_CASE("several tasks say what was not finished, and their limits") {
  const work_folder folder;
  std::atomic<bool> hangs = true;
  http_server server{[&](const http_request&) {
    if (hangs) return http_reply::sse().stall();
    return respond_sse(answer("ok"));
  }};
  folder.configure(server.url("/v1"));
  {
    program killed{
        installed_riffle(), folder, {"run", "first", "--session", "s1"}};
    REQUIRE(eventually([&] { return server.requests().size() == 1; }));
    killed.signal(SIGKILL);
    killed.wait();
  }
  hangs = false;
  const auto end = riffle::testing::riffle(folder, {"run", "-v", "x y", "z w"});
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(holds(end.err, "A run of this folder was not finished: \"first\""));
  CHECK(holds(end.err, "'riffle sessions resume s1' finishes it"));
  CHECK(holds(end.err, "[LIMITS] "));
  folder.write("p.json", two_steps);
  CHECK(holds(riffle::testing::riffle(folder, {"plan", "-v", "p.json"}).err,
              "[LIMITS] "));
}

TEST_CASE("a task that had no run is told with what is known of it") {
  const work_folder folder;
  http_server server{
      [](const http_request&) { return http_reply::json("{}", 400); }};
  folder.configure(server.url("/v1"));
  const auto tasks =
      words{"run", "--workers", "1", "--fail-fast", "a b", "c d"};
  auto arguments = tasks;
  arguments.insert(arguments.end(), {"--output", "json"});
  const auto results =
      json::parse(riffle::testing::riffle(folder, arguments).out).at("results");
  REQUIRE(results.size() == 2);
  CHECK(results[1].at("status") == "not_run");
  CHECK(results[1].at("session_id").get<std::string>().starts_with("ses_"));
  CHECK(results[1].at("agent") == "default");
  // Lines of events say nothing of it.
  arguments = tasks;
  arguments.insert(arguments.end(), {"--output", "jsonl"});
  const auto lines = riffle::testing::riffle(folder, arguments);
  CHECK(of_type(checked_events(lines.out), "run_finished").size() == 1);
  CHECK(holds(lines.err, "[2/2] c d\n(not_run)\n"));
}

namespace {

/// A disk that is full while there is a file `f`; where a model wants one
/// command, which waits for a file `go`.
struct full_place {
  full_place() {
    folder.configure(server.url("/v1"));
    folder.write("plan.json", nlohmann::json{{"steps", {step}}}.dump());
  }
  [[nodiscard]] std::unique_ptr<program> begin(
      const std::filesystem::path& binary,
      const std::vector<std::string>& arguments) const {
    const std::map<std::string, std::string> env{
        {"RIFFLE_TEST_FAIL_WHILE", (folder.path() / "f").string()},
        {"RIFFLE_TEST_FAIL", "ENOSPC"}};
    return std::make_unique<program>(binary, folder, arguments, env);
  }
  void make_room() const { std::filesystem::remove(folder.path() / "f"); }
  /// There is a run that was killed while its command worked.
  void leave_a_run() const {
    program killed{installed_riffle(),
                   folder,
                   {"run", "go", "--session", "s1", "--approve", "all"}};
    REQUIRE(eventually([&] { return !folder.lines("effects").empty(); }));
    killed.signal(SIGKILL);
    killed.wait();
  }

  const nlohmann::json arguments{
      {"command", "echo one >> effects; until [ -e go ]; do sleep 0.02; done"}};
  const nlohmann::json step{{"tool", "bash"}, {"arguments", arguments}};
  work_folder folder;
  http_server server{[this](const http_request& request) {
    if (!tool_messages(request).empty()) return respond_sse(answer("Done."));
    return respond_sse(calls({{"bash", arguments}}));
  }};
};

}  // namespace

TEST_CASE("a start waits for room, too") {
  const std::string what = GENERATE("run", "plan", "sessions");
  const bool leaves = GENERATE(false, true);
  CAPTURE(what, leaves);
  const full_place at;
  const bool resumes = what == "sessions";
  if (resumes) at.leave_a_run();
  at.folder.write("go", "");
  at.folder.write("f", "");
  std::vector<std::string> words{"run", "go"};
  if (what == "plan") words = {"plan", "plan.json"};
  if (resumes) words = {"sessions", "resume", "s1"};
  words.insert(words.end(), {"--output", "jsonl"});
  if (!resumes) words.insert(words.end(), {"--approve", "all"});
  const auto running = at.begin(crashable_riffle(), words);
  REQUIRE(
      eventually([&] { return holds(running->err(), "waiting for room"); }));
  CHECK(holds(running->err(), resumes ? "'riffle sessions resume s1' finishes"
                                      : "nothing was started"));
  const auto before = at.folder.lines("effects").size();
  CHECK(before == (resumes ? 1 : 0));
  if (leaves)
    running->signal(SIGINT);
  else
    at.make_room();
  const auto end = running->wait();
  INFO(end.err);
  CHECK(end.status == (leaves ? 130 : 0));
  CHECK(holds(end.err, "there is room again") != leaves);
  // What a kill cut is not run again.
  CHECK(at.folder.lines("effects").size() ==
        (leaves ? before : std::size_t{1}));
  if (!leaves) checked_events(end.out);
}

TEST_CASE("a conversation waits for room before it begins") {
  if (!has_terminals()) return skip(no_terminals);
  if (!can("command -v script")) return skip("script is missing");
  const full_place at;
  at.folder.write("f", "");
  const auto line = "exec script -qefc \"'" + crashable_riffle().string() +
                    "' chat --no-color\" typescript";
  const auto running = at.begin("/bin/sh", {"-c", line});
  const auto shows = [&](const std::string& text) {
    return eventually(
        [&] { return holds(at.folder.read("typescript"), text); });
  };
  REQUIRE(shows("waiting for room"));
  CHECK_FALSE(holds(at.folder.read("typescript"), "/help shows"));
  at.make_room();
  CHECK(shows("there is room again"));
  CHECK(shows("/help shows"));
  running->signal(SIGTERM);
  running->wait();
  CHECK(eventually([&] { return processes_in(at.folder).empty(); }));
}
