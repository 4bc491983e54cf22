// SPDX-License-Identifier: MIT
// Nodes as people see them: listed, drained, also through the process that they
// have joined; what a call has around it there; waits, and how they end.
#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/e2e/cluster_world.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/tcp_proxy.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

json list_of(const work_folder& folder) {
  const auto list =
      riffle::testing::riffle(folder, {"nodes", "list", "--output", "json"});
  INFO(list.err);
  return json::parse(list.out, nullptr, false);
}

finished drain(const origin& o, const std::string& name) {
  return riffle::testing::riffle(o.folder, {"nodes", "drain", name});
}

}  // namespace

TEST_CASE("who is listed shows what runs there, its version and since when") {
  node_process a{"alpha", "", "30"};
  origin o{{a.address}, {{"look", {{"what", "1"}}}}};
  program running{
      installed_riffle(), o.folder, {"run", "go", "--session", "s1"}};
  REQUIRE(
      eventually([&] { return o.log().find("looking") != std::string::npos; }));
  const auto all = list_of(o.folder);
  REQUIRE(all.size() == 1);
  CHECK(all[0].at("origins") == json{"origin"});
  CHECK(all[0].at("since").get<std::string>().starts_with("20"));
  CHECK_FALSE(all[0].at("version").get<std::string>().empty());
  for (const auto& tool : all[0].at("tools"))
    CHECK(tool.at("running") == (tool.at("name") == "look" ? 1 : 0));
  const auto text = riffle::testing::riffle(o.folder, {"nodes", "list"});
  CHECK(text.out.find("alpha  up  ") == 0);
  CHECK(text.out.find("look 1/4") != std::string::npos);
  CHECK(text.out.find("since 20") != std::string::npos);
  CHECK(drain(o, "alpha").status == 0);
  CHECK(list_of(o.folder)[0].at("state") == "draining");
  running.signal(SIGKILL);
  running.wait();
  CHECK(a.run->wait().status == 0);
  CHECK(a.run->err().find("this node is drained") != std::string::npos);
}

TEST_CASE("who is listed shows what waits there for a place") {
  const node_process a{
      "alpha", node_options{.seconds = "30",
                            .words = {"--set", "tools.look.concurrency=1"}}};
  origin first{{a.address}, {{"look", {{"what", "1"}}}}};
  origin second{{a.address}, {{"look", {{"what", "2"}}}}};
  const program one{
      installed_riffle(), first.folder, {"run", "go", "--session", "s1"}};
  REQUIRE(eventually(
      [&] { return first.log().find("looking") != std::string::npos; }));
  const program two{installed_riffle(),
                    second.folder,
                    {"run", "go", "--set", "cluster.name=second"}};
  const auto look = [&] {
    const auto all = list_of(first.folder);
    for (const auto& tool : all[0].at("tools"))
      if (tool.at("name") == "look") return tool;
    return json{};
  };
  CHECK(eventually([&] { return look().at("waiting") == 1; }));
  CHECK(look().at("running") == 1);
  const auto text = riffle::testing::riffle(first.folder, {"nodes", "list"});
  CHECK(text.out.find("look 1/1 (1 waiting)") != std::string::npos);
}

