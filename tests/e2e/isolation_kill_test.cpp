// SPDX-License-Identifier: MIT
// kill -9 of the program while an isolated call runs: its child, even one that
// does not answer, dies with it, and the next start settles the call.
#include <atomic>
#include <csignal>
#include <fstream>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tools/process/process_tree.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

/// The isolated workers below this process; not their guards.
std::vector<int> workers() {
  std::vector<int> out;
  for (const int pid : riffle::tools::descendants()) {
    std::ifstream in{"/proc/" + std::to_string(pid) + "/cmdline"};
    const std::string line{std::istreambuf_iterator<char>{in}, {}};
    if (line.find("--riffle-worker") != std::string::npos &&
        line.find("--riffle-guard") == std::string::npos)
      out.push_back(pid);
  }
  return out;
}

bool lives(int pid) { return ::kill(pid, 0) == 0; }

}  // namespace

TEST_CASE("kill -9 while an isolated call hangs: the child dies, it settles",
          "[torture]") {
  const bool mutating = GENERATE(true, false);
  CAPTURE(mutating);
  const work_folder folder;
  folder.write("a.txt", "A\n");
  std::atomic<bool> child_stopped = false;
  http_server server{[&](const http_request& request) {
    if (!tool_messages(request).empty()) return respond_sse(answer("done"));
    eventually([&] { return child_stopped.load(); });
    return respond_sse(mutating ? calls({{"edit",
                                          {{"path", "a.txt"},
                                           {"old_string", "A"},
                                           {"new_string", "B"}}}})
                                : calls({{"read", {{"path", "a.txt"}}}}));
  }};
  const std::string tool = mutating ? "edit" : "read";
  folder.configure(server.url("/v1"),
                   "[tools." + tool + "]\nisolation = \"process\"\n");
  program running{installed_riffle(),
                  folder,
                  {"run", "go", "--session", "s1", "--approve", "all"}};
  REQUIRE(eventually([] { return workers().size() == 1; }));
  const auto worker = workers()[0];
  ::kill(worker, SIGSTOP);
  child_stopped = true;
  const auto log = [&] {
    return riffle::testing::riffle(folder, {"sessions", "events", "s1"}).out;
  };
  REQUIRE(eventually(
      [&] { return log().find("\"tool_call\"") != std::string::npos; }));
  running.signal(SIGKILL);
  running.wait();
  CHECK(eventually([&] { return !lives(worker); }));

  const auto again = riffle::testing::riffle(
      folder, {"sessions", "resume", "s1", "--approve", "all"});
  INFO(again.err);
  CHECK(again.status == 0);
  const auto events = checked_events(log());
  const auto results = of_type(events, "tool_result");
  REQUIRE(results.size() == 1);
  const auto& data = results[0].at("data");
  CHECK(data.at("outcome") == (mutating ? "interrupted" : "ok"));
  CHECK(data.at("attempts") == (mutating ? 1 : 2));
  CHECK(folder.read("a.txt") == "A\n");  // nothing acts after it was settled
  for (const auto& request : server.requests()) check_results(request);
}
