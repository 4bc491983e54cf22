// SPDX-License-Identifier: MIT
// A damaged session is listed, and deleted without a trace.
#include <fstream>
#include <iterator>

#include "runtime/storage/readable_session.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;

const std::string trace_word = "Gr4nite";

/// A session whose run, in each of its rows, has the word, or none of them.
void add_session(storage::journal& to, const std::string& name, bool ends) {
  auto given = make_run("ses_" + name, "run_" + name);
  const auto word = name == "2" ? trace_word : "plain";
  given.task = word;
  auto run = to.open_run(given)->run;
  const auto call = [&](const std::string& id) {
    auto x = make_call(run.id.value, id + name);
    x.told = word;
    return x;
  };
  auto proposal = make_proposal(run, "prop_" + name);
  proposal.summary = word;
  REQUIRE_FALSE(store(
      to,
      {run.id,
       storage::event_block{1, 2,
                            std::make_shared<const std::string>(
                                "{\"seq\":1,\"run_id\":\"run_" + name +
                                "\",\"event_type\":\"run_started\",\"data\":{"
                                "\"session_id\":\"ses_" +
                                name + "\",\"id\":\"call_a" + name +
                                "\"}}\n{\"data\":{\"id\":\"call_b" + name +
                                "\",\"t\":\"" + word + "\"}}\n")},
       {make_message(run, word), call("call_a"), call("call_b"), proposal,
        storage::output_record{{"call_a" + name}, word},
        storage::output_record{{"call_b" + name}, word},
        storage::state_value{run.session, "k", word},
        storage::file_record{run.session, "d",
                             std::make_shared<const std::string>(word)}}}));
  REQUIRE_FALSE(store(to, {run.id, make_block(run.id.value, 3, 60, 200), {}}));
  run.state = storage::run_state::completed;
  if (ends) REQUIRE_FALSE(store(to, {run.id, {}, {run}}));
}

/// In any row; what pages keep that are free is files_test.cpp's.
bool holds_trace(const std::filesystem::path& folder) {
  const auto rows = folder / "rows.db";
  std::filesystem::remove(rows);
  change_file(folder, "VACUUM INTO '" + rows.string() + "'");
  std::ifstream in{rows, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  return bytes.find(trace_word) != bytes.npos;
}

const std::vector<std::string> damages{
    "UPDATE heads SET crc = crc + 1 WHERE n = 2",
    "DELETE FROM heads WHERE n = 2",
    "UPDATE heads SET messages = 99, last_seq = 999 WHERE n = 2",
    "UPDATE runs SET crc = crc + 1 WHERE n = 2",
    "UPDATE runs SET data = 'x' WHERE n = 2",
    "UPDATE runs SET id = 'run_Z' WHERE n = 2",
    "UPDATE runs SET session = 'ses_Z' WHERE n = 2",
    "UPDATE runs SET session = NULL WHERE n = 2",
    "UPDATE runs SET ordinal = 7 WHERE n = 2",
    "UPDATE runs SET owner = NULL WHERE n = 2",
    "UPDATE messages SET crc = crc + 1 WHERE key >> 32 = 2",
    "DELETE FROM messages WHERE key >> 32 = 2",
    "UPDATE calls SET crc = crc + 1 WHERE key >> 32 = 2",
    "UPDATE calls SET data = '{' WHERE key >> 32 = 2",
    "DELETE FROM calls WHERE key >> 32 = 2",
    "UPDATE blocks SET crc = crc + 1 WHERE key >> 40 = 2",
    "UPDATE blocks SET commits = x'00' WHERE key >> 40 = 2",
    "UPDATE blocks SET last_seq = 1 WHERE key >> 40 = 2",
    "DELETE FROM blocks WHERE key >> 40 = 2",
    "UPDATE feed SET last = last + 1 WHERE key >> 40 = 2",
    "DELETE FROM feed WHERE key >> 40 = 2",
    "UPDATE proposals SET data = 'x' WHERE session = 'ses_2'",
    "UPDATE decisions SET data = 'x'",
    "UPDATE state SET crc = crc + 1 WHERE session = 'ses_2'",
    "UPDATE files SET crc = crc + 1 WHERE session = 'ses_2'",
    "UPDATE outputs SET crc = crc + 1 WHERE id LIKE '%2'",
    "UPDATE commits SET directory = x'00'",
    "DELETE FROM log",
};

}  // namespace

