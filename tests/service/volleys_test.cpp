// SPDX-License-Identifier: MIT
// What is on record of a volley: who may read it, work on it, delete it.
#include "runtime/service/volleys.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>

#include "runtime/base/file_lock.hpp"
#include "runtime/service/sessions.hpp"
#include "runtime/service/stored_request.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_journal.hpp"

using namespace riffle;
using namespace riffle::service;
using riffle::testing::temp_folder;
namespace fs = std::filesystem;

namespace {

/// Notes whether runs were read while the volley was locked, and how many
/// sessions were read.
struct watching_journal final : riffle::testing::test_journal {
  expected<std::vector<storage::run_record>> list_runs(
      const storage::run_filter& filter) override {
    const unique_fd fd{::open(lock.c_str(), O_RDWR | O_CLOEXEC)};
    if (!lock.empty()) {
      ++reads;
      unlocked += !fd || try_lock(fd, lock_kind::exclusive);
    }
    return test_journal::list_runs(filter);
  }
  expected<storage::session_snapshot> load_session(
      const session_id& id) override {
    ++loads;
    return test_journal::load_session(id);
  }
  fs::path lock;
  int reads = 0;
  int unlocked = 0;
  int loads = 0;
};

struct volley_world {
  opened_volley open(std::vector<run_request> tasks) {
    auto out = all.open({.tasks = std::move(tasks)}, ids, nullptr);
    REQUIRE(out);
    return std::move(*out);
  }
  [[nodiscard]] fs::path lock_of(const std::string& id) const {
    return folder.path() / "volleys" / (id + ".lock");
  }
  void add_run(const std::string& run, const std::string& session,
               const std::string& settings, bool ends = true) {
    storage::run_record x;
    x.id = run_id{run};
    x.session = session_id{session};
    x.settings = settings;
    REQUIRE(journal->open_run(x));
    if (!ends) return;
    x.ordinal = 1;
    x.state = storage::run_state::completed;
    journal->append({x.id, {}, {x}}, [](const auto&) {});
    journal->release_all();
  }
  static std::string task_of(const std::string& volley) {
    return to_json(stored_request{{}, {}, {}, task_place{volley, 0}});
  }
  bool has_session(const std::string& id) {
    return !!sessions_of.show(session_id{id});
  }

  temp_folder folder;
  std::shared_ptr<watching_journal> journal =
      std::make_shared<watching_journal>();
  volleys all{runs{nullptr, nullptr, journal, nullptr, nullptr}, journal,
              nullptr, nullptr, folder.path() / "volleys"};
  sessions sessions_of{journal, {}, folder.path() / "volleys"};
  id_source ids;
};

}  // namespace

TEST_CASE("what came of a volley's tasks is read by who has its lock") {
  volley_world x;
  const auto id = x.open({{.task = "a"}, {.task = "b"}}).id;
  x.journal->lock = x.lock_of(id);
  CHECK(x.all.reopen(id, {}, nullptr));
  CHECK(x.journal->reads == 2);
  CHECK(x.journal->unlocked == 0);
}

TEST_CASE("one process works on a volley, and leaves no lock behind") {
  volley_world x;
  std::string id;
  {
    const auto first = x.open({{.task = "a"}});
    id = first.id;
    CHECK(fs::exists(x.lock_of(id)));
    const auto second = x.all.reopen(id, {}, nullptr);
    REQUIRE_FALSE(second);
    CHECK(second.error().code == errc::session_busy);
  }
  CHECK_FALSE(fs::exists(x.lock_of(id)));
  CHECK(x.all.reopen(id, {}, nullptr));
  CHECK_FALSE(fs::exists(x.lock_of(id)));
}

TEST_CASE("a lock that a killed process left is taken, then removed") {
  volley_world x;
  const auto id = x.open({{.task = "a"}}).id;
  unique_fd{::open(x.lock_of(id).c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)};
  REQUIRE(fs::exists(x.lock_of(id)));
  CHECK(x.all.reopen(id, {}, nullptr));
  CHECK_FALSE(fs::exists(x.lock_of(id)));
}