TEST_CASE("nodes that have joined a server are listed and drained through it") {
  const auto at = free_address();
  origin o{{}, {}, "insecure = true\nlisten = \"" + at + "\"\n"};
  served server{o.folder};
  node_process a{"alpha", "", "0.2",
                 "insecure = true\njoin = [\"" + at + "\"]\n"};
  // By the server's own configuration, and by that of whoever joins it.
  const work_folder other;
  other.write("riffle.toml",
              "[cluster]\ninsecure = true\njoin = [\"" + at + "\"]\n" + times);
  REQUIRE(eventually([&] { return list_of(o.folder).size() == 2; }));
  const auto mine = list_of(o.folder);
  REQUIRE(mine.size() == 2);
  CHECK(mine[0].at("name") == "origin");
  CHECK(mine[0].at("origins").empty());
  CHECK(mine[1].at("name") == "alpha");
  CHECK(mine[1].at("joined") == "origin");
  CHECK(mine[1].at("state") == "up");
  CHECK(mine[1].at("labels") == json{"test"});
  const auto text = riffle::testing::riffle(
      other, {"nodes", "list", "--config", "riffle.toml"});
  CHECK(text.status == 0);
  CHECK(text.out.find("alpha  up  ") != std::string::npos);
  CHECK(text.out.find("joined origin") != std::string::npos);
  const auto no_node = drain(o, "origin");
  CHECK(no_node.status == 1);
  CHECK(no_node.err.find("it is no node") != std::string::npos);
  // Only its own word is a success: it may be heard again, and go on.
  a.run->signal(SIGSTOP);
  const auto deaf = drain(o, "alpha");
  INFO(deaf.err);
  CHECK(deaf.status == 1);
  CHECK(deaf.err.find("lost") != std::string::npos);
  a.run->signal(SIGCONT);
  REQUIRE(eventually([&] {
    const auto all = list_of(o.folder);
    return all.size() == 2 && all[1].at("state") == "up";
  }));
  CHECK(drain(o, "alpha").status == 0);
  CHECK(a.run->wait().status == 0);
  const auto gone = drain(o, "alpha");
  CHECK(gone.status == 1);
  CHECK(gone.err.find("there is no node alpha") != std::string::npos);
}

TEST_CASE("of two nodes of one name the one at an address is drained") {
  node_process a{"alpha"};
  node_process b{"alpha"};
  origin o{{a.address, b.address}, {}};
  const auto both = drain(o, "alpha");
  CHECK(both.status == 2);
  CHECK(both.err.find(a.address) != std::string::npos);
  CHECK(both.err.find(b.address) != std::string::npos);
  CHECK(drain(o, b.address).status == 0);
  CHECK(b.run->wait().status == 0);
  CHECK_FALSE(a.run->has_ended());
}

TEST_CASE("two addresses of one process are one process") {
  const node_process a{"alpha"};
  const auto named = "localhost" + a.address.substr(a.address.rfind(':'));
  origin o{{a.address, named}, {{"look", {{"what", "1"}}}}};
  const auto list = riffle::testing::riffle(o.folder, {"nodes", "list"});
  CHECK(list.status == 0);
  CHECK(list.out.find("not there") == std::string::npos);
  CHECK(result_of(o.go().out).at("outcome") == "ok");
}

TEST_CASE("a command on a node has that node's folder and environment") {
  const node_process a{
      "alpha",
      "",
      "0.2",
      "insecure = true\n",
      {"--set",
       R"(tools.look.command=["sh","-c",)"
       R"("read x; pwd; env | grep -e ^NODE= -e OF_THE_ORIGIN -e OF_NOTE"])"}};
  origin o{{a.address}, {{"look", {{"what", "1"}}}}};
  const auto done = riffle::testing::riffle(
      o.folder, {"run", "go", "--session", "s1", "--output", "jsonl"},
      {{"NODE", "of the origin"}, {"OF_THE_ORIGIN", "secret"}});
  INFO(done.err);
  const auto output = result_of(done.out).at("output").get<std::string>();
  CHECK(output.find("NODE=alpha\n") != std::string::npos);
  CHECK(output.find("OF_THE_ORIGIN") == std::string::npos);
  CHECK(output.find("SECONDS_OF_NOTE") == std::string::npos);  // of `note`
  CHECK(output.find(a.folder.path().string() + "\n") != std::string::npos);
}

namespace {

/// What the events of a run say, in their order: type, or a status's text.
std::vector<std::string> story_of(const std::string& jsonl) {
  std::vector<std::string> out;
  for (const auto& x : checked_events(jsonl)) {
    const auto type = x.at("event_type").get<std::string>();
    out.push_back(type == "status" ? x.at("data").at("text").get<std::string>()
                                   : type);
  }
  return out;
}

}  // namespace

