// SPDX-License-Identifier: MIT
// kill -9 of the program while an isolated call runs: its child, even one that
// does not answer, dies with it, and the next start settles the call.
#include <algorithm>
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

int parent_of(int pid) {
  std::ifstream in{"/proc/" + std::to_string(pid) + "/stat"};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  const auto close = text.rfind(')');
  if (close == std::string::npos) return 0;
  return std::stoi(text.substr(close + 4));
}

/// Below this process, without children of their own: workers, not guards.
std::vector<int> workers_of(int program) {
  auto all = riffle::tools::descendants();
  std::vector<int> out;
  for (const int x : all)
    if (x != program &&
        std::ranges::none_of(all, [&](int y) { return parent_of(y) == x; }))
      out.push_back(x);
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
    return respond_sse(
        mutating ? calls({{"write", {{"path", "b.txt"}, {"content", "B"}}}})
                 : calls({{"read", {{"path", "a.txt"}}}}));
  }};
  const std::string tool = mutating ? "write" : "read";
  folder.configure(server.url("/v1"),
                   "[tools." + tool + "]\nisolation = \"process\"\n");
  program running{installed_riffle(),
                  folder,
                  {"run", "go", "--session", "s1", "--approve", "all"}};
  std::vector<int> workers;
  REQUIRE(eventually([&] {
    workers = workers_of(running.pid());
    return workers.size() == 1;
  }));
  ::kill(workers[0], SIGSTOP);
  child_stopped = true;
  const auto log = [&] {
    return riffle::testing::riffle(folder, {"sessions", "events", "s1"}).out;
  };
  REQUIRE(eventually(
      [&] { return log().find("\"tool_call\"") != std::string::npos; }));
  running.signal(SIGKILL);
  running.wait();
  CHECK(eventually([&] { return !lives(workers[0]); }));

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
  CHECK(folder.read("b.txt").empty());  // nothing acts after it was settled
  for (const auto& request : server.requests()) check_results(request);
}