TEST_CASE("the locks that killed processes left tell of their volleys") {
  volley_world x;
  const auto folder = x.folder.path() / "volleys";
  CHECK(left_volleys(folder).empty());
  CHECK(left_volleys({}).empty());
  const auto held = x.open({{.task = "a"}});
  for (const auto* name :
       {"volley_1.lock", "volley_2.lock", "other.lock", "volley_3"})
    unique_fd{
        ::open((folder / name).c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)};
  CHECK(left_volleys(folder) ==
        std::vector<std::string>{"volley_2", "volley_1"});
}

TEST_CASE("a task may run again while what it failed by may pass") {
  const error passes{errc::model_error, "model", "503", true};
  const error stays{errc::model_error, "model", "400", false};
  CHECK(tries_left(passes, 1, 2) == 2);
  CHECK(tries_left(passes, 2, 2) == 1);
  CHECK(tries_left(passes, 3, 2) == 0);
  CHECK(tries_left(passes, 1, 0) == 0);
  CHECK(tries_left(stays, 1, 2) == 0);
  CHECK(tries_left(std::nullopt, 1, 2) == 0);
}

TEST_CASE("what all tasks are told alike is on record once") {
  volley_world x;
  const std::string text(1000, 'x');
  volley_request asked;
  for (int i = 0; i < 100; ++i) asked.tasks.push_back({.task = "a"});
  asked.shared = {text, "given", {{"default", "here"}}};
  const auto opened = x.all.open(asked, x.ids, nullptr);
  REQUIRE(opened);
  const auto state = x.journal->load_state(session_id{opened->id});
  REQUIRE(state);
  const auto& record = state->at(volley_key);
  const auto at = record.find(text);
  CHECK(at != std::string::npos);
  CHECK(record.find(text, at + 1) == std::string::npos);
  const auto known = load_volley(*x.journal, opened->id);
  REQUIRE(known);
  CHECK(known->request.shared.context == text);
  CHECK(known->request.shared.given == "given");
  CHECK(known->request.shared.surroundings.at("default") == "here");
}

TEST_CASE("a part of a volley's id means its record") {
  volley_world x;
  x.add_run("run_1", "ses_aaaaaaaa1111",
            volley_world::task_of("volley_bbbbbbbb2222"));
  CHECK(x.sessions_of.find("2222")->value == "volley_bbbbbbbb2222");
  CHECK(x.sessions_of.find("volley_bbb")->value == "volley_bbbbbbbb2222");
  CHECK(x.sessions_of.find("1111")->value == "ses_aaaaaaaa1111");
  CHECK(x.sessions_of.find("3333").error().code == errc::not_found);
  // Who begins work means no record.
  const auto ids = x.sessions_of.newest();
  REQUIRE(ids);
  CHECK(x.sessions_of.find_among(*ids, "2222").error().code == errc::not_found);
  // One that has no run yet is known by all of its id.
  const auto fresh = x.open({{.task = "a"}}).id;
  CHECK(x.sessions_of.find(fresh)->value == fresh);
}

TEST_CASE("a lock whose file went away is not the next one's") {
  volley_world x;
  const auto folder = x.folder.path() / "volleys";
  const auto first = lock_volley(folder, "volley_a");
  REQUIRE(first);
  fs::remove(folder / "volley_a.lock");
  const auto second = lock_volley(folder, "volley_a");
  REQUIRE(second);
  const_cast<std::shared_ptr<volley_lock>&>(*first).reset();
  CHECK(fs::exists(folder / "volley_a.lock"));  // it is the second one's
}

TEST_CASE("an id that is no volley's makes no file") {
  volley_world x;
  const auto none = x.all.reopen("volley_none", {}, nullptr);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == errc::not_found);
  CHECK(x.sessions_of.remove(session_id{"volley_none"}).error().code ==
        errc::not_found);
  CHECK_FALSE(fs::exists(x.folder.path() / "volleys"));
}

