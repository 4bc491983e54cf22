// SPDX-License-Identifier: MIT
// Servers that are not there: what waits for them, and how long; and plans,
// which wait for those that they name.
#include <chrono>
#include <filesystem>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
namespace rt = riffle::testing;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string table(const std::string& name, const std::string& words) {
  return "[mcp." + name + "]\ncommand = [\"" RIFFLE_MCP_LIAR "\", \"" + words +
         "\"]\nagents = [\"default\"]\n";
}

rt::http_server answering() {
  return rt::http_server{[](const rt::http_request&) {
    return rt::respond_sse(rt::answer("done"));
  }};
}

}  // namespace

TEST_CASE("a server whose variable is not set keeps nobody else from working") {
  auto model = answering();
  const rt::work_folder folder;
  folder.configure(model.url("/v1"),
                   table("liar", "modern") +
                       "[mcp.web]\nurl = \"http://127.0.0.1:1/mcp\"\n"
                       "token_env = \"NOT_SET_HERE\"\nagents = "
                       "[\"default\"]\n");
  const auto run = rt::riffle(folder, {"run", "go"});
  INFO(run.err);
  CHECK(run.status == 0);
  CHECK(has(run.err, "the variable NOT_SET_HERE is not set"));
  const auto tools =
      rt::riffle(folder, {"mcp", "call", "liar", "echo", R"({"text":"yo"})"});
  CHECK(tools.out == "yo");
  const auto list = rt::riffle(folder, {"mcp", "list"});
  CHECK(has(list.out, "the variable NOT_SET_HERE is not set"));
  CHECK(has(list.out, "ready"));
  CHECK(rt::processes_in(folder).empty());
}

TEST_CASE("a token with a blank in it is sent to nobody") {
  rt::http_server server{rt::http_reply::text("no", 401)};
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1/v1", "[mcp.web]\nurl = \"" +
                                                server.url("/mcp") +
                                                "\"\ntoken_env = \"GATE\"\n");
  for (const std::string token : {"two words", "cut\nhere", "\tit"}) {
    CAPTURE(token);
    const auto list = rt::riffle(folder, {"mcp", "list"}, {{"GATE", token}});
    CHECK(has(list.out, "the token of the server web in GATE holds a blank"));
    CHECK_FALSE(has(list.out + list.err, token));
  }
  CHECK(server.requests().empty());
}

TEST_CASE("who waits for a server is told so, and can stop it") {
  auto model = answering();
  const rt::work_folder folder;
  // It is asked for 10 min: whoever waits to the end fails by the test's limit.
  folder.configure(model.url("/v1"),
                   table("liar", "mute") + "startup_timeout = \"10m\"\n");
  rt::program run{rt::installed_riffle(), folder, {"run", "go"}};
  REQUIRE(rt::eventually([&] {
    return has(run.err(), "mcp.liar: it is not there yet, and is waited for");
  }));
  run.signal(SIGINT);
  const auto end = run.wait();
  INFO(end.err);
  CHECK(end.status == 130);
  CHECK(model.request_count() == 0);
  // A run's own limit bounds the wait, too.
  const auto late = rt::riffle(folder, {"run", "--timeout", "1s", "go"});
  INFO(late.err);
  CHECK(has(late.err, "its tools may be missing from this run"));
  CHECK(rt::processes_in(folder).empty());
}

TEST_CASE("a run that waits for a server is on record, and is gone on with") {
  auto model = answering();
  const rt::work_folder folder;
  // Mute until the file is there.
  folder.configure(model.url("/v1"),
                   "[mcp.liar]\ncommand = [\"/bin/sh\", \"-c\", \"test -e "
                   "there && exec '" RIFFLE_MCP_LIAR
                   "' modern; exec '" RIFFLE_MCP_LIAR
                   "' mute\"]\nagents = [\"default\"]\n"
                   "startup_timeout = \"10m\"\n");
  const std::string waits = "waiting for the MCP server `liar`";
  {
    rt::program run{rt::installed_riffle(),
                    folder,
                    {"run", "go", "--session", "s1", "--output", "jsonl"}};
    const bool told = rt::eventually([&] { return has(run.out(), waits); });
    run.signal(SIGKILL);
    const auto end = run.wait();
    INFO(end.out << end.err);
    REQUIRE(told);
  }
  CHECK(model.request_count() == 0);
  folder.write("there", "");
  const auto end =
      rt::riffle(folder, {"sessions", "resume", "s1", "--output", "jsonl"});
  INFO(end.err);
  CHECK(end.status == 0);
  const auto log = rt::riffle(folder, {"sessions", "events", "s1"});
  const auto events = rt::checked_events(log.out);
  REQUIRE(events.size() > 2);
  CHECK(events[0].at("event_type") == "run_started");
  CHECK(events[1].at("data").at("text") == waits);
  const auto ends = rt::of_type(events, "run_finished");
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].at("data").at("status") == "completed");
  REQUIRE(model.request_count() == 1);
  CHECK(has(model.requests()[0].body, "liar__echo"));
  CHECK(rt::processes_in(folder).empty());
}

