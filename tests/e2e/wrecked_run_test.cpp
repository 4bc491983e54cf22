// SPDX-License-Identifier: MIT
// One damaged run costs that run: a server and the commands go on with the
// others.
#include <chrono>

#include "runtime/storage/sqlite.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string says_done = "[[steps]]\ntext = \"Done.\"\n";

void change_journal(const work_folder& folder, const std::string& sql) {
  riffle::storage::sqlite::database{folder.path() / "data" / "riffle.db", 10s}
      .execute(sql);
}

std::string begin_in(const http_user& who, const std::string& session) {
  const auto x =
      who.post("/v1/runs", {{"task", "go"}, {"session_id", session}});
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json()["run_id"];
}

/// Sessions of the list, and which of them are called damaged.
std::map<std::string, bool> listed(const http_user& who) {
  const auto x = who.get("/v1/sessions");
  INFO(x.body);
  REQUIRE(x.status == 200);
  std::map<std::string, bool> out;
  const auto all = x.json();
  for (const auto& one : all["sessions"])
    out[one["session_id"]] = one.value("damaged", false);
  return out;
}

using sessions_found = std::map<std::string, bool>;

}  // namespace

TEST_CASE("a server goes on beside a damaged run, which can be deleted") {
  const auto [sql, hides] = GENERATE(table<std::string, bool>({
      {"UPDATE heads SET crc = crc + 1 WHERE n = 2", true},
      {"UPDATE messages SET crc = crc + 1 WHERE key >> 32 = 2", true},
      {"UPDATE runs SET crc = crc + 1 WHERE n = 2", true},
      {"UPDATE blocks SET crc = crc + 1 WHERE key >> 40 = 2", false},
      {"UPDATE feed SET crc = crc + 1 WHERE key >> 40 = 2", false},
  }));
  CAPTURE(sql);
  const work_folder folder;
  write_server(folder, says_done);
  std::vector<std::string> runs;
  {
    served server{folder};
    for (const std::string session : {"s1", "s2", "s3"}) {
      runs.push_back(begin_in(server.user(), session));
      CHECK(await_end(server.user(), runs.back())["status"] == "completed");
    }
    server.process().signal(SIGTERM);
    CHECK(server.process().wait().status == 0);
  }
  change_journal(folder, sql);
  const auto text = riffle::testing::riffle(folder, {"sessions", "list"});
  INFO(text.err);
  CHECK(text.status == 0);
  for (const std::string session : {"s1", "s2", "s3"})
    CHECK(text.out.find(session) != std::string::npos);
  served server{folder};
  const auto who = server.user();
  CHECK(who.get("/readyz").body == "ready\n");
  CHECK(listed(who) ==
        sessions_found{{"s1", false}, {"s2", hides}, {"s3", false}});
  for (const std::string session : {"s1", "s3"})
    CHECK(who.get("/v1/sessions/" + session).status == 200);
  raw_client reader{server.port()};
  reader.ask("/v1/events?after=1.0-0", who.token());
  const auto seen = reader.read_until(runs[2]);
  CHECK(seen.find(runs[0]) != std::string::npos);
  CHECK(seen.find(runs[2]) != std::string::npos);
  CHECK(await_end(who, begin_in(who, "s4"))["status"] == "completed");
  CHECK(who.send("DELETE", "/v1/sessions/s2", {}, {}).status == 200);
  CHECK(listed(who) ==
        sessions_found{{"s1", false}, {"s3", false}, {"s4", false}});
}

TEST_CASE("a damaged log of commits costs the run that was cut off") {
  const auto sql = GENERATE(
      as<std::string>{},
      "UPDATE commits SET directory = CAST(x'ff' || substr(directory, 2) AS "
      "BLOB) WHERE n = (SELECT max(n) FROM commits)",
      "DELETE FROM log");
  CAPTURE(sql);
  const work_folder folder;
  write_server(folder, says_done);
  {
    served server{folder};
    const auto run = begin_in(server.user(), "ended");
    CHECK(await_end(server.user(), run)["status"] == "completed");
  }
  write_server(folder, spoken_slowly(1000, "20ms"));
  {
    program cut{installed_riffle(),
                folder,
                {"run", "go", "--session", "cut", "--output", "jsonl"}};
    CHECK(eventually(
        [&] { return cut.out().find("llm_token") != std::string::npos; }));
    cut.signal(SIGKILL);
    cut.wait();
  }
  change_journal(folder, sql);
  write_server(folder, says_done);
  const auto again = riffle::testing::riffle(
      folder, {"run", "another", "--session", "next", "--output", "text"});
  INFO(again.err);
  CHECK(again.status == 0);
  CHECK(again.err.find("the log of commits") != std::string::npos);
  const auto resumed =
      riffle::testing::riffle(folder, {"sessions", "resume", "cut"});
  CHECK(resumed.status == 1);
  CHECK(resumed.err.find("storage_corrupt") != std::string::npos);
  served server{folder};
  const auto who = server.user();
  CHECK(who.get("/readyz").body == "ready\n");
  CHECK(listed(who) ==
        sessions_found{{"ended", false}, {"cut", true}, {"next", false}});
  CHECK(who.send("DELETE", "/v1/sessions/cut", {}, {}).status == 200);
  CHECK(who.send("DELETE", "/v1/sessions/ended", {}, {}).status == 200);
  CHECK(await_end(who, begin_in(who, "cut"))["status"] == "completed");
}
