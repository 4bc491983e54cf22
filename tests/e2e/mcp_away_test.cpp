// SPDX-License-Identifier: MIT
// Tools of servers wherever tools are named, limits of servers, and variables
// that are not set.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/base/digest.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string liar(const std::string& more = {},
                 const std::string& words = "modern") {
  return "[mcp.liar]\ncommand = [\"" RIFFLE_MCP_LIAR "\", \"" + words +
         "\"]\n" + more;
}

http_server answering() {
  return http_server{
      [](const http_request&) { return respond_sse(answer("done")); }};
}

}  // namespace

TEST_CASE("the tool of a server is called by hand as any other") {
  const work_folder folder;
  folder.configure("http://127.0.0.1:1/v1", liar());
  const auto call = [&](const char* tool, const char* arguments) {
    return riffle::testing::riffle(folder, {"tools", "call", tool, arguments});
  };
  const auto said = call("liar__echo", R"({"text":"by hand"})");
  INFO(said.err);
  CHECK(said.status == 0);
  CHECK(said.out == "by hand");
  CHECK(call("liar__no_such", "{}").status == 2);
  CHECK(call("other__echo", "{}").status == 2);
  CHECK(processes_in(folder).empty());
}

TEST_CASE("a list of tools starts servers only when it is asked to") {
  const work_folder folder;
  folder.configure("http://127.0.0.1:1/v1", liar());
  const auto list = riffle::testing::riffle(folder, {"tools", "list"});
  CHECK(list.status == 0);
  CHECK_FALSE(has(list.out, "liar__echo"));
  CHECK(has(list.err, "Not started, so without their tools: liar"));
  const auto all = riffle::testing::riffle(
      folder, {"tools", "list", "--servers", "--output", "json"});
  INFO(all.err);
  CHECK(all.status == 0);
  CHECK(has(all.out, "\"liar__echo\""));
  CHECK(has(all.out, "\"read\""));
}

TEST_CASE("a run is on record before a server of its tools is there") {
  const work_folder folder;
  // It never answers: who waited for it would fail by the test's own limits.
  write_server(
      folder, "[[steps]]\ntext = \"Done.\"\n",
      liar("agents = [\"default\"]\nstartup_timeout = \"10m\"\n", "mute") +
          "[agents.free]\ntools = [\"read\"]\n");
  served server{folder};
  const auto who = server.user();
  const auto run = who.post("/v1/runs", {{"task", "go"}});
  REQUIRE(run.status == 202);
  // Whoever needs no server does not wait for one.
  const auto free = who.post("/v1/runs", {{"task", "go"}, {"agent", "free"}});
  REQUIRE(free.status == 202);
  CHECK(await_end(who, free.json().at("run_id")).at("status") == "completed");
  const auto path = "/v1/runs/" + run.json().at("run_id").get<std::string>();
  CHECK(who.get(path).json().at("status") == "active");
  CHECK(who.post(path + "/cancel", json::object()).status < 300);
  CHECK(await_end(who, run.json().at("run_id")).at("status") == "cancelled");
  // The next one takes its own limit for it, and goes on without.
  const auto late = who.post("/v1/runs", {{"task", "go"}, {"timeout", "1s"}});
  REQUIRE(late.status == 202);
  CHECK(await_end(who, late.json().at("run_id")).at("status") != "cancelled");
}

TEST_CASE("many runs that wait for a server hold up none of another server") {
  const work_folder folder;
  write_server(
      folder, "[[steps]]\ntext = \"Done.\"\n",
      liar("agents = [\"default\"]\nstartup_timeout = \"10m\"\n", "mute") +
          "[mcp.good]\ncommand = [\"" RIFFLE_MCP_LIAR
          "\", \"modern\"]\nagents = [\"other\"]\n"
          "[agents.other]\ntools = [\"read\"]\n");
  served server{folder};
  const auto who = server.user();
  for (int i = 0; i < 20; ++i)
    REQUIRE(who.post("/v1/runs", {{"task", "go"}}).status == 202);
  const auto run = who.post("/v1/runs", {{"task", "go"}, {"agent", "other"}});
  REQUIRE(run.status == 202);
  CHECK(await_end(who, run.json().at("run_id")).at("status") == "completed");
}

