// SPDX-License-Identifier: MIT
// `riffle serve`: whose a session is, whoever else names it.
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::string user_table(const std::string& name) {
  return token_table(name, "roles = [\"run\", \"decide\", \"read\"]\n");
}

/// Two tokens with sessions of their own.
struct two_users {
  explicit two_users(const std::string& script) {
    write_server(folder, script, user_table("ann") + user_table("bob"));
    server.emplace(folder);
  }
  http_user ann() { return server->user("ann"); }
  http_user bob() { return server->user("bob"); }

  const work_folder folder;
  std::optional<served> server;
};

json begun(const http_answer& x) {
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json();
}

std::size_t runs_of(const http_user& who, const std::string& session) {
  const auto x = who.get("/v1/sessions/" + session);
  return x.status == 200 ? x.json().at("runs").size() : 0;
}

}  // namespace

TEST_CASE("no session has the name of a record, whoever it belongs to") {
  two_users x{spoken_slowly(40, "50ms")};
  const auto ann = x.ann();
  const auto bob = x.bob();
  const json tasks{{"tasks", {"one", "two"}}, {"workers", 1}};
  const std::string id = begun(ann.post("/v1/volleys", tasks))["volley_id"];
  for (const auto& name :
       {id, std::string{"volley_x"}, std::string{"plan_kabc"},
        std::string{"riffle:ready"}}) {
    CAPTURE(name);
    for (const auto& who : {ann, bob}) {
      CHECK(
          who.post("/v1/runs", {{"task", "x"}, {"session_id", name}}).status ==
          400);
      CHECK(
          who.post("/v1/sessions/" + name + "/runs", {{"task", "x"}}).status ==
          400);
      const json task{{"task", "x"}, {"session_id", name}};
      CHECK(who.post("/v1/volleys", {{"tasks", json::array({task})}}).status ==
            400);
      CHECK(who.send("PUT", "/v1/sessions/" + name + "/state/volley", "{}",
                     {"Content-Type: application/json"})
                .status == 404);
    }
    // Not he who may see all either.
    CHECK(x.server->user()
              .send("PUT", "/v1/sessions/" + name + "/state/volley", "{}",
                    {"Content-Type: application/json"})
              .status == 404);
    CHECK(bob.send("DELETE", "/v1/sessions/" + name, {}, {}).status == 404);
  }
  CHECK(ann.get("/v1/volleys/" + id).json()["tasks"].size() == 2);
  CHECK(x.server->user("").get("/readyz").status == 200);
  const auto here = ::riffle::testing::riffle(
      x.folder, {"run", "--session", "riffle:ready", "hello"});
  CHECK(here.status == 2);
  CHECK(here.err.find("choose another one") != std::string::npos);
}

TEST_CASE("a task and a step begin in no session that became another's") {
  two_users x{spoken_slowly(20, "100ms")};
  const auto ann = x.ann();
  const auto bob = x.bob();
  const json later{{"task", "what was said?"}, {"session_id", "shared"}};
  const std::string volley =
      begun(ann.post("/v1/volleys", {{"tasks", {"first", later}},
                                     {"workers", 1}}))["volley_id"];
  const json plan{
      {"plan",
       {{"steps",
         {{{"id", "a"}, {"instruction", "first"}},
          {{"id", "b"}, {"tool", "glob"}, {"arguments", {{"pattern", "*"}}}},
          {{"id", "c"}, {"instruction", "what was said?"}}}}}},
      {"session_id", "steps"}};
  const std::string of_plan = begun(ann.post("/v1/plans", plan))["plan_id"];
  // Ann's first step has begun "steps", so that is hers.
  CHECK(eventually([&] { return runs_of(ann, "steps") == 1; }));
  CHECK(bob.post("/v1/sessions/steps/runs", {{"task", "x"}}).status == 404);
  await_end(bob, begun(bob.post("/v1/sessions/shared/runs",
                                {{"task", "for bob alone"}}))["run_id"]);
  const auto of_ann = [&] { return ann.get("/v1/volleys/" + volley).json(); };
  REQUIRE(eventually([&] { return of_ann()["active"] == false; }, 60s));
  CHECK(of_ann()["runs"].size() == 1);
  CHECK(runs_of(bob, "shared") == 1);
  CHECK(runs_of(ann, "shared") == 0);
  CHECK(await_end(ann, of_plan)["status"] == "completed");
}

TEST_CASE("a stream of a session ends with it, not with the next of its name") {
  two_users x{spoken_slowly(3, "10ms")};
  const auto ann = x.ann();
  const auto bob = x.bob();
  await_end(ann, begun(ann.post("/v1/sessions/name/runs",
                                {{"task", "of ann"}}))["run_id"]);
  raw_client reader{x.server->port()};
  reader.ask("/v1/sessions/name/events", ann.token());
  reader.read_until("event: run_finished");
  REQUIRE(::riffle::testing::riffle(x.folder, {"sessions", "delete", "name"})
              .status == 0);
  for (int i = 0; i < 2; ++i)
    await_end(bob, begun(bob.post("/v1/sessions/name/runs",
                                  {{"task", "of bob"}}))["run_id"]);
  const auto rest = reader.read_until("of bob", 5s);
  CHECK(reader.ended());
  CHECK(rest.find("of bob") == std::string::npos);
}