TEST_CASE("a run that waits for a node says so while it waits") {
  const auto at = free_address();
  origin o{{at},
           {{"look", {{"what", "1"}}}},
           "insecure = true\njoin_timeout = \"10m\"\n"};
  program running{installed_riffle(),
                  o.folder,
                  {"run", "go", "--session", "s1", "--output", "jsonl"}};
  const std::string waits = "waiting for a node with `look`";
  REQUIRE(eventually(
      [&] { return running.out().find(waits) != std::string::npos; }));
  CHECK(eventually(
      [&] { return running.err().find(waits) != std::string::npos; }));
  CHECK(o.server.request_count() == 0);
  const node_process a{
      "alpha", node_options{.words = {"--set", "cluster.listen=" + at}}};
  const auto done = running.wait();
  INFO(done.err);
  REQUIRE(done.status == 0);
  const auto story = story_of(done.out);
  REQUIRE(story.size() > 4);
  CHECK(story[0] == "run_started");
  CHECK(story[1].starts_with(waits));
  CHECK(story[2].starts_with("waited "));
  CHECK(story[3] == "step_start");
}

TEST_CASE("over HTTP a run that waits for a node is there at once") {
  origin o{{free_address()},
           {{"look", {{"what", "1"}}}},
           "insecure = true\njoin_timeout = \"10m\"\n"};
  served server{o.folder};
  const auto user = server.user();
  const auto begun = user.post("/v1/runs", {{"task", "go"}});  // not 10 min
  REQUIRE(begun.status == 202);
  const auto run = begun.json().at("run_id").get<std::string>();
  raw_client reader{server.port()};
  reader.ask("/v1/runs/" + run + "/events", user.token());
  const auto told = reader.read_until("waiting for a node with `look`");
  CHECK(told.find("run_started") != std::string::npos);
  CHECK(told.find("waiting for a node with `look`") != std::string::npos);
  CHECK(user.post("/v1/runs/" + run + "/cancel", json::object()).status < 300);
  CHECK(await_end(user, run).at("status") == "cancelled");
}

TEST_CASE("reports of calls on nodes come in their order, before results") {
  const std::vector<std::string> counts{
      "--set",
      R"(tools.look.command=["sh","-c","read x; seq 1 400 >&2; echo $NODE"])"};
  const node_process a{"alpha", node_options{.words = counts}};
  const node_process b{"beta", node_options{.words = counts}};
  std::vector<std::pair<std::string, json>> calls;
  for (int i = 0; i < 6; ++i)
    calls.push_back({"look", {{"what", std::to_string(i)}}});
  origin o{{a.address, b.address},
           calls,
           "insecure = true\njoin_timeout = \"20s\"\n"};
  const auto done = o.go();
  INFO(done.err);
  REQUIRE(done.status == 0);
  std::map<std::string, int> last;  // of each call; its result ends it
  std::set<std::string> nodes;
  int reports = 0;
  for (const auto& x : checked_events(done.out)) {
    const auto& type = x.at("event_type");
    const auto& data = x.at("data");
    if (type == "tool_result") {
      nodes.insert(data.at("metadata").at("node"));
      CHECK(last[data.at("id")] > 0);
      last[data.at("id")] = 1000;
    }
    if (type != "tool_progress") continue;
    ++reports;
    std::istringstream in{data.value("message", "")};
    for (int n = 0; in >> n;) {
      CHECK(n > last[data.at("id")]);
      last[data.at("id")] = n;
    }
  }
  CHECK(nodes == std::set<std::string>{"alpha", "beta"});
  CHECK(last.size() == 6);
  CHECK(reports >= 12);
}

