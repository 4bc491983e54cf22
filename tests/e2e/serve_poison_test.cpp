// SPDX-License-Identifier: MIT
// Runs and volleys of a server that dies again and again.
#include <filesystem>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string poison = R"(
[[steps]]
text = "I work. "
[[steps.calls]]
tool = "slow"
arguments = {}
[[steps]]
text = "Done."
)";

std::string begin(const http_user& who, json body) {
  const auto x = who.post("/v1/runs", body);
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json()["run_id"];
}

}  // namespace

TEST_CASE("a run that brings the server down is given up, others go on") {
  const work_folder folder;
  std::string words;
  for (int i = 0; i < 12; ++i) words += "word ";
  folder.write(
      "text.toml",
      "chunk = 5\ndelay = \"200ms\"\n[[steps]]\ntext = \"" + words + "\"\n");
  write_server(folder, poison,
               "[models.text]\ndialect = \"scripted\"\nscript = \"text.toml\"\n"
               "[agents.default]\ntools = [\"slow\"]\n"
               "[tools.slow]\ntype = \"command\"\ndescription = \"Waits.\"\n"
               "effect = \"read_only\"\nparameters = { type = \"object\" }\n"
               "command = [\"/bin/sh\", \"-c\", \"echo x >> began; exec sleep "
               "600\"]\n");
  served server{folder};
  auto who = server.user();
  const auto guilty = begin(who, {{"task", "work"}});
  const auto beside = begin(who, {{"task", "talk"}, {"model", "text"}});
  // The first beginning and three more; each time the server dies of it.
  for (std::size_t i = 1; i <= 4; ++i) {
    REQUIRE(eventually([&] { return folder.lines("began").size() == i; }));
    server.kill_and_restart();
  }
  const auto end = await_end(who, guilty);
  CHECK(end["status"] == "failed");
  CHECK(end["error"]["code"] == "internal");
  CHECK(await_end(who, beside)["status"] == "completed");
  CHECK(folder.lines("began").size() == 4);
}

TEST_CASE("a volley that waits to try again goes on after kill -9") {
  const work_folder folder;
  write_server(folder, "[[steps]]\ntext = \"Done.\"\n",
               "[models.gone]\nbase_url = \"http://127.0.0.1:9/v1\"\n"
               "api_key_env = \"\"\nretry = { max_attempts = 1 }\n");
  served server{folder};
  const auto who = server.user();
  const auto x = who.post(
      "/v1/volleys",
      {{"tasks", {{{"task", "a"}, {"model", "gone"}}}}, {"max_retries", 4}});
  INFO(x.body);
  REQUIRE(x.status == 202);
  const std::string path =
      "/v1/volleys/" + x.json()["volley_id"].get<std::string>();
  const auto runs = [&] { return who.get(path).json()["runs"].size(); };
  // Between two runs nothing of it runs.
  REQUIRE(eventually([&] { return runs() >= 2; }));
  server.kill_and_restart();
  CHECK(eventually([&] { return runs() >= 3; }, 30s));
  CHECK(who.get(path).json()["active"] == true);
  CHECK(who.post(path + "/cancel", json::object()).status == 202);
  CHECK(eventually([&] { return who.get(path).json()["active"] == false; }));
  server.kill_and_restart();
  CHECK(who.get(path).json()["active"] == false);
}

TEST_CASE("a volley that was ended while no server ran does not go on") {
  const work_folder folder;
  write_server(folder, "[[steps]]\ntext = \"Done.\"\n",
               "[models.gone]\nbase_url = \"http://127.0.0.1:9/v1\"\n"
               "api_key_env = \"\"\nretry = { max_attempts = 1 }\n");
  std::string id;
  {
    served server{folder};
    const auto who = server.user();
    id = who.post("/v1/volleys",
                  {{"tasks", {{{"task", "a"}, {"model", "gone"}}}},
                   {"max_retries", 4}})
             .json()["volley_id"];
    REQUIRE(eventually([&] {
      return who.get("/v1/volleys/" + id).json()["runs"].size() >= 2;
    }));
    server.process().signal(SIGKILL);
    server.process().wait();
  }
  const auto end = riffle::testing::riffle(folder, {"sessions", "cancel", id});
  INFO(end.err);
  CHECK(end.status == 0);
  served next{folder};
  const auto who = next.user();
  const auto runs = [&] {
    return who.get("/v1/volleys/" + id).json()["runs"].size();
  };
  const auto before = runs();
  // It looks every two seconds, and a pause is shorter than that here.
  CHECK_FALSE(eventually([&] { return runs() > before; }, 6s));
  CHECK(who.get("/v1/volleys/" + id).json()["active"] == false);
}

