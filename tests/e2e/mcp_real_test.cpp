// SPDX-License-Identifier: MIT
// Servers that nobody here wrote, from npm, as tools of the installed program.
// Skipped where npm or its registry is missing.
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <unistd.h>

#include "tests/e2e/npm_packages.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/canary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/repetitions.hpp"
#include "tests/support/skip.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
namespace fs = std::filesystem;
namespace rt = riffle::testing;

namespace {

constexpr auto missing = "npm or its registry is missing";

/// `[mcp.NAME]` of a package's server.
std::string table(const fs::path& packages, const std::string& name,
                  const std::string& package, const std::string& argument,
                  const std::string& more = {}) {
  const auto script =
      packages / "@modelcontextprotocol" / package / "dist" / "index.js";
  return "[mcp." + name + "]\ncommand = [\"" + rt::node_of(packages).string() +
         "\", \"" + script.string() + "\", \"" + argument + "\"]\n" + more;
}

/// What a call by hand prints, and its status.
rt::finished call(const rt::work_folder& folder, const std::string& server,
                  const std::string& tool, const json& arguments) {
  return rt::riffle(folder, {"mcp", "call", server, tool, arguments.dump()});
}

}  // namespace

TEST_CASE(
    "server-everything: lists, progress, structure, tasks, a clean "
    "environment") {
  const auto npm = rt::npm_mcp_packages();
  if (!npm) return rt::skip(missing);
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1",
                   table(*npm, "every", "server-everything", "stdio"));
  const auto list = rt::riffle(folder, {"mcp", "list", "--output", "json"});
  const auto facts = json::parse(list.out).at(0);
  CHECK(facts.at("state") == "ready");
  CHECK(facts.at("era") == "legacy");
  CHECK(facts.at("tools") >= 12);
  CHECK(facts.at("restarts") == 0);
  const auto slow = call(folder, "every", "trigger-long-running-operation",
                         {{"duration", 1}, {"steps", 4}});
  CHECK(slow.status == 0);
  CHECK(slow.err.find("(4/4)") != std::string::npos);
  const auto structure = call(folder, "every", "get-structured-content",
                              {{"location", "New York"}});
  CHECK(json::parse(structure.out).contains("temperature"));
  const auto env = rt::riffle(folder, {"mcp", "call", "every", "get-env", "{}"},
                              {{"CANARY", "canary-4711"}});
  CHECK(env.status == 0);
  CHECK(env.out.find("canary-4711") == std::string::npos);
  CHECK_FALSE(rt::holds_provider_key(env.out));
  const auto read = rt::riffle(
      folder, {"mcp", "read", "demo://resource/static/document/features.md"});
  CHECK(read.status == 0);
  CHECK(read.out.size() > 100);
  CHECK(rt::processes_in(folder).empty());
  // Its process is pulled away in mid call.
  rt::program lost{rt::installed_riffle(),
                   folder,
                   {"mcp", "call", "every", "trigger-long-running-operation",
                    R"({"duration":600,"steps":600})"}};
  REQUIRE(rt::eventually(
      [&] { return lost.err().find("(1/600)") != std::string::npos; }));
  for (const auto pid : rt::processes_with("server-everything"))
    for (const auto own : rt::processes_in(folder))
      if (pid == own) ::kill(pid, SIGKILL);
  const auto end = lost.wait();
  CHECK(end.status == 1);
  CHECK((end.out + end.err).find("was lost") != std::string::npos);
  CHECK(rt::processes_in(folder).empty());
}

