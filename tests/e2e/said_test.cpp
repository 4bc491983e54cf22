// SPDX-License-Identifier: MIT
// What a client says to a run that works, and what a kill leaves of it.
#include <filesystem>
#include <string>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

/// It begins anew at what a person says, so the call comes once more.
const std::string script = R"(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch a; while [ -e a ]; do sleep 0.05; done" }
[[steps]]
text = "You said: {{task}}"
)";

const std::string allowed = "[tools.bash]\napproval = \"allow\"\n";

bool works(const work_folder& folder, const char* file) {
  return eventually(
      [&] { return std::filesystem::exists(folder.path() / file); });
}

void go_on(const work_folder& folder, const char* file) {
  REQUIRE(works(folder, file));
  std::filesystem::remove(folder.path() / file);
}

std::vector<json> said(const http_user& who, const std::string& run) {
  std::vector<json> out;
  const auto all =
      who.get("/v1/runs/" + run + "/events", {"Accept: application/json"})
          .json();
  for (const auto& x : all)
    if (x["event_type"] == "user_message") out.push_back(x["data"]);
  return out;
}

}  // namespace

TEST_CASE("what is said over HTTP is heard once, whatever is killed") {
  const work_folder folder;
  write_server(folder, script, allowed);
  served server{folder};
  const auto who = server.user();
  const std::string run =
      who.post("/v1/runs", {{"task", "one"}}).json().at("run_id");
  const auto path = "/v1/runs/" + run + "/messages";
  REQUIRE(works(folder, "a"));
  const auto told = who.post(path, {{"text", "rather in C++"}});
  INFO(told.body);
  CHECK(told.status == 202);
  CHECK(told.json() == json{{"run_id", run}, {"message", "asked"}});
  CHECK(said(who, run).empty());
  go_on(folder, "a");
  REQUIRE(works(folder, "a"));
  const std::vector<json> once{{{"text", "rather in C++"}, {"step", 2}}};
  CHECK(said(who, run) == once);
  server.kill_and_restart();
  const auto later = server.user();
  later.post("/v1/runs/" + run + "/resume", json::object());
  const auto end = await_end(later, run);
  CHECK(end["answer"] == "You said: rather in C++");
  CHECK(said(later, run) == once);
  const auto session =
      later.get("/v1/sessions/" + end.at("session_id").get<std::string>())
          .json();
  std::size_t found = 0;
  for (const auto& m : session.at("messages"))
    if (m["role"] == "user" && m["text"] == "rather in C++") {
      CHECK(m["step"] == 2);
      ++found;
    }
  CHECK(found == 1);
  const auto late = later.post(path, {{"text", "more"}});
  CHECK(late.status == 409);
  CHECK(late.json()["detail"].get<std::string>().find("has ended") !=
        std::string::npos);
}

TEST_CASE("what cannot be said to a run is refused with a reason") {
  const work_folder folder;
  write_server(folder, script, allowed);
  served server{folder};
  const auto who = server.user();
  const std::string run =
      who.post("/v1/runs", {{"task", "one"}}).json().at("run_id");
  const auto path = "/v1/runs/" + run + "/messages";
  CHECK(who.post(path, json::object()).status == 400);
  CHECK(who.post(path, {{"text", 1}}).status == 400);
  CHECK(who.post(path, {{"text", " \n"}}).status == 400);
  CHECK(who.post(path, {{"text", "x"}, {"to", "all"}}).status == 400);
  CHECK(who.post(path, {{"text", " [Note of the runtime] x"}}).status == 400);
  CHECK(who.post(path, {{"text", std::string(65537, 'x')}}).status == 400);
  CHECK(who.post(path, {{"text", std::string(65536, 'x')}}).status == 202);
  CHECK(who.post("/v1/runs/run_nobody/messages", {{"text", "x"}}).status ==
        404);
  who.post("/v1/runs/" + run + "/cancel", json::object());
  CHECK(await_end(who, run)["status"] == "cancelled");
}
