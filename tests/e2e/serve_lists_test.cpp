// SPDX-License-Identifier: MIT
// Lists of `riffle serve`, and what became of plans and volleys.
#include <algorithm>
#include <set>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string answering = "[[steps]]\ntext = \"Done.\"\n";

std::string post(const http_user& who, const std::string& path,
                 const json& body, const std::string& id) {
  const auto x = who.post(path, body);
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json()[id];
}

/// What a plan or a volley says once it is over.
json await_over(const http_user& who, const std::string& path) {
  json now;
  const bool over = eventually([&] {
    now = who.get(path).json();
    return now["status"] != "active";
  });
  INFO(now.dump());
  REQUIRE(over);
  return now;
}

std::vector<std::string> ids_in(const http_answer& x, const char* list,
                                const char* id) {
  std::vector<std::string> out;
  const auto all = x.json();
  for (const auto& one : all[list]) out.push_back(one[id]);
  return out;
}

/// All of a list, one after the other.
std::vector<std::string> paged(const http_user& who, const std::string& path,
                               const char* list, const char* id) {
  std::vector<std::string> out;
  std::string before;
  for (int n = 0; n < 20; ++n) {
    const auto some = ids_in(who.get(path + "limit=1" + before), list, id);
    if (some.empty()) return out;
    REQUIRE(some.size() == 1);
    out.push_back(some[0]);
    before = "&before=" + some[0];
  }
  return out;
}

std::vector<std::string> states_in(const json& x) {
  std::vector<std::string> out;
  for (const auto& one : x) out.push_back(one["status"]);
  return out;
}

using strings = std::vector<std::string>;

}  // namespace

TEST_CASE("lists have the beginning of a task, and who shows it has it whole") {
  const work_folder folder;
  write_server(folder, answering);
  served server{folder};
  const auto who = server.user();
  std::string task;
  for (int i = 0; i < 100'000; ++i) task += "ä ";
  const auto run =
      post(who, "/v1/runs", {{"task", task}, {"session_id", "s"}}, "run_id");
  CHECK(await_end(who, run)["task"] == task);
  CHECK(who.get("/v1/sessions/s").json()["runs"][0]["task"] == task);
  std::string head;
  for (int i = 0; i < 500; ++i) head += "ä ";
  CHECK(who.get("/v1/runs").json()["runs"][0]["task"] == head + "…");
  const auto sessions = who.get("/v1/sessions").json()["sessions"];
  CHECK(sessions[0]["last_run"]["task"] == head + "…");
}

TEST_CASE("lists go on behind what was seen last") {
  const work_folder folder;
  write_server(folder, answering);
  served server{folder};
  const auto who = server.user();
  for (const std::string name : {"a", "b", "c"})
    await_end(who, post(who, "/v1/runs", {{"task", name}, {"session_id", name}},
                        "run_id"));
  CHECK(paged(who, "/v1/sessions?", "sessions", "session_id") ==
        strings{"c", "b", "a"});
  CHECK(who.get("/v1/sessions?before=none").status == 404);
  CHECK(who.get("/v1/sessions?befor=a").status == 400);
  strings volleys;
  strings plans;
  const json steps{{{"id", "a"}, {"instruction", "look"}}};
  for (int n = 0; n < 3; ++n) {
    volleys.push_back(
        post(who, "/v1/volleys", {{"tasks", {"x"}}}, "volley_id"));
    await_over(who, "/v1/volleys/" + volleys.back());
    plans.push_back(
        post(who, "/v1/plans", {{"plan", {{"steps", steps}}}}, "plan_id"));
    await_over(who, "/v1/plans/" + plans.back());
  }
  std::ranges::reverse(volleys);
  std::ranges::reverse(plans);
  CHECK(paged(who, "/v1/volleys?", "volleys", "volley_id") == volleys);
  CHECK(paged(who, "/v1/plans?state=completed&", "plans", "plan_id") == plans);
  CHECK(ids_in(who.get("/v1/plans?state=failed"), "plans", "plan_id").empty());
}

TEST_CASE("open questions are listed page by page") {
  const work_folder folder;
  write_server(folder, R"(
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "a.txt", content = "x" }
)");
  served server{folder};
  const auto who = server.user();
  for (int n = 0; n < 2; ++n) post(who, "/v1/runs", {{"task", "x"}}, "run_id");
  REQUIRE(eventually([&] {
    return who.get("/v1/proposals").json()["proposals"].size() == 2;
  }));
  CHECK(paged(who, "/v1/proposals?", "proposals", "proposal_id") ==
        ids_in(who.get("/v1/proposals"), "proposals", "proposal_id"));
}

