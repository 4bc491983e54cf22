// SPDX-License-Identifier: MIT
// What the pages say about nodes is pasted, as it stands there.
#include <cstdlib>
#include <fstream>

#include "tests/e2e/cluster_world.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

/// The block of a page with commands that begin with these words.
std::string block_of(const std::string& page, const std::string& words) {
  std::ifstream in{std::string{RIFFLE_SOURCE_DIR} + "/" + page};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  const auto at = text.find("```sh\n" + words);
  REQUIRE(at != std::string::npos);
  const auto begin = at + 6;
  return text.substr(begin, text.find("```", begin) - begin);
}

/// The last command of a block runs aside, so that something can happen in the
/// middle of it. Both nodes are there before, also on a machine that is busy:
/// the page waits a second. `more`: of how they are asked.
std::string aside(std::string block, const std::string& more = {}) {
  const std::string wait = "sleep 1";
  const auto at = block.find(wait);
  REQUIRE(at != std::string::npos);
  block.replace(
      at, wait.size(),
      "until riffle nodes list --config configs/cluster/origin.toml " + more +
          " > /dev/null 2>&1; do sleep 0.1; done");
  block.insert(block.rfind('\n'), " > out 2> err &");
  return block;
}

/// In a network of its own: the page's ports are free there.
finished paste(const work_folder& folder, const std::string& commands) {
  std::filesystem::create_symlink(
      std::filesystem::path{RIFFLE_SOURCE_DIR} / "configs",
      folder.path() / "configs");
  folder.write("paste.sh", "ip link set lo up || exit 1\n" + commands);
  const auto bin = installed_riffle().parent_path().string();
  return program{"/usr/bin/unshare",
                 folder,
                 {"-rn", "/usr/bin/timeout", "60", "/bin/bash", "paste.sh"},
                 {{"PATH", bin + ":" + std::getenv("PATH")},
                  {"HOME", folder.path().string()}}}
      .wait(90s);
}

constexpr auto own_network = "unshare -rn ip link set lo up";

const std::string last_words = R"(
wait $!; status=$?
kill $(jobs -p) 2> /dev/null
exit $status
)";

}  // namespace

TEST_CASE("the three commands of the front page work on two nodes, one dies") {
  if (!can(own_network)) return skip("no network namespaces here");
  const work_folder folder;
  const auto block =
      block_of("README.md", "riffle node --config configs/cluster/node.toml");
  const auto end = paste(folder, aside(block) + R"(run=$!
until grep -q 'where@beta' err && grep -q 'where@alpha' err; do sleep 0.05; done
kill -9 %2; wait $run
)" + last_words);
  INFO(end.err << folder.read("err"));
  CHECK(end.status == 0);
  CHECK(folder.read("out").find("All four parts are done") !=
        std::string::npos);
}

TEST_CASE("the commands for a cluster with certificates work as they stand") {
  if (!can(own_network)) return skip("no network namespaces here");
  const work_folder folder;
  const auto block =
      block_of("configs/cluster/README.md", "riffle cluster init");
  const auto end = paste(folder, aside(block, "$(tls origin)") + last_words);
  INFO(end.err << folder.read("err"));
  CHECK(end.status == 0);
  CHECK(folder.read("err").find("where@beta") != std::string::npos);
  CHECK(folder.read("err").find("where@alpha") != std::string::npos);
  CHECK(end.err.find("without TLS") == std::string::npos);
}

TEST_CASE(
    "a run whose tool may run on nodes alone waits until they are there") {
  const node_process a{
      "alpha", node_options{.words = {"--set", "node.tools=[\"bash\"]", "--set",
                                      "tools.bash.approval=\"allow\""}}};
  a.folder.write("who", "alpha");
  origin o{{a.address},
           {{"bash", {{"command", "cat who"}}}},
           "insecure = true\n[tools.bash]\nnodes = [\"*\"]\n"};
  const auto done = o.go({"--set", "agents.default.tools=[\"bash\"]"});
  INFO(done.err);
  const auto result = result_of(done.out);
  CHECK(result.at("outcome") == "ok");
  CHECK(result.at("output").get<std::string>().starts_with("alpha"));
}