TEST_CASE("what a task has cost is on record of all of its runs") {
  volley_world x;
  const auto id =
      x.open({{.task = "a", .session = session_id{"own"}}, {.task = "b"}}).id;
  const auto ran = [&](const std::string& run, std::uint64_t ordinal,
                       storage::run_state state, std::uint64_t tokens) {
    storage::run_record record;
    record.id = run_id{run};
    record.session = session_id{"own"};
    record.settings = x.task_of(id);
    REQUIRE(x.journal->open_run(record));
    record.ordinal = ordinal;
    record.state = state;
    record.usage.input_tokens = tokens;
    x.journal->append({record.id, {}, {record}}, [](const auto&) {});
    x.journal->release_all();
  };
  ran("run_1", 1, storage::run_state::failed, 100);
  ran("run_2", 2, storage::run_state::cancelled, 20);
  ran("run_3", 3, storage::run_state::completed, 3);
  const auto again = x.all.reopen(id, {}, nullptr);
  REQUIRE(again);
  const auto& result = again->tasks[0].result;
  CHECK(result.usage.input_tokens == 123);
  CHECK(result.runs == std::vector<run_id>{{"run_1"}, {"run_2"}, {"run_3"}});
  CHECK(result.run == run_id{"run_3"});
  CHECK(result.attempts == 3);
  CHECK(again->tasks[1].result.runs.empty());
}

TEST_CASE("a volley is deleted with the sessions that are only its own") {
  volley_world x;
  const auto id = x.open({{.task = "a", .session = session_id{"own"}},
                          {.task = "b", .session = session_id{"shared"}},
                          {.task = "c"}})
                      .id;
  x.add_run("run_1", "own", x.task_of(id));
  x.add_run("run_2", "shared", x.task_of(id));
  x.add_run("run_3", "shared", "{}");
  x.journal->loads = 0;
  const auto gone = x.sessions_of.remove(session_id{id});
  REQUIRE(gone);
  CHECK(x.journal->loads == 3);  // each member once
  CHECK(gone->sessions == 1);
  CHECK(gone->runs == 1);
  CHECK(gone->kept == 1);
  CHECK_FALSE(x.has_session("own"));
  CHECK(x.has_session("shared"));
  CHECK(x.journal->load_state(session_id{id})->empty());
  CHECK_FALSE(fs::exists(x.lock_of(id)));
  CHECK(x.sessions_of.remove(session_id{id}).error().code == errc::not_found);
}

TEST_CASE("a volley that somebody works on is not deleted") {
  volley_world x;
  auto works = x.open({{.task = "a", .session = session_id{"one"}},
                       {.task = "b", .session = session_id{"two"}}});
  x.add_run("run_1", "one", x.task_of(works.id));
  x.add_run("run_2", "two", x.task_of(works.id), false);
  const session_id id{works.id};
  CHECK(x.sessions_of.remove(id).error().code == errc::session_busy);
  works = {};
  // Its lock is free, but a run of it is under way: nothing is deleted.
  CHECK(x.sessions_of.remove(id).error().code == errc::session_busy);
  CHECK(x.has_session("one"));
  CHECK_FALSE(x.journal->load_state(id)->empty());
}

TEST_CASE("what the next steps of a plan may need is not deleted alone") {
  volley_world x;
  stored_request plan;
  plan.plan_session = session_id{"steps"};
  x.add_run("plan_1", "plan_1", to_json(plan), false);
  stored_request step;
  step.of_plan = run_id{"plan_1"};
  x.add_run("run_1", "steps", to_json(step));
  const auto no = x.sessions_of.remove(session_id{"steps"});
  REQUIRE_FALSE(no);
  CHECK(no.error().code == errc::session_busy);
  CHECK(no.error().message.find("delete plan_1 instead") != std::string::npos);
  CHECK(x.has_session("steps"));
}

TEST_CASE("a plan is deleted with the sessions of its steps") {
  volley_world x;
  stored_request plan;
  plan.plan_session = session_id{"steps"};
  x.add_run("plan_1", "plan_1", to_json(plan));
  stored_request step;
  step.of_plan = run_id{"plan_1"};
  x.add_run("run_1", "steps", to_json(step));
  const auto gone = x.sessions_of.remove(session_id{"plan_1"});
  REQUIRE(gone);
  CHECK(gone->sessions == 1);
  CHECK(gone->runs == 2);
  CHECK_FALSE(x.has_session("plan_1"));
  CHECK_FALSE(x.has_session("steps"));
}
