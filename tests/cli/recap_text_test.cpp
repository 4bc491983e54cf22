// SPDX-License-Identifier: MIT
// What stands there of a conversation that somebody goes on with, and of what
// fills the model's window.
#include "runtime/cli/view/recap_text.hpp"

#include "runtime/cli/view/context_text.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

void add(storage::session_snapshot& to, const std::string& task,
         const std::string& answer, storage::run_state state,
         std::uint32_t calls = 0) {
  storage::run_record run;
  run.id = {"run_" + std::to_string(to.runs.size())};
  run.task = task;
  run.state = state;
  run.tool_calls = calls;
  to.runs.push_back(run);
  storage::message_record said;
  said.run = run.id;
  said.text = task + "\n\nContext:\nall of a file";
  to.messages.push_back(said);
  said.role = storage::message_role::assistant;
  said.text = answer;
  if (!answer.empty()) to.messages.push_back(said);
}

}  // namespace

TEST_CASE("the last two tasks stand there, and how each ended") {
  using storage::run_state;
  storage::session_snapshot x;
  add(x, "first", "The first answer.", run_state::completed);
  add(x, "second", "", run_state::cancelled, 1);
  add(x, "third\nwith more\nand more\nand more\nand more",
      "# Title\n\nIt is **so**.", run_state::completed, 2);
  CHECK(recap_text(x, {60, true, false}) ==
        "\"first\"\n"
        "… 1 earlier task\n"
        "> second\n"
        "  1 tool call\n"
        "It was stopped.\n"
        "\n"
        "> third\n"
        "  with more\n"
        "  and more\n"
        "  … 2 more lines\n"
        "  2 tool calls\n"
        "# Title\n\nIt is **so**.\n");
  x.state["session_title"] = "\"My day\"";
  CHECK(recap_text(x, {60, false, false}).starts_with("\"My day\"\n"));
}

TEST_CASE("what has no end yet is not finished, or works elsewhere") {
  storage::session_snapshot x;
  add(x, "go", "", storage::run_state::active);
  CHECK(recap_text(x, {60}) == "\"go\"\n> go\nIt was not finished.\n");
  // An offer says so, and shows what was said if it is taken.
  storage::session_snapshot offered;
  add(offered, "go", "So far.", storage::run_state::active);
  const recap_options how{.columns = 60, .offer_follows = true};
  CHECK(recap_text(offered, how) == "\"go\"\n> go\n");
  CHECK(declined_text(offered, how) == "So far.\n");
  CHECK(declined_text({}, how).empty());
  CHECK(recap_text(x, {60, false, false, true}) ==
        "\"go\"\n> go\nIt works in another terminal.\n");
  CHECK(recap_text(x, {.columns = 60,
                       .worked_on = true,
                       .question = "write a\n  riffle proposals approve p"}) ==
        "\"go\"\n> go\nIt waits for a decision in another terminal: write a\n"
        "  riffle proposals approve p\n");
}

TEST_CASE("an offer that was declined leaves all that its run said and did") {
  storage::session_snapshot x;
  add(x, "go", "I look.", storage::run_state::active, 2);
  auto& first = x.messages.back();
  for (const auto* id : {"c1", "c2"}) {
    auto& one = x.calls.emplace_back();
    one.run = first.run;
    one.call.id = {id};
    first.calls.push_back(one.call.id);
    one.call.tool = "bash";
    one.call.arguments = R"({"command": "make )" + std::string{id} + "\"}";
  }
  recap_options how{.columns = 60, .offer_follows = true, .cut = "It is so"};
  const std::string all =
      "I look.\n  bash: make c1\n  bash: make c2\nIt is so\n";
  CHECK(declined_text(x, how) == all);
  // Without an offer the last words alone stand there.
  how.offer_follows = false;
  CHECK(recap_text(x, how) ==
        "\"go\"\n> go\n  2 tool calls\nIt is so\nIt was not finished.\n");
  // What has ended has its words on record.
  x.runs.back().state = storage::run_state::cancelled;
  CHECK(declined_text(x, how) == "I look.\n  bash: make c1\n  bash: make c2\n");
  x.runs.back().state = storage::run_state::active;
  how.cut.clear();
  for (int i = 1; i <= 40; ++i) how.cut += "line " + std::to_string(i) + "\n";
  const auto end = declined_text(x, how);
  CHECK(end.starts_with("… 19 lines before\nline 17\n"));
  CHECK(end.ends_with("line 40\n"));
}

