// SPDX-License-Identifier: MIT
// Tools of other processes: real nodes, real sockets, real signals.
#include <arpa/inet.h>
#include <csignal>
#include <fstream>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/unique_fd.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

/// Short, so that tests are: what a node has is lost after 0.6 s of silence,
/// and cannot act any more 1.7 s later.
constexpr const char* times = R"(
heartbeat = "200ms"
timeout = "600ms"
orphan_after = "1s"
)";

/// Two tools that only nodes have. `note` writes a line into `notes` when it
/// begins, and another one after some seconds.
constexpr const char* tools_of_node = R"(
[tools.look]
type = "command"
command = ["sh", "-c", "read x; echo looking >&2; sleep $SECONDS_OF_LOOK; echo seen by $NODE"]
description = "Looks"
parameters = { type = "object", properties = { what = { type = "string" } } }
effect = "read_only"
env = ["NODE", "SECONDS_OF_LOOK"]
[tools.note]
type = "command"
command = ["sh", "-c", "read x; echo begun >> notes; sleep 4; echo ended >> notes; echo noted"]
description = "Notes"
parameters = { type = "object", properties = { what = { type = "string" } } }
approval = "allow"
[tools.long]
type = "command"
command = ["sh", "-c", "read x; seq 1 3000000"]
description = "Says much"
parameters = { type = "object" }
effect = "read_only"
)";

struct node_process {
  explicit node_process(const std::string& name, const std::string& more = {},
                        const std::string& seconds = "0.2",
                        const std::string& cluster = "insecure = true\n") {
    folder.write("node.toml",
                 "[runtime]\ndata_dir = \"data\"\n[cluster]\n"
                 "listen = \"127.0.0.1:0\"\nname = \"" +
                     name + "\"\n" + cluster + times +
                     "[node]\nlabels = [\"test\"]\n"
                     "tools = [\"look\", \"note\", \"long\"]\n" +
                     more + tools_of_node);
    run.emplace(installed_riffle(), folder,
                std::vector<std::string>{"node", "--config", "node.toml"},
                std::map<std::string, std::string>{
                    {"NODE", name}, {"SECONDS_OF_LOOK", seconds}});
    REQUIRE(eventually([&] {
      return run->out().find('\n') != std::string::npos || run->has_ended();
    }));
    const auto said = run->out();
    INFO(run->err());
    const auto at = said.find("127.0.0.1:");
    REQUIRE(at != std::string::npos);
    address = said.substr(at, said.find(';') - at);
  }
  [[nodiscard]] std::vector<std::string> notes() const {
    return folder.lines("notes");
  }

  work_folder folder;
  std::optional<program> run;
  std::string address;
};

/// Of an origin; `script`: what the model says first.
struct origin {
  explicit origin(const std::vector<std::string>& addresses,
                  std::vector<std::pair<std::string, json>> asked,
                  const std::string& cluster = "insecure = true\n")
      : server{[asked = std::move(asked)](const http_request& request) {
          if (!tool_messages(request).empty()) {
            check_results(request);
            return respond_sse(answer("done"));
          }
          return respond_sse(calls(asked));
        }} {
    std::string list;
    for (const auto& x : addresses)
      list += (list.empty() ? "\"" : ", \"") + x + "\"";
    folder.configure(
        server.url("/v1"),
        "[agents.default]\ntools = [\"look\", \"note\", \"long\", \"read\"]\n"
        "[cluster]\nname = \"origin\"\njoin = [" +
            list + "]\n" + cluster + times);
  }
  finished go(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"run",       "go",  "--session", "s1",
                                      "--approve", "all", "--output",  "jsonl"};
    words.insert(words.end(), more.begin(), more.end());
    return riffle::testing::riffle(folder, words);
  }
  [[nodiscard]] std::string log() const {
    return riffle::testing::riffle(folder, {"sessions", "events", "s1"}).out;
  }

  work_folder folder;
  http_server server;
};

