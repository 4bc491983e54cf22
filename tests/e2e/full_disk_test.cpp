// SPDX-License-Identifier: MIT
// The real program on a disk that is full, fails, or gives no more files.
#include <cstdlib>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

bool full() { return std::getenv("RIFFLE_TEST_FULL") != nullptr; }

/// A read, a command with an effect, then an answer.
http_reply provider(const http_request& request) {
  const auto told = tool_messages(request);
  if (!told.empty()) return respond_sse(answer("It is done."));
  return respond_sse(calls({{"read", {{"path", "a.txt"}}},
                            {"bash", {{"command", "echo one >> effects"}}}}));
}

const std::vector<std::string> run_command{
    "run", "go", "--session", "s1", "--approve", "all", "--output", "jsonl"};

void prepare(const work_folder& folder, const http_server& server) {
  folder.write("a.txt", "A\n");
  folder.configure(server.url("/v1"), "[publish]\nbatching = \"token\"\n");
}

/// There is room again: the run is finished, its log is whole, what was
/// published is a prefix of it, no command ran twice, and what ended well ran.
/// `began`: so, although it published nothing.
void finish_it(const work_folder& folder, const std::string& published,
               const http_server& server, bool began = false) {
  const auto again = riffle::testing::riffle(
      folder, {"sessions", "resume", "s1", "--output", "jsonl"});
  INFO(again.err);
  if (again.status == 2 && published.empty() && !began) {
    CHECK(folder.read("effects").empty());  // it never began
    return;
  }
  CHECK(again.status == 0);
  const auto log =
      riffle::testing::riffle(folder, {"sessions", "events", "s1"});
  const auto events = checked_events(log.out);
  CHECK(of_type(events, "run_finished").size() == 1);
  CHECK(log.out.starts_with(published));
  const auto effects = folder.lines("effects").size();
  CHECK(effects <= 1);
  for (const auto& x : of_type(events, "tool_result")) {
    const std::string how = x.at("data").at("outcome");
    CHECK((how == "ok" || how == "interrupted"));
    if (x.at("data").at("tool") == "bash" && how == "ok") CHECK(effects == 1);
  }
  for (const auto& request : server.requests()) check_results(request);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++n;
  return n;
}

bool waits(const program& x) { return has(x.err(), "waiting for room: "); }

/// Lets it wait for room, then leaves with Ctrl-C; or it needed none.
finished leave_when_it_waits(program& x) {
  eventually([&] { return waits(x) || x.has_ended(); });
  if (waits(x)) x.signal(SIGINT);
  return x.wait();
}

/// How a program ends that was left while it waited.
void check_end(const finished& end) {
  INFO(end.err);
  CHECK(end.status == 130);
  CHECK(times(end.err, "waiting for room: ") == 1);
  CHECK(has(end.err, "Ctrl-C leaves"));
  CHECK_FALSE(has(end.out, "run_finished"));
}

std::string shell_line(const std::vector<std::string>& arguments) {
  auto line = "'" + installed_riffle().string() + "'";
  for (const auto& x : arguments) line += " '" + x + "'";
  return line;
}

constexpr auto no_small_disk = "no tmpfs can be mounted here (unshare -rm)";

/// `data`, where a tmpfs can be mounted.
bool makes_small_disk(const work_folder& folder) {
  const auto probe = "mkdir data && unshare -rm mount -t tmpfs none data";
  return program{"/bin/sh", folder, {"-c", probe}}.wait().status == 0;
}

}  // namespace

TEST_CASE("a write that fails is waited for; left, the run can be finished",
          "[torture]") {
  const std::string how = GENERATE("ENOSPC", "EIO");
  int failures = 0;
  const auto step = full() ? 1 : 3;
  for (int k = 1; full() || k <= 50; k += k < 20 ? 1 : step) {
    CAPTURE(how, k);
    const work_folder folder;
    http_server server{provider};
    prepare(folder, server);
    program running{crashable_riffle(),
                    folder,
                    run_command,
                    {{"RIFFLE_TEST_FAIL_AT", std::to_string(k)},
                     {"RIFFLE_TEST_FAIL", how}}};
    const auto end = leave_when_it_waits(running);
    if (end.status == 0) break;
    ++failures;
    check_end(end);
    finish_it(folder, end.out, server);
  }
  CHECK(failures >= 20);
}