TEST_CASE("who has seen the end of a volley need not come again") {
  const work_folder folder;
  write_server(folder, "[[steps]]\ntext = \"Done.\"\n");
  served server{folder};
  const auto who = server.user();
  const auto x = who.post("/v1/volleys", {{"tasks", {"a", "b"}}});
  REQUIRE(x.status == 202);
  const std::string path =
      "/v1/volleys/" + x.json()["volley_id"].get<std::string>();
  const auto all = events_of("\r\n\r\n" + who.get(path + "/events").body);
  REQUIRE(all.size() > 4);
  const auto end =
      who.get(path + "/events", {"Last-Event-ID: " + all.back().id});
  CHECK(end.status == 204);
  const auto before =
      who.get(path + "/events", {"Last-Event-ID: " + all[all.size() - 2].id});
  CHECK(before.status == 200);
  CHECK(events_of("\r\n\r\n" + before.body).size() == 1);
  // Its runs say what they answered.
  for (const auto& run : who.get(path).json()["runs"])
    CHECK(run["answer"] == "Done.");
  CHECK(who.get(path + "/events", {"Accept: image/png"}).status == 406);
  CHECK(who.get("/v1/events", {"Accept: application/json"}).status == 406);
}

TEST_CASE("a run that is let go late is found, and goes on by itself") {
  const work_folder folder;
  write_server(folder, R"(
[[steps]]
text = "I write. "
[[steps.calls]]
tool = "write"
arguments = { path = "note.txt", content = "hello" }
[[steps]]
text = "Done."
)");
  served first{folder};
  const auto run = begin(first.user(), {{"task", "write"}});
  REQUIRE(eventually([&] {
    return !first.user().get("/v1/proposals").json()["proposals"].empty();
  }));
  // While the first one still has it.
  served second{folder};
  const auto who = second.user();
  const std::string id =
      who.get("/v1/proposals").json()["proposals"][0]["proposal_id"];
  first.process().signal(SIGKILL);
  first.process().wait();
  REQUIRE(eventually(
      [&] { return who.get("/v1/runs/" + run).json()["status"] == "active"; }));
  CHECK(who.get("/v1/runs?state=interrupted").json()["runs"].empty());
  CHECK(who.post("/v1/proposals/" + id, {{"decision", "approve"}}).status ==
        200);
  CHECK(await_end(who, run)["status"] == "completed");
  CHECK(folder.read("note.txt") == "hello");
}

TEST_CASE("no body without attachments is larger than others") {
  const work_folder folder;
  write_server(folder, "[[steps]]\ntext = \"Done.\"\n");
  served server{folder};
  const auto who = server.user();
  const std::string large(1'200'000, 'x');
  for (const auto* path : {"/v1/runs", "/v1/sessions/s/runs", "/v1/plans"})
    CHECK(who.post(path, {{"task", large}}).status == 413);
  CHECK(who.post("/v1/volleys", {{"tasks", {large}}}).status == 413);
  CHECK(who.get("/v1/runs").json()["runs"].empty());
  // Attachments may be: what is wrong with this one is another thing.
  const json picture{{"name", "a.png"}, {"data", std::string(2'000'000, 'A')}};
  const auto attached = who.post(
      "/v1/runs", {{"task", "look"}, {"attachments", json::array({picture})}});
  CHECK(attached.status != 413);
  CHECK(who.post("/v1/runs",
                 {{"task", large}, {"attachments", json::array({picture})}})
            .status == 413);
}