TEST_CASE("over HTTP tools of servers are listed when a run has needed them") {
  const work_folder folder;
  write_server(folder, "[[steps]]\ntext = \"Done.\"\n",
               liar("agents = [\"default\"]\n"));
  const served server{folder};
  const auto who = server.user();
  const auto before = who.get("/v1/tools").json();
  CHECK(before.at("unknown_servers") == json{"liar"});
  const auto run = who.post("/v1/runs", {{"task", "go"}});
  REQUIRE(run.status == 202);
  await_end(who, run.json().at("run_id"));
  const auto after = who.get("/v1/tools").json();
  CHECK(after.at("unknown_servers").empty());
  CHECK(has(after.dump(), "\"liar__echo\""));
}

TEST_CASE("a mistyped tool of a server is told of when a run begins") {
  auto model = answering();
  const work_folder folder;
  folder.configure(model.url("/v1"), liar() +
                                         "[agents.default]\ntools = [\"read\", "
                                         "\"liar__ecko\"]\n");
  const auto run = riffle::testing::riffle(folder, {"run", "go"});
  INFO(run.err);
  CHECK(run.status == 0);
  CHECK(
      has(run.err, "it has no tool `liar__ecko`; did you mean `liar__echo`?"));
}

TEST_CASE("a server's limit holds for its tools, a tool's own before it") {
  const work_folder folder;
  const auto calls = [&](const std::string& more) {
    folder.configure("http://127.0.0.1:1/v1",
                     liar("timeout = \"700ms\"\n" + more));
    return riffle::testing::riffle(folder,
                                   {"tools", "call", "liar__mute", "{}"});
  };
  const auto end = calls("");
  INFO(end.err);
  CHECK(end.status == 124);
  CHECK(has(end.err, "time limit of 700ms"));
  CHECK(has(calls("[mcp.liar.tools.mute]\ntimeout = \"300ms\"\n").err,
            "time limit of 300ms"));
}

TEST_CASE("who waits for a server ends with its signal, and its limit") {
  // It would be in time if the limit began behind the wait.
  http_server model{[](const http_request&) {
    std::this_thread::sleep_for(std::chrono::milliseconds{300});
    return respond_sse(answer("done"));
  }};
  const work_folder folder;
  folder.configure(
      model.url("/v1"),
      liar("agents = [\"default\"]\nstartup_timeout = \"10m\"\n", "mute") +
          "[agents.free]\ntools = [\"read\"]\n");
  program run{installed_riffle(), folder, {"run", "go"}};
  REQUIRE(
      eventually([&] { return has(run.err(), "at most (startup_timeout)"); }));
  run.signal(SIGTERM);
  CHECK(run.wait().status == 130);
  // The wait is a part of the limit, so nothing is left for the run.
  const auto late =
      riffle::testing::riffle(folder, {"run", "--timeout", "3s", "go"});
  INFO(late.err);
  CHECK(late.status == 124);
  CHECK(has(late.err, "time limit of 3s"));
  CHECK(processes_in(folder).empty());
}

TEST_CASE("headers and the token's variable are added, values are not") {
  const work_folder folder;
  folder.configure("http://127.0.0.1:1/v1");
  const auto add = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"mcp", "add", "web", "--url",
                                   "http://127.0.0.1:1/mcp"};
    words.insert(words.end(), more.begin(), more.end());
    return riffle::testing::riffle(folder, words);
  };
  const auto raw = add({"--header", "Authorization=Bearer abc"});
  CHECK(raw.status == 2);
  CHECK(has(raw.err, "keys never stand in files"));
  CHECK_FALSE(has(folder.read("riffle.toml"), "[mcp.web]"));
  const auto end = add({"--token-env", "NOT_SET_HERE", "--header",
                        "X-Team=${TEAM_HERE}", "--header", "X-Plain: a=b"});
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(has(end.err, "the variable NOT_SET_HERE is not set here"));
  CHECK(has(end.err, "the variable TEAM_HERE is not set here"));
  const auto text = folder.read("riffle.toml");
  CHECK(has(text, "token_env = \"NOT_SET_HERE\""));
  CHECK(has(text, "\"${TEAM_HERE}\""));
  CHECK(has(text, "\"a=b\""));
  const auto check = riffle::testing::riffle(folder, {"config", "check"});
  CHECK(check.status == 0);
  CHECK(has(check.err, "mcp.web.token_env: the variable NOT_SET_HERE"));
}

