// SPDX-License-Identifier: MIT
// `riffle serve`: approvals that cover further calls, and are taken back.
#include <filesystem>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string script = R"(
[[steps]]
text = "I write. "
[[steps.calls]]
tool = "write"
arguments = { path = "notes/a.txt", content = "hello" }
[[steps]]
text = "Written."
)";

std::string begin(const http_user& who, const std::string& session) {
  const auto x =
      who.post("/v1/runs", {{"task", "write"}, {"session_id", session}});
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json()["run_id"];
}

std::string question_of(const http_user& who) {
  std::string id;
  REQUIRE(eventually([&] {
    const auto all = who.get("/v1/proposals").json()["proposals"];
    if (!all.empty()) id = all[0]["proposal_id"];
    return !all.empty();
  }));
  return id;
}

/// Whether a person is asked in a run of this session; it has ended then.
bool asks(const http_user& who, const work_folder& folder,
          const std::string& session) {
  std::filesystem::remove_all(folder.path() / "notes");
  const auto run = begin(who, session);
  bool asked = false;
  REQUIRE(eventually([&] {
    if (!who.get("/v1/proposals").json()["proposals"].empty()) asked = true;
    return asked || who.get("/v1/runs/" + run).json()["status"] != "active";
  }));
  if (asked) who.post("/v1/runs/" + run + "/cancel", json::object());
  await_end(who, run);
  CHECK(std::filesystem::exists(folder.path() / "notes") == !asked);
  return asked;
}

json grants(const http_user& who, const std::string& query = {}) {
  return who.get("/v1/grants" + query).json()["grants"];
}

}  // namespace

TEST_CASE("an approval over HTTP covers further calls as far as it says") {
  const work_folder folder;
  write_server(folder, script);
  served server{folder};
  const auto who = server.user();
  const auto scope = GENERATE("call", "pattern", "tool");
  CAPTURE(scope);
  const auto run = begin(who, "s");
  const auto id = question_of(who);
  const auto done = who.post("/v1/proposals/" + id,
                             {{"decision", "approve"}, {"always", scope}});
  CHECK(done.status == 200);
  CHECK(done.json()["decided"]["always"] == scope);
  await_end(who, run);
  CHECK_FALSE(asks(who, folder, "s"));
  CHECK(asks(who, folder, "other"));
  const auto all = grants(who);
  REQUIRE(all.size() == 1);
  CHECK(all[0]["proposal_id"] == id);
  CHECK(all[0]["scope"] == scope);
  CHECK(all[0]["session_id"] == "s");
  CHECK(all[0]["by"] == "http:default");
  CHECK(all[0].contains("pattern") == (std::string{scope} == "pattern"));
  CHECK(grants(who, "?session=s").size() == 1);
  CHECK(grants(who, "?session=other").empty());
  // Kill and start: it counts still, until it is taken back.
  server.kill_and_restart();
  CHECK_FALSE(asks(server.user(), folder, "s"));
  const auto after = server.user();
  CHECK(after.send("DELETE", "/v1/grants/" + id, {}, {}).status == 200);
  CHECK(after.send("DELETE", "/v1/grants/" + id, {}, {}).status == 404);
  CHECK(grants(after).empty());
  CHECK(asks(after, folder, "s"));
}

TEST_CASE("what is kept over HTTP counts in every session of the folder") {
  const work_folder folder;
  write_server(folder, script);
  served server{folder};
  const auto who = server.user();
  const auto run = begin(who, "s");
  const auto id = question_of(who);
  CHECK(who.post("/v1/proposals/" + id,
                 {{"decision", "approve"}, {"always", "tool"}, {"kept", true}})
            .status == 200);
  await_end(who, run);
  CHECK(grants(who)[0]["kept"] == true);
  CHECK_FALSE(asks(who, folder, "other"));
}

TEST_CASE("who sees its own sessions alone grants and revokes in them alone") {
  const work_folder folder;
  const std::string roles = "roles = [\"run\", \"read\", \"decide\"]\n";
  write_server(folder, script,
               token_table("ann", roles) + token_table("bob", roles));
  served server{folder};
  const auto ann = server.user("ann");
  const auto bob = server.user("bob");
  const auto run = begin(ann, "a");
  const auto id = question_of(ann);
  const auto decide = [&](const http_user& who, json more) {
    more["decision"] = more.value("decision", "approve");
    return who.post("/v1/proposals/" + id, more).status;
  };
  CHECK(decide(ann, {{"always", "tool"}, {"kept", true}}) == 403);
  CHECK(decide(ann, {{"always", "for ever"}}) == 400);
  CHECK(decide(ann, {{"always", "none"}}) == 400);
  CHECK(decide(ann, {{"always", true}}) == 400);
  CHECK(decide(ann, {{"kept", true}}) == 400);
  CHECK(decide(ann, {{"decision", "deny"}, {"always", "call"}}) == 400);
  CHECK(decide(bob, {{"always", "call"}}) == 404);
  CHECK(grants(server.user()).empty());
  CHECK(decide(ann, {{"always", "tool"}}) == 200);
  await_end(ann, run);
  CHECK(grants(ann).size() == 1);
  CHECK(grants(server.user()).size() == 1);
  CHECK(grants(bob).empty());
  CHECK(bob.send("DELETE", "/v1/grants/" + id, {}, {}).status == 404);
  CHECK(asks(bob, folder, "b"));
  CHECK_FALSE(asks(ann, folder, "a"));
  CHECK(ann.send("DELETE", "/v1/grants/" + id, {}, {}).status == 200);
  CHECK(asks(ann, folder, "a"));
}

TEST_CASE("an approval with other arguments covers no pattern over HTTP") {
  const work_folder folder;
  write_server(folder, script);
  served server{folder};
  const auto who = server.user();
  const auto run = begin(who, "s");
  const auto id = question_of(who);
  const json edited = {{"path", "notes/b.txt"}, {"content", "else"}};
  const auto refused = who.post(
      "/v1/proposals/" + id,
      {{"decision", "approve"}, {"arguments", edited}, {"always", "pattern"}});
  INFO(refused.body);
  CHECK(refused.status >= 400);
  CHECK(refused.body.find("other arguments") != std::string::npos);
  CHECK(grants(who).empty());
  CHECK(question_of(who) == id);  // still open
  CHECK(who.post("/v1/proposals/" + id,
                 {{"decision", "approve"}, {"arguments", edited}})
            .status == 200);
  await_end(who, run);
  CHECK(grants(who).empty());
}
