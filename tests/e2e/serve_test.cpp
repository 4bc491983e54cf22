// SPDX-License-Identifier: MIT
// `riffle serve`: tasks, streams, approvals, over real sockets.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string short_script = R"(
[[steps]]
text = "I look. "
[[steps.calls]]
tool = "glob"
arguments = { pattern = "*.toml" }
[[steps]]
text = "Done."
)";

const std::string asking_script = R"(
[[steps]]
text = "I write. "
[[steps.calls]]
tool = "write"
arguments = { path = "note.txt", content = "hello" }
[[steps]]
text = "Written."
)";

/// Words for a while.
std::string slow_script(int words, const std::string& delay) {
  std::string text;
  for (int i = 0; i < words; ++i) text += "word" + std::to_string(i % 10) + " ";
  return "chunk = 6\ndelay = \"" + delay + "\"\n[[steps]]\ntext = \"" + text +
         "\"\n";
}

std::string run_of(const http_answer& x) {
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json()["run_id"];
}

std::string proposal_of(const http_user& who) {
  std::string id;
  REQUIRE(eventually([&] {
    const auto all = who.get("/v1/proposals?status=pending").json();
    if (all["proposals"].empty()) return false;
    id = all["proposals"][0]["proposal_id"];
    return true;
  }));
  return id;
}

/// Ids 1, 2, 3 … and lines that the one checker takes.
void check_stream(const std::vector<sse_event>& all) {
  std::string lines;
  for (std::size_t i = 0; i < all.size(); ++i) {
    REQUIRE(all[i].id == std::to_string(i + 1));
    lines += all[i].data + "\n";
    const auto type = json::parse(all[i].data)["event_type"];
    CHECK(all[i].type == (type == "error" ? "run_error" : type));
  }
  checked_events(lines);
}

}  // namespace

TEST_CASE("a task is posted, followed and answered") {
  const work_folder folder;
  write_server(folder, short_script);
  served server{folder};
  const auto who = server.user();
  const auto x =
      who.post("/v1/runs", {{"task", "look"}}, {"Accept: text/event-stream"});
  REQUIRE(x.status == 200);
  CHECK(x.head.find("text/event-stream") != std::string::npos);
  CHECK(x.head.find("no-store") != std::string::npos);
  CHECK(x.body.starts_with("retry: 1000\n\n"));
  CHECK(x.body.find('\r') == std::string::npos);
  const auto all = events_of("\r\n\r\n" + x.body);
  check_stream(all);
  CHECK(all.back().type == "run_finished");
  const std::string run = json::parse(all[0].data)["run_id"];
  const auto state = who.get("/v1/runs/" + run).json();
  CHECK(state["status"] == "completed");
  CHECK(state["answer"] == "Done.");
  // The same bytes again, as lines, as an array.
  const auto lines =
      who.get("/v1/runs/" + run + "/events", {"Accept: application/x-ndjson"});
  std::string joined;
  for (const auto& e : all) joined += e.data + "\n";
  CHECK(lines.body == joined);
  const auto array =
      who.get("/v1/runs/" + run + "/events", {"Accept: application/json"})
          .json();
  REQUIRE(array.size() == all.size());
  CHECK(array[3] == json::parse(all[3].data));
}

TEST_CASE("without a stream a run is accepted, and said where it is") {
  const work_folder folder;
  write_server(folder, short_script);
  served server{folder};
  const auto who = server.user();
  const auto x = who.post("/v1/runs", {{"task", "look"}, {"session_id", "s"}});
  const auto run = run_of(x);
  CHECK(x.json()["session_id"] == "s");
  CHECK(x.head.find("Location: /v1/runs/" + run) != std::string::npos);
  await_end(who, run);
  const auto again =
      run_of(who.post("/v1/sessions/s/runs", {{"task", "more"}}));
  await_end(who, again);
  const auto session = who.get("/v1/sessions/s").json();
  CHECK(session["runs"].size() == 2);
  CHECK(session["messages"].size() > 3);
  const auto list = who.get("/v1/runs?session=s&limit=1").json()["runs"];
  REQUIRE(list.size() == 1);
  CHECK(list[0]["run_id"] == again);
  CHECK(who.get("/v1/runs?before=" + again).json()["runs"][0]["run_id"] == run);
  CHECK(who.get("/v1/runs?state=failed").json()["runs"].empty());
  CHECK(who.send("DELETE", "/v1/sessions/s", {}, {}).status == 200);
  CHECK(who.get("/v1/sessions/s").status == 404);
  CHECK(who.get("/v1/runs/" + run).status == 404);
}

