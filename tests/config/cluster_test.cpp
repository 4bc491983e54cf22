// SPDX-License-Identifier: MIT
// What [cluster], [node] and tools.X.nodes must hold.
#include "runtime/config/cluster_checks.hpp"
#include "tests/support/catch.hpp"

using riffle::config::is_loopback_address;
using riffle::config::load;
using riffle::config::load_request;
using riffle::config::split_address;

namespace {

std::vector<std::string> mistakes_of(const std::string& text) {
  load_request request;
  request.text = text;
  request.tools = riffle::config::builtin_tools();
  std::vector<std::string> out;
  if (const auto loaded = load(request); !loaded)
    for (const auto& one : loaded.error()) out.push_back(one.message);
  return out;
}

void check_one(const std::string& text, const std::string& wanted) {
  CAPTURE(text);
  const auto all = mistakes_of(text);
  REQUIRE(all.size() == 1);
  CHECK(all[0].find(wanted) != std::string::npos);
}

}  // namespace

TEST_CASE("clusters: what can be used is taken") {
  CHECK(mistakes_of("[cluster]\nlisten = \"127.0.0.1:1\"\ninsecure = true\n")
            .empty());
  CHECK(
      mistakes_of("[cluster]\njoin = [\"localhost:1\", \"[::1]:2\"]\n"
                  "insecure = true\n[agents.default]\ntools = [\"far\"]\n"
                  "[tools.far]\nnodes = [\"gpu-*\", \"label:x\", \"local\"]\n")
          .empty());
}

TEST_CASE("clusters: each mistake says what to do") {
  check_one("[cluster]\nlisten = \"127.0.0.1:1\"\n", "riffle cluster init DIR");
  check_one("[cluster]\nlisten = \"10.0.0.1:1\"\ninsecure = true\n",
            "\"10.0.0.1:1\" needs cluster.tls");
  check_one("[cluster]\njoin = [\"example.com:1\"]\ninsecure = true\n",
            "needs cluster.tls");
  check_one("[cluster]\nname = \"a b\"\n", "no name of a node");
  check_one("[cluster]\nname = \"local\"\n", "and not \"local\"");
  check_one("[node]\ntools = [\"read\", \"grep\", \"read\"]\n",
            "\"read\" twice");
  check_one("[cluster]\nheartbeat = \"3s\"\n", "longer than cluster.heartbeat");
  check_one("[cluster]\norphan_after = \"2s\"\n", "than cluster.timeout");
  check_one("[node]\nlabels = [\"a b\"]\n", "no label");
  check_one("[node]\ntools = [\"reed\"]\n", "did you mean \"read\"");
  check_one("[tools]\nnodes = [\"a b\"]\n", "no node: give a name");
  check_one("[tools.read]\nnodes = [\"label:\"]\n", "no node: give a name");
}

TEST_CASE("addresses are split at their last colon") {
  CHECK(split_address("a:1").host == "a");
  CHECK(split_address("[::1]:80").host == "::1");
  CHECK(split_address("[::1]:80").port == 80);
  CHECK(is_loopback_address("127.9.9.9:1"));
  CHECK(is_loopback_address("LOCALHOST:1"));
  CHECK_FALSE(is_loopback_address("127.0.0.1.example:1"));
  CHECK_FALSE(is_loopback_address("128.0.0.1:1"));
  CHECK_FALSE(is_loopback_address("0.0.0.0:1"));
}

TEST_CASE("certificate, key and authority belong together") {
  const auto all = mistakes_of("[cluster]\ntls = { key = \"/no/such.key\" }\n");
  REQUIRE(all.size() == 3);
  CHECK(all[0].find("is missing") != std::string::npos);
}
