// SPDX-License-Identifier: MIT
// What is on record of single calls, and what their clients are told of it.
#include "runtime/service/single_call.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::service;

namespace {

const run_id asked_call{"plan_call_1"};

/// A journal with runs; those of single calls have one call that ended.
struct call_world {
  std::shared_ptr<storage::journal> journal = storage::make_memory_journal();
  sessions all{journal, {}};

  void open(const run_id& id, std::vector<storage::state_change> changes = {}) {
    storage::run_record run;
    run.id = id;
    run.session = session_id{id.value};
    run.task = "task";
    auto opened = journal->open_run(run);
    REQUIRE(opened);
    auto ended = opened->run;
    ended.state = storage::run_state::completed;
    changes.emplace_back(ended);
    std::optional<error> failed;
    journal->append({id, {}, std::move(changes)},
                    [&](auto why) { failed = std::move(why); });
    INFO((failed ? render(*failed) : ""));
    REQUIRE_FALSE(failed);
  }

  static storage::call_record call(const std::string& told) {
    storage::call_record x;
    x.call.id = {"call_1"};
    x.call.tool = "look";
    x.run = asked_call;
    x.stage = storage::call_stage::settled;
    x.told = told;
    return x;
  }

  mcp::call_end told(bool completed = true, bool links = true) {
    return told_of({asked_call, completed, "whole", "it failed"}, all, *journal,
                   links);
  }
};

}  // namespace

TEST_CASE("a client is told what a model would be, with its pictures") {
  call_world x;
  auto call = call_world::call("a picture");
  call.attachments = {{"a.png", "image/png", 3, "d1"},
                      {"b.png", "image/png", 3, "lost"}};
  x.open(asked_call,
         {call, storage::output_record{{"call_1"}, "a picture"},
          storage::file_record{session_id{asked_call.value}, "d1",
                               std::make_shared<const std::string>("png")}});
  const auto told = x.told();
  REQUIRE(told.files.size() == 1);
  CHECK(told.files[0].bytes == "png");
  CHECK(told.output.empty());
  // One that is lost is no success.
  CHECK_FALSE(told.good);
  CHECK(told.text.find("a picture\nb.png (image/png") == 0);
}

TEST_CASE("an output that was cut is linked to, for who may read it") {
  call_world x;
  x.open(asked_call,
         {call_world::call("be\n[the output was cut here; 5 bytes in all]"),
          storage::output_record{{"call_1"}, "begin"}});
  CHECK(x.told().good);
  CHECK(x.told().text.find("be\n[the output was cut here") == 0);
  CHECK(x.told().output == "riffle://outputs/call_1");
  CHECK(x.told().output_bytes == 5);
  CHECK(x.told(true, false).output.empty());
}

TEST_CASE("a call that failed says why, without the words of a plan") {
  call_world x;
  auto call =
      call_world::call("Error (tool_execution_error): exit status 1\n\nout");
  call.how = outcome::failed;
  call.err = error{errc::tool_execution_error, "look", "exit status 1"};
  x.open(asked_call, {call, storage::output_record{{"call_1"}, "out"}});
  CHECK_FALSE(x.told(false).good);
  CHECK(x.told(false).text == call.told);
  CHECK(x.told(false).output.empty());
  CHECK(without_step("look.json:1:2: step 1 \"look\": arguments: wrong") ==
        "arguments: wrong");
  CHECK(without_step("it was stopped") == "it was stopped");
}

TEST_CASE("lists of conversations are without single calls") {
  call_world x;
  x.open(run_id{"ses_1"});
  for (int i = 0; i < 9; ++i) x.open(run_id{"plan_call_" + std::to_string(i)});
  x.open(run_id{"plan_1"});
  const auto names = [&](std::size_t limit) {
    std::vector<std::string> out;
    const auto all = x.all.list(limit).value();
    for (const auto& one : all) out.push_back(one.id.value);
    return out;
  };
  CHECK(names(2) == std::vector<std::string>{"plan_1", "ses_1"});
  CHECK(names(1) == std::vector<std::string>{"plan_1"});
  CHECK(names(20) == std::vector<std::string>{"plan_1", "ses_1"});
}

TEST_CASE("nobody takes up again what a client waited for") {
  CHECK(is_waited_for(asked_call));
  CHECK(is_waited_for(run_id{"run_once_1"}));
  CHECK_FALSE(is_waited_for(run_id{"run_m1"}));
  CHECK_FALSE(is_waited_for(run_id{"plan_1"}));
}