TEST_CASE("a plan calls the tool of a server, which it waits for") {
  auto model = answering();
  const rt::work_folder folder;
  // The agent's other server is none of the plan's.
  folder.configure(model.url("/v1"), "[mcp.liar]\ncommand = [\"" RIFFLE_MCP_LIAR
                                     "\", \"modern\"]\n" +
                                         table("other", "state=started"));
  folder.write("plan.toml",
               "[[steps]]\nid = \"one\"\ntool = \"liar__echo\"\narguments = { "
               "text = \"from a plan\" }\n");
  CHECK(rt::riffle(folder, {"plan", "check", "plan.toml"}).status == 0);
  const auto end =
      rt::riffle(folder, {"plan", "--approve", "all", "plan.toml"});
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(has(end.out, "from a plan"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "started"));
  folder.write("bad.toml", "[[steps]]\ntool = \"nobody__echo\"\n");
  CHECK(rt::riffle(folder, {"plan", "check", "bad.toml"}).status == 2);
  folder.write("bad.toml", "[[steps]]\ntool = \"liar__no_such\"\n");
  CHECK(rt::riffle(folder, {"plan", "--approve", "all", "bad.toml"}).status ==
        2);
  CHECK(rt::processes_in(folder).empty());
}

TEST_CASE("a stop waits for no run that only waits for a server, or a node") {
  const bool node = GENERATE(false, true);
  CAPTURE(node);
  const rt::work_folder folder;
  rt::write_server(
      folder, "[[steps]]\ntext = \"Done.\"\n",
      "[server]\nstop_timeout = \"5m\"\n[agents.default]\n" +
          (node ? std::string{"tools = [\"far\"]\n[cluster]\ninsecure = true\n"
                              "join = [\"127.0.0.1:1\"]\n"
                              "join_timeout = \"10m\"\n"}
                : table("liar", "mute") + "startup_timeout = \"10m\"\n"));
  rt::served server{folder};
  const auto x = server.user().post("/v1/runs", {{"task", "a"}});
  INFO(x.body);
  REQUIRE(x.status == 202);
  server.process().signal(SIGTERM);
  const auto end = server.process().wait();  // in the test's limit
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(has(end.err, "1 run is left as it is"));
  CHECK(rt::processes_in(folder).empty());
}

TEST_CASE("what a server takes up waits for no other one, and is cancelled") {
  const rt::work_folder folder;
  // It is asked for 10 min: whoever waits to the end fails by the test's limit.
  rt::write_server(folder, "[[steps]]\ntext = \"Done.\"\n",
                   "[agents.default]\n[agents.plain]\n" +
                       table("liar", "mute") + "startup_timeout = \"10m\"\n");
  rt::served server{folder};
  const auto post = [&](const json& what) {
    const auto x = server.user().post("/v1/runs", what);
    INFO(x.body);
    REQUIRE(x.status == 202);
    return x.json()["run_id"].get<std::string>();
  };
  const auto cancel = [&](const std::string& run) {
    const auto x =
        server.user().post("/v1/runs/" + run + "/cancel", json::object());
    INFO(x.body);
    CHECK(x.status == 202);
  };
  const auto first = post({{"task", "a"}});
  const auto second = post({{"task", "b"}});
  // While it waits, and not when that is over.
  REQUIRE(rt::eventually([&] {
    return has(
        server.user()
            .get("/v1/runs/" + second + "/events", {"Accept: application/json"})
            .body,
        "waiting for the MCP server `liar`");
  }));
  server.kill_and_restart();
  cancel(first);
  CHECK(rt::await_end(server.user(), first)["status"] == "cancelled");
  REQUIRE(rt::eventually([&] {
    return server.user().get("/v1/runs/" + second).json()["status"] == "active";
  }));
  const auto other = post({{"task", "c"}, {"agent", "plain"}});
  CHECK(rt::await_end(server.user(), other)["status"] == "completed");
  cancel(second);
  CHECK(rt::await_end(server.user(), second)["status"] == "cancelled");
}