TEST_CASE("of a long answer the end stands there") {
  storage::session_snapshot x;
  std::string answer;
  for (int i = 1; i <= 30; ++i) answer += "line " + std::to_string(i) + "\n";
  add(x, "go", answer, storage::run_state::completed);
  const auto text = recap_text(x, {60, true, false});
  CHECK(text.starts_with("\"go\"\n> go\n… 18 lines before\nline 19\n"));
  CHECK(text.ends_with("line 30\n"));
}

TEST_CASE("the window is told in tokens, and what fills it") {
  storage::session_snapshot x;
  add(x, std::string(4000, 'a'), std::string(400, 'b'),
      storage::run_state::completed);
  storage::call_record call;
  call.told = std::string(40'000, 'c');
  x.calls.push_back(call);
  context_use use;
  use.window = 128'000;
  use.instructions = 500;
  use.tools = 7'300;
  add_session(use, x);
  CHECK(context_text(use) ==
        "The window holds about 19k of 128k tokens (14%)\n"
        "     500  instructions\n"
        "    7.3k  descriptions of tools\n"
        "    1.0k  what you said, with files\n"
        "     100  what the model said\n"
        "     10k  what tools gave back\n");
  use.assumed_without = "models.default.context_window";
  CHECK(context_text(use).find(
            "tokens (14%)\n128k is assumed: models.default.context_window sets "
            "it\n     500  instructions") != std::string::npos);
  use.assumed_without.clear();
  use.window = 16'000;
  const auto full = context_text(use);
  CHECK(full.starts_with(
      "All of it is about 19k tokens, and the model takes 16k of them at "
      "most\n"));
  CHECK(full.find("left out, the oldest first") != std::string::npos);
  CHECK(full.find('%') == std::string::npos);
  use.window = 0;
  CHECK(context_text(use).starts_with(
      "The window holds about 19k tokens; how many the model takes is not "
      "known\n"));
}

TEST_CASE("cut is what may have acted and does not run again") {
  storage::session_snapshot x;
  const run_id run{"run_1"};
  const auto add = [&](const char* id, storage::call_stage stage) -> auto& {
    auto& call = x.calls.emplace_back();
    call.call.id = {id};
    call.run = run;
    call.stage = stage;
    return call;
  };
  using enum storage::call_stage;
  add("cut", intent);
  add("waits", waiting);
  add("ended", settled);
  add("reads", intent).call.eff = effect::read_only;
  add("again", intent).call.idempotent = true;
  add("other", intent).run = {"run_2"};
  const auto found = cut_calls(x, run);
  REQUIRE(found.size() == 1);
  CHECK(found.front()->call.id == call_id{"cut"});
  CHECK(cut_calls(x, {"run_3"}).empty());
}

TEST_CASE("cut calls are named, of many the first") {
  CHECK(cut_calls_text({}, 80).empty());
  CHECK(cut_calls_text({"bash: make"}, 80) ==
        "1 call was under way when Riffle ended; nobody knows how far it "
        "came:\n  bash: make\n");
  std::vector<std::string> names(7, "write: " + std::string(60, 'x'));
  const auto text = cut_calls_text(names, 40);
  CHECK(text.starts_with(
      "7 calls were under way when Riffle ended; nobody knows how far each "
      "came:\n  write: xxx"));
  CHECK(text.ends_with("…\n  … 2 more\n"));
}

TEST_CASE("of a run that failed it is said why") {
  using storage::run_state;
  storage::session_snapshot x;
  add(x, "first", "", run_state::failed);
  add(x, "second", "", run_state::failed);
  recap_options how{60, true, false};
  CHECK(recap_text(x, how).ends_with("> second\nIt failed.\n"));
  how.failure = "HTTP 400 (model_error)";
  const auto text = recap_text(x, how);
  CHECK(text.ends_with("> second\nIt failed: HTTP 400 (model_error)\n"));
  // Of the last one alone is that known.
  CHECK(text.find("> first\nIt failed.\n") != std::string::npos);
}
