// SPDX-License-Identifier: MIT
// Nodes and origins that die, hang or are told to end while a call runs.
#include <algorithm>
#include <csignal>
#include <sstream>

#include "tests/e2e/cluster_world.hpp"
#include "tests/support/processes.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

/// Of a log that is not at its end.
std::vector<json> json_lines(const std::string& text) {
  std::vector<json> out;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);)
    out.push_back(json::parse(line, nullptr, false));
  return out;
}

}  // namespace

TEST_CASE("kill -9 of a node costs an attempt of what reads, never the run") {
  std::optional<node_process> a;
  a.emplace("alpha", "", "30");
  const node_process b{"beta"};
  origin o{{a->address, b.address}, {{"look", {{"what", "1"}}}}};
  // Both are free: the first by name gets it.
  program running{
      installed_riffle(), o.folder, {"run", "go", "--session", "s1"}};
  REQUIRE(
      eventually([&] { return o.log().find("looking") != std::string::npos; }));
  a->run->signal(SIGKILL);
  const auto done = running.wait();
  INFO(done.err);
  CHECK(done.status == 0);
  const auto log = o.log();
  const auto result = result_of(log);
  CHECK(result.at("outcome") == "ok");
  CHECK(result.at("output") == "seen by beta\n");
  CHECK(result.at("attempts") == 2);
  // Who did the work is told, and whom it was taken from.
  CHECK(called_on(log) == "alpha");
  CHECK(result.at("metadata").at("node") == "beta");
  // Also while it works: in the log, and at the terminal.
  const auto reports = of_type(checked_events(log), "tool_progress");
  CHECK(std::ranges::count_if(reports, [](const json& x) {
          return x.at("data").value("message", "") == "attempt 2 on node beta";
        }) == 1);
  CHECK(done.err.find("attempt 2 on node beta") != std::string::npos);
  CHECK(done.err.find("[RETRY] tool look: ") != std::string::npos);
  CHECK(done.err.find("the node alpha is lost") != std::string::npos);
  const auto end = done.err.rfind("[TOOL] look@");
  REQUIRE(end != std::string::npos);
  CHECK(done.err.find("[TOOL] look@beta", end) == end);
  // Its guards ended what it ran.
  CHECK(eventually([&] { return processes_in(a->folder.path()).empty(); }));
}

TEST_CASE("kill -9 of a node takes no link to another one along, with TLS") {
  const work_folder certificates;
  REQUIRE(riffle::testing::riffle(
              certificates, {"cluster", "init", "c", "origin", "alpha", "beta"})
              .status == 0);
  const auto with = [&](const std::string& name) {
    const auto at = (certificates.path() / "c").string() + "/";
    return "join_timeout = \"20s\"\ntls = { certificate = \"" + at + name +
           ".pem\", key = \"" + at + name + ".key\", ca = \"" + at +
           "ca.pem\" }\n";
  };
  std::optional<node_process> a;
  a.emplace("alpha", "", "30", with("alpha"));
  const node_process b{"beta", "", "1", with("beta")};
  origin o{{a->address, b.address},
           {{"look", {{"what", "1"}}}, {"look", {{"what", "2"}}}},
           with("origin")};
  program running{
      installed_riffle(), o.folder, {"run", "go", "--session", "s1"}};
  REQUIRE(eventually([&] {
    return of_type(json_lines(o.log()), "tool_progress").size() == 2;
  }));
  a->run->signal(SIGKILL);
  const auto done = running.wait();
  INFO(done.err);
  CHECK(done.status == 0);
  CHECK(done.err.find("node alpha is gone") != std::string::npos);
  CHECK(done.err.find("node beta is gone") == std::string::npos);
  int attempts = 0;
  for (const auto& x : of_type(checked_events(o.log()), "tool_result"))
    attempts += x.at("data").at("attempts").get<int>();
  CHECK(attempts == 3);
}

