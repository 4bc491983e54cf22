// SPDX-License-Identifier: MIT
// What [server] must hold.
#include "runtime/config/config.hpp"
#include "runtime/config/server_checks.hpp"
#include "tests/support/catch.hpp"

namespace {

using riffle::config::load_request;

const std::string hash(64, 'a');

std::vector<std::string> server_mistakes(const std::string& text) {
  load_request request;
  request.text = text;
  std::vector<std::string> out;
  if (const auto loaded = riffle::config::load(request); !loaded)
    for (const auto& one : loaded.error()) out.push_back(one.message);
  return out;
}

void check_server_mistake(const std::string& text, const std::string& wanted) {
  CAPTURE(text);
  const auto all = server_mistakes(text);
  REQUIRE(all.size() == 1);
  CHECK(all[0].find(wanted) != std::string::npos);
}

std::string token(const std::string& name, const std::string& more) {
  return "[server.tokens." + name + "]\n" + more;
}

}  // namespace

TEST_CASE("server: what can be used is taken") {
  CHECK(server_mistakes("[server]\norigins = [\"https://a.example:8\"]\n"
                        "trusted_proxies = [\"10.0.0.0/8\"]\n" +
                        token("ci", "hash = \"" + hash + "\"\n"))
            .empty());
}

TEST_CASE("server: mistakes are named") {
  check_server_mistake(token("ci", "hash = \"secret\"\n"), "64 characters");
  check_server_mistake(token("ci", "roles = [\"read\"]\n"), "64 characters");
  check_server_mistake(
      token("ci", "hash = \"" + hash + "\"\nroles = [\"boss\"]\n"), "boss");
  check_server_mistake(token("ci", "hash = \"" + hash + "\"\nroles = []\n"),
                       "useless");
  check_server_mistake(
      token("ci", "hash = \"" + hash + "\"\nagents = [\"x\"]\n"),
      "no agent \"x\"");
  check_server_mistake(
      token("ci", "hash = \"" + hash + "\"\nsessions = \"mine\"\n"), "own");
  check_server_mistake(token("default", "hash = \"" + hash + "\"\n"),
                       "choose another");
  check_server_mistake(token("a", "hash = \"" + hash + "\"\n") +
                           token("b", "hash = \"" + hash + "\"\n"),
                       "server.tokens.a");
  check_server_mistake(
      token("a", "hash = \"" + hash + "\"\nworkspace = \"/none/x\"\n"),
      "there is no folder \"/none/x\"");
  check_server_mistake("[server]\norigins = [\"https://a.example/x\"]\n",
                       "no origin");
  check_server_mistake("[server]\non_stop = \"sleep\"\n", "finish");
  check_server_mistake("[server.tls]\ncertificate = \"none.pem\"\nkey = \"" +
                           std::string{RIFFLE_SOURCE_DIR} + "/README.md\"\n",
                       "there is no file");
}

TEST_CASE("server: a certificate needs its key") {
  const auto all = server_mistakes("[server.tls]\nkey = \"none.pem\"\n");
  REQUIRE(all.size() == 2);
  CHECK(all[0].find("belong together") != std::string::npos);
}