TEST_CASE("a plan says what its steps did, and what all of them used") {
  const work_folder folder;
  write_server(folder, answering);
  served server{folder};
  const auto who = server.user();
  const json steps{
      {{"id", "a"}, {"instruction", "look"}},
      {{"id", "b"}, {"tool", "glob"}, {"arguments", {{"pattern", "*.toml"}}}},
      {{"id", "c"}, {"tool", "read"}, {"arguments", {{"path", "none"}}}},
      {{"id", "d"}, {"instruction", "never"}}};
  const auto begun = who.post("/v1/plans", {{"plan", {{"steps", steps}}}});
  REQUIRE(begun.status == 202);
  const std::string id = begun.json()["plan_id"];
  const auto x = await_over(who, "/v1/plans/" + id);
  INFO(x.dump(1));
  CHECK(x["plan_id"] == id);
  CHECK(x["session_id"] == begun.json()["session_id"]);
  CHECK(x["status"] == "failed");
  CHECK(x["planned"] == 4);
  CHECK(x["error"]["code"] == "tool_execution_error");
  REQUIRE(x["steps"].size() == 3);
  CHECK(states_in(x["steps"]) == strings{"completed", "completed", "failed"});
  const auto& first = x["steps"][0];
  CHECK(first["id"] == "a");
  CHECK(first["output"] == "Done.");
  const std::string run = first["run_id"];
  const auto its = who.get("/v1/runs/" + run).json();
  CHECK(its["session_id"] == x["session_id"]);
  CHECK(its["usage"]["input_tokens"].get<int>() > 0);
  CHECK(first["usage"] == its["usage"]);
  CHECK(x["totals"]["usage"] == its["usage"]);
  CHECK(x["steps"][1]["output"].get<std::string>().find("riffle.toml") !=
        std::string::npos);
  CHECK_FALSE(x["steps"][1].contains("run_id"));
  CHECK(x["steps"][2]["error"]["code"] == "tool_execution_error");
  // A run is no plan.
  CHECK(who.get("/v1/plans/" + run).status == 404);
}

TEST_CASE("a volley says how it ended, and each of its tasks") {
  const work_folder folder;
  write_server(folder, answering, R"(
[models.slow]
dialect = "scripted"
script = "slow.toml"
[models.broken]
dialect = "scripted"
script = "broken.toml"
[agents.default]
[agents.slow]
model = "slow"
[agents.broken]
model = "broken"
)");
  folder.write("slow.toml", "chunk = 1\ndelay = \"1s\"\n[[steps]]\ntext = \"" +
                                std::string(500, 'x') + "\"\n");
  folder.write("broken.toml",
               "[[steps]]\nerror = { status = 400, message = \"no\" }\n");
  served server{folder};
  const auto who = server.user();
  const auto task = [](const char* agent) {
    return json{{"task", "x"}, {"agent", agent}};
  };
  const auto begin = [&](const json& tasks, bool fail_fast) {
    return "/v1/volleys/" +
           post(who, "/v1/volleys",
                {{"tasks", tasks}, {"workers", 1}, {"fail_fast", fail_fast}},
                "volley_id");
  };
  const auto well =
      await_over(who, begin(json::array({task("default")}), false));
  CHECK(well["status"] == "completed");
  CHECK(states_in(well["tasks"]) == strings{"completed"});
  CHECK(well["tasks"][0]["run_id"] == well["runs"][0]["run_id"]);
  const auto bad = await_over(
      who, begin(json::array({task("broken"), task("default")}), false));
  CHECK(bad["status"] == "failed");
  CHECK(states_in(bad["tasks"]) == strings{"failed", "completed"});
  const auto fast = await_over(
      who, begin(json::array({task("broken"), task("default")}), true));
  CHECK(fast["status"] == "failed");
  CHECK(states_in(fast["tasks"]) == strings{"failed", "not_run"});
  const auto path =
      begin(json::array({task("default"), task("slow"), task("slow")}), false);
  REQUIRE(eventually([&] {
    return states_in(who.get(path).json()["tasks"]) ==
           strings{"completed", "active", "not_run"};
  }));
  CHECK(who.get(path).json()["status"] == "active");
  CHECK(who.post(path + "/cancel", json::object()).status == 202);
  const auto over = await_over(who, path);
  CHECK(over["status"] == "cancelled");
  CHECK(states_in(over["tasks"]) ==
        strings{"completed", "cancelled", "not_run"});
}
