// SPDX-License-Identifier: MIT
// Tokens of different people at one server: what is one's is not there for
// another, wherever it could be seen.
#include <algorithm>
#include <set>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string answering = "[[steps]]\ntext = \"Done.\"\n";

const std::string asking = R"(
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "note.txt", content = "ann's secret" }
[[steps]]
text = "Done."
)";

std::string tokens_of(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += token_table(name);
  return out;
}

std::string post(const http_user& who, const std::string& path,
                 const json& body, const std::string& id) {
  const auto x = who.post(path, body);
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json()[id];
}

/// Whose events these are.
std::set<std::string> runs_in(const std::vector<sse_event>& events) {
  std::set<std::string> out;
  for (const auto& x : events) out.insert(json::parse(x.data)["run_id"]);
  return out;
}

/// Until the last event of a run.
std::vector<sse_event> read_to_end_of(raw_client& reader,
                                      const std::string& run) {
  std::vector<sse_event> out;
  const bool came = eventually([&] {
    out = events_of(reader.read_until("nothing of this text", 50ms));
    return std::ranges::any_of(out, [&](const auto& x) {
      return x.type == "run_finished" && json::parse(x.data)["run_id"] == run;
    });
  });
  REQUIRE(came);
  return out;
}

}  // namespace

TEST_CASE("the stream of all that one may see has nothing of another's, live") {
  const work_folder folder;
  write_server(folder, answering, tokens_of({"ann", "bob"}));
  served server{folder};
  const auto ann = server.user("ann");
  const auto bob = server.user("bob");
  raw_client all{server.port()};
  raw_client bobs{server.port()};
  all.ask("/v1/events", server.user().token());
  bobs.ask("/v1/events", "bob");
  all.read_until("retry: ");
  bobs.read_until("retry: ");
  const auto hers = post(ann, "/v1/runs", {{"task", "a"}}, "run_id");
  await_end(ann, hers);
  const auto his = post(bob, "/v1/runs", {{"task", "b"}}, "run_id");
  CHECK(runs_in(read_to_end_of(bobs, his)) == std::set{his});
  CHECK(runs_in(read_to_end_of(all, his)) == std::set{hers, his});
}

TEST_CASE("it has nothing of another's where it goes on behind an event") {
  const work_folder folder;
  write_server(folder, answering, tokens_of({"ann", "bob"}));
  served server{folder};
  const auto ann = server.user("ann");
  const auto bob = server.user("bob");
  raw_client first{server.port()};
  first.ask("/v1/events", "bob");
  first.read_until("retry: ");
  const auto one = post(bob, "/v1/runs", {{"task", "b"}}, "run_id");
  const auto seen = read_to_end_of(first, one).back().id;
  const auto hers = post(ann, "/v1/runs", {{"task", "a"}}, "run_id");
  await_end(ann, hers);
  const auto two = post(bob, "/v1/runs", {{"task", "b"}}, "run_id");
  await_end(bob, two);
  // What this one reads stands in the journal alone.
  server.kill_and_restart();
  raw_client again{server.port()};
  again.ask("/v1/events", "bob", "Last-Event-ID: " + seen + "\r\n");
  CHECK(runs_in(read_to_end_of(again, two)) == std::set{two});
}

TEST_CASE("another's proposals are in no list") {
  const work_folder folder;
  write_server(folder, asking, tokens_of({"ann", "bob"}));
  served server{folder};
  const auto ann = server.user("ann");
  const auto bob = server.user("bob");
  const auto run = post(ann, "/v1/runs", {{"task", "a"}}, "run_id");
  REQUIRE(eventually([&] {
    return ann.get("/v1/proposals").json()["proposals"].size() == 1;
  }));
  for (const auto* path : {"/v1/proposals", "/v1/proposals?status=all"}) {
    CAPTURE(path);
    const auto told = bob.get(path);
    CHECK(told.status == 200);
    CHECK(told.json()["proposals"].empty());
    CHECK(told.body.find("secret") == std::string::npos);
  }
  const std::string id =
      ann.get("/v1/proposals").json()["proposals"][0]["proposal_id"];
  CHECK(bob.post("/v1/proposals/" + id, {{"decision", "deny"}}).status == 404);
  CHECK(ann.post("/v1/proposals/" + id, {{"decision", "approve"}}).status ==
        200);
  CHECK(await_end(ann, run)["status"] == "completed");
}

