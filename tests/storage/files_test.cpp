// SPDX-License-Identifier: MIT
// Pictures and files that a session shows its models.
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sqlite3.h>

#include "runtime/storage/file_records.hpp"
#include "tests/storage/journal_kinds.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace riffle::storage;

namespace {

file_record file(const std::string& session, const std::string& digest,
                 const std::string& bytes) {
  return {{session}, digest, std::make_shared<const std::string>(bytes)};
}

std::map<std::string, std::string> bytes_of(const kept_files& x) {
  std::map<std::string, std::string> out;
  for (const auto& [digest, bytes] : x) out.emplace(digest, *bytes);
  return out;
}

using texts = std::map<std::string, std::string>;

/// All bytes of a journal's files.
std::string raw(const std::filesystem::path& folder) {
  std::string all;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator{folder}) {
    if (!entry.is_regular_file()) continue;
    if (entry.path().filename() == "reserve") continue;  // nothing is in it
    std::ifstream in{entry.path(), std::ios::binary};
    all.append(std::istreambuf_iterator<char>{in}, {});
  }
  return all;
}

/// The same by another process: closing a file of SQLite here would drop the
/// locks of the journal that is open.
std::string raw_of_open(const std::filesystem::path& folder) {
  const auto command = "cat '" + folder.string() + "'/riffle.db*";
  auto* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string all;
  std::array<char, 65'536> part{};
  while (const auto n = std::fread(part.data(), 1, part.size(), pipe))
    all.append(part.data(), n);
  ::pclose(pipe);
  return all;
}

/// Reads what stands there now, as long as it lives.
struct other_reader {
  explicit other_reader(const std::filesystem::path& folder) {
    REQUIRE(sqlite3_open((folder / "riffle.db").c_str(), &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM runs", nullptr,
                         nullptr, nullptr) == SQLITE_OK);
  }
  ~other_reader() { sqlite3_close(db); }
  other_reader(const other_reader&) = delete;
  other_reader& operator=(const other_reader&) = delete;

  sqlite3* db = nullptr;
};

}  // namespace

TEMPLATE_TEST_CASE("a session has each file once, from its start or a unit", "",
                   EVERY_JOURNAL) {
  TestType kind;
  const std::string zeros{"\0\xff\1", 3};
  auto run =
      kind.j->open_run(make_run("ses_1", "run_1"), {file("ses_1", "a", zeros)});
  REQUIRE(run);
  CHECK(bytes_of(run->files) == texts{{"a", zeros}});
  REQUIRE_FALSE(kind.put({{"run_1"},
                          {},
                          {file("ses_1", "b", "two"), file("ses_1", "b", "two"),
                           file("ses_1", "a", zeros)}}));
  const texts both{{"a", zeros}, {"b", "two"}};
  CHECK(bytes_of(kind.j->adopt_run({"run_1"})->files) == both);
  // Who works on none of its runs can ask for them.
  auto* asked = dynamic_cast<file_records*>(static_cast<journal*>(&*kind.j));
  CHECK((asked != nullptr || std::is_same_v<TestType, test_kind>));
  if (asked != nullptr) {
    CHECK(bytes_of(asked->load_files({"ses_1"}).value()) == both);
    CHECK(asked->load_files({"ses_9"})->empty());
  }
  run->run.state = run_state::completed;
  REQUIRE_FALSE(kind.put({{"run_1"}, {}, {run->run}}));
  // The next run of the session has them, another session does not.
  CHECK(bytes_of(kind.j
                     ->open_run(make_run("ses_1", "run_2"),
                                {file("ses_1", "b", "two")})
                     ->files) == both);
  CHECK(kind.j->open_run(make_run("ses_2", "run_3"))->files.empty());
}

TEMPLATE_TEST_CASE("a file of another session is refused", "", EVERY_JOURNAL) {
  TestType kind;
  REQUIRE(kind.j->open_run(make_run("ses_1", "run_1")));
  SECTION("by its session") {
    const auto why = kind.put({{"run_1"}, {}, {file("ses_2", "a", "x")}});
    REQUIRE(why);
    CHECK(why->code == errc::storage_corrupt);
  }
  SECTION("and one without bytes") {
    const auto why =
        kind.put({{"run_1"}, {}, {file_record{{"ses_1"}, "a", nullptr}}});
    REQUIRE(why);
    CHECK(why->code == errc::storage_corrupt);
  }
}