TEST_CASE("a damaged session is deleted without a trace, whatever it lacks") {
  const bool ends = GENERATE(true, false);
  const auto sql = GENERATE(from_range(damages));
  CAPTURE(sql, ends);
  scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    for (const std::string name : {"1", "2", "3"})
      add_session(*journal, name, ends);
  }
  REQUIRE(holds_trace(folder.path()));
  change_file(folder.path(), sql);
  {
    const auto journal = open_store(folder.path());
    CHECK(journal->list_sessions(9)->size() >= 2);
    const auto left = storage::load_readable(*journal, {"ses_2"});
    REQUIRE(left);
    CHECK(left->session.runs.size() + left->lost_runs == 1);
    const bool calls_lost = sql.find("UPDATE calls SET data") == 0 ||
                            sql.find("DELETE FROM calls") == 0;
    const bool lines_lost = sql.find("DELETE FROM blocks") == 0;
    CHECK(left->session.calls.size() == 2);
    CHECK_FALSE((calls_lost && lines_lost));
    REQUIRE(journal->delete_session({"ses_2"}));
    CHECK(journal->load_session({"ses_2"}).error().code == errc::not_found);
    REQUIRE(journal->open_run(make_run("ses_2", "run_4")));
    CHECK(read_all(*journal, "run_4").value().empty());
  }
  CHECK_FALSE(holds_trace(folder.path()));
  storage::sqlite::database db{folder.path() / "riffle.db",
                               std::chrono::seconds{1}};
  for (const std::string table :
       {"blocks WHERE key >> 40 = 2", "feed WHERE key >> 40 = 2",
        "messages WHERE key >> 32 = 2", "calls WHERE key >> 32 = 2",
        "outputs WHERE id LIKE '%2'"})
    CHECK(db.integer("SELECT count(*) FROM " + table) == 0);
  const auto journal = open_store(folder.path());
  for (const std::string name : {"1", "3"}) {
    const auto whole = journal->load_session({"ses_" + name});
    CHECK((whole || sql.find("log") != sql.npos ||
           sql.find("decisions") != sql.npos));
    CHECK(journal->delete_session({"ses_" + name}));
  }
}

TEST_CASE("a damaged session whose run somebody works on is not deleted") {
  scratch_folder folder;
  const auto journal = open_store(folder.path());
  add_session(*journal, "2", false);
  const auto sql = GENERATE("UPDATE messages SET crc = crc + 1",
                            "UPDATE heads SET crc = crc + 1",
                            "UPDATE runs SET crc = crc + 1");
  change_file(folder.path(), sql);
  const auto other = open_store(folder.path());
  for (const auto* j : {journal.get(), other.get()})
    CHECK(const_cast<storage::sqlite_journal*>(j)
              ->delete_session({"ses_2"})
              .error()
              .code == errc::session_busy);
}

TEST_CASE("a row that lies where a new one comes costs nobody but its run") {
  scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    for (const std::string name : {"1", "2"})
      add_session(*journal, name, false);
  }
  // Bits of keys: rows of run 2 lie where the next ones of run 1 will be.
  change_file(
      folder.path(),
      "UPDATE messages SET key = (1 << 32) + 2 WHERE key >> 32 = 2; "
      "UPDATE calls SET key = key - (1 << 32) + 2 WHERE key >> 32 = 2; "
      "UPDATE blocks SET key = (1 << 40) + 61 WHERE key = (2 << 40) + 1");
  const auto journal = open_store(folder.path());
  const auto adopted = journal->adopt_run({"run_1"});
  REQUIRE(adopted);
  REQUIRE(adopted->last_seq == 60);
  const auto end = make_block("run_1", 61, 130, 200);
  REQUIRE_FALSE(store(*journal, {{"run_1"},
                                 end,
                                 {make_message(adopted->run, "next"),
                                  make_call("run_1", "call_next")}}));
  CHECK(journal->load_session({"ses_1"})->messages.size() == 2);
  CHECK(journal->load_session({"ses_1"})->calls.size() == 3);
  CHECK(read_all(*journal, "run_1")->ends_with(*end.lines));
  CHECK_FALSE(journal->load_session({"ses_2"}));
  CHECK_FALSE(read_all(*journal, "run_2"));
}

