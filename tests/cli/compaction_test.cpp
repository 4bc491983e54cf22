// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/compaction.hpp"

#include "runtime/service/stored_request.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using cli::summary_of;

namespace {

storage::run_record of_task(const std::string& id, std::string_view task,
                            std::string_view context) {
  storage::run_record x;
  x.id = run_id{id};
  x.task = task;
  x.state = storage::run_state::completed;
  service::stored_request from;
  from.request.context = context;
  x.settings = service::to_json(from);
  return x;
}

storage::message_record its_answer(const std::string& run,
                                   const std::string& text) {
  storage::message_record x;
  x.run = run_id{run};
  x.role = storage::message_role::assistant;
  x.text = text;
  return x;
}

}  // namespace

TEST_CASE("a session that was summed up last goes on with its summary") {
  storage::session_snapshot x;
  CHECK_FALSE(summary_of(x));
  x.runs = {of_task("a", "work", ""),
            of_task("b", cli::compact_task, cli::compact_context)};
  x.messages = {its_answer("a", "done"), its_answer("b", "We worked.")};
  CHECK(summary_of(x) == "What came before, summed up:\nWe worked.");
  SECTION("not where it went on behind that") {
    x.runs.push_back(of_task("c", "more", ""));
    CHECK_FALSE(summary_of(x));
  }
  SECTION("not of one that did not end well") {
    x.runs.back().state = storage::run_state::cancelled;
    CHECK_FALSE(summary_of(x));
  }
  SECTION("not of a person's own words") {
    x.runs.back() = of_task("b", cli::compact_task, "");
    CHECK_FALSE(summary_of(x));
  }
  SECTION("not where nothing was said") {
    x.messages.pop_back();
    CHECK_FALSE(summary_of(x));
  }
}