TEST_CASE("a tool is stopped when the journal refuses its run") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    if (!tool_messages(request).empty()) return respond_sse(answer("Over."));
    auto reply = http_reply::sse().send(
        call(0, "a", "bash", {{"command", "echo > begun; sleep 60"}}));
    return std::move(reply).send(finish("tool_calls") + done_mark);
  }};
  folder.configure(server.url("/v1"));
  program running{crashable_riffle(),
                  folder,
                  {"run", "go", "--session", "s1", "--approve", "all"},
                  {{"RIFFLE_TEST_FAIL_WHILE", (folder.path() / "f").string()}}};
  REQUIRE(eventually([&] { return !folder.lines("begun").empty(); }));
  folder.write("f", "");
  running.signal(SIGINT);  // what it settles cannot be stored
  const auto end = running.wait();
  INFO(end.err);
  check_end(end);
  CHECK(processes_in(folder.path()).empty());
  std::filesystem::remove(folder.path() / "f");
  finish_it(folder, {}, server, true);
}

namespace {

/// A command that waits for the file `go`; then the answer.
http_reply patient_provider(const http_request& request) {
  if (!tool_messages(request).empty()) return respond_sse(answer("Over."));
  return respond_sse(
      calls({{"bash",
              {{"command",
                "echo 1 > began; until [ -e go ]; do sleep 0.02; done; "
                "echo one >> effects"}}},
             {"read", {{"path", "a.txt"}}}}));
}

/// So it writes nothing more until the call ends.
bool tells_of_call(const std::string& out) {
  const auto call = out.find("\"event_type\":\"tool_call\"");
  return call != out.npos && has(out.substr(call), "\"event_type\":\"status\"");
}

/// A run whose command works, on a disk that is full while `f` is there.
struct busy_run {
  explicit busy_run(const std::string& how,
                    std::vector<std::string> more = {}) {
    prepare(folder, server);
    auto arguments = run_command;
    arguments.insert(arguments.end(), more.begin(), more.end());
    running.emplace(crashable_riffle(), folder, arguments,
                    std::map<std::string, std::string>{
                        {"RIFFLE_TEST_FAIL_WHILE", (folder.path() / "f")},
                        {"RIFFLE_TEST_FAIL", how}});
    REQUIRE(eventually([&] { return !folder.read("began").empty(); }));
    REQUIRE(eventually([&] { return tells_of_call(running->out()); }));
  }
  void fill() {
    folder.write("f", "");
    folder.write("go", "");
    REQUIRE(eventually([&] { return waits(*running); }));
  }
  void make_room() const { std::filesystem::remove(folder.path() / "f"); }

  work_folder folder;
  http_server server{patient_provider};
  std::optional<program> running;
};

}  // namespace

TEST_CASE("a run waits for room on its disk, and goes on") {
  const std::string how = GENERATE("ENOSPC", "EIO");
  busy_run x{how};
  x.fill();
  CHECK(has(x.running->err(), "riffle sessions resume s1"));
  CHECK(has(x.running->err(), "make room on the disk"));
  x.make_room();
  const auto end = x.running->wait();
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(times(end.err, "waiting for room: ") == 1);
  CHECK(times(end.err, "there is room again") == 1);
  CHECK_FALSE(has(end.err, "suspended"));  // the log says no more
  const auto events = checked_events(end.out);
  CHECK(of_type(events, "run_finished").size() == 1);
  for (const auto& result : of_type(events, "tool_result"))
    CHECK(result.at("data").at("outcome") == "ok");
  CHECK(x.folder.lines("effects").size() == 1);
  CHECK(riffle::testing::riffle(x.folder, {"sessions", "events", "s1"}).out ==
        end.out);
}

