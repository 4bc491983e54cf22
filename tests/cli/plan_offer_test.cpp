// SPDX-License-Identifier: MIT
// A plan that was killed is offered by `riffle plan` with the same file, and a
// person says what becomes of the step that was cut.
#include "runtime/cli/commands/plan_offer.hpp"

#include <fstream>
#include <iterator>

#include "tests/cli/parsing.hpp"
#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle;
using namespace riffle::cli;
using testing::temp_folder;
using testing::terminal_picture;
using testing::terminal_program;

namespace {

constexpr auto document =
    R"({"steps":[{"tool":"read"},{"id":"deploy","tool":"bash"},)"
    R"({"id":"tell","tool":"bash","on_error":"retry"}]})";

/// A plan whose step with this number works on a call.
storage::session_snapshot plan_at(std::uint32_t step) {
  storage::session_snapshot x;
  x.session = session_id{"plan_1"};
  storage::run_record run;
  run.id = run_id{"plan_1"};
  run.session = x.session;
  run.step = step;
  run.started = wall_time{10'000'000};
  x.runs.push_back(run);
  storage::message_record first;
  first.run = run.id;
  first.text = document;
  x.messages.push_back(first);
  storage::call_record call;
  call.run = run.id;
  call.call.tool = "bash";
  call.call.step = step;
  call.stage = storage::call_stage::intent;
  x.calls.push_back(call);
  return x;
}

/// A folder with a plan that was killed in its first step.
struct place {
  place() {
    folder.write("riffle.toml", "[runtime]\ndata_dir = \"data\"\n");
    folder.write("p.toml", R"toml(
[[steps]]
id = "deploy"
tool = "bash"
arguments = { command = "echo once >> ran; test -e go || sleep 60" }

[[steps]]
id = "tell"
tool = "bash"
arguments = { command = "echo told > told" }
)toml");
    terminal_program killed{
        folder.path(), {"plan", "--approve", "all", "p.toml"}, 100};
    REQUIRE(killed.read_until("[PLAN] plan_"));
    while (text_of("ran").empty()) REQUIRE(killed.read_next("— "));
    folder.write("go", "");
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in{folder.path() / name};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  [[nodiscard]] std::vector<std::string> again() const {
    return {"plan", "--approve", "all", "p.toml"};
  }
  temp_folder folder;
};

}  // namespace

TEST_CASE("the step that was cut is the open one that may have acted") {
  CHECK(cut_step_of(plan_at(1)) == cut_step{1, "1", "bash"});
  CHECK(cut_step_of(plan_at(2)) == cut_step{2, "deploy", "bash"});
  // The plan itself says what becomes of the third.
  CHECK_FALSE(cut_step_of(plan_at(3)));
  CHECK_FALSE(cut_step_of({}));
  auto x = plan_at(2);
  x.calls[0].stage = storage::call_stage::waiting;  // it had not begun
  CHECK_FALSE(cut_step_of(x));
  x.calls[0].stage = storage::call_stage::settled;
  CHECK_FALSE(cut_step_of(x));
  x = plan_at(2);
  x.calls[0].call.eff = effect::read_only;
  CHECK_FALSE(cut_step_of(x));
  x = plan_at(2);
  x.calls[0].call.idempotent = true;
  CHECK_FALSE(cut_step_of(x));
  x = plan_at(2);
  x.calls[0].call.step = 1;
  CHECK_FALSE(cut_step_of(x));
  x = plan_at(2);
  x.runs[0].state = storage::run_state::failed;
  CHECK_FALSE(cut_step_of(x));
  x = plan_at(2);
  x.runs[0].turn_committed = true;  // the step is over
  CHECK_FALSE(cut_step_of(x));
  // Stopped, with what its call came to.
  x = plan_at(2);
  x.runs[0].state = storage::run_state::cancelled;
  CHECK_FALSE(cut_step_of(x));
  x.calls[0].stage = storage::call_stage::settled;
  x.calls[0].attempt = 1;
  x.calls[0].how = outcome::cancelled;
  CHECK(cut_step_of(x) == cut_step{2, "deploy", "bash"});
  x.calls[0].how = outcome::ok;
  CHECK_FALSE(cut_step_of(x));
  x = plan_at(2);
  x.runs[0].id = run_id{"run_1"};  // and this is no plan
  CHECK_FALSE(cut_step_of(x));
}

TEST_CASE("what is said of a plan that was not finished names its step") {
  CHECK(interrupted_plan_text(plan_at(2), wall_time{195'000'000}) ==
        "This plan was not finished: plan_1 (at step 2 of 3, \"deploy\", begun "
        "3m 05s ago).");
  CHECK(interrupted_plan_text(plan_at(0), wall_time{11'000'000}) ==
        "This plan was not finished: plan_1 (begun 1s ago).");
}

TEST_CASE("sessions resume takes what a failed step of a plan does") {
  using testing::parsed;
  const auto of = [](const char* word) {
    return parsed<resume_command>(
               {"sessions", "resume", "plan_1", "--on-error", word})
        .choices.on_error;
  };
  CHECK(of("stop") == step_failure::stop);
  CHECK(of("continue") == step_failure::go_on);
  CHECK(of("retry") == step_failure::retry);
  CHECK_FALSE(parsed<resume_command>({"sessions", "resume", "plan_1"})
                  .choices.on_error);
  CHECK(testing::has(
      testing::refused({"sessions", "resume", "plan_1", "--on-error", "again"}),
      "--on-error"));
}

TEST_CASE("a plan that was killed is offered by the same file, and goes on") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const place x;
  const std::string said = GENERATE("y", "n", "c");
  CAPTURE(said);
  terminal_program next{x.folder.path(), x.again(), 100};
  REQUIRE(next.read_until("This plan was not finished: plan_"));
  REQUIRE(next.read_until("(at step 1 of 2, \"deploy\", begun "));
  REQUIRE(next.read_until(
      "Go on with it? (a letter and Enter) [y]es, [n]o: from its first step, "
      "ne[v]er > "));
  next.type("y\n");
  REQUIRE(
      next.read_next("Step 1 (deploy: bash) was cut while it worked: "
                     "nobody knows how far it came."));
  REQUIRE(next.read_next("step > "));
  next.type(said + "\n");
  CHECK(next.finish() == (said == "n" ? 1 : 0));
  CHECK(x.text_of("ran") == (said == "y" ? "once\nonce\n" : "once\n"));
  CHECK(x.text_of("told") == (said == "n" ? "" : "told\n"));
  if (said == "n")
    CHECK(next.written().find("look how far it came") != std::string::npos);
  // It has ended, and is not offered again.
  terminal_program third{x.folder.path(), x.again(), 100};
  CHECK(third.finish() == 0);
  CHECK(third.written().find("not finished") == std::string::npos);
}