TEST_CASE("a call waits until somebody decides over HTTP") {
  const work_folder folder;
  write_server(folder, asking_script);
  served server{folder};
  const auto who = server.user();
  const auto run = run_of(who.post("/v1/runs", {{"task", "write"}}));
  const auto proposal = proposal_of(who);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "note.txt"));
  const auto path = "/v1/proposals/" + proposal;
  CHECK(who.post(path, {{"decision", "approve"}, {"digest", "other"}}).status ==
        409);
  const auto done = who.post(
      path, {{"decision", "approve"},
             {"arguments", {{"path", "note.txt"}, {"content", "better"}}}});
  CHECK(done.status == 200);
  CHECK(done.json()["status"] == "approved");
  CHECK(done.json()["decided"]["by"] == "http:default");
  CHECK(who.post(path, {{"decision", "deny"}}).status == 409);
  CHECK(await_end(who, run)["status"] == "completed");
  CHECK(folder.read("note.txt") == "better");
  CHECK(who.get("/v1/proposals").json()["proposals"].empty());
  CHECK(who.get("/v1/proposals?status=all").json()["proposals"].size() == 1);
}

TEST_CASE("the first of many decisions wins") {
  const work_folder folder;
  write_server(folder, asking_script);
  served server{folder};
  const auto who = server.user();
  const auto run = run_of(who.post("/v1/runs", {{"task", "write"}}));
  const auto path = "/v1/proposals/" + proposal_of(who);
  std::vector<std::thread> all;
  std::atomic<int> won = 0;
  std::atomic<int> late = 0;
  for (int i = 0; i < 8; ++i)
    all.emplace_back([&] {
      const auto x = who.post(path, {{"decision", "deny"}, {"reason", "no"}});
      if (x.status == 200) ++won;
      if (x.status == 409) ++late;
    });
  for (auto& x : all) x.join();
  CHECK(won == 1);
  CHECK(late == 7);
  await_end(who, run);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "note.txt"));
}

TEST_CASE("many cancels and decisions at once wait for nobody but themselves") {
  const work_folder folder;
  write_server(folder, asking_script);
  served server{folder};
  const auto who = server.user();
  std::vector<std::string> runs;
  for (int i = 0; i < 40; ++i)
    runs.push_back(run_of(who.post("/v1/runs", {{"task", "write"}})));
  std::vector<std::thread> all;
  std::atomic<int> answered = 0;
  for (const auto& run : runs)
    all.emplace_back([&] {
      const auto x = who.post("/v1/runs/" + run + "/cancel", json::object());
      if (x.status == 200 || x.status == 202) ++answered;
    });
  for (auto& x : all) x.join();
  CHECK(answered == 40);
  for (const auto& run : runs)
    CHECK(await_end(who, run)["status"] == "cancelled");
}

TEST_CASE("the same key gives the same run, also after a restart") {
  const work_folder folder;
  write_server(folder, short_script);
  served server{folder};
  const std::vector<std::string> key{"Idempotency-Key: a"};
  const json body{{"task", "look"}};
  const auto run = run_of(server.user().post("/v1/runs", body, key));
  CHECK(run_of(server.user().post("/v1/runs", body, key)) == run);
  await_end(server.user(), run);
  server.kill_and_restart();
  CHECK(run_of(server.user().post("/v1/runs", body, key)) == run);
  CHECK(server.user().get("/v1/runs").json()["runs"].size() == 1);
  const auto other = server.user().post("/v1/runs", {{"task", "else"}}, key);
  CHECK(other.status == 422);
  CHECK(run_of(server.user().post("/v1/runs", body, {"Idempotency-Key: b"})) !=
        run);
}

TEST_CASE("the same key, ten times at once, is one run") {
  const work_folder folder;
  write_server(folder, short_script);
  served server{folder};
  const auto who = server.user();
  std::vector<std::thread> all;
  std::vector<std::string> runs(10);
  for (auto& run : runs)
    all.emplace_back([&] {
      const auto x =
          who.post("/v1/runs", {{"task", "look"}}, {"Idempotency-Key: k"});
      run = x.status == 202 ? json::parse(x.body).value("run_id", "")
                            : std::to_string(x.status) + x.body;
    });
  for (auto& x : all) x.join();
  CHECK(std::set<std::string>(runs.begin(), runs.end()) ==
        std::set<std::string>{runs.front()});
  CHECK(who.get("/v1/runs").json()["runs"].size() == 1);
}

TEST_CASE("a run is cancelled over HTTP, once and again") {
  const work_folder folder;
  write_server(folder, slow_script(5000, "20ms"));
  served server{folder};
  const auto who = server.user();
  const auto run = run_of(who.post("/v1/runs", {{"task", "x"}}));
  const auto path = "/v1/runs/" + run + "/cancel";
  CHECK(who.post(path, json::object()).status == 202);
  CHECK(await_end(who, run)["status"] == "cancelled");
  const auto again = who.post(path, json::object());
  CHECK(again.status == 200);
  CHECK(again.json()["cancel"] == "finished");
  CHECK(who.post("/v1/runs/none/cancel", json::object()).status == 404);
  CHECK(who.post("/v1/runs/" + run + "/resume", json::object()).status == 409);
}

