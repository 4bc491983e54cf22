// SPDX-License-Identifier: MIT
// What a session did to files, by its log; and what was taken back of it is
// told once.
#include "runtime/service/file_changes.hpp"

#include <nlohmann/json.hpp>

#include "messages/event_line.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_journal.hpp"

using namespace riffle;
using namespace riffle::service;
using riffle::testing::test_journal;

namespace {

struct call {
  std::string id;
  std::string tool;
  std::string metadata{};
  outcome how = outcome::ok;
  effect eff = effect::mutating;
  std::string node{};
  std::string command{};
};

struct written_log {
  void add(const std::string& run, const std::vector<call>& calls) {
    storage::run_record record;
    record.id = {run};
    record.session = {"s"};
    record.settings = R"({"folder":"/of/)" + run + R"("})";
    REQUIRE(journal->open_run(record));
    event_writer writer{run_id{run}};
    std::string lines;
    std::uint64_t seq = 0;
    storage::commit_unit unit;
    unit.run = {run};
    for (const auto& x : calls) {
      events::tool_call began;
      began.id = {x.id};
      began.tool = x.tool;
      began.node = x.node;
      writer.add(lines, ++seq, began);
      events::tool_result ended;
      ended.id = {x.id};
      ended.tool = x.tool;
      ended.how = x.how;
      ended.metadata = x.metadata;
      writer.add(lines, ++seq, ended);
      storage::call_record kept;
      kept.call.id = {x.id};
      kept.call.tool = x.tool;
      kept.call.title = "Doing " + x.id;
      kept.call.eff = x.eff;
      kept.call.arguments = x.command.empty()
                                ? R"({"path": "raw )" + x.id + R"("})"
                                : nlohmann::json{{"command", x.command}}.dump();
      kept.run = {run};
      kept.attempt = 1;
      kept.stage = storage::call_stage::settled;
      kept.how = x.how;
      unit.changes.emplace_back(kept);
    }
    if (seq > 0)
      unit.block = storage::event_block{
          1, seq, std::make_shared<const std::string>(std::move(lines))};
    record.ordinal = ++runs;
    record.state = storage::run_state::completed;
    unit.changes.emplace_back(record);
    journal->append(std::move(unit), [](const auto&) {});
    journal->release_all();
  }
  std::uint64_t runs = 0;
  std::shared_ptr<test_journal> journal = std::make_shared<test_journal>();
};

constexpr auto changed =
    R"({"path":"a","diff":"@@ -1 +1 @@\n-x\n+y\n","added":1,"removed":1,)"
    R"("digest_before":"sha256 1","digest_after":"sha256 2"})";

}  // namespace

TEST_CASE("the log tells which calls changed which files") {
  written_log x;
  x.add("r1", {{"c1", "edit", changed},
               {"c2", "edit", changed, outcome::failed},
               {"c3", "bash"},
               {"c4", "bash", "", outcome::ok, effect::read_only},
               {"c5", "manage_plan"}});
  x.add("r2",
        {{"c6", "write", R"({"path":"b","added":9,"diff_truncated":true})",
          outcome::ok, effect::mutating, "gpu"},
         {"c7", "write", "", outcome::interrupted},
         {"c8", "other", changed}});
  const auto session = x.journal->load_session({"s"});
  REQUIRE(session);
  const auto all = changes_of(*x.journal, *session);
  REQUIRE(all);
  CHECK(all->files == std::vector<file_change>{{.run = {"r1"},
                                                .call = {"c1"},
                                                .tool = "edit",
                                                .path = "raw c1",
                                                .folder = "/of/r1",
                                                .diff = "@@ -1 +1 @@\n-x\n+y\n",
                                                .added = 1,
                                                .removed = 1,
                                                .before = "sha256 1",
                                                .after = "sha256 2"},
                                               {.run = {"r2"},
                                                .call = {"c6"},
                                                .tool = "write",
                                                .path = "raw c6",
                                                .folder = "/of/r2",
                                                .cut = true,
                                                .added = 9,
                                                .node = "gpu"}});
  CHECK(all->others == std::vector<other_call>{{{"r1"}, "bash", "Doing c3"},
                                               {{"r2"}, "write", "Doing c7"},
                                               {{"r2"}, "other", "Doing c8"}});
}

TEST_CASE("commands that only read, joined or not, have changed nothing") {
  written_log x;
  const auto bash = [](const std::string& command) {
    return call{.id = command, .tool = "bash", .command = command};
  };
  x.add("r1", {bash("git log | head -5"), bash("cat a && head b; ls"),
               bash("cat ../a"), bash("cd src && grep -rn x . 2>&1 | wc -l"),
               bash("cat a > b"), bash("cat a | tee b"), bash("sort -o a a"),
               bash("git log; make"), bash("cat $(make)")});
  const auto session = x.journal->load_session({"s"});
  REQUIRE(session);
  const auto all = changes_of(*x.journal, *session);
  REQUIRE(all);
  std::vector<std::string> titles;
  for (const auto& one : all->others) titles.push_back(one.title);
  CHECK(titles ==
        std::vector<std::string>{"Doing cat a > b", "Doing cat a | tee b",
                                 "Doing sort -o a a", "Doing git log; make",
                                 "Doing cat $(make)"});
}

TEST_CASE("what was taken back is kept as a value, run by run") {
  taken_back x = with({}, {"r2"}, {"r3"}, {"a", "b"});
  x = with(x, {"r1"}, {"r3"}, {"b", "c"});
  CHECK(x == taken_back{{{"r2"}, {"r1"}}, {"r3"}, {"a", "b", "c"}});
  CHECK(taken_back_of({{taken_back_key, json_of(x).dump()}}) == x);
  // Those are told by then.
  CHECK(with(x, {"r4"}, {"r4"}, {"d"}).files == std::vector<std::string>{"d"});
  CHECK(taken_back_of({}) == taken_back{});
  CHECK(taken_back_of({{taken_back_key, "nonsense"}}) == taken_back{});
}

TEST_CASE("the next task tells the model what was taken back, no later one") {
  written_log x;
  x.add("r1", {{"c1", "edit", changed}});
  const auto told = [&] {
    run_request asked;
    asked.context = "given";
    tell_taken_back(*x.journal, {"s"}, asked);
    return asked.context;
  };
  CHECK(told() == "given");
  const auto act = with({}, {"r1"}, {"r1"}, {"a.cpp"});
  REQUIRE(x.journal->set_state({{"s"}, taken_back_key, json_of(act).dump()}));
  CHECK(told().starts_with("given\n\nThe user has taken back what your calls"));
  CHECK(told().find("\"a.cpp\". What commands did") != std::string::npos);
  x.add("r2", {});
  CHECK(told() == "given");
}