json result_of(const std::string& log) {
  const auto results = of_type(checked_events(log), "tool_result");
  REQUIRE(results.size() == 1);
  return results[0].at("data");
}

std::string called_on(const std::string& log) {
  const auto all = of_type(checked_events(log), "tool_call");
  REQUIRE(all.size() == 1);
  return all[0].at("data").value("node", "");
}

/// Sends bytes to the port of a node; what it answers, until it closes.
std::string talk(const std::string& address, const std::string& bytes) {
  const riffle::unique_fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(
      std::stoi(address.substr(address.find(':') + 1))));
  REQUIRE(::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) ==
          0);
  const timeval limit{5, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  static_cast<void>(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  std::string out;
  char part[4096];
  for (;;) {
    const auto got = ::recv(fd.get(), part, sizeof part, 0);
    if (got <= 0) return out;
    out.append(part, static_cast<std::size_t>(got));
  }
}

}  // namespace

TEST_CASE("the calls of a run work on two nodes, whose names are told") {
  const node_process a{"alpha"};
  const node_process b{"beta"};
  origin o{{a.address, b.address},
           {{"look", {{"what", "1"}}},
            {"look", {{"what", "2"}}},
            {"look", {{"what", "3"}}},
            {"look", {{"what", "4"}}}}};
  const auto done = o.go();
  INFO(done.err);
  REQUIRE(done.status == 0);
  const auto events = checked_events(done.out);
  std::map<std::string, std::string> node_of;
  std::map<std::string, int> seen;
  for (const auto& x : of_type(events, "tool_call")) {
    const auto& data = x.at("data");
    node_of[data.at("id")] = data.at("node");
    ++seen[data.at("node")];
  }
  CHECK(seen["alpha"] == 2);
  CHECK(seen["beta"] == 2);
  for (const auto& x : of_type(events, "tool_result")) {
    const auto& data = x.at("data");
    CHECK(data.at("output") == "seen by " + node_of.at(data.at("id")) + "\n");
  }
  CHECK_FALSE(of_type(events, "tool_progress").empty());
}

TEST_CASE("nodes are listed, and one is drained") {
  node_process a{"alpha"};
  origin o{{a.address}, {}};
  const auto list =
      riffle::testing::riffle(o.folder, {"nodes", "list", "--output", "json"});
  INFO(list.err);
  REQUIRE(list.status == 0);
  const auto all = json::parse(list.out);
  REQUIRE(all.size() == 1);
  CHECK(all[0].at("name") == "alpha");
  CHECK(all[0].at("state") == "up");
  CHECK(all[0].at("labels") == json{"test"});
  CHECK(all[0].at("tools").size() == 3);
  CHECK(all[0].at("tools")[0].at("places") == 4);
  CHECK(all[0].at("round_trip_us") > 0);
  CHECK(riffle::testing::riffle(o.folder, {"nodes", "drain", "beta"}).status ==
        1);
  CHECK(riffle::testing::riffle(o.folder, {"nodes", "drain", "alpha"}).status ==
        0);
  CHECK(a.run->wait().status == 0);
  const auto gone = riffle::testing::riffle(o.folder, {"nodes", "list"});
  CHECK(gone.status == 1);
  CHECK(gone.out.find("not there") != std::string::npos);
}

