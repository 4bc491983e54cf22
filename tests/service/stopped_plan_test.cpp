// SPDX-License-Identifier: MIT
// Plans that go on one from the other are found, and deleted, together.
#include "runtime/service/stopped_plan.hpp"

#include <algorithm>
#include <future>
#include <memory>
#include <vector>

#include "runtime/service/sessions.hpp"
#include "runtime/service/stored_request.hpp"
#include "runtime/storage/sqlite.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using service::newest_of_family;
using service::next_plan;

namespace {

const run_id first{"plan_01k0000000aaaaaaaaaaaaaaaa"};
const run_id second = next_plan(first);
const run_id third = next_plan(second);
const run_id other{"plan_01k0000000bbbbbbbbbbbbbbbb"};

/// One that was stopped.
void add(storage::journal& to, const run_id& plan, const run_id& from = {}) {
  service::stored_request how;
  how.goes_on_from = from;
  storage::run_record x;
  x.id = plan;
  x.session = {plan.value};
  x.task = "a plan";
  x.settings = service::to_json(how);
  auto opened = to.open_run(x);
  REQUIRE(opened);
  opened->run.state = storage::run_state::cancelled;
  std::promise<bool> done;
  to.append({plan, {}, {opened->run}},
            [&](const auto& failure) { done.set_value(!failure); });
  REQUIRE(done.get_future().get());
}

}  // namespace

TEST_CASE("plans that go on one from the other are named by what they share") {
  const auto journal = storage::make_memory_journal();
  add(*journal, first);
  add(*journal, second, first);
  add(*journal, third, second);
  CHECK(second.value.starts_with(first.value.substr(0, 15)));
  CHECK(newest_of_family(*journal, {first, second, third}) == third);
  CHECK(newest_of_family(*journal, {third, first}) == third);
  CHECK(newest_of_family(*journal, {second, first}) == third);
  // A stranger that began in the same moment, and a session.
  add(*journal, other);
  CHECK_FALSE(newest_of_family(*journal, {first, second, third, other}));
  CHECK_FALSE(newest_of_family(*journal, {first, run_id{"ses_01k0000000"}}));
  CHECK_FALSE(newest_of_family(*journal, {}));
}

TEST_CASE("a plan that cannot be read goes with those around it") {
  const testing::temp_folder folder;
  const auto data = folder.path() / "data";
  const auto open = [&] {
    auto out = storage::open_sqlite_journal(data, storage::durability::process);
    REQUIRE(out);
    return *std::move(out);
  };
  {
    const auto journal = open();
    add(*journal, first);
    add(*journal, second, first);
    add(*journal, third, second);
    add(*journal, other);
  }
  storage::sqlite::database{data / "riffle.db", std::chrono::seconds{1}}
      .execute("UPDATE runs SET crc = crc + 1 WHERE n = 2");
  const std::shared_ptr<storage::journal> journal = open();
  const service::sessions all{journal, {}};
  const auto left = [&] {
    auto out = journal->list_sessions(10);
    REQUIRE(out);
    std::ranges::sort(*out);
    return *out;
  };
  REQUIRE(left().size() == 4);
  SECTION("from the oldest all of them") {
    REQUIRE(all.remove(session_id{first.value}));
    CHECK(left() == std::vector{session_id{other.value}});
  }
  SECTION("not by itself, where another goes on from it") {
    const auto refused = all.remove(session_id{second.value});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("delete " + third.value) !=
          std::string::npos);
    CHECK(left().size() == 4);
  }
  SECTION("from the newest those that it names, which no other needs") {
    REQUIRE(all.remove(session_id{third.value}));
    CHECK(left() ==
          std::vector{session_id{first.value}, session_id{other.value}});
  }
}