TEST_CASE("another's volleys and plans are not there") {
  const work_folder folder;
  write_server(folder, asking, tokens_of({"ann", "bob"}));
  served server{folder};
  const auto ann = server.user("ann");
  const auto bob = server.user("bob");
  const auto volley =
      post(ann, "/v1/volleys", {{"tasks", {"a", "b"}}}, "volley_id");
  const json steps{{{"id", "a"}, {"instruction", "note it"}}};
  const auto plan =
      post(ann, "/v1/plans", {{"plan", {{"steps", steps}}}}, "plan_id");
  for (const auto& path : {"/v1/volleys/" + volley, "/v1/plans/" + plan}) {
    CAPTURE(path);
    CHECK(ann.get(path).status == 200);
    CHECK(bob.get(path).status == 404);
    CHECK(bob.get(path + "/events").status == 404);
    CHECK(bob.post(path + "/cancel", json::object()).status == 404);
    CHECK(ann.get(path).json()["status"] == "active");
  }
  CHECK(bob.get("/v1/volleys").json()["volleys"].empty());
  CHECK(bob.get("/v1/plans").json()["plans"].empty());
  CHECK(ann.get("/v1/volleys").json()["volleys"].size() == 1);
  CHECK(ann.get("/v1/plans").json()["plans"].size() == 1);
}

TEST_CASE("numbers of everybody are for who sees everybody's sessions") {
  const work_folder folder;
  write_server(folder, answering,
               tokens_of({"ann"}) + tokens_of({"eye"}) +
                   "roles = [\"read\"]\nsessions = \"all\"\n");
  served server{folder};
  CHECK(server.user("ann").get("/metrics").status == 403);
  CHECK(server.user("eye").get("/metrics").status == 200);
}

TEST_CASE("a token with agents uses them as they are") {
  const work_folder folder;
  write_server(folder, answering,
               "[models.other]\ndialect = \"scripted\"\nscript = "
               "\"script.toml\"\n[agents.default]\n[agents.writer]\nmax_steps "
               "= 3\n" +
                   tokens_of({"few"}) + "agents = [\"writer\"]\n");
  served server{folder};
  const auto few = server.user("few");
  const auto ask = [&](const http_user& who, const json& more) {
    json body{{"task", "x"}, {"agent", "writer"}};
    body.update(more);
    const auto x = who.post("/v1/runs", body);
    const auto y = who.post("/v1/volleys", {{"tasks", {body}}});
    const auto z = who.post("/v1/sessions/s/runs", body);
    INFO(x.body << y.body << z.body);
    CHECK(x.status == y.status);
    CHECK(z.status == x.status);
    if (x.status == 202) await_end(who, z.json()["run_id"]);
    return x;
  };
  CHECK(ask(few, json::object()).status == 202);
  CHECK(ask(few, {{"max_steps", 3}}).status == 202);
  CHECK(ask(few, {{"model", "default"}}).status == 202);
  const auto more = ask(few, {{"max_steps", 4}});
  CHECK(more.status == 400);
  CHECK(more.body.find("\\\"writer\\\" has 3 steps") != std::string::npos);
  for (const auto* model : {"other", "openai/gpt-5"}) {
    CAPTURE(model);
    const auto x = ask(few, {{"model", model}});
    CHECK(x.status == 400);
    CHECK(x.body.find("the model \\\"default\\\"") != std::string::npos);
  }
  // Who may use all agents may change them for a run.
  CHECK(ask(server.user(), {{"max_steps", 4}, {"model", "other"}}).status ==
        202);
}
