// SPDX-License-Identifier: MIT
// riffle sessions list|show|events on a journal in a folder.
#include <filesystem>
#include <fstream>
#include <future>

#include <nlohmann/json.hpp>

#include "messages/event_line.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/storage/journal.hpp"
#include "runtime/storage/sqlite.hpp"
#include "tests/cli/test_console.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using testing::temp_folder;
using testing::test_console;
using what = sessions_command::what;

namespace {

void store(storage::journal& journal, storage::commit_unit unit) {
  std::promise<std::optional<error>> done;
  journal.append(std::move(unit),
                 [&](std::optional<error> x) { done.set_value(std::move(x)); });
  auto result = done.get_future();
  REQUIRE(result.wait_for(std::chrono::seconds{20}) ==
          std::future_status::ready);
  const auto failure = result.get();
  INFO((failure ? failure->message : ""));
  REQUIRE_FALSE(failure);
}

std::string lines_of(const std::string& run, const std::string& session,
                     const std::string& task) {
  event_writer writer{run_id{run}};
  std::string out;
  writer.add(out, 1,
             events::run_started{{session}, "default", "m", task, 3, {}});
  writer.add(out, 2, events::step_start{1, 3});
  return out;
}

/// A finished run with two events and one message of the model.
void add_run(storage::journal& journal, const std::string& run,
             const std::string& session, const std::string& task) {
  storage::run_record record;
  record.id = {run};
  record.session = {session};
  record.task = task;
  record.agent = "default";
  const auto opened = journal.open_run(record);
  REQUIRE(opened);
  storage::commit_unit unit;
  unit.run = {run};
  unit.block = storage::event_block{
      1, 2, std::make_shared<const std::string>(lines_of(run, session, task))};
  auto done = opened->run;
  done.state = storage::run_state::completed;
  storage::message_record said;
  said.session = {session};
  said.run = {run};
  said.step = 1;
  said.role = storage::message_role::assistant;
  said.text = "Answer to " + task;
  unit.changes = {said, done};
  store(journal, std::move(unit));
}

sessions_command command_for(const temp_folder& folder, what action,
                             const std::string& session = {}) {
  sessions_command out;
  out.common.config = folder.write("x.toml", "runtime.data_dir = \"data\"\n");
  out.action = action;
  out.id = session;
  return out;
}

/// Session s1 with two runs, s2 with one.
void fill(const temp_folder& folder) {
  const auto journal = storage::open_sqlite_journal(
      folder.path() / "data", storage::durability::process);
  REQUIRE(journal);
  add_run(**journal, "run_1", "s1", "first");
  add_run(**journal, "run_2", "s2", "other");
  add_run(**journal, "run_3", "s1", "second\nline");
}

}  // namespace

TEST_CASE("without a journal there are no sessions, and none is made") {
  const temp_folder folder;
  {
    test_console c;
    CHECK(execute(command_for(folder, what::list), c.io) == 0);
    CHECK(c.out.text().empty());
    CHECK(c.err.text() ==
          "riffle: no sessions yet: 'riffle run TASK' begins one\n");
  }
  test_console c;
  CHECK(execute(command_for(folder, what::show, "s1"), c.io) == 2);
  CHECK(c.err.text() ==
        "riffle: there is no session \"s1\"; 'riffle sessions list' shows "
        "all (not_found)\n");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "data"));
}

TEST_CASE("sessions are listed with their last task") {
  const temp_folder folder;
  fill(folder);
  auto x = command_for(folder, what::list);
  {
    test_console c;
    CHECK(execute(x, c.io) == 0);
    const auto text = c.out.text();
    CHECK(text.find("s1      1970-01-01  completed    2 runs   first\n") !=
          std::string::npos);
    CHECK(text.find("s2      1970-01-01  completed    1 run    other\n") !=
          std::string::npos);
  }
  x.limit = 1;
  x.common.output = output_kind::json;
  test_console c;
  CHECK(execute(x, c.io) == 0);
  CHECK(nlohmann::json::parse(c.out.text()).size() == 1);
}

