// SPDX-License-Identifier: MIT
// Tools of other processes: real nodes, real sockets.
#include <algorithm>
#include <set>

#include "tests/e2e/cluster_world.hpp"
#include "tests/support/tcp_proxy.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

/// Whether a `status` of the run begins so.
bool was_told(const std::string& log, const std::string& words) {
  const auto all = of_type(checked_events(log), "status");
  return std::ranges::any_of(all, [&](const json& x) {
    return x.at("data").at("text").get<std::string>().starts_with(words);
  });
}

}  // namespace

TEST_CASE("the calls of a run work on two nodes, whose names are told") {
  const node_process a{"alpha"};
  const node_process b{"beta"};
  origin o{{a.address, b.address},
           {{"look", {{"what", "1"}}},
            {"look", {{"what", "2"}}},
            {"look", {{"what", "3"}}},
            {"look", {{"what", "4"}}}},
           "insecure = true\njoin_timeout = \"20s\"\n"};
  const auto done = o.go();  // it begins when both are there
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
  CHECK(all[0].at("tools").size() == 4);
  CHECK(all[0].at("tools")[0].at("places") == 4);
  CHECK(all[0].at("round_trip_us") > 0);
  CHECK(riffle::testing::riffle(o.folder, {"nodes", "drain", "beta"}).status ==
        1);
  CHECK(riffle::testing::riffle(o.folder, {"nodes", "drain", "alpha"}).status ==
        0);
  const auto ended = a.run->wait();
  CHECK(ended.status == 0);
  CHECK(ended.err.find("without TLS every process of this machine can run") !=
        std::string::npos);
  const auto gone = riffle::testing::riffle(o.folder, {"nodes", "list"});
  CHECK(gone.status == 1);
  CHECK(gone.out.find("not there") != std::string::npos);
}

TEST_CASE("a node that cannot be reached joins by itself") {
  // The origin listens, the node dials: whoever can reach the other.
  const auto free = free_address();
  const node_process a{"alpha", "", "0.2",
                       "insecure = true\njoin = [\"" + free + "\"]\n"};
  origin o{
      {},
      {{"look", {{"what", "1"}}}},
      "insecure = true\nlisten = \"" + free + "\"\njoin_timeout = \"20s\"\n"};
  const auto done = o.go();
  INFO(done.err);
  REQUIRE(done.status == 0);
  CHECK(result_of(done.out).at("output") == "seen by alpha\n");
  CHECK(was_told(done.out, "waited "));
}

TEST_CASE("a session's calls of a tool stay on one node, if it is sticky") {
  const node_process a{"alpha"};
  const node_process b{"beta"};
  origin o{{a.address, b.address},
           {{"mark", {{"what", "1"}}},
            {"mark", {{"what", "2"}}},
            {"mark", {{"what", "3"}}},
            {"mark", {{"what", "4"}}}},
           "insecure = true\n[tools.mark]\nsticky = \"session\"\n"};
  const auto done = o.go();
  INFO(done.err);
  const auto events = checked_events(done.out);
  std::set<std::string> nodes;
  for (const auto& x : of_type(events, "tool_call"))
    nodes.insert(x.at("data").at("node"));
  // What the earlier ones wrote is there.
  const auto results = of_type(events, "tool_result");
  REQUIRE(results.size() == 4);
  std::ptrdiff_t lines = 0;
  for (const auto& x : results) {
    const auto text = x.at("data").at("output").get<std::string>();
    CHECK(std::ranges::count(text, '\n') == ++lines);
  }
  CHECK(nodes.size() == 1);
  for (int later = 0; later < 4; ++later) {  // by a process of its own each
    const auto more = o.go();
    for (const auto& x : of_type(checked_events(more.out), "tool_call"))
      nodes.insert(x.at("data").at("node"));
  }
  CHECK(nodes.size() == 1);
}

TEST_CASE("a tool's nodes are chosen by label, and by pattern") {
  const node_process a{"alpha"};
  const node_process b{"beta",
                       "",
                       "0.2",
                       "insecure = true\n",
                       {"--set", "node.labels=[\"gpu\"]"}};
  const auto [rule, node] = GENERATE(table<std::string, std::string>(
      {{"label:gpu", "beta"}, {"al*", "alpha"}}));
  CAPTURE(rule);
  origin o{{a.address, b.address},
           {{"look", {{"what", "1"}}},
            {"look", {{"what", "2"}}},
            {"look", {{"what", "3"}}}},
           "insecure = true\n[tools.look]\nnodes = [\"" + rule + "\"]\n"};
  const auto done = o.go();
  INFO(done.err);
  const auto all = of_type(checked_events(done.out), "tool_call");
  REQUIRE(all.size() == 3);
  for (const auto& x : all) CHECK(x.at("data").at("node") == node);
}