TEST_CASE("Ctrl-C leaves a run that waits for room, at once") {
  busy_run x{"ENOSPC"};
  x.fill();
  x.running->signal(SIGINT);
  const auto end = x.running->wait(20s);
  check_end(end);
  x.make_room();
  finish_it(x.folder, end.out, x.server);
}

TEST_CASE("the time limit holds while a run waits for room") {
  busy_run x{"ENOSPC", {"--timeout", "3s"}};
  x.fill();
  const auto end = x.running->wait(30s);
  INFO(end.err);
  CHECK(end.status == 124);
  CHECK(has(end.err, "time limit"));
  x.make_room();
  finish_it(x.folder, end.out, x.server);
}

TEST_CASE("several tasks wait for room before they begin, as one does") {
  const bool fresh = GENERATE(true, false);  // there is no store yet
  const bool leaves = GENERATE(false, true);
  CAPTURE(fresh, leaves);
  const work_folder folder;
  http_server server{respond_sse(answer("It is done."))};
  prepare(folder, server);
  if (!fresh)
    REQUIRE(riffle::testing::riffle(folder, {"run", "before"}).status == 0);
  folder.write("f", "");
  program running{crashable_riffle(),
                  folder,
                  {"run", "a b", "c d"},
                  {{"RIFFLE_TEST_FAIL_WHILE", (folder.path() / "f").string()},
                   {"RIFFLE_TEST_FAIL", "ENOSPC"}}};
  REQUIRE(eventually([&] { return waits(running); }));
  CHECK(has(running.err(), "nothing was started"));
  if (leaves)
    running.signal(SIGINT);
  else
    std::filesystem::remove(folder.path() / "f");
  const auto end = running.wait();
  INFO(end.err);
  CHECK(end.status == (leaves ? 130 : 0));
  CHECK(has(end.out, "[2/2] c d\nIt is done.\n") == !leaves);
}

TEST_CASE("too few files are a clean end, at every number of them",
          "[torture]") {
  int ended = 0;
  const int step = full() ? 1 : 4;
  for (int n = 4; n < 64; n += step) {
    CAPTURE(n);
    const work_folder folder;
    http_server server{provider};
    prepare(folder, server);
    const auto end = program{"/bin/sh",
                             folder,
                             {"-c", "ulimit -n " + std::to_string(n) +
                                        "; exec " + shell_line(run_command)}}
                         .wait();
    INFO(end.err);
    CHECK(end.status >= 0);
    CHECK(end.status < 128);  // no signal
    if (end.status != 0) CHECK_FALSE(end.err.empty());
    if (end.status == 127) continue;  // not even its libraries
    ++ended;
    const auto again = riffle::testing::riffle(
        folder, {"sessions", "resume", "s1", "--output", "jsonl"});
    INFO(again.err);
    const bool nothing_saved = end.out.empty() && again.status == 2;
    CHECK((again.status == 0 || nothing_saved));
    if (nothing_saved) CHECK(again.err.find("s1") != std::string::npos);
    if (nothing_saved) continue;
    const auto log =
        riffle::testing::riffle(folder, {"sessions", "events", "s1"});
    CHECK(of_type(checked_events(log.out), "run_finished").size() == 1);
  }
  CHECK(ended >= 5);
}