TEST_CASE("server-filesystem: an edit is shown before it is approved") {
  const auto npm = rt::npm_mcp_packages();
  if (!npm) return rt::skip(missing);
  const rt::work_folder folder;
  folder.write("a.txt", "one\ntwo\n");
  const json edit = {{"path", (folder.path() / "a.txt").string()},
                     {"edits", {{{"oldText", "two"}, {"newText", "three"}}}}};
  rt::http_server model{[&](const rt::http_request& request) {
    if (!rt::tool_messages(request).empty())
      return rt::respond_sse(rt::answer("done"));
    return rt::respond_sse(rt::calls({{"files__edit_file", edit}}));
  }};
  folder.configure(
      model.url("/v1"),
      table(*npm, "files", "server-filesystem", folder.path().string(),
            "agents = [\"default\"]\ntrust = \"annotations\"\n"
            "[mcp.files.tools.edit_file]\npreview = { dryRun = true }\n"));
  rt::program run{rt::installed_riffle(),
                  folder,
                  {"run", "--approve", "ask", "--output", "jsonl", "go"}};
  REQUIRE(rt::eventually([&] {
    return run.out().find("approval_required") != std::string::npos;
  }));
  CHECK(folder.read("a.txt") == "one\ntwo\n");
  const auto proposals = json::parse(
      rt::riffle(folder, {"proposals", "list", "--output", "json"}).out);
  REQUIRE(proposals.size() == 1);
  const auto id = proposals.at(0).at("proposal_id").get<std::string>();
  const auto shown = rt::riffle(folder, {"proposals", "show", id});
  CHECK(shown.out.find("-two") != std::string::npos);
  CHECK(shown.out.find("+three") != std::string::npos);
  CHECK(rt::riffle(folder, {"proposals", "approve", id}).status == 0);
  const auto end = run.wait();
  CHECK(end.status == 0);
  const auto events = rt::checked_events(end.out);
  CHECK(rt::of_type(events, "tool_result").at(0)["data"]["outcome"] == "ok");
  CHECK(folder.read("a.txt") == "one\nthree\n");
}

TEST_CASE("server-filesystem refuses what is outside, as a result") {
  const auto npm = rt::npm_mcp_packages();
  if (!npm) return rt::skip(missing);
  const rt::work_folder folder;
  folder.configure(
      "http://127.0.0.1:1",
      table(*npm, "files", "server-filesystem", folder.path().string()));
  const auto out =
      call(folder, "files", "read_text_file", {{"path", "/etc/passwd"}});
  CHECK(out.status == 1);
  CHECK((out.out + out.err).find("Access denied") != std::string::npos);
}

TEST_CASE("server-memory keeps what it is told") {
  const auto npm = rt::npm_mcp_packages();
  if (!npm) return rt::skip(missing);
  const rt::work_folder folder;
  folder.configure(
      "http://127.0.0.1:1",
      table(*npm, "memory", "server-memory", "",
            "variables = { MEMORY_FILE_PATH = \"" +
                (folder.path() / "memory.jsonl").string() + "\" }\n"));
  const json entity = {{"entities",
                        {{{"name", "Riffle"},
                          {"entityType", "program"},
                          {"observations", {"shuffles"}}}}}};
  CHECK(call(folder, "memory", "create_entities", entity).status == 0);
  const auto found =
      call(folder, "memory", "search_nodes", {{"query", "Riffle"}});
  CHECK(found.out.find("shuffles") != std::string::npos);
}