TEST_CASE("kill -9 of a node costs an attempt of what reads, never the run") {
  std::optional<node_process> a;
  a.emplace("alpha", "", "30");
  const node_process b{"beta"};
  origin o{{a->address, b.address}, {{"look", {{"what", "1"}}}}};
  // Both are free: the first by name gets it.
  program running{installed_riffle(),
                  o.folder,
                  {"run", "go", "--session", "s1", "--output", "jsonl"}};
  REQUIRE(eventually(
      [&] { return running.out().find("looking") != std::string::npos; }));
  a->run->signal(SIGKILL);
  const auto done = running.wait();
  INFO(done.err);
  CHECK(done.status == 0);
  const auto result = result_of(done.out);
  CHECK(result.at("outcome") == "ok");
  CHECK(result.at("output") == "seen by beta\n");
  CHECK(result.at("attempts") == 2);
  // Its guards ended what it ran.
  CHECK(eventually([&] { return processes_in(a->folder.path()).empty(); }));
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
  // Nothing acts after it was settled: the guard, which nobody stopped, ended
  // the command by its lease.
  CHECK(a.notes() == std::vector<std::string>{"begun"});
  CHECK(processes_with("echo ended").empty());
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
  CHECK(eventually([&] { return processes_with("echo ended").empty(); }));
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
  CHECK(result_of(done.out).at("success") == false);
}

TEST_CASE("a node that cannot be reached joins by itself") {
  // The origin listens, the node dials: whoever can reach the other.
  riffle::unique_fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  REQUIRE(::bind(fd.get(), reinterpret_cast<sockaddr*>(&at), size) == 0);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&at), &size);
  const auto free = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  const node_process a{"alpha", "", "0.2",
                       "insecure = true\njoin = [\"" + free + "\"]\n"};
  origin o{
      {},
      {{"look", {{"what", "1"}}}},
      "insecure = true\nlisten = \"" + free + "\"\njoin_timeout = \"20s\"\n"};
  fd.reset();
  const auto done = o.go();
  INFO(done.err);
  REQUIRE(done.status == 0);
  CHECK(result_of(done.out).at("output") == "seen by alpha\n");
}

TEST_CASE("a long output of a node can be read here, whole") {
  const node_process a{"alpha"};
  origin o{{a.address}, {{"long", json::object()}}};
  const auto done = o.go();
  INFO(done.err);
  REQUIRE(done.status == 0);
  const auto result = result_of(done.out);
  const auto whole = riffle::testing::riffle(
      o.folder, {"sessions", "output", result.at("id").get<std::string>()});
  std::string expected;
  for (int i = 1; i <= 3'000'000; ++i) expected += std::to_string(i) + "\n";
  CHECK(whole.out.size() == expected.size());
  CHECK(whole.out == expected);
}

TEST_CASE("a tool whose node is not there fails, and says so") {
  std::string address;
  {
    const node_process a{"alpha"};
    address = a.address;
  }
  origin o{{address}, {{"look", {{"what", "1"}}}}};
  const auto done = o.go({"--set", "cluster.join_timeout=300ms"});
  INFO(done.err);
  CHECK(done.status == 0);
  const auto result = result_of(done.out);
  CHECK(result.at("error").at("code") == "tool_unavailable");
  CHECK(result.at("error").at("message").get<std::string>().find(
            "no node that has it has joined") != std::string::npos);
}

TEST_CASE("a node's own rules hold, whatever an origin says") {
  const node_process a{"alpha",
                       "[tools]\nrules = [{ match = '*forbidden*', "
                       "approval = \"deny\" }]\n"};
  origin o{{a.address}, {{"look", {{"what", "forbidden"}}}}};
  const auto done = o.go();
  INFO(done.err);
  const auto result = result_of(done.out);
  CHECK(result.at("outcome") == "denied");
  CHECK(result.at("error").at("message").get<std::string>().find(
            "of the node") != std::string::npos);
}

TEST_CASE("a node takes no place of a local tool unless it is named") {
  const node_process a{"alpha"};
  origin o{{a.address}, {{"read", {{"path", "riffle.toml"}}}}};
  const auto done = o.go();
  CHECK(done.status == 0);
  CHECK(called_on(done.out).empty());
}