TEST_CASE("a run whose row is lost leaves its number to nobody") {
  scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    for (const std::string name : {"1", "2"}) add_session(*journal, name, true);
  }
  change_file(folder.path(), "DELETE FROM runs WHERE n = 2");
  const auto journal = open_store(folder.path());
  const auto opened = journal->open_run(make_run("ses_3", "run_3"));
  REQUIRE(opened);
  CHECK(opened->last_seq == 0);
  REQUIRE_FALSE(store(*journal, {{"run_3"}, make_block("run_3", 1, 2), {}}));
  CHECK(read_all(*journal, "run_3").value() == make_lines("run_3", 1, 2));
}

TEST_CASE("what is left of a run whose row is lost goes with its session") {
  const std::string sql = GENERATE(
      "DELETE FROM runs WHERE n = 2",
      "DELETE FROM runs WHERE n = 2; DELETE FROM messages WHERE key >> 32 = 2",
      "DELETE FROM runs WHERE n = 2; DELETE FROM heads WHERE n = 2",
      "DELETE FROM runs WHERE n = 2; DELETE FROM heads WHERE n = 2; "
      "UPDATE messages SET key = key | (1 << 62) WHERE key >> 32 = 2",
      "DELETE FROM runs WHERE n = 2; UPDATE calls SET key = -key WHERE key >> "
      "32 = 2; UPDATE blocks SET key = -key WHERE key >> 40 = 2",
      "UPDATE blocks SET key = key | (1 << 62) WHERE key >> 40 = 2",
      "UPDATE calls SET key = key | (1 << 62) WHERE key >> 32 = 2",
      "UPDATE messages SET key = -key WHERE key >> 32 = 2");
  const bool ends = GENERATE(true, false);
  CAPTURE(sql, ends);
  const scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    for (const std::string name : {"1", "2", "3"})
      add_session(*journal, name, ends);
  }
  change_file(folder.path(), sql);
  REQUIRE(holds_trace(folder.path()));
  std::vector<std::string> notes;
  const auto journal = open_store(folder.path(), &notes);
  for (int times = 0; times < 2; ++times) REQUIRE(journal->list_sessions(9));
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].ends_with("deletes what is left of ses_2"));
  const auto left = storage::load_readable(*journal, {"ses_2"});
  REQUIRE(left);
  CHECK(left->session.runs.size() + left->lost_runs >= 1);
  REQUIRE(journal->delete_session({"ses_2"}));
  CHECK_FALSE(holds_trace(folder.path()));
  CHECK_FALSE(storage::load_readable(*journal, {"ses_2"}));
  for (const std::string name : {"1", "3"}) {
    CHECK(journal->load_session({"ses_" + name}));
    CHECK(read_all(*journal, "run_" + name));
  }
}

TEST_CASE("what is left of a run is found in the log of commits") {
  const scratch_folder folder;
  const auto journal = open_store(folder.path());
  for (const std::string name : {"1", "2"}) add_session(*journal, name, true);
  change_file(folder.path(),
              "DELETE FROM runs WHERE n = 2; DELETE FROM messages");
  REQUIRE(journal->delete_session({"ses_2"}));
  CHECK_FALSE(holds_trace(folder.path()));
  CHECK(read_all(*journal, "run_1"));
}

TEST_CASE("a lost run goes with a session that has whole ones, too") {
  const scratch_folder folder;
  const bool listed = GENERATE(true, false);
  {
    const auto journal = open_store(folder.path());
    for (const std::string name : {"1", "2"}) add_session(*journal, name, true);
    auto last = journal->open_run(make_run("ses_2", "run_3"))->run;
    last.state = storage::run_state::completed;
    REQUIRE_FALSE(store(*journal, {last.id,
                                   make_block("run_3", 1, 3),
                                   {make_message(last, trace_word),
                                    make_call("run_3", "call_c"), last}}));
  }
  change_file(folder.path(), "DELETE FROM runs WHERE id = 'run_3'");
  const auto journal = open_store(folder.path());
  if (listed) REQUIRE(journal->list_sessions(9));
  const auto left = storage::load_readable(*journal, {"ses_2"});
  REQUIRE(left);
  CHECK(left->session.calls.size() == 3);
  REQUIRE(journal->delete_session({"ses_2"}));
  CHECK_FALSE(holds_trace(folder.path()));
  CHECK_FALSE(storage::load_readable(*journal, {"ses_2"}));
  CHECK(journal->load_session({"ses_1"}));
}