TEST_CASE("Riffle is its own client, over HTTP") {
  const work_folder folder;
  write_server(folder, R"(
[[steps]]
text = "I look. "
[[steps.calls]]
tool = "read"
arguments = { path = "a.txt" }
[[steps]]
text = "It is all done."
)");
  folder.write("a.txt", "content");
  served server{folder};
  const work_folder mine;
  mine.configure(
      "http://127.0.0.1:1",
      "[mcp.other]\nurl = \"http://127.0.0.1:" + std::to_string(server.port()) +
          "/mcp\"\ntoken_env = \"OTHER\"\n");
  const std::map<std::string, std::string> env{
      {"OTHER", server.user().token()}};
  const auto list = ::riffle::testing::riffle(mine, {"mcp", "list"}, env);
  INFO(list.out + list.err);
  CHECK(list.out.find("modern 2026-07-28") != std::string::npos);
  const auto said = ::riffle::testing::riffle(
      mine, {"mcp", "call", "other", "run_task", R"({"task":"go"})"}, env);
  CHECK(said.status == 0);
  CHECK(said.out.find("It is all done.") != std::string::npos);
  const auto events =
      ::riffle::testing::riffle(mine,
                                {"mcp", "call", "other", "run_task",
                                 R"({"task":"go"})", "--output", "jsonl"},
                                env);
  CHECK((events.out + events.err).find("Reading a.txt") != std::string::npos);
}

namespace {

/// Also once its file is another one.
bool is_run_by(pid_t process, const std::filesystem::path& program) {
  std::ifstream in{"/proc/" + std::to_string(process) + "/cmdline"};
  const std::string line{std::istreambuf_iterator<char>{in}, {}};
  return line.starts_with(program.string());
}

/// What its calls of the tool `trace` saw, in their order.
std::vector<std::string> traces_of(const http_user& who,
                                   const std::string& run) {
  await_end(who, run);
  const auto all =
      who.get("/v1/runs/" + run + "/events", {"Accept: application/x-ndjson"})
          .body;
  std::vector<std::string> out;
  for (const auto& e : of_type(checked_events(all), "tool_result"))
    out.push_back(e["data"]["output"]);
  return out;
}

}  // namespace