namespace {

/// The suite's servers listen everywhere, so they get a network of their own.
bool has_own_network() {
  return std::system("unshare -rn true 2>/dev/null") == 0;
}

constexpr auto no_network = "this system allows no network of its own";

/// server-everything over HTTP in a network of its own: what a client by hand
/// gets of it. `way`: as the server calls it; `place`: of its URL.
void check_over_http(const fs::path& packages, const std::string& way,
                     const std::string& place) {
  CAPTURE(way);
  const rt::work_folder folder;
  folder.configure(
      "http://127.0.0.1:1",
      "[mcp.web]\nurl = \"http://127.0.0.1:3001/" + place + "\"\n");
  const auto server = packages / "@modelcontextprotocol" / "server-everything" /
                      "dist" / "index.js";
  const auto riffle = "'" + rt::installed_riffle().string() + "' mcp ";
  const auto script =
      "ip link set lo up; export PORT=3001\n'" +
      rt::node_of(packages).string() + "' '" + server.string() + "' " + way +
      " >server.log 2>&1 & p=$!\n"
      "until (exec 3<>/dev/tcp/127.0.0.1/3001) 2>/dev/null; do kill -0 $p || "
      "exit 9; sleep 0.1; done\n" +
      riffle + "list --output json >list 2>err\n" + riffle +
      "call web echo '{\"message\":\"over http\"}' >echo 2>>err\n" + riffle +
      "call web trigger-long-running-operation "
      "'{\"duration\":1,\"steps\":4}' >slow 2>progress\n" +
      riffle +
      "read demo://resource/static/document/features.md >read 2>>err\n" +
      riffle +
      "call web trigger-long-running-operation "
      "'{\"duration\":600,\"steps\":600}' >lost 2>why & c=$!\n"
      "until grep -q '(1/600)' why; do kill -0 $c || exit 8; sleep 0.1; done\n"
      "kill -9 $p; wait $c; echo $? >status\n";
  rt::program run{"/usr/bin/unshare", folder, {"-rn", "bash", "-c", script}};
  const auto end = run.wait();
  CAPTURE(end.err, folder.read("err"), folder.read("server.log"),
          folder.read("why"));
  REQUIRE(end.status == 0);
  const auto facts = json::parse(folder.read("list")).at(0);
  CHECK(facts.at("state") == "ready");
  CHECK(facts.at("era") == "legacy");
  CHECK(facts.at("tools") >= 12);
  CHECK(facts.at("restarts") == 0);
  CHECK(folder.read("echo").find("over http") != std::string::npos);
  // The last step may be told by the result that follows it at once.
  CHECK(folder.read("progress").find("/4)") != std::string::npos);
  CHECK(folder.read("slow").find("completed") != std::string::npos);
  CHECK(folder.read("read").size() > 100);
  // Its end in the middle of a call is an end of the call, in words.
  CHECK(folder.read("status") == "1\n");
  CHECK((folder.read("lost") + folder.read("why")).find("was lost") !=
        std::string::npos);
}

/// Its newest scenarios, and the version before.
constexpr auto new_suite = "@modelcontextprotocol/conformance";
constexpr auto old_suite = "conformance-0.1";

fs::path suite_in(const fs::path& packages, const char* suite) {
  return packages / suite / "dist" / "index.js";
}

void check_scenario(const fs::path& packages, const std::string& scenario,
                    const char* version = new_suite) {
  CAPTURE(scenario, version);
  const auto suite = suite_in(packages, version);
  const auto client = fs::path{RIFFLE_SOURCE_DIR} / "tests" / "e2e" / "npm" /
                      "mcp" / "conformance_client.mjs";
  const rt::work_folder folder;
  const auto node = rt::node_of(packages).string();
  const auto script = "ip link set lo up; exec '" + node + "' '" +
                      suite.string() + "' client --command \"'" + node + "' '" +
                      client.string() + "'\" --scenario " + scenario +
                      " -o results";
  rt::program run{
      "/usr/bin/unshare",
      folder,
      {"-rn", "bash", "-c", script},
      {{"RIFFLE", rt::installed_riffle().string()}, {"RIFFLE_CONFIG", ""}}};
  const auto end = run.wait();
  CAPTURE(end.out, end.err);
  CHECK(end.status == 0);
}

}  // namespace

TEST_CASE(
    "server-everything over streamable HTTP, and over the older HTTP+SSE") {
  const auto npm = rt::npm_mcp_packages();
  if (!npm) return rt::skip(missing);
  if (!has_own_network()) return rt::skip(no_network);
  check_over_http(*npm, "streamableHttp", "mcp");
  check_over_http(*npm, "sse", "sse");
}

TEST_CASE("the conformance suite passes what it asks of clients") {
  const auto npm = rt::npm_mcp_packages();
  if (!npm) return rt::skip(missing);
  if (!has_own_network()) return rt::skip(no_network);
  for (const auto* scenario :
       {"initialize", "tools_call", "elicitation-sep1034-client-defaults",
        "sse-retry", "request-metadata", "sep-2322-client-request-state",
        "http-standard-headers", "http-custom-headers",
        "http-invalid-tool-headers", "json-schema-ref-no-deref",
        "json-schema-2020-12-preservation"})
    check_scenario(*npm, scenario);
}