TEST_CASE("outputs of calls are fetched, also in parts") {
  const work_folder folder;
  folder.write("big.txt", std::string(3000, 'x') + "END");
  write_server(folder, R"(
[[steps]]
[[steps.calls]]
tool = "read"
arguments = { path = "big.txt" }
[[steps]]
text = "Done."
)");
  served server{folder};
  const auto who = server.user();
  const auto run = run_of(who.post("/v1/runs", {{"task", "x"}}));
  await_end(who, run);
  std::string call;
  const auto events =
      who.get("/v1/runs/" + run + "/events", {"Accept: application/json"})
          .json();
  for (const auto& e : events)
    if (e["event_type"] == "tool_result") call = e["data"]["id"];
  const auto path = "/v1/runs/" + run + "/calls/" + call + "/output";
  const auto whole = who.get(path);
  CHECK(whole.status == 200);
  CHECK(whole.body.find("END") != std::string::npos);
  const auto part = who.get(path, {"Range: bytes=2-5"});
  CHECK(part.status == 206);
  CHECK(part.body == whole.body.substr(2, 4));
  CHECK(part.head.find("bytes 2-5/" + std::to_string(whole.body.size())) !=
        std::string::npos);
  CHECK(who.get(path, {"Range: bytes=-3"}).body ==
        whole.body.substr(whole.body.size() - 3));
  CHECK(who.get(path, {"Range: bytes=999999-"}).status == 416);
  CHECK(who.get("/v1/runs/" + run + "/calls/none/output").status == 404);
  CHECK(
      who.post("/v1/runs/" + run + "/calls/" + call + "/cancel", json::object())
          .status == 200);
}

TEST_CASE("a session keeps values for applications") {
  const work_folder folder;
  write_server(folder, short_script);
  served server{folder};
  const auto who = server.user();
  await_end(who,
            run_of(who.post("/v1/runs", {{"task", "a"}, {"session_id", "s"}})));
  const auto path = std::string{"/v1/sessions/s/state/note"};
  const std::vector<std::string> type{"Content-Type: application/json"};
  CHECK(who.get(path).status == 404);
  CHECK(who.send("PUT", path, R"({"a": 1})", type).status == 204);
  CHECK(who.send("PUT", "/v1/sessions/none/state/note", "1", type).status ==
        404);
  CHECK(who.get(path).json() == json{{"a", 1}});
  CHECK(who.send("PUT", path, "{", type).status == 400);
  CHECK(who.send("PUT", path, "null", type).status == 204);
  CHECK(who.get(path).status == 404);
}

TEST_CASE("plans and volleys run over HTTP") {
  const work_folder folder;
  write_server(folder, short_script);
  served server{folder};
  const auto who = server.user();
  const auto plan = who.post(
      "/v1/plans",
      {{"plan", {{"steps", {{{"id", "a"}, {"instruction", "look"}}}}}}});
  INFO(plan.body);
  REQUIRE(plan.status == 202);
  const std::string id = plan.json()["plan_id"];
  const auto told = who.get("/v1/plans/" + id + "/events");
  INFO(told.body);
  const auto events = events_of("\r\n\r\n" + told.body);
  REQUIRE_FALSE(events.empty());
  CHECK(events.back().type == "plan_finished");
  CHECK(who.get("/v1/plans/" + id).json()["status"] == "completed");
  const auto bad = who.post("/v1/plans", {{"plan", {{"steps", 1}}}});
  CHECK(bad.status == 400);
  CHECK(bad.json()["code"] == "invalid_plan");
  const auto volley = who.post("/v1/volleys", {{"tasks", {"a", "b"}}});
  REQUIRE(volley.status == 202);
  const std::string all = volley.json()["volley_id"];
  REQUIRE(eventually([&] {
    const auto now = who.get("/v1/volleys/" + all).json();
    int completed = 0;
    for (const auto& run : now["runs"])
      if (run["status"] == "completed") ++completed;
    return completed == 2;
  }));
  const auto over = who.get("/v1/volleys/" + all).json();
  std::uint64_t spent = 0;
  for (const auto& run : over["runs"])
    spent += run["usage"]["input_tokens"].get<std::uint64_t>();
  CHECK(spent > 0);
  CHECK(over["totals"]["usage"]["input_tokens"] == spent);
  CHECK(who.post("/v1/volleys/" + all + "/cancel", json::object()).status ==
        200);
  const auto told_of_all = who.get("/v1/volleys/" + all + "/events");
  CHECK(told_of_all.status == 200);
  std::map<std::string, std::string> lines;
  for (const auto& x : events_of("\r\n\r\n" + told_of_all.body))
    lines[json::parse(x.data)["run_id"]] += x.data + "\n";
  REQUIRE(lines.size() == 2);
  for (const auto& [run, text] : lines) checked_events(text);
}