TEMPLATE_TEST_CASE("what messages and calls show is on record", "",
                   EVERY_JOURNAL) {
  TestType kind;
  auto run = kind.j->open_run(make_run("ses_1", "run_1"))->run;
  auto message = make_message(run, "look");
  message.attachments = {{"a.png", "image/png", 3, "d1"}};
  auto call = make_call("run_1", "call_1");
  call.attachments = {{"b.pdf", "application/pdf", 4, "d2"},
                      {"c.gif", "image/gif", 5, "d3"}};
  REQUIRE_FALSE(kind.put({{"run_1"}, {}, {message, call}}));
  const auto session = kind.j->load_session({"ses_1"});
  REQUIRE(session);
  CHECK(session->messages == std::vector{message});
  CHECK(session->calls == std::vector{call});
}

TEST_CASE("files outlive the process, and go with their session, each byte") {
  const scratch_folder folder;
  std::string picture;
  for (int i = 0; i < 40'000; ++i)
    picture += "secret picture " + std::to_string(i);
  {
    const auto j = open_store(folder.path());
    auto run =
        j->open_run(make_run("ses_1", "run_1"), {file("ses_1", "d", picture)});
    run->run.state = run_state::completed;
    REQUIRE_FALSE(store(*j, {{"run_1"}, {}, {run->run}}));
  }
  CHECK(raw(folder.path()).find("secret picture") != std::string::npos);
  {
    const auto j = open_store(folder.path());
    auto run = j->open_run(make_run("ses_1", "run_2"));
    CHECK(*run->files.at("d") == picture);
    run->run.state = run_state::completed;
    REQUIRE_FALSE(store(*j, {{"run_2"}, {}, {run->run}}));
    // Also while the journal stays open, such as in a server, and the log of
    // SQLite once nobody reads what was before.
    {
      const other_reader other{folder.path()};
      REQUIRE(j->open_run(make_run("ses_2", "run_9")));
      REQUIRE(j->delete_session({"ses_1"}));
      CHECK(raw_of_open(folder.path()).find("secret picture") !=
            std::string::npos);
    }
    CHECK(eventually([&] {
      return raw_of_open(folder.path()).find("secret picture") ==
             std::string::npos;
    }));
    CHECK(j->open_run(make_run("ses_1", "run_3"))->files.empty());
  }
  CHECK(raw(folder.path()).find("secret picture") == std::string::npos);
}

TEST_CASE("a file that was damaged is not shown") {
  const scratch_folder folder;
  {
    const auto j = open_store(folder.path());
    auto run =
        j->open_run(make_run("ses_1", "run_1"), {file("ses_1", "d", "bytes")});
    run->run.state = run_state::completed;
    REQUIRE_FALSE(store(*j, {{"run_1"}, {}, {run->run}}));
  }
  change_file(folder.path(), "UPDATE files SET data = X'00'");
  const auto j = open_store(folder.path());
  const auto run = j->open_run(make_run("ses_1", "run_2"));
  REQUIRE_FALSE(run);
  CHECK(run.error().code == errc::storage_corrupt);
}

TEST_CASE("a journal of version 5 is brought up to date and keeps its runs") {
  const scratch_folder folder;
  {
    const auto j = open_store(folder.path());
    REQUIRE(j->open_run(make_run("ses_1", "run_1")));
    REQUIRE_FALSE(store(*j, log_unit("run_1", 1, 3)));
  }
  make_older(folder.path(), 5);
  for (int times = 0; times < 2; ++times) {
    const auto j = open_store(folder.path());
    const auto run = j->adopt_run({"run_1"});
    REQUIRE(run);
    CHECK(run->last_seq == 3u + static_cast<unsigned>(times));
    REQUIRE_FALSE(
        store(*j, log_unit("run_1", run->last_seq + 1, run->last_seq + 1)));
    REQUIRE_FALSE(store(*j, {{"run_1"}, {}, {file("ses_1", "d", "the same")}}));
    CHECK(j->adopt_run({"run_1"})->files.size() == 1);
  }
}

TEST_CASE("10,000 times the same file costs what 10,000 small changes cost") {
  const scratch_folder folder;
  const auto j = open_store(folder.path());
  REQUIRE(j->open_run(make_run("ses_1", "run_1")));
  const auto one = file("ses_1", "d", std::string(50'000, 'x'));
  for (int i = 0; i < 10; ++i) {
    commit_unit unit{{"run_1"}, {}, {}};
    for (int k = 0; k < 1'000; ++k) unit.changes.emplace_back(one);
    REQUIRE_FALSE(store(*j, std::move(unit)));
  }
  CHECK(j->adopt_run({"run_1"})->files.size() == 1);
  CHECK(raw(folder.path()).size() < 2'000'000);
}
