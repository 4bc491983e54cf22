// SPDX-License-Identifier: MIT
// Tokens of `riffle serve` whose runs work in folders of their own.
#include <filesystem>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

const std::string script = R"(
[[steps]]
text = "I look. "
[[steps.calls]]
tool = "read"
arguments = { path = "note.txt" }
[[steps.calls]]
tool = "read"
arguments = { path = "../bob/note.txt" }
[[steps]]
text = "I write. "
[[steps.calls]]
tool = "write"
arguments = { path = "made.txt", content = "hello" }
[[steps]]
text = "I run. "
[[steps.calls]]
tool = "bash"
arguments = { command = "pwd > where.txt" }
[[steps]]
text = "Done."
)";

std::string user_table(const std::string& name) {
  return token_table(name, "workspace = \"" + name + "\"\n");
}

/// Decides on what waits, once something does.
void approve_one(const http_user& who) {
  std::string id;
  REQUIRE(eventually([&] {
    const auto all = who.get("/v1/proposals?status=pending").json();
    if (all["proposals"].empty()) return false;
    id = all["proposals"][0]["proposal_id"];
    return true;
  }));
  const auto done = who.post("/v1/proposals/" + id, {{"decision", "approve"}});
  INFO(done.body);
  CHECK(done.status == 200);
}

struct server_of_two {
  explicit server_of_two(const std::string& more = "") {
    for (const auto* name : {"ann", "bob"})
      std::filesystem::create_directory(folder.path() / name);
    folder.write("ann/note.txt", "of ann");
    folder.write("bob/note.txt", "of bob");
    folder.write("note.txt", "of nobody");
    write_server(folder, script, user_table("ann") + user_table("bob") + more);
    process.emplace(folder);
  }
  [[nodiscard]] bool has(const std::string& file) const {
    return std::filesystem::exists(folder.path() / file);
  }
  work_folder folder;
  std::optional<served> process;
};

std::string begin(const http_user& who) {
  const auto x = who.post("/v1/runs", {{"task", "look"}});
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json()["run_id"];
}

void check_tools_of_ann(const std::string& more) {
  server_of_two world{more};
  const auto run = begin(world.process->user("ann"));
  approve_one(world.process->user("ann"));
  REQUIRE(eventually([&] { return world.has("ann/made.txt"); }));
  // What goes on after a crash goes on in the same place.
  world.process->kill_and_restart();
  const auto ann = world.process->user("ann");
  approve_one(ann);
  CHECK(await_end(ann, run)["status"] == "completed");
  CHECK(world.folder.read("ann/where.txt") ==
        (world.folder.path() / "ann").string() + "\n");
  for (const auto* file : {"made.txt", "where.txt", "bob/made.txt"}) {
    CAPTURE(file);
    CHECK_FALSE(world.has(file));
  }
  const auto events =
      ann.get("/v1/runs/" + run + "/events", {"Accept: application/json"}).body;
  CHECK(events.find("of ann") != std::string::npos);
  CHECK(events.find("of bob") == std::string::npos);
  CHECK(events.find("of nobody") == std::string::npos);
  CHECK(events.find("leads out of the workspace") != std::string::npos);
}

}  // namespace

TEST_CASE("the tools of a token's runs work in its workspace") {
  check_tools_of_ann("");
}

TEST_CASE("so do tools in processes of their own") {
  check_tools_of_ann(
      "[tools.read]\nisolation = \"process\"\n"
      "[tools.write]\nisolation = \"process\"\n"
      "[tools.bash]\nisolation = \"process\"\n");
}

TEST_CASE("the tasks of volleys and the steps of plans work there too") {
  server_of_two world;
  const auto ann = world.process->user("ann");
  const auto volley =
      ann.post("/v1/volleys", {{"tasks", json::array({{{"task", "look"}}})}});
  INFO(volley.body);
  REQUIRE(volley.status == 202);
  approve_one(ann);
  CHECK(eventually([&] { return world.has("ann/made.txt"); }));
  const auto plan =
      ann.post("/v1/plans", {{"plan",
                              {{"steps",
                                {{{"id", "a"},
                                  {"tool", "read"},
                                  {"arguments", {{"path", "note.txt"}}}}}}}}});
  INFO(plan.body);
  REQUIRE(plan.status == 202);
  const std::string id = plan.json()["plan_id"];
  const auto told = ann.get("/v1/plans/" + id + "/events");
  CHECK(told.body.find("of ann") != std::string::npos);
  CHECK(ann.get("/v1/plans/" + id).json()["status"] == "completed");
}

TEST_CASE("a workspace that has gone is named, and nothing begins") {
  server_of_two world;
  std::filesystem::remove_all(world.folder.path() / "bob");
  const auto x =
      world.process->user("bob").post("/v1/runs", {{"task", "look"}});
  CHECK(x.status == 400);
  CHECK(x.body.find("/bob is no folder") != std::string::npos);
}