TEST_CASE("sessions are found by words of their title, however old") {
  const temp_folder folder;
  {
    const auto journal = storage::open_sqlite_journal(
        folder.path() / "data", storage::durability::process);
    REQUIRE(journal);
    add_run(**journal, "run_a", "old", "Fix the Tax report");
    for (int i = 0; i < 30; ++i) {
      const auto n = std::to_string(i);
      add_run(**journal, "run_" + n, "s" + n, "task " + n);
    }
    add_run(**journal, "run_b", "s7", "what about tax?");
  }
  auto x = command_for(folder, what::list);
  const auto listed = [&](const std::string& words, const std::string& begin) {
    test_console c;
    x.search = words;
    x.id = begin;
    CHECK(execute(x, c.io) == 0);
    return c.out.text() + c.err.text();
  };
  CHECK(listed("report TAX", "") ==
        "old     1970-01-01  completed    1 run    Fix the Tax report\n");
  CHECK(listed("s29", "").ends_with("task 29\n"));  // by its id
  CHECK(listed("task 7", "") ==
        "s7      1970-01-01  completed    2 runs   task 7\n"
        "s27     1970-01-01  completed    1 run    task 27\n"
        "s17     1970-01-01  completed    1 run    task 17\n");
  CHECK(listed("task 7", "s1").starts_with("s17 "));
  CHECK(listed("no such words", "") ==
        "riffle: no session is called so: 'riffle sessions list' shows the "
        "newest\n");
  x.limit = 2;
  CHECK(listed("task", "").find("s27") == std::string::npos);
}

TEST_CASE("a run that nobody works on is listed as interrupted") {
  const temp_folder folder;
  auto x = command_for(folder, what::list);
  const auto listed = [&] {
    test_console c;
    CHECK(execute(x, c.io) == 0);
    return c.out.text();
  };
  {
    const auto journal = storage::open_sqlite_journal(
        folder.path() / "data", storage::durability::process);
    REQUIRE(journal);
    storage::run_record record;
    record.id = {"run_1"};
    record.session = {"s1"};
    record.task = "begun";
    REQUIRE((*journal)->open_run(record));
    CHECK(listed().find("active       1 run    begun\n") != std::string::npos);
  }
  CHECK(listed().find("interrupted  1 run    begun\n") != std::string::npos);
  auto one = command_for(folder, what::show, "s1");
  const auto shown = [&] {
    test_console c;
    CHECK(execute(one, c.io) == 0);
    return c.out.text();
  };
  CHECK(shown().find(", interrupted\n") != std::string::npos);
  x.common.output = output_kind::json;
  CHECK(nlohmann::json::parse(listed())[0]["last_run"]["status"] ==
        "interrupted");
  one.common.output = output_kind::json;
  CHECK(nlohmann::json::parse(shown())["runs"][0]["status"] == "interrupted");
}

TEST_CASE("a session is shown run after run") {
  const temp_folder folder;
  fill(folder);
  auto x = command_for(folder, what::show, "s1");
  {
    test_console c;
    CHECK(execute(x, c.io) == 0);
    const auto text = c.out.text();
    CHECK(text.starts_with("# first\n"));
    const auto begin = text.find("\n## ");
    REQUIRE(begin != std::string::npos);
    const auto second = text.find("\n## ", begin + 1);
    REQUIRE(second != std::string::npos);
    CHECK(text.find("Answer to first\n") < second);
    CHECK(text.find("Answer to second\nline\n") > second);
    CHECK(text.find("Answer to second\nline\n") != std::string::npos);
  }
  x.common.output = output_kind::json;
  test_console c;
  CHECK(execute(x, c.io) == 0);
  const auto out = nlohmann::json::parse(c.out.text());
  CHECK(out["runs"].size() == 2);
  CHECK(out["runs"][1]["task"] == "second\nline");
  CHECK(out["runs"][1]["status"] == "completed");
  CHECK(out["messages"][0]["text"] == "Answer to first");
}