TEST_CASE("kill -9 of a node: what changes something is not run again") {
  node_process a{"alpha"};
  const node_process b{"beta"};
  origin o{{a.address, b.address}, {{"note", {{"what", "1"}}}}};
  program running{installed_riffle(),
                  o.folder,
                  {"run", "go", "--session", "s1", "--approve", "all",
                   "--output", "jsonl"}};
  REQUIRE(eventually([&] { return a.notes().size() == 1; }));
  a.run->signal(SIGKILL);
  const auto done = running.wait();
  INFO(done.err);
  CHECK(result_of(done.out).at("outcome") == "interrupted");
  CHECK(called_on(done.out) == "alpha");
  CHECK(result_of(done.out).at("metadata").at("node") == "alpha");
  CHECK(b.notes().empty());
  CHECK(a.notes() == std::vector<std::string>{"begun"});
}

TEST_CASE("a node that is stopped is fenced; its processes end by themselves") {
  node_process a{"alpha"};
  origin o{{a.address}, {{"note", {{"what", "1"}}}}};
  program running{installed_riffle(),
                  o.folder,
                  {"run", "go", "--session", "s1", "--approve", "all",
                   "--output", "jsonl"}};
  REQUIRE(eventually([&] { return a.notes().size() == 1; }));
  a.run->signal(SIGSTOP);
  const auto done = running.wait();
  INFO(done.err);
  CHECK(result_of(done.out).at("outcome") == "interrupted");
  // Who watches is told what the run waits for.
  CHECK(done.out.find("what it had may act for 1.7s more") !=
        std::string::npos);
  // Nothing acts after it was settled: the guard, which nobody stopped, ended
  // the command by its lease.
  CHECK(a.notes() == std::vector<std::string>{"begun"});
  CHECK(a.noting().empty());
  a.run->signal(SIGCONT);
  CHECK(eventually([&] {
    return a.run->err().find("begins anew") != std::string::npos ||
           a.run->err().find("is gone") != std::string::npos;
  }));
  CHECK(a.notes() == std::vector<std::string>{"begun"});
}

TEST_CASE("kill -9 of the origin: nodes end its calls, recovery settles them") {
  node_process a{"alpha"};
  origin o{{a.address}, {{"note", {{"what", "1"}}}}};
  program running{installed_riffle(),
                  o.folder,
                  {"run", "go", "--session", "s1", "--approve", "all"}};
  REQUIRE(eventually([&] { return a.notes().size() == 1; }));
  running.signal(SIGKILL);
  running.wait();
  CHECK(eventually([&] { return a.noting().empty(); }));
  const auto again = riffle::testing::riffle(
      o.folder, {"sessions", "resume", "s1", "--approve", "all"});
  INFO(again.err);
  CHECK(again.status == 0);
  CHECK(result_of(o.log()).at("outcome") == "interrupted");
  CHECK(a.notes() == std::vector<std::string>{"begun"});
}

TEST_CASE("a node that is told to end lets its calls end, but not for ever") {
  node_process a{"alpha", "drain_timeout = \"300ms\"\n", "30"};
  origin o{{a.address}, {{"look", {{"what", "1"}}}}};
  program running{installed_riffle(),
                  o.folder,
                  {"run", "go", "--session", "s1", "--output", "jsonl"}};
  REQUIRE(eventually(
      [&] { return running.out().find("looking") != std::string::npos; }));
  a.run->signal(SIGTERM);
  const auto ended = a.run->wait(std::chrono::seconds{10});
  INFO(ended.err);
  CHECK(ended.status == 0);
  CHECK(ended.err.find("node.drain_timeout") != std::string::npos);
  CHECK(processes_in(a.folder.path()).empty());
  const auto done = running.wait();
  CHECK(done.status == 0);
  // Nobody cancelled it; there is no other node that could try again.
  const auto told = result_of(done.out);
  CHECK(told.at("outcome") != "cancelled");
  INFO(told.dump());
  CHECK(told.at("error").at("message").get<std::string>().find("alpha") !=
        std::string::npos);
  CHECK(told.at("success") == false);
}