TEST_CASE(
    "all calls of a run have one trace, that of its client if it has one") {
  const std::string client =
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const work_folder folder;
  write_server(folder,
               "[[steps]]\ntext = \"I look.\"\n"
               "[[steps.calls]]\ntool = \"liar__trace\"\narguments = {}\n"
               "[[steps.calls]]\ntool = \"liar__trace\"\narguments = {}\n"
               "[[steps]]\ntext = \"Done.\"\n",
               liar("agents = [\"default\"]\n"
                    "[mcp.liar.tools.trace]\neffect = \"read_only\"\n"));
  const served server{folder};
  const auto who = server.user();
  const auto run = [&](std::vector<std::string> fields) {
    const auto begun = who.post("/v1/runs", {{"task", "go"}}, fields);
    REQUIRE(begun.status == 202);
    return begun.json().at("run_id").get<std::string>();
  };
  const auto own = run({});
  const auto digest = ::riffle::sha256(own);
  const auto trace =
      "00-" + digest.substr(0, 32) + "-" + digest.substr(32, 16) + "-01";
  CHECK(traces_of(who, own) == std::vector{trace, trace});
  CHECK(traces_of(who, run({"traceparent: " + client})) ==
        std::vector{client, client});
  CHECK(traces_of(who, run({"traceparent: 00-none"}))[0] != "00-none");
  // A client of /mcp says it in the message.
  const json call = {
      {"jsonrpc", "2.0"},
      {"id", 1},
      {"method", "tools/call"},
      {"params",
       {{"name", "run_task"},
        {"arguments", {{"task", "go"}}},
        {"_meta",
         {{"traceparent", client},
          {"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
          {"io.modelcontextprotocol/clientCapabilities", json::object()}}}}}};
  const auto said = who.post(
      "/mcp", call,
      {"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call",
       "Mcp-Name: run_task", "Accept: application/json, text/event-stream"});
  REQUIRE(said.status == 200);
  const auto newest = who.get("/v1/runs?limit=1").json().at("runs").at(0);
  CHECK(traces_of(who, newest.at("run_id")) == std::vector{client, client});
}

TEST_CASE("how a server is that a living process uses is told everywhere") {
  const work_folder folder;
  const auto program = folder.path() / "srv";
  const auto aside = folder.path() / "aside";
  std::filesystem::copy_file(RIFFLE_MCP_LIAR, program);
  write_server(folder, "[[steps]]\ntext = \"Done.\"\n",
               "[supervision]\nintensity = 1\nbackoff = { base = \"10ms\", cap "
               "= \"20ms\" }\n"
               "[mcp.liar]\ncommand = [\"" +
                   program.string() +
                   "\", \"modern\"]\nagents = [\"default\"]\n");
  served server{folder};
  const auto who = server.user();
  const auto run = [&] {
    const auto begun = who.post("/v1/runs", {{"task", "go"}});
    REQUIRE(begun.status == 202);
    await_end(who, begun.json().at("run_id"));
  };
  const auto state = [&] {
    const auto all = who.get("/v1/tools").json();
    return all.at("servers").at(0);
  };
  const auto why_not = [&] {
    const auto all = who.get("/v1/tools").json();
    for (const auto& x : all.at("tools"))
      if (x.at("name") == "liar__echo")
        return x.value("unavailable", std::string{});
    return std::string{"it is not listed"};
  };
  const auto listed = [&](int status) {
    // It is written behind what the process itself says.
    const auto ask = [&] {
      return riffle::testing::riffle(folder,
                                     {"mcp", "list", "--output", "json"});
    };
    auto list = ask();
    CHECK(eventually([&] {
      if (list.status != status) list = ask();
      return list.status == status;
    }));
    INFO(list.err);
    const auto all = json::parse(list.out);
    REQUIRE(all.size() == 1);
    CHECK(all[0].at("process") == server.process().pid());
    return all[0];
  };
  CHECK(state().at("state") == "idle");
  run();
  CHECK(state().at("state") == "ready");
  CHECK(state().at("restarts") == 0);
  CHECK(why_not().empty());
  CHECK(listed(0).at("tools") == state().at("tools"));

  std::filesystem::rename(program, aside);
  for (const auto one : processes_in(folder.path()))
    if (is_run_by(one, program)) ::kill(one, SIGKILL);
  REQUIRE(eventually([&] { return state().at("state") == "out of service"; }));
  CHECK(has(why_not(), "the server liar is out of service: "));
  CHECK(state().at("restarts") > 0);
  const auto away = listed(1);
  CHECK(away.at("state") == "out of service");
  CHECK(away.at("restarts") == state().at("restarts"));
  CHECK(away.at("last_error") == state().at("last_error"));
  CHECK(away.at("tools") > 0);  // those that it had

  std::filesystem::rename(aside, program);
  CHECK(eventually([&] {
    run();
    return why_not().empty();
  }));
  CHECK(listed(0).at("state") == "ready");
  server.process().signal(SIGTERM);
  static_cast<void>(server.process().wait());
  const auto tried =
      riffle::testing::riffle(folder, {"mcp", "list", "--output", "json"});
  CHECK(tried.status == 0);
  CHECK_FALSE(json::parse(tried.out)[0].contains("process"));
}
