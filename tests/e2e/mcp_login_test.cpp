// SPDX-License-Identifier: MIT
// riffle mcp login and logout: a person's login at a server over HTTP, and what
// the program does with it.
#include <fstream>

#include "tests/e2e/program.hpp"
#include "tests/support/canary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oauth_world.hpp"
#include "tests/support/processes.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
namespace fs = std::filesystem;
namespace rt = riffle::testing;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string table(const rt::oauth_world& world, const std::string& more = {}) {
  return "[tools]\napproval = \"allow\"\n[mcp.web]\nurl = \"" + world.server() +
         "\"\nagents = [\"default\"]\n" + more;
}

/// The page that the program shows, once it does.
std::string shown_by(const rt::program& x) {
  std::string out;
  CHECK(rt::eventually([&] {
    const auto err = x.err();
    const auto begin = err.find("http://127.0.0.1");
    const auto end = err.find('\n', begin);
    if (end == std::string::npos) return false;
    out = err.substr(begin, end - begin);
    return true;
  }));
  return out;
}

rt::finished log_in(const rt::work_folder& folder,
                    std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"mcp", "login", "web", "--no-browser"});
  rt::program run{rt::installed_riffle(), folder, std::move(more)};
  rt::oauth_world::agree(shown_by(run));
  return run.wait();
}

rt::finished mcp(const rt::work_folder& folder,
                 std::vector<std::string> words) {
  words.insert(words.begin(), "mcp");
  return rt::riffle(folder, std::move(words));
}

/// Files of a folder in which one of these texts stands.
std::vector<std::string> files_with(const fs::path& folder,
                                    const std::vector<std::string>& secrets) {
  std::vector<std::string> out;
  for (const auto& x : fs::recursive_directory_iterator{folder}) {
    if (!x.is_regular_file()) continue;
    std::ifstream in{x.path(), std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    for (const auto& secret : secrets)
      if (has(text, secret)) {
        out.push_back(x.path().filename().string());
        break;
      }
  }
  return out;
}

}  // namespace

TEST_CASE("a server is logged in at, used, and logged out of") {
  rt::oauth_world world;
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1", table(world));
  const auto before = mcp(folder, {"list"});
  INFO(before.out + before.err);
  CHECK(has(before.out + before.err, "run 'riffle mcp login web'"));
  const auto in = log_in(folder, {"--output", "json"});
  INFO(in.err);
  REQUIRE(in.status == 0);
  const auto facts = json::parse(in.out);
  CHECK(facts.at("server") == "web");
  CHECK(facts.at("scope") == "read");
  CHECK(facts.contains("expires_at"));
  const auto file = folder.path() / "data" / "mcp" / "web.login";
  CHECK(fs::status(file).permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(mcp(folder, {"call", "web", "read"}).out == "did read");
  world.forget_tokens();
  CHECK(mcp(folder, {"call", "web", "read"}).out == "did read");
  const auto narrow = mcp(folder, {"call", "web", "write"});
  CHECK(narrow.status == 1);
  CHECK(has(narrow.out + narrow.err,
            "run 'riffle mcp login web --scope \"read write\"'"));
  CHECK(log_in(folder, {"--scope", "read write"}).status == 0);
  CHECK(mcp(folder, {"call", "web", "write"}).out == "did write");
  CHECK(mcp(folder, {"logout", "web"}).status == 0);
  CHECK_FALSE(fs::exists(file));
  REQUIRE(world.forms("/revoke").size() == 1);
  CHECK(world.forms("/revoke").at(0).at("token_type_hint") == "refresh_token");
  CHECK(has(mcp(folder, {"logout", "web"}).err, "you were not logged in"));
  CHECK(mcp(folder, {"call", "web", "read"}).status != 0);
  CHECK(rt::processes_in(folder).empty());
}

TEST_CASE("a run uses a login, and writes none of its secrets anywhere") {
  rt::oauth_world world;
  rt::http_server model{[](const rt::http_request& request) {
    if (!rt::tool_messages(request).empty())
      return rt::respond_sse(rt::answer("done"));
    return rt::respond_sse(rt::calls({{"web__read", json::object()}}));
  }};
  const rt::work_folder folder;
  folder.configure(model.url("/v1"),
                   table(world) + "[runtime.log]\nlevel = \"trace\"\n");
  REQUIRE(log_in(folder, {"-v"}).status == 0);
  const auto result = [&] {
    const auto end =
        rt::riffle(folder, {"run", "--output", "jsonl", "-v", "go"});
    INFO(end.err);
    return rt::of_type(rt::checked_events(end.out), "tool_result")
        .at(0)["data"];
  };
  CHECK(result()["output"] == "did read");
  world.forget_tokens();
  CHECK(result()["output"] == "did read");
  CHECK(world.forms("/token").size() == 2);
  world.forget_logins();
  CHECK(result()["outcome"] == "failed");
  const auto secrets = world.secrets();
  REQUIRE(secrets.size() >= 5);  // codes, too: they are good once
  CHECK(files_with(folder.path(), secrets) ==
        std::vector<std::string>{"web.login"});
  for (const auto& x : model.requests())
    for (const auto& secret : secrets) CHECK_FALSE(has(x.body, secret));
}

TEST_CASE("the configuration names the program that logs in, and its secret") {
  rt::oauth_rules rules;
  rules.server_lie = {{"registration_endpoint", nullptr}};
  rules.client_auth = "client_secret_post";
  rules.client_secret = "app-secret-4711";
  rt::oauth_world world{rules};
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1",
                   table(world,
                         "client_id = \"by-hand\"\n"
                         "client_secret_env = \"APP_SECRET\"\n"));
  const auto without = mcp(folder, {"login", "web", "--no-browser"});
  CHECK(without.status == 2);
  CHECK(has(without.err, "the variable APP_SECRET is not set"));
  rt::program run{rt::installed_riffle(),
                  folder,
                  {"mcp", "login", "web", "--no-browser"},
                  {{"APP_SECRET", "app-secret-4711"}}};
  const auto url = shown_by(run);
  CHECK(has(url, "client_id=by-hand"));
  rt::oauth_world::agree(url);
  const auto end = run.wait();
  INFO(end.err);
  CHECK(world.forms("/register").empty());
  const auto forms = world.forms("/token");
  REQUIRE_FALSE(forms.empty());
  CHECK(forms.at(0).at("client_id") == "by-hand");
  CHECK(forms.at(0).at("client_secret") == "app-secret-4711");
  // What stands in the command counts instead, without that secret.
  rt::program other{
      rt::installed_riffle(),
      folder,
      {"mcp", "login", "web", "--no-browser", "--client-id", "another"}};
  CHECK(has(shown_by(other), "client_id=another"));
}

