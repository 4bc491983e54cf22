// SPDX-License-Identifier: MIT
// What the program's processes do when they are told to end, and where a
// model's commands live.
#include <algorithm>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

http_server one_command(const std::string& command) {
  return http_server{[command](const http_request& request) {
    if (!tool_messages(request).empty()) return respond_sse(answer("done"));
    return respond_sse(calls({{"bash", {{"command", command}}}}));
  }};
}

const std::vector<std::string> go{"run", "go",       "--approve",
                                  "all", "--output", "jsonl"};

std::string message_of(const finished& end) {
  return of_type(checked_events(end.out), "tool_result")
      .at(0)
      .at("data")
      .at("error")
      .at("message");
}

}  // namespace

namespace {

/// From the signal to the death of all that ignores SIGTERM.
std::chrono::steady_clock::duration time_to_death() {
  const work_folder folder;
  auto server = one_command(
      "trap '' TERM; (setsid bash -c \"trap '' TERM; cd $PWD; sleep 100; sleep "
      "100\" &); echo > begun; while :; do sleep 0.05; done");
  folder.configure(server.url("/v1"));
  program running{installed_riffle(), folder, go};
  REQUIRE(eventually([&] { return !folder.lines("begun").empty(); }));
  CHECK(processes_in(folder.path()).size() >= 4);
  const auto told = std::chrono::steady_clock::now();
  running.signal(SIGTERM);
  CHECK(eventually([&] {  // the program itself works in that folder, too
    const auto left = processes_in(folder.path());
    return left.empty() || (left.size() == 1 && left[0] == running.pid());
  }));
  const auto took = std::chrono::steady_clock::now() - told;
  CHECK(running.wait().status == 130);
  return took;
}

}  // namespace

TEST_CASE("a group that ignores SIGTERM is dead within a second of a cancel") {
  // What else the machine does only makes it longer.
  constexpr int rounds = 8;
  auto best = time_to_death();
  for (int i = 1; i < rounds && best > scaled(1s); ++i)
    best = std::min(best, time_to_death());
  WARN("dead " << std::chrono::duration<double>(best).count()
               << " s after the signal");
  CHECK(best <= scaled(1s));
}

TEST_CASE("kill_grace is how long a command may take to end in order") {
  const auto grace = GENERATE("\"50s\"", "\"0s\"");
  CAPTURE(grace);
  const work_folder folder;
  auto server = one_command(
      "trap 'sleep 2; echo > ended; exit' TERM; echo > begun; "
      "while :; do sleep 0.05; done");
  folder.configure(server.url("/v1"),
                   std::string{"[tools.bash]\nkill_grace = "} + grace + "\n");
  program running{installed_riffle(), folder, go};
  REQUIRE(eventually([&] { return !folder.lines("begun").empty(); }));
  running.signal(SIGTERM);
  CHECK(running.wait().status == 130);
  CHECK(folder.lines("ended").empty() == (std::string{grace} == "\"0s\""));
}

TEST_CASE("the message of a time limit names the limit") {
  const work_folder folder;
  auto server = one_command("sleep 100");
  SECTION("of a tool") {
    folder.configure(server.url("/v1"), "[tools.bash]\ntimeout = \"500ms\"\n");
    CHECK(message_of(riffle::testing::riffle(folder, go))
              .find("its time limit of 500ms (tools.bash.timeout)") !=
          std::string::npos);
  }
  SECTION("of silence") {
    folder.configure(server.url("/v1"),
                     "[tools.bash]\nidle_timeout = \"500ms\"\n");
    CHECK(message_of(riffle::testing::riffle(folder, go))
              .find("its limit of 500ms (tools.bash.idle_timeout)") !=
          std::string::npos);
  }
  SECTION("of a run") {
    folder.configure(server.url("/v1"));
    auto words = go;
    words.insert(words.end(), {"--timeout", "1s"});
    const auto end = riffle::testing::riffle(folder, words);
    CHECK(end.status == 124);
    CHECK(of_type(checked_events(end.out), "error")
              .at(0)
              .at("data")
              .at("message") ==
          "the run did not end within its time limit of 1s (--timeout)");
  }
  SECTION("of `tools call`") {
    folder.configure(server.url("/v1"), "[tools.bash]\ntimeout = \"500ms\"\n");
    const auto end = riffle::testing::riffle(
        folder, {"tools", "call", "bash", R"({"command":"sleep 100"})"});
    CHECK((end.out + end.err).find("of 500ms (tools.bash.timeout)") !=
          std::string::npos);
  }
}

TEST_CASE("the log names where commands run, and the key decides") {
  const auto space = GENERATE("auto", "none");
  CAPTURE(space);
  const work_folder folder;
  auto server = one_command("echo $PPID");
  folder.configure(server.url("/v1"),
                   "[runtime.log]\nlevel = \"debug\"\n[tools.bash]\nnamespace "
                   "= \"" +
                       std::string{space} + "\"\n");
  const auto end = riffle::testing::riffle(folder, go);
  INFO(end.err);
  CHECK(end.status == 0);
  const std::string output = of_type(checked_events(end.out), "tool_result")
                                 .at(0)
                                 .at("data")
                                 .at("output");
  const bool own =
      end.err.find(
          "process.space: commands run in a PID namespace of their "
          "own") != std::string::npos;
  CHECK(end.err.find("process.space: commands run ") != std::string::npos);
  CHECK((output == "1\n") == own);
  if (space == std::string{"none"}) CHECK_FALSE(own);
  // Who else can make one says that the kernel allows it.
  if (space == std::string{"auto"} && can("unshare -rpf --mount-proc true"))
    CHECK(own);
}

TEST_CASE("a file size limit is an error, not the program's death") {
  const work_folder folder;
  folder.configure("http://127.0.0.1:1/v1");
  const auto binary = installed_riffle().string();
  program running{
      "/bin/sh", folder, {"-c", "ulimit -f 8; exec " + binary + " run go"}};
  const auto end = running.wait();
  INFO(end.err);
  CHECK(end.status == 1);
  CHECK(end.err.find("storage_unavailable") != std::string::npos);
}

TEST_CASE("where files may not grow the limit is named, and waited for") {
  const work_folder folder;
  folder.configure("http://127.0.0.1:1/v1");
  const auto binary = installed_riffle().string();
  program running{
      "/bin/sh", folder, {"-c", "ulimit -f 200; exec " + binary + " run go"}};
  CHECK(eventually(
      [&] { return running.err().find("'ulimit -f'") != std::string::npos; }));
  running.signal(SIGINT);
  CHECK(running.wait().status == 130);
}
