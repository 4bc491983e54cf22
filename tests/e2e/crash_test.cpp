// SPDX-License-Identifier: MIT
// kill -9 of the real program, and what the next start makes of it.
#include <cstdlib>
#include <map>
#include <random>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

bool full() { return std::getenv("RIFFLE_TEST_FULL") != nullptr; }

/// A command with effects: its name when it begins, and when it ends.
std::string acting(const std::string& name, const std::string& seconds) {
  return "echo " + name + " >> effects; sleep " + seconds + "; echo " + name +
         " >> ends";
}

/// Reads, then commands with effects, then an answer that says the results.
http_reply provider(const http_request& request) {
  const auto told = tool_messages(request);
  if (told.empty()) {
    auto reply = http_reply::sse().send(say("Let me see. "));
    reply.send(call(0, "a", "read", {{"path", "a.txt"}}));
    reply.send(call(1, "b", "read", {{"path", "b.txt"}}));
    return std::move(reply).send(finish("tool_calls") + done_mark);
  }
  if (told.size() == 2)
    return respond_sse(calls({{"bash", {{"command", acting("one", "0.15")}}},
                              {"read", {{"path", "a.txt"}}},
                              {"bash", {{"command", acting("two", "0")}}}}));
  std::string all;
  for (const auto& m : told) all += m.at("content").get<std::string>() + "|";
  return respond_sse(answer(all));
}

void prepare(const work_folder& folder, const http_server& server) {
  folder.write("a.txt", "A\n");
  folder.write("b.txt", "B\n");
  folder.configure(server.url("/v1"), "[publish]\nbatching = \"token\"\n");
}

const std::vector<std::string> run_command{
    "run", "go", "--session", "s1", "--approve", "all", "--output", "jsonl"};

/// What the commands of one name have come to in the log, and what they did.
struct acts {
  std::size_t begun = 0;  ///< calls that began
  std::size_t ok = 0;
  std::size_t lines = 0;  ///< beginnings that the command wrote itself
};

std::map<std::string, acts> acts_of(const work_folder& folder,
                                    const std::vector<json>& events) {
  std::map<std::string, acts> all{{"one", {}}, {"two", {}}};
  std::map<std::string, std::string> names;  // by the call's id
  for (const auto& e : of_type(events, "tool_call")) {
    const auto& data = e.at("data");
    if (data.at("tool") != "bash") continue;
    const std::string command = data.at("arguments").at("command");
    auto name = command.substr(5, 3);
    if (data.at("status") == "starting") ++all.at(name).begun;
    names.emplace(data.at("id"), std::move(name));
  }
  for (const auto& e : of_type(events, "tool_result"))
    if (const auto name = names.find(e.at("data").at("id"));
        name != names.end() && e.at("data").at("outcome") == "ok")
      ++all.at(name->second).ok;
  for (const auto& line : folder.lines("effects")) ++all.at(line).lines;
  return all;
}

/// After a kill: the run is finished by `resume`, the log is whole, what was
/// published before is a prefix of it, no call acted twice, and nothing acts
/// any more.
void check_recovery(const work_folder& folder, const std::string& published,
                    const http_server& server) {
  auto again = riffle::testing::riffle(
      folder, {"sessions", "resume", "s1", "--output", "jsonl"});
  CHECK(processes_in(folder).empty());
  if (again.status == 2 && published.empty()) {
    // Killed before the run was on record: nothing happened, nothing is lost.
    CHECK(again.err.find("s1") != std::string::npos);
    CHECK(folder.read("effects").empty());
    return;
  }
  INFO(again.err);
  CHECK(again.status == 0);
  const auto log =
      riffle::testing::riffle(folder, {"sessions", "events", "s1"});
  const auto events = checked_events(log.out);
  CHECK(of_type(events, "run_finished").size() == 1);
  // Byte for byte; the reader may have been killed inside a line.
  CHECK(log.out.starts_with(published));
  for (const auto& [name, x] : acts_of(folder, events)) {
    INFO(name << ": " << x.begun << " begun, " << x.ok << " ok, " << x.lines
              << " lines\n"
              << log.out);
    CHECK(x.lines <= 1);  // a mutating call never runs again
    CHECK(x.lines <= x.begun);
    CHECK(x.lines >= x.ok);
  }
  for (const auto& request : server.requests()) check_results(request);
}

}  // namespace