TEST_CASE("a disk that is really full is waited for, and the run goes on",
          "[torture]") {
  const work_folder folder;
  http_server server{provider};
  prepare(folder, server);
  if (!makes_small_disk(folder)) return skip(no_small_disk);
  // The journal fits, then the disk is filled to the last page.
  const bool from_the_start = GENERATE(true, false);
  CAPTURE(from_the_start);
  const std::string fill =
      "dd if=/dev/zero of=data/filler bs=4096 2> /dev/null";
  // Filled before the run, or by a call of it.
  const std::string filler =
      from_the_start ? fill + "; " : std::string{": nothing yet; "};
  http_server filling{[&](const http_request& request) {
    if (from_the_start || !tool_messages(request).empty())
      return provider(request);
    return respond_sse(calls({{"bash", {{"command", fill + "; true"}}}}));
  }};
  prepare(folder, filling);
  const auto text =
      "mount -t tmpfs -o size=3m none data; " +
      shell_line({"run", "first", "--session", "s0", "--output", "jsonl"}) +
      " > first; " + filler + "{ " + shell_line(run_command) +
      " > published 2> said & }; run=$!; n=0; "
      "until grep -q 'waiting for room' said || [ $n -gt 600 ]; do "
      "n=$((n + 1)); sleep 0.05; done; rm data/filler; wait $run; "
      "echo $? > status; " +
      shell_line({"events", "check", "published"}) +
      " > checked; "
      "echo $? >> status; " +
      shell_line({"sessions", "events", "s1"}) + " > stored";
  const auto end =
      program{"/usr/bin/unshare", folder, {"-rm", "/bin/sh", "-c", text}}
          .wait();
  const auto said = folder.read("said");
  INFO(end.err << said);
  // Each wait is told once, and its end: a page that came free meanwhile may
  // end a first one.
  const auto waits = times(said, "waiting for room: ");
  CHECK(waits >= 1);
  CHECK(waits <= 3);
  CHECK(times(said, "there is room again") == waits);
  CHECK(has(said, "make room on the disk"));
  CHECK(folder.lines("status") == std::vector<std::string>{"0", "0"});
  const auto events = checked_events(folder.read("published"));
  CHECK(of_type(events, "run_finished").size() == 1);
  CHECK(folder.read("stored") == folder.read("published"));
  for (const auto& x : of_type(events, "tool_result")) {
    // What fills the disk may be stopped for its being full.
    const auto& result = x.at("data");
    if (result.at("outcome") == "ok") continue;
    CHECK_FALSE(from_the_start);
    CHECK(has(result.at("error").at("message"), "nothing could be saved"));
  }
  CHECK(folder.lines("effects").size() == (from_the_start ? 1 : 0));
}

TEST_CASE("a volley stands still on a full disk, and goes on", "[torture]") {
  const work_folder folder;
  if (!makes_small_disk(folder)) return skip(no_small_disk);
  const auto await = [](const std::string& file) {
    return "timeout 30 sh -c 'until [ -e " + file + " ]; do sleep 0.05; done';";
  };
  http_server server{[&](const http_request& request) {
    if (!tool_messages(request).empty())
      return respond_sse(answer(std::string(20'000, 'x')));  // needs room
    return respond_sse(calls(
        {{"bash", {{"command", "echo one >> effects; " + await("full")}}}}));
  }};
  prepare(folder, server);
  std::vector<std::string> command{"run", "--approve", "all",  "--workers",
                                   "2",   "--output",  "json", "--"};
  for (int i = 0; i < 6; ++i) command.push_back("task " + std::to_string(i));
  const auto text =
      "mount -t tmpfs -o size=3m none data; touch full; " +
      shell_line({"run", "first", "--approve", "all"}) +
      " > first 2>&1; rm -f effects full; " + shell_line(command) +
      " > results 2> said & run=$!; " + await("effects") +
      "dd if=/dev/zero of=data/filler bs=4096 2> /dev/null; touch full; "
      "sleep 3; rm data/filler; wait $run; echo $? > status";
  const auto end =
      program{"/usr/bin/unshare", folder, {"-rm", "/bin/sh", "-c", text}}.wait(
          120s);
  INFO(end.err << folder.read("said"));
  CHECK(times(folder.read("said"), " waits for room: ") == 1);
  CHECK(folder.lines("status") == std::vector<std::string>{"0"});
  const auto results = json::parse(folder.read("results")).at("results");
  REQUIRE(results.size() == 6);
  for (const auto& x : results) CHECK(x.at("status") == "completed");
  // Of the two whose call was cut the model is told, and none acts twice.
  const auto effects = folder.lines("effects").size();
  CHECK((effects >= 4 && effects <= 6));
}
