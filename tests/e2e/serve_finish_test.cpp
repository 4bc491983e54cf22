// SPDX-License-Identifier: MIT
// `server.on_stop = "finish"`: what is waited for, and what is not.
#include <csignal>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;
using clock_type = std::chrono::steady_clock;

namespace {

const std::string asking_script = R"(
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "note.txt", content = "hello" }
[[steps]]
text = "Done."
)";

std::string slow_script(int words) {
  std::string text;
  for (int i = 0; i < words; ++i) text += "words ";
  return "chunk = 6\ndelay = \"30ms\"\n[[steps]]\ntext = \"" + text + "\"\n";
}

/// Agents: "default" asks a person, "slow" speaks for a while. It waits for
/// the end of runs for two minutes.
void write_finishing_server(const work_folder& folder) {
  write_server(folder, asking_script, R"(
[server]
on_stop = "finish"
stop_timeout = "120s"
[models.slow]
dialect = "scripted"
script = "slow.toml"
[agents.default]
[agents.slow]
model = "slow"
)");
  folder.write("slow.toml", slow_script(150));
}

void await_questions(const http_user& who, std::size_t n) {
  REQUIRE(eventually([&] {
    return who.get("/v1/proposals").json()["proposals"].size() == n;
  }));
}

std::string post(const http_user& who, const std::string& path,
                 const json& body, const std::string& id) {
  const auto x = who.post(path, body);
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json()[id];
}

struct stopped {
  finished end;
  clock_type::duration took{};
};

stopped stop(served& server) {
  const auto start = clock_type::now();
  server.process().signal(SIGTERM);
  auto end = server.process().wait(150s);
  return {std::move(end), clock_type::now() - start};
}

}  // namespace

TEST_CASE("a volley and a plan that wait for a person alone end no later") {
  const work_folder folder;
  write_finishing_server(folder);
  served server{folder};
  const auto who = server.user();
  post(who, "/v1/volleys", {{"tasks", {"a", "b", "c"}}, {"workers", 2}},
       "volley_id");
  await_questions(who, 2);
  const json steps{{{"id", "a"}, {"instruction", "note it"}}};
  post(who, "/v1/plans", {{"plan", {{"steps", steps}}}}, "plan_id");
  await_questions(who, 3);
  const auto x = stop(server);
  INFO(x.end.err);
  CHECK(x.end.status == 0);
  CHECK(x.took < 30s);
  CHECK(x.end.err.find("4 runs are left as they are") != std::string::npos);
}

TEST_CASE("a volley of which one task waits and one works is waited for") {
  const work_folder folder;
  write_finishing_server(folder);
  served server{folder};
  const auto who = server.user();
  const json tasks{{{"task", "a"}, {"agent", "default"}},
                   {{"task", "b"}, {"agent", "slow"}},
                   {{"task", "c"}, {"agent", "slow"}}};
  const auto volley =
      post(who, "/v1/volleys", {{"tasks", tasks}, {"workers", 2}}, "volley_id");
  await_questions(who, 1);
  const auto x = stop(server);
  INFO(x.end.err);
  CHECK(x.end.status == 0);
  CHECK(x.end.err.find("1 run is left as it is") != std::string::npos);
  served next{folder};
  const auto shown = next.user().get("/v1/volleys/" + volley).json();
  INFO(shown.dump());
  int completed = 0;
  for (const auto& run : shown["runs"])
    if (run["status"] == "completed") ++completed;
  CHECK(completed == 2);
}

TEST_CASE("a plan whose step works is waited for, with what comes after") {
  const work_folder folder;
  write_finishing_server(folder);
  served server{folder};
  const auto who = server.user();
  const json steps{{{"id", "a"}, {"instruction", "speak"}},
                   {{"id", "b"}, {"instruction", "speak"}}};
  const auto plan =
      post(who, "/v1/plans", {{"plan", {{"steps", steps}}}, {"agent", "slow"}},
           "plan_id");
  raw_client reader{server.port()};
  reader.ask("/v1/plans/" + plan + "/events", who.token());
  reader.read_until("id: 2\n");
  const auto x = stop(server);
  INFO(x.end.err);
  CHECK(x.end.err.find("left as") == std::string::npos);
  served next{folder};
  CHECK(next.user().get("/v1/plans/" + plan).json()["status"] == "completed");
}

TEST_CASE("what is being sent when it stops is sent, also slowly") {
  const work_folder folder;
  write_server(folder, R"(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "head -c 12000000 /dev/zero | tr '\\0' x" }
[[steps]]
text = "Done."
)");
  served server{folder};
  const auto who = server.user();
  const auto run =
      post(who, "/v1/runs", {{"task", "x"}, {"approve", "all"}}, "run_id");
  CHECK(await_end(who, run)["status"] == "completed");
  std::string call;
  for (const auto& x :
       who.get("/v1/runs/" + run + "/events", {"Accept: application/json"})
           .json())
    if (x["event_type"] == "tool_call") call = x["data"]["id"];
  const auto path = "/v1/runs/" + run + "/calls/" + call + "/output";
  raw_client reader{server.port(), 4096};
  reader.ask(path, who.token());
  auto all = reader.read(20s, 64);
  // Others come and go, so that nobody but the reader is left.
  CHECK(server.user("").get("/healthz").status == 200);
  server.process().signal(SIGTERM);
  REQUIRE(eventually([&] { return raw_client{server.port()}.ended(); }));
  for (std::string more; !(more = reader.read(20s, 1 << 20)).empty();)
    all += more;
  CHECK(server.process().wait().status == 0);
  const auto body = all.find("\r\n\r\n");
  REQUIRE(body != std::string::npos);
  CHECK(all.size() - body - 4 == 12'000'000);
}

TEST_CASE("stops that are ordered are no crashes, however many") {
  const auto* const how = GENERATE("leave", "finish");
  CAPTURE(how);
  const work_folder folder;
  // What reads only is done again at each start; it works at each stop.
  write_server(folder, R"(
[[steps]]
[[steps.calls]]
tool = "look"
arguments = {}
[[steps]]
text = "Done."
)",
               std::string{"[server]\nstop_timeout = \"200ms\"\non_stop = \""} +
                   how +
                   "\"\n[agents.default]\nrecovery_attempts = 1\ntools = "
                   "[\"look\"]\n"
                   "[tools.look]\ntype = \"command\"\nparameters = { type = "
                   "\"object\" }\ncommand = [\"/bin/sh\", \"-c\", \"echo x "
                   ">> began; until test -e go; do sleep 0.05; done\"]\n"
                   "description = \"Looks.\"\neffect = \"read_only\"\napproval "
                   "= \"allow\"\n");
  std::string run;
  const auto begun = [&](std::size_t times) {
    return eventually([&] { return folder.read("began").size() >= 2 * times; });
  };
  for (std::size_t n = 1; n <= 4; ++n) {
    served server{folder};
    if (n == 1)
      run = post(server.user(), "/v1/runs", {{"task", "x"}}, "run_id");
    REQUIRE(begun(n));
    const auto x = stop(server);
    INFO(x.end.err);
    CHECK(x.end.status == 0);
  }
  served server{folder};
  REQUIRE(begun(5));
  folder.write("go", "");
  CHECK(await_end(server.user(), run)["status"] == "completed");
}