TEST_CASE("who does not want to go on begins anew, or never hears of it") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const place x;
  const bool never = GENERATE(true, false);
  CAPTURE(never);
  terminal_program next{x.folder.path(), x.again(), 100};
  REQUIRE(next.read_until("ne[v]er > "));
  next.type(never ? "v\n" : "n\n");
  if (never) REQUIRE(next.read_next(" is cancelled; it begins anew"));
  REQUIRE(next.read_next("[PLAN] plan_"));
  CHECK(next.finish() == 0);
  CHECK(x.text_of("ran") == "once\nonce\n");
  CHECK(x.text_of("told") == "told\n");
  terminal_program third{x.folder.path(), x.again(), 100};
  if (!never) {
    REQUIRE(third.read_until("ne[v]er > "));
    third.type("n\n");
  }
  CHECK(third.finish() == 0);
  CHECK((third.written().find("not finished") == std::string::npos) == never);
}

TEST_CASE("sessions resume asks at a terminal about the step that was cut") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const place x;
  terminal_program first{
      x.folder.path(), {"sessions", "list", "--output", "jsonl"}, 200};
  CHECK(first.finish() == 0);
  const auto at = first.written().find("plan_0");
  REQUIRE(at != std::string::npos);
  const auto id = first.written().substr(at, 31);
  terminal_program next{
      x.folder.path(), {"sessions", "resume", id, "--approve", "all"}, 100};
  REQUIRE(next.read_until("step > "));
  next.type("yes\n");
  CHECK(next.finish() == 0);
  CHECK(x.text_of("ran") == "once\nonce\n");
  CHECK(x.text_of("told") == "told\n");
}

TEST_CASE("run offers a plan that was killed with the same question") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const place x;
  x.folder.write("s.toml", "[[steps]]\ntext = \"Said.\"\n");
  x.folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
  terminal_program next{x.folder.path(), {"run", "go"}, 130};
  REQUIRE(next.read_until("A plan of this folder was not finished: plan_"));
  REQUIRE(next.read_until("(at step 1 of 2, \"deploy\", begun "));
  REQUIRE(next.read_until(
      "Finish it first? (a letter and Enter) [y]es, [n]o, ne[v]er > "));
  next.type("y\n");
  REQUIRE(next.read_next("step > "));
  next.type("c\n");
  REQUIRE(next.read_next("[s]top the plan, [?] > "));  // about the next one
  next.answer("y");
  REQUIRE(next.read_next("Now your task: go"));
  REQUIRE(next.read_next("Said."));
  CHECK(next.finish() == 0);
  terminal_picture picture{130};
  picture.feed(next.written());
  const auto all = picture.text();
  CAPTURE(all);
  CHECK(all.find("\n\nNow your task: go\n") != std::string::npos);
  CHECK(x.text_of("ran") == "once\n");
  CHECK(x.text_of("told") == "told\n");
}