TEST_CASE("Ctrl-C ends a wait for a node") {
  origin o{{free_address()}, {{"look", {{"what", "1"}}}}};
  program running{installed_riffle(),
                  o.folder,
                  {"run", "go", "--set", "cluster.join_timeout=10m"}};
  REQUIRE(eventually([&] {
    return running.err().find("waiting for a node with `look`") !=
           std::string::npos;
  }));
  running.signal(SIGINT);
  CHECK(running.wait(40s).status == 130);
  CHECK(running.err().find("joined within") == std::string::npos);
}

TEST_CASE("nothing that a killed origin gave a node acts after its recovery") {
  // The node is stopped: the guard of the command ends it alone, when the lease
  // is over that the dead origin had promised to keep.
  node_options how;
  how.note_seconds = "60";
  how.words = {"--set", "cluster.orphan_after=8s"};
  node_process a{"alpha", how};
  origin o{{a.address}, {{"note", {{"what", "1"}}}}};
  program running{installed_riffle(),
                  o.folder,
                  {"run", "go", "--session", "s1", "--approve", "all", "--set",
                   "cluster.orphan_after=8s"}};
  REQUIRE(eventually([&] { return a.notes().size() == 1; }));
  a.run->signal(SIGSTOP);
  running.signal(SIGKILL);
  running.wait();
  CHECK_FALSE(a.noting().empty());
  const auto again = riffle::testing::riffle(
      o.folder, {"sessions", "resume", "s1", "--approve", "all"});
  CHECK(a.noting().empty());
  INFO(again.err);
  CHECK(again.status == 0);
  CHECK(result_of(o.log()).at("outcome") == "interrupted");
  a.run->signal(SIGCONT);
  CHECK(a.notes() == std::vector<std::string>{"begun"});
}

TEST_CASE("who says too much before a greeting, or nothing, is told of") {
  const node_process a{"alpha"};
  std::string header(40, '\0');
  header[0] = 1;       // a client's handshake
  header[5] = '\x10';  // of 1 MiB
  talk_to(a.address, header, 5s);
  CHECK(eventually([&] {
    return a.run->err().find("more than a greeting has") != std::string::npos;
  }));
  CHECK(eventually([&] {
    return a.run->err().find("connected and did not greet") !=
           std::string::npos;
  }));
  CHECK(a.run->err().find("without TLS every process of this machine") !=
        std::string::npos);
}

namespace {

/// The most memory that a process had so far, in KiB.
std::size_t peak_of(const program& x) {
  std::ifstream in{"/proc/" + std::to_string(x.pid()) + "/status"};
  for (std::string word; in >> word;)
    if (word == "VmHWM:" && in >> word) return std::stoul(word);
  return 0;
}

}  // namespace

TEST_CASE("64 MB of a node's output cost little memory on both sides") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return skip("a sanitizer's own memory hides the program's");
#endif
  constexpr std::size_t allowed_kib = 40u << 10;
  const node_process a{
      "alpha", node_options{.words = {"--set",
                                      "tools.long.command=[\"sh\",\"-c\","
                                      "\"read x; yes 0123456 | head -c "
                                      "64000000\"]"}}};
  origin little{{a.address}, {{"look", {{"what", "1"}}}}};
  const auto base = little.go();
  REQUIRE(base.status == 0);
  const auto node_base = peak_of(*a.run);
  origin o{{a.address}, {{"long", json::object()}}};
  const auto done = o.go();
  INFO(done.err);
  REQUIRE(done.status == 0);
  const auto node_peak = peak_of(*a.run);
  std::printf(
      "memory: 64 MB of a node: origin %zu KiB over %zu, node %zu KiB "
      "over %zu\n",
      done.peak_kib - base.peak_kib, base.peak_kib, node_peak - node_base,
      node_base);
  CHECK(base.peak_kib > 0);
  CHECK(node_base > 0);
  CHECK(done.peak_kib < base.peak_kib + allowed_kib);
  CHECK(node_peak < node_base + allowed_kib);
}