TEST_CASE("the events of a session are its log, byte for byte") {
  const temp_folder folder;
  fill(folder);
  test_console c;
  CHECK(execute(command_for(folder, what::events, "s1"), c.io) == 0);
  CHECK(c.out.text() == lines_of("run_1", "s1", "first") +
                            lines_of("run_3", "s1", "second\nline"));
  CHECK(c.err.text().empty());
}

TEST_CASE("an unknown session is a usage mistake") {
  const temp_folder folder;
  fill(folder);
  for (const auto action : {what::show, what::events}) {
    test_console c;
    CHECK(execute(command_for(folder, action, "nobody"), c.io) == 2);
    CHECK(c.err.text().find("there is no session \"nobody\"") !=
          std::string::npos);
    CHECK(c.out.text().empty());
  }
}

TEST_CASE("a damaged session is listed beside the others, and can be deleted") {
  const temp_folder folder;
  fill(folder);
  const auto sql = GENERATE("UPDATE heads SET crc = crc + 1 WHERE n = 2",
                            "DELETE FROM messages WHERE key >> 32 = 2",
                            "UPDATE runs SET crc = crc + 1 WHERE n = 2");
  storage::sqlite::database{folder.path() / "data" / "riffle.db",
                            std::chrono::seconds{1}}
      .execute(sql);
  auto x = command_for(folder, what::list);
  {
    test_console c;
    CHECK(execute(x, c.io) == 0);
    CHECK(c.out.text().find("2 runs   first\n") != std::string::npos);
    CHECK(c.out.text().find("s2      damaged: 'riffle sessions delete s2' "
                            "deletes what is left\n") != std::string::npos);
  }
  x.common.output = output_kind::json;
  {
    test_console c;
    CHECK(execute(x, c.io) == 0);
    const auto all = nlohmann::json::parse(c.out.text());
    REQUIRE(all.size() == 2);
    for (const auto& one : all)
      CHECK(one.value("damaged", false) == (one["session_id"] == "s2"));
  }
  {
    test_console c;
    CHECK(execute(command_for(folder, what::show, "s2"), c.io) == 1);
    CHECK(c.err.text().find("storage_corrupt") != std::string::npos);
  }
  {
    test_console c;
    CHECK(execute(command_for(folder, what::remove, "s2"), c.io) == 0);
  }
  test_console c;
  CHECK(execute(x, c.io) == 0);
  CHECK(nlohmann::json::parse(c.out.text()).size() == 1);
}

TEST_CASE("outputs of a damaged session go with it, as far as they are known") {
  const temp_folder folder;
  fill(folder);
  {
    const auto journal = storage::open_sqlite_journal(
        folder.path() / "data", storage::durability::process);
    REQUIRE(journal);
    auto run = (*journal)->load_run(run_id{"run_2"}).value();
    run.id = {"run_4"};
    run.state = storage::run_state::active;
    REQUIRE((*journal)->open_run(run));
    storage::call_record call;
    call.run = run.id;
    call.call.id = {"call_kept"};
    store(**journal,
          {run.id,
           storage::event_block{1, 1,
                                std::make_shared<const std::string>(
                                    "{\"data\":{\"id\":\"call_other\"}}\n")},
           {call}});
  }
  const auto sql = GENERATE("UPDATE heads SET crc = crc + 1 WHERE n = 4",
                            "UPDATE runs SET crc = crc + 1 WHERE n = 4",
                            "UPDATE calls SET crc = crc + 1");
  storage::sqlite::database{folder.path() / "data" / "riffle.db",
                            std::chrono::seconds{1}}
      .execute(sql);
  const auto outputs = folder.path() / "data" / "outputs";
  std::filesystem::create_directories(outputs);
  for (const char* name : {"call_kept", "call_other", "call_else"})
    std::ofstream{outputs / name} << "text";
  test_console c;
  CHECK(execute(command_for(folder, what::remove, "s2"), c.io) == 0);
  CHECK_FALSE(std::filesystem::exists(outputs / "call_kept"));
  CHECK_FALSE(std::filesystem::exists(outputs / "call_other"));
  CHECK(std::filesystem::exists(outputs / "call_else"));
}