TEST_CASE("the browser of the person opens the page, and gets no key") {
  rt::oauth_world world;
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1", table(world));
  folder.write("browse", "#!/bin/sh\nenv > seen\nprintf '%s' \"$1\" > page\n");
  const auto script = folder.path() / "browse";
  fs::permissions(script, fs::perms::owner_all);
  rt::program run{rt::installed_riffle(),
                  folder,
                  {"mcp", "login", "web"},
                  {{"BROWSER", script.string()}}};
  const auto url = shown_by(run);
  REQUIRE(rt::eventually([&] { return folder.read("page") == url; }));
  CHECK(has(folder.read("seen"), "BROWSER="));
  rt::oauth_world::agree(url);
  const auto end = run.wait();
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(has(end.err, "Your browser opens this page"));
  CHECK(has(end.err, "you are logged in at web, with the scope read"));
}

TEST_CASE("a login that cannot be says why, and changes nothing") {
  rt::oauth_world world;
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1",
                   table(world) + "[mcp.prog]\ncommand = [\"true\"]\n" +
                       "[mcp.given]\nurl = \"" + world.server() +
                       "\"\ntoken_env = \"WEB_TOKEN\"\n"
                       "[mcp.gone]\nurl = \"http://127.0.0.1:1/mcp\"\n"
                       "[mcp.plain]\nurl = \"http://example.org/mcp\"\n");
  const auto why = [&](std::vector<std::string> words, int status) {
    words.insert(words.begin(), {"mcp", "login"});
    const auto end = rt::riffle(folder, std::move(words));
    CHECK(end.status == status);
    CHECK(end.out.empty());
    return end.err;
  };
  CHECK(has(why({"nobody"}, 2), "there is no server \"nobody\""));
  CHECK(has(why({"prog"}, 2), "is a program"));
  CHECK(has(why({"given"}, 2), "gets the token in WEB_TOKEN"));
  CHECK(has(why({"web", "--timeout", "0s"}, 2), "is not a duration"));
  CHECK(has(why({"web", "--client-secret-env", "X"}, 2), "--client-id"));
  CHECK(has(why({"gone"}, 1), "cannot be reached"));
  CHECK(has(why({"plain"}, 1), "it is not https"));
  const rt::http_server busy{rt::http_reply::text("")};
  CHECK(has(why({"web", "--port", std::to_string(busy.port())}, 1),
            "cannot be listened on"));
  CHECK(has(why({"web", "--no-browser", "--timeout", "200ms"}, 1),
            "nobody has answered in time"));
  world.change([](auto& x) { x.refusal = "access_denied"; });
  const auto no = log_in(folder);
  CHECK(no.status == 1);
  CHECK(has(no.err, "says no: access_denied"));
  CHECK_FALSE(fs::exists(folder.path() / "data" / "mcp" / "web.login"));
}
