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
/// published is a prefix of it, and no command ran twice.
void finish_it(const work_folder& folder, const std::string& published,
               const http_server& server) {
  const auto again = riffle::testing::riffle(
      folder, {"sessions", "resume", "s1", "--output", "jsonl"});
  INFO(again.err);
  if (again.status == 2 && published.empty()) {
    CHECK(folder.read("effects").empty());  // it never began
    return;
  }
  CHECK(again.status == 0);
  const auto log =
      riffle::testing::riffle(folder, {"sessions", "events", "s1"});
  const auto events = checked_events(log.out);
  CHECK(of_type(events, "run_finished").size() == 1);
  CHECK(log.out.starts_with(published));
  CHECK(folder.lines("effects").size() <= 1);
  for (const auto& request : server.requests()) check_results(request);
}

/// How a program ends that could not store something.
void check_end(const finished& end) {
  INFO(end.err);
  CHECK(end.status == 1);
  CHECK(end.err.find("storage_unavailable") != std::string::npos);
  CHECK(end.out.find("run_finished") == std::string::npos);
}

/// A shell's single-quoted word.
std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string shell_line(const std::vector<std::string>& arguments) {
  auto line = quoted(installed_riffle().string());
  for (const auto& x : arguments) line += " " + quoted(x);
  return line;
}

}  // namespace

TEST_CASE("a write that fails ends the program, and the run can be finished",
          "[torture]") {
  const std::string how = GENERATE("ENOSPC", "EIO");
  int failures = 0;
  const auto step = full() ? 1 : 3;
  for (int k = 1; full() || k <= 50; k += k < 20 ? 1 : step) {
    CAPTURE(how, k);
    const work_folder folder;
    http_server server{provider};
    prepare(folder, server);
    const auto end = program{
        crashable_riffle(),
        folder,
        run_command,
        {{"RIFFLE_TEST_FAIL_AT", std::to_string(k)},
         {"RIFFLE_TEST_FAIL",
          how}}}.wait();
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
  CHECK(end.status != 0);
  CHECK(end.err.find("storage_unavailable") != std::string::npos);
  CHECK(processes_in(folder.path()).empty());
  finish_it(folder, {}, server);
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
    CHECK((again.status == 0 || again.status == 2 || again.status == 1));
    if (again.status == 2) continue;
    const auto log =
        riffle::testing::riffle(folder, {"sessions", "events", "s1"});
    CHECK(of_type(checked_events(log.out), "run_finished").size() == 1);
  }
  CHECK(ended >= 5);
}

TEST_CASE("a disk that is really full is told, and the run is finished later",
          "[torture]") {
  const work_folder folder;
  http_server server{provider};
  prepare(folder, server);
  const auto try_it =
      program{"/bin/sh",
              folder,
              {"-c", "mkdir data && unshare -rm mount -t tmpfs none data"}}
          .wait();
  if (try_it.status != 0) {
    skip("no tmpfs can be mounted here (unshare -rm)");
    return;
  }
  // The journal fits, then the disk is filled to the last page.
  const auto text =
      "mount -t tmpfs -o size=3m none data; " +
      shell_line({"run", "first", "--session", "s0", "--output", "jsonl"}) +
      " > first; dd if=/dev/zero of=data/filler bs=4096 2> /dev/null; " +
      shell_line(run_command) +
      " > published; echo $? > status; rm data/filler; " +
      shell_line({"sessions", "resume", "s1", "--output", "jsonl"}) +
      " > resumed; echo $? >> status; " +
      shell_line({"run", "go", "--session", "s1", "--approve", "all",
                  "--output", "jsonl"}) +
      " > again; echo $? >> status";
  const auto end =
      program{"/usr/bin/unshare", folder, {"-rm", "/bin/sh", "-c", text}}
          .wait();
  INFO(end.err);
  const auto status = folder.lines("status");
  REQUIRE(status.size() == 3);
  CHECK(status[0] == "1");
  CHECK(end.err.find("make room on the disk") != std::string::npos);
  CHECK((status[1] == "0" || status[1] == "2"));  // 2: it never began
  CHECK(status[2] == "0");
  checked_events(folder.read("again"));
}