TEST_CASE("a long output of a node can be read here, whole") {
  const node_process a{"alpha"};
  origin o{{a.address}, {{"long", json::object()}}};
  const auto data = a.folder.path() / "data";
  // Also where both have one folder, as processes of one machine do.
  std::vector<std::string> where;
  if (GENERATE(false, true))
    where = {"--set", "runtime.data_dir=" + data.string()};
  const auto done = o.go(where);
  INFO(done.err);
  REQUIRE(done.status == 0);
  const auto result = result_of(done.out);
  std::vector<std::string> words{"sessions", "output",
                                 result.at("id").get<std::string>()};
  words.insert(words.end(), where.begin(), where.end());
  const auto whole = riffle::testing::riffle(o.folder, words);
  std::string expected;
  for (int i = 1; i <= 3'000'000; ++i) expected += std::to_string(i) + "\n";
  CHECK(whole.out.size() == expected.size());
  CHECK(whole.out == expected);
  // The node kept it in a folder of its own, until this process had it.
  const std::filesystem::directory_iterator hosted{data / "hosted"};
  REQUIRE(hosted != std::filesystem::directory_iterator{});
  CHECK(eventually([&] { return std::filesystem::is_empty(hosted->path()); }));
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
  CHECK(was_told(done.out, "no node with `look`"));
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
  // It offers the tool, and its folder has another file of that name.
  const node_process a{"alpha",
                       "",
                       "0.2",
                       "insecure = true\n",
                       {"--set", R"(node.tools=["read","look"])"}};
  a.folder.write("where.txt", "at the node\n");
  const bool named = GENERATE(false, true);
  origin o{{a.address},
           {{"read", {{"path", "where.txt"}}}},
           named ? "insecure = true\n[tools.read]\nnodes = [\"alpha\"]\n"
                 : "insecure = true\n"};
  o.folder.write("where.txt", "at the origin\n");
  const auto done = o.go();
  INFO(done.err);
  CHECK(done.status == 0);
  CHECK(called_on(done.out) == (named ? "alpha" : ""));
  CHECK(result_of(done.out).at("output").get<std::string>().find(
            named ? "at the node" : "at the origin") != std::string::npos);
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
  CHECK(riffle::testing::riffle(certificates,
                                {"cluster", "add", "late", "--dir", "c"})
            .status == 0);
  CHECK(std::filesystem::exists(certificates.path() / "c/late.pem"));
  const auto again = riffle::testing::riffle(
      certificates, {"cluster", "add", "late", "--dir", "c"});
  CHECK(again.status == 2);
  CHECK(again.err.find("for a new one move c/late.pem") != std::string::npos);
  CHECK(riffle::testing::riffle(certificates,
                                {"cluster", "init", "twice", "x", "x"})
            .status == 2);
  CHECK_FALSE(std::filesystem::exists(certificates.path() / "twice"));
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
    CHECK(done.err.find("chmod 600") == std::string::npos);
    std::filesystem::permissions(certificates.path() / "c/origin.key",
                                 std::filesystem::perms{0644});
    const auto open = o.go();
    CHECK(open.err.find("chmod 600") != std::string::npos);
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
  talk_to(a.address,
          "GET / HTTP/1.1\r\nHost: x\r\n\r\n" + std::string(64, '\n'), 5s);
  // A header of BASP that announces 4 GiB.
  std::string huge(40, '\0');
  huge[0] = 1;  // a client's handshake, its flags; then the length
  for (int i = 4; i < 8; ++i) huge[static_cast<std::size_t>(i)] = '\xff';
  talk_to(a.address, huge, 5s);
  // Ours closed it, and not CAF after it had made room.
  CHECK(eventually([&] {
    return a.run->err().find("announces a message of 4294967295 bytes") !=
           std::string::npos;
  }));
  talk_to(a.address, std::string(100000, '\xff'), 5s);
  // A greeting without content, a server's and a client's.
  for (const char first : {'\0', '\1'}) {
    std::string empty(1000, 'A');
    std::fill_n(empty.begin(), 32, '\0');
    empty[0] = first;
    empty[15] = '\3';  // the version, of a server's
    talk_to(a.address, empty, 5s);
  }
  CHECK(eventually([&] {
    return a.run->err().find("a greeting without content") != std::string::npos;
  }));
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