TEST_CASE("of what the conformance suite asks of /mcp the rest is as known") {
  const auto npm = rt::npm_mcp_packages();
  if (!npm) return rt::skip(missing);
  if (!has_own_network()) return rt::skip(no_network);
  const rt::work_folder folder;
  folder.write("script.toml", "[[steps]]\ntext = \"Done.\"\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n[models.default]\ndialect = "
               "\"scripted\"\nscript = \"script.toml\"\n");
  std::string asks;
  const auto ask = [&](const char* suite, const std::string& more,
                       const std::string& known) {
    asks += "'" + rt::node_of(*npm).string() + "' '" +
            suite_in(*npm, suite).string() +
            "' server --url http://127.0.0.1:7433/mcp --suite all" + more +
            " --expected-failures '" RIFFLE_SOURCE_DIR "/tests/e2e/npm/mcp/" +
            known + "' || { echo RED " + suite + more + "; bad=1; }\n";
  };
  ask(new_suite, " --spec-version 2025-11-25", "baseline.yml");
  ask(new_suite, " --spec-version 2026-07-28", "baseline.yml");
  ask(old_suite, "", "baseline-0.1.yml");
  const auto script = "ip link set lo up; '" + rt::installed_riffle().string() +
                      "' serve --no-token --config riffle.toml & p=$!\n"
                      "until (exec 3<>/dev/tcp/127.0.0.1/7433) 2>/dev/null; "
                      "do kill -0 $p || exit 9; sleep 0.1; done\nbad=0\n" +
                      asks + "kill $p; wait $p; exit $bad\n";
  rt::program run{"/usr/bin/unshare", folder, {"-rn", "bash", "-c", script}};
  const auto end = run.wait();
  CAPTURE(end.out, end.err);
  CHECK(end.status == 0);
  // All were asked: a suite that asks nothing is green.
  for (const auto* scenario :
       {"server-session-lifecycle", "server-stateless", "caching",
        "sep-2164-resource-not-found", "http-header-validation",
        "dns-rebinding-protection", "server-sse-multiple-streams"})
    CHECK(end.out.find(std::string{"Running scenario: "} + scenario + " ") !=
          std::string::npos);
}

TEST_CASE("version 0.1 of the suite passes what it asks of clients") {
  const auto npm = rt::npm_mcp_packages();
  if (!npm) return rt::skip(missing);
  if (!has_own_network()) return rt::skip(no_network);
  constexpr std::array all{
      "tools_call", "sse-retry",
      // Longer looks take the rest, too.
      "initialize", "elicitation-sep1034-client-defaults",
      "auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2",
      "auth/metadata-var3", "auth/basic-cimd",
      "auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported",
      "auth/scope-omitted-when-undefined", "auth/scope-step-up",
      "auth/scope-retry-limit", "auth/token-endpoint-auth-basic",
      "auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none",
      "auth/pre-registration", "auth/2025-03-26-oauth-metadata-backcompat",
      "auth/2025-03-26-oauth-endpoint-fallback", "auth/resource-mismatch",
      "auth/offline-access-scope", "auth/offline-access-not-supported",
      "auth/client-credentials-jwt", "auth/client-credentials-basic",
      "auth/cross-app-access-complete-flow"};
  constexpr int rest = static_cast<int>(all.size());
  const int count = rt::repetitions(2, rest, rest);
  for (int i = 0; i < count; ++i) check_scenario(*npm, all.at(i), old_suite);
}

TEST_CASE("the conformance suite passes what it asks of logins") {
  const auto npm = rt::npm_mcp_packages();
  if (!npm) return rt::skip(missing);
  if (!has_own_network()) return rt::skip(no_network);
  constexpr std::array all{
      "scope-step-up", "authorization-server-migration",
      "token-endpoint-auth-basic", "iss-wrong-issuer", "resource-mismatch",
      "dpop-nonce", "client-credentials-jwt",
      "enterprise-managed-authorization",
      // Longer looks take the rest, too.
      "metadata-default", "metadata-var1", "metadata-var2", "metadata-var3",
      "basic-cimd", "scope-from-www-authenticate",
      "scope-from-scopes-supported", "scope-omitted-when-undefined",
      "scope-retry-limit", "token-endpoint-auth-post",
      "token-endpoint-auth-none", "pre-registration",
      "2025-03-26-oauth-metadata-backcompat",
      "2025-03-26-oauth-endpoint-fallback", "offline-access-scope",
      "offline-access-not-supported", "iss-supported", "iss-not-advertised",
      "iss-supported-missing", "iss-unexpected", "iss-normalized",
      "metadata-issuer-mismatch", "dpop", "client-credentials-basic",
      "wif-jwt-bearer"};
  constexpr int rest = static_cast<int>(all.size());
  const int count = rt::repetitions(8, rest, rest);
  for (int i = 0; i < count; ++i)
    check_scenario(*npm, std::string{"auth/"} + all.at(i));
}