TEST_CASE("nodes prove who they are by certificates") {
  const work_folder certificates;
  const auto made = riffle::testing::riffle(
      certificates, {"cluster", "init", "c", "alpha", "origin"});
  INFO(made.err);
  REQUIRE(made.status == 0);
  REQUIRE(riffle::testing::riffle(certificates,
                                  {"cluster", "init", "other", "stranger"})
              .status == 0);
  CHECK(
      riffle::testing::riffle(certificates, {"cluster", "init", "c"}).status ==
      2);
  const auto mode = std::filesystem::status(certificates.path() / "c/alpha.key")
                        .permissions();
  CHECK(static_cast<unsigned>(mode) == 0600);
  const auto with = [&](const std::string& folder, const std::string& name) {
    const auto at = (certificates.path() / folder).string() + "/";
    return "tls = { certificate = \"" + at + name + ".pem\", key = \"" + at +
           name + ".key\", ca = \"" + at + "ca.pem\" }\n";
  };
  const node_process a{"alpha", "", "0.2", with("c", "alpha")};
  SECTION("of one authority: calls run") {
    origin o{{a.address}, {{"look", {{"what", "1"}}}}, with("c", "origin")};
    const auto done = o.go();
    INFO(done.err);
    CHECK(result_of(done.out).at("output") == "seen by alpha\n");
  }
  SECTION("a certificate of another authority is refused") {
    origin o{
        {a.address}, {{"look", {{"what", "1"}}}}, with("other", "stranger")};
    const auto list = riffle::testing::riffle(o.folder, {"nodes", "list"});
    CHECK(list.status == 1);
    CHECK(list.out.find("does not accept this certificate") !=
          std::string::npos);
  }
  SECTION("without TLS nobody gets in") {
    origin o{{a.address}, {{"look", {{"what", "1"}}}}};
    CHECK(riffle::testing::riffle(o.folder, {"nodes", "list"}).status == 1);
  }
  SECTION("a certificate that does not hold stops the start") {
    origin o{{a.address},
             {},
             "tls = { certificate = \"" +
                 (certificates.path() / "other/stranger.pem").string() +
                 "\", key = \"" +
                 (certificates.path() / "other/stranger.key").string() +
                 "\", ca = \"" + (certificates.path() / "c/ca.pem").string() +
                 "\" }\n"};
    const auto done = o.go();
    CHECK(done.status == 2);
    CHECK(done.err.find("does not hold") != std::string::npos);
  }
}

TEST_CASE("garbage at a node's port harms nobody") {
  const node_process a{"alpha"};
  talk(a.address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n" + std::string(64, '\n'));
  // A header that announces 4 GiB: a server handshake of BASP, and a message.
  std::string huge(40, '\0');
  huge[3] = 1;  // operation, flags; then the length
  for (int i = 4; i < 8; ++i) huge[static_cast<std::size_t>(i)] = '\xff';
  talk(a.address, huge);
  talk(a.address, std::string(100000, '\xff'));
  origin o{{a.address}, {{"look", {{"what", "1"}}}}};
  CHECK(result_of(o.go().out).at("outcome") == "ok");
}

TEST_CASE("members of another group are refused, and told why") {
  const node_process a{"alpha"};
  origin o{{a.address}, {}, "insecure = true\ngroup = \"lab\"\n"};
  const auto list = riffle::testing::riffle(o.folder, {"nodes", "list"});
  CHECK(list.status == 1);
  CHECK(list.out.find("belongs to the group `lab`") != std::string::npos);
}

TEST_CASE("--insecure is for this machine alone") {
  const work_folder folder;
  folder.write("node.toml", "[node]\ntools = [\"read\"]\n");
  const auto open = riffle::testing::riffle(
      folder, {"node", "--insecure", "--config", "node.toml", "--set",
               "cluster.listen=0.0.0.0:0"});
  CHECK(open.status == 2);
  CHECK(open.err.find("needs cluster.tls") != std::string::npos);
  const auto bare = riffle::testing::riffle(
      folder,
      {"node", "--config", "node.toml", "--set", "cluster.listen=127.0.0.1:0"});
  CHECK(bare.status == 2);
  CHECK(bare.err.find("riffle cluster init") != std::string::npos);
}