TEST_CASE("a run that is killed at any moment is finished by resume") {
  const auto seed = fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  const int rounds = full() ? 200 : 12;
  int killed = 0;
  int acting = 0;  // while a command was under way
  for (int i = 0; i < rounds; ++i) {
    const work_folder folder;
    http_server server{provider};
    prepare(folder, server);
    program running{installed_riffle(), folder, run_command};
    // At some event, and a moment behind it; every third in a command.
    const auto events = i % 3 == 2 ? 0 : random() % 24;
    eventually([&] {
      return i % 3 == 2 ? !folder.lines("effects").empty()
                        : folder.lines("out.txt").size() >= events ||
                              running.has_ended();
    });
    const auto until = std::chrono::steady_clock::now() +
                       std::chrono::microseconds{random() % 20'000};
    eventually([&] { return std::chrono::steady_clock::now() >= until; });
    running.signal(SIGKILL);
    const auto end = running.wait();
    if (end.status == 128 + SIGKILL) ++killed;
    if (folder.lines("effects").size() > folder.lines("ends").size()) ++acting;
    check_recovery(folder, end.out, server);
  }
  std::printf("crash: %d rounds, %d kills, %d in a command\n", rounds, killed,
              acting);
  CHECK(killed >= rounds / 3);
  CHECK(acting > 0);
}

TEST_CASE("a run that is killed at every write point is finished by resume") {
  const int step = full() ? 1 : 10;
  std::size_t points = 0;
  {
    const work_folder folder;
    http_server server{provider};
    prepare(folder, server);
    const auto whole =
        program{crashable_riffle(),
                folder,
                run_command,
                {{"RIFFLE_TEST_COUNT_FILE", (folder.path() / "n").string()}}}
            .wait();
    REQUIRE(whole.status == 0);
    points = std::stoul(folder.read("n"));
  }
  std::size_t killed = 0;
  for (std::size_t n = 1; n <= points; n += static_cast<std::size_t>(step)) {
    for (const auto* after : {"0", "1"}) {
      const work_folder folder;
      http_server server{provider};
      prepare(folder, server);
      std::map<std::string, std::string> env{
          {"RIFFLE_TEST_KILL_AT", std::to_string(n)}};
      if (*after == '1') env.emplace("RIFFLE_TEST_KILL_AFTER", "1");
      INFO("killed at write point " << n << ", after: " << after);
      const auto end =
          program{crashable_riffle(), folder, run_command, env}.wait();
      if (end.status == 128 + SIGKILL) ++killed;
      check_recovery(folder, end.out, server);
    }
  }
  std::printf("crash: %zu write points, every %dth, %zu kills\n", points, step,
              killed);
  CHECK(points >= 100);
  CHECK(killed * static_cast<std::size_t>(step) >= points);
  if (full()) CHECK(killed >= 40);
}

TEST_CASE("what a killed runtime left behind ends before its call is settled") {
  const work_folder folder;
  // A daemon: its own session, forked twice, deaf to SIGTERM and SIGHUP.
  folder.write("daemon.sh",
               "trap '' TERM HUP\nwhile true; do date +%s%N >> ticks; "
               "sleep 0.01; done\n");
  http_server server{[](const http_request& request) {
    if (!tool_messages(request).empty()) return respond_sse(answer("over"));
    return respond_sse(calls(
        {{"bash",
          {{"command", "setsid sh -c 'setsid sh daemon.sh &' & sleep 60"}}}}));
  }};
  folder.configure(server.url("/v1"));
  program running{installed_riffle(), folder, run_command};
  REQUIRE(eventually([&] { return folder.lines("ticks").size() > 3; }));
  running.signal(SIGKILL);
  running.wait();
  const auto again = riffle::testing::riffle(
      folder, {"sessions", "resume", "s1", "--output", "jsonl"});
  CHECK(again.status == 0);
  const auto ticks = folder.lines("ticks");
  const auto results = of_type(checked_events(again.out), "tool_result");
  REQUIRE(results.size() == 1);
  CHECK(results[0].at("data").at("outcome") == "interrupted");
  // Nothing is written any more: the number stays, watched for a while.
  CHECK_FALSE(eventually(
      [&] { return folder.lines("ticks").size() != ticks.size(); }, 300ms));
}

TEST_CASE("a live owner keeps its run") {
  const work_folder folder;
  http_server server{http_reply::sse().stall("gate")};
  folder.configure(server.url("/v1"));
  program running{installed_riffle(), folder, run_command};
  REQUIRE(server.wait_for_requests(1));
  const auto busy =
      riffle::testing::riffle(folder, {"sessions", "resume", "s1"});
  CHECK(busy.status == 2);
  CHECK(busy.err.find("session_busy") != std::string::npos);
  // Its owner ends it while the second one looks whether it lives.
  const auto owners = [&] {
    std::size_t n = 0;
    for (const auto& x :
         std::filesystem::directory_iterator{folder.path() / "data" / "owners"})
      n += x.exists() ? 1 : 0;
    return n;
  };
  const auto before = owners();
  program late{installed_riffle(), folder, {"sessions", "resume", "s1"}};
  REQUIRE(eventually([&] { return owners() > before; }));
  running.signal(SIGTERM);
  CHECK(running.wait().status == 130);
  const auto said = late.wait();
  CHECK(said.status == 0);
  CHECK(said.err.find("its last run is cancelled") != std::string::npos);
}
