// SPDX-License-Identifier: MIT
// Tokens without a person, by the configuration: what is used, what is told,
// and what stands nowhere.
#include <filesystem>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/jwt_reader.hpp"
#include "tests/support/oauth_world.hpp"

using nlohmann::json;
namespace fs = std::filesystem;
namespace rt = riffle::testing;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string table(const rt::oauth_world& world, const std::string& above,
                  const std::string& auth) {
  return "[mcp.web]\nurl = \"" + world.server() + "\"\n" + above +
         "[mcp.web.auth]\nissuer = \"" + world.issuer() + "\"\n" + auth;
}

void write_secret(const rt::work_folder& folder, const std::string& name,
                  const std::string& text, fs::perms more = {}) {
  folder.write(name, text);
  fs::permissions(folder.path() / name,
                  fs::perms::owner_read | fs::perms::owner_write | more);
}

}  // namespace

TEST_CASE("a program's secret is in a variable, and its token nowhere") {
  rt::oauth_rules rules;
  rules.client_auth = "client_secret_basic";
  rules.client_secret = "canary-of-robot";
  const rt::oauth_world world{rules};
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1",
                   table(world,
                         "client_id = \"robot\"\n"
                         "client_secret_env = \"ROBOT_SECRET\"\n",
                         "grant = \"client_credentials\"\n"));
  const auto run = [&](std::vector<std::string> words, bool set = true) {
    words.insert(words.begin(), "mcp");
    return rt::riffle(folder, std::move(words),
                      {{"ROBOT_SECRET", set ? "canary-of-robot" : ""}});
  };
  const auto call = run({"call", "web", "read", "{}"});
  INFO(call.err);
  CHECK(call.out == "did read");
  CHECK(world.forms("/token").size() == 1);
  const auto list = run({"list"});
  CHECK(has(list.out, "tokens: client_credentials"));
  CHECK(json::parse(run({"list", "--output", "json"}).out).at(0).at("tokens") ==
        "client_credentials");
  auto secrets = world.secrets();
  secrets.push_back(rules.client_secret);
  for (const auto& secret : secrets) {
    CHECK_FALSE(has(call.out + call.err + list.out + list.err, secret));
    for (const auto& x : fs::recursive_directory_iterator{folder.path()})
      if (x.is_regular_file())
        CHECK_FALSE(
            has(folder.read(fs::relative(x.path(), folder.path()).string()),
                secret));
  }
  const auto without = run({"list"}, false);
  CHECK(without.status == 1);
  CHECK(has(without.out,
            "it gets no token: mcp.web.client_secret_env: the variable "
            "ROBOT_SECRET is not set"));
  const auto login = run({"login", "web"});
  CHECK(login.status == 2);
  CHECK(has(login.err, "gets its tokens without a person"));
}

TEST_CASE("a program's key is in a file that nobody else may read") {
  rt::oauth_rules rules;
  rules.client_auth = "private_key_jwt";
  rules.client_pem = rt::new_pem("P-256");
  const rt::oauth_world world{rules};
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1",
                   table(world, "client_id = \"robot\"\n",
                         "grant = \"client_credentials\"\n"
                         "private_key_file = \"robot.pem\"\n"));
  const auto call = [&] {
    return rt::riffle(folder, {"mcp", "call", "web", "read", "{}"});
  };
  write_secret(folder, "robot.pem", rules.client_pem, fs::perms::group_read);
  const auto open = call();
  CHECK(open.status == 1);
  CHECK(has(open.err, "others may read "));
  CHECK(has(open.err, "chmod 600 it"));
  CHECK(world.forms("/token").empty());
  write_secret(folder, "robot.pem", rules.client_pem);
  CHECK(call().out == "did read");
}

TEST_CASE("a workload's token is read from where its platform writes it") {
  const rt::oauth_world world{{.assertion = "canary-workload-1"}};
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1", table(world, "",
                                               "grant = \"workload_identity\"\n"
                                               "token_file = \"token\"\n"));
  write_secret(folder, "token", "canary-workload-1\n", fs::perms::others_read);
  const auto call = rt::riffle(folder, {"mcp", "call", "web", "read", "{}"});
  INFO(call.err);
  CHECK(call.out == "did read");
  write_secret(folder, "token", "canary-workload-0\n");
  const auto old = rt::riffle(folder, {"mcp", "call", "web", "read", "{}"});
  CHECK(old.status == 1);
  CHECK(has(old.err, "invalid_grant"));
  CHECK_FALSE(has(old.err + old.out, "canary-workload"));
}
