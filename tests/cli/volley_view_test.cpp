// SPDX-License-Identifier: MIT
#include "runtime/cli/view/volley_view.hpp"

#include <algorithm>

#include "runtime/cli/terminal/erasure.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace std::chrono_literals;

namespace {

const time_point start = time_point{} + 1h;

std::string bytes(const screen_writes& all, bool to_out = false) {
  std::string out;
  for (const auto& x : all)
    if (x.to_out == to_out) out += x.bytes;
  return out;
}

event with(events::body body) {
  event x;
  x.body = std::move(body);
  return x;
}

event call_of(const std::string& id, const std::string& title) {
  events::tool_call x;
  x.id = {id};
  x.tool = "read";
  x.title = title;
  x.arguments = R"({"path":"a"})";
  return with(x);
}

task_result ended(std::size_t task, task_status status) {
  task_result x;
  x.task = task;
  x.status = status;
  x.attempts = status == task_status::not_run ? 0 : 1;
  return x;
}

view_options at_terminal() {
  view_options x;
  x.status = true;
  return x;
}

}  // namespace

TEST_CASE("a task took what its events say, however late they are seen") {
  constexpr std::int64_t second = 1'000'000;
  volley_view x{{}, {"first"}, wall_time{100 * second}};
  x.begun(0, false, start, {});
  auto event = with(events::run_started{});
  for (const std::int64_t at : {40, 101, 103}) {
    event.at = {at * second};
    x.on(0, event, {});
  }
  CHECK(bytes(x.over(ended(0, task_status::completed), start + 11s, {})) ==
        "[1/1] ✓ first (2.0s)\n");
}

TEST_CASE("each task says when it begins and how it ended") {
  volley_view x{{}, {"first\nline", "second", "third", "fourth"}};
  CHECK(bytes(x.begun(0, false, start, {})) == "[1/4] ▶ first line\n");
  CHECK(bytes(x.begun(1, false, start + 1s, {})) == "[2/4] ▶ second\n");
  CHECK(bytes(x.over(ended(0, task_status::completed), start + 2400ms, {})) ==
        "[1/4] ✓ first line (2.4s)\n");
  auto failed = ended(1, task_status::failed);
  failed.attempts = 2;
  failed.failure = error{errc::model_unreachable, "m", "nobody there"};
  CHECK(bytes(x.begun(1, true, start + 3s, {})) == "[2/4] ↻ second\n");
  CHECK(bytes(x.over(failed, start + 4s, {})) ==
        "[2/4] ✗ second (3.0s), 2 runs\n"
        "        nobody there (model_unreachable)\n");
  CHECK(bytes(x.over(ended(2, task_status::not_run), start, {})) ==
        "[3/4] · third\n        not run\n");
  CHECK(bytes(x.over(ended(3, task_status::not_run), start, {})) ==
        "[4/4] · fourth\n        not run\n");
}

TEST_CASE("a task that had ended before is not told again") {
  volley_view x{{}, {"first", "second"}};
  auto old = ended(0, task_status::completed);
  old.run = run_id{"run_1"};
  CHECK(bytes(x.over(old, start, {})).empty());
  // One whose run could not begin is.
  auto refused = ended(1, task_status::failed);
  refused.failure = error{errc::invalid_config, "m", "no key"};
  CHECK(bytes(x.over(refused, start, {})) ==
        "[2/2] ✗ second\n        no key (invalid_config)\n");
}

TEST_CASE("traces say whose they are") {
  volley_view x{{}, {"a", "b"}};
  x.begun(1, false, start, {});
  events::tool_result result;
  result.id = {"c1"};
  result.tool = "read";
  result.how = outcome::failed;
  result.err = error{errc::tool_execution_error, "read", "no such file"};
  x.on(1, call_of("c1", "Reading a"), {});
  const auto text = bytes(x.on(1, with(result), {}));
  CHECK(text.starts_with("[2/2] [TOOL] read: a"));
  CHECK(text.ends_with("\n"));
  // The end is told by `over`, and an id by -v.
  CHECK(bytes(x.on(1, with(events::run_finished{}), {})).empty());
  CHECK(bytes(x.on(1, with(events::run_started{}), {})).empty());
  view_options verbose;
  verbose.level = verbosity::verbose;
  volley_view y{verbose, {"a"}};
  y.begun(0, false, start, {});
  CHECK_FALSE(bytes(y.on(0, with(events::run_started{}), {})).empty());
}

TEST_CASE("a task that went well tells which of its calls did not") {
  volley_view x{at_terminal(), {"a", "b"}};
  x.begun(0, false, start, {80, 24});
  const auto end_of = [&](const std::string& id, outcome how) {
    x.on(0, call_of(id, "Reading a"), {80, 24});
    events::tool_result result;
    result.id = {id};
    result.tool = "read";
    result.how = how;
    if (how != outcome::ok)
      result.err = error{errc::tool_execution_error, "read", "no " + id};
    x.on(0, with(result), {80, 24});
  };
  end_of("c1", outcome::ok);
  end_of("c2", outcome::failed);
  end_of("c3", outcome::denied);
  const auto said =
      bytes(x.over(ended(0, task_status::completed), start + 1s, {80, 24}));
  CAPTURE(said);
  CHECK(said.find("✓ a (1.0s, 3 calls, 1 denied, 1 failed)") !=
        std::string::npos);
  CHECK(said.find("no c2") != std::string::npos);
  CHECK(said.find("no c3") != std::string::npos);
  CHECK(said.find("[TOOL] read: a — ") == std::string::npos);  // what went well
}

TEST_CASE("what was decided elsewhere stays below the question") {
  volley_view x{at_terminal(), {"a", "b"}};
  x.begun(0, false, start, {80, 24});
  for (const std::string by : {"user", "rule bash: ls*", "me"}) {
    CAPTURE(by);
    const auto id = "c_" + by;
    x.on(0, call_of(id, "Reading a"), {80, 24});
    events::approval_required asked;
    asked.proposal = {"p_" + by};
    asked.id = {id};
    x.on(0, with(asked), {80, 24});
    const bool here = by == "me";
    if (here) x.stands_asked(asked.proposal, {});
    if (here) x.decided_here(asked.proposal);
    events::approval_resolved decided;
    decided.proposal = {"p_" + by};
    decided.id = {id};
    decided.how = events::proposal_outcome::approved;
    decided.by = here ? "user" : by;
    const auto said = bytes(x.on(0, with(decided), {80, 24}));
    CHECK((said.find("approved elsewhere") != std::string::npos) ==
          (by == "user"));
    if (here) CHECK(said.empty());
  }
}

TEST_CASE("quiet says nothing of tasks") {
  view_options quiet;
  quiet.level = verbosity::quiet;
  volley_view x{quiet, {"a"}};
  CHECK(bytes(x.begun(0, false, start, {})).empty());
  CHECK(bytes(x.over(ended(0, task_status::failed), start, {})).empty());
}

TEST_CASE("a terminal shows a line for each task that runs, and their sum") {
  volley_view x{at_terminal(), std::vector<std::string>(30, "task")};
  for (std::size_t i = 0; i < 8; ++i) x.begun(i, false, start, {80, 12});
  x.on(2, call_of("c1", "Reading notes"), {80, 12});
  const auto drawn = bytes(x.tick(start + 2s, {80, 12}));
  CHECK(drawn.find("[1/30] ") != std::string::npos);
  CHECK(drawn.find("Reading notes") != std::string::npos);
  CHECK(drawn.find("[6/30] ") == std::string::npos);  // half of the rows
  CHECK(drawn.find("0/30 ended, 3 more run, 22 wait") != std::string::npos);
  // The cursor goes back to the first line, to erase all of them.
  CHECK(std::ranges::count(drawn, '\n') == 5);
  CHECK(drawn.ends_with("\r\x1b[5A"));
  const auto next =
      bytes(x.over(ended(0, task_status::completed), start + 3s, {80, 12}));
  CHECK(next.starts_with(erase_rows));
  const auto again = bytes(x.tick(start + 4s, {80, 12}));
  CHECK(again.find("1/30 ended, 2 more run, 22 wait") != std::string::npos);
  CHECK(again.find("[------------------] 1/30 ended") != std::string::npos);
  CHECK(again.find("left") != std::string::npos);
  x.cancelling();
  CHECK(bytes(x.tick(start + 5s, {80, 12})).find("cancelling") !=
        std::string::npos);
}

TEST_CASE("no line is wider than the terminal") {
  for (const std::size_t columns : {20, 60, 80, 200}) {
    volley_view x{at_terminal(),
                  std::vector<std::string>(40, std::string(300, 'w'))};
    std::string all;
    for (std::size_t i = 0; i < 9; ++i)
      all += bytes(x.begun(i, false, start, {columns, 24}));
    x.on(1, call_of("c1", std::string(300, 'x')), {columns, 24});
    all += bytes(
        x.over(ended(0, task_status::completed), start + 1s, {columns, 24}));
    all += bytes(x.tick(start + 2s, {columns, 24}));
    std::size_t begin = 0;
    while (begin < all.size()) {
      const auto end = std::min(all.find('\n', begin), all.size());
      auto line = all.substr(begin, end - begin);
      begin = end + 1;
      if (const auto move = line.find("\r\x1b["); move != std::string::npos)
        line.resize(move);
      for (const std::string switched : {"\x1b[?7l", "\x1b[?7h"})
        if (const auto at = line.find(switched); at != std::string::npos)
          line.erase(at, switched.size());
      CAPTURE(line);
      CHECK(columns_of(line) <= columns);
    }
  }
}

TEST_CASE("without a terminal nothing is drawn over") {
  volley_view x{{}, {"a"}};
  x.begun(0, false, start, {});
  CHECK(bytes(x.tick(start + 1s, {80, 24})).empty());
  CHECK(bytes(x.answer("text\n"), true) == "text\n");
}

TEST_CASE("a bar fills as tasks end, where there are many") {
  volley_view x{at_terminal(), std::vector<std::string>(21, "task")};
  for (std::size_t i = 0; i < 11; ++i) {
    x.begun(i, false, start, {80, 12});
    x.over(ended(i, task_status::completed), start + 1s, {80, 12});
  }
  const auto drawn = bytes(x.tick(start + 2s, {80, 12}));
  CHECK(drawn.find("[#########---------] 11/21 ended") != std::string::npos);
  volley_view few{at_terminal(), std::vector<std::string>(20, "task")};
  few.begun(0, false, start, {80, 12});
  CHECK(bytes(few.tick(start + 2s, {80, 12})).find("[-") == std::string::npos);
}

TEST_CASE("one reason for many ends is told once, then where it stands") {
  volley_view x{{}, {"a", "b", "c", "d"}};
  for (std::size_t i = 0; i < 4; ++i) x.begun(i, false, start, {});
  auto bad = ended(1, task_status::failed);
  bad.failure = error{errc::model_error, "m", "HTTP 400"};
  CHECK(bytes(x.over(bad, start + 1s, {})) ==
        "[2/4] ✗ b (1.0s)\n        HTTP 400 (model_error)\n");
  bad.task = 0;
  CHECK(bytes(x.over(bad, start + 1s, {})) == "[1/4] ✗ a (1.0s), as [2/4]\n");
  bad.task = 2;
  bad.failure->message = "HTTP 404";
  CHECK(bytes(x.over(bad, start + 1s, {})) ==
        "[3/4] ✗ c (1.0s)\n        HTTP 404 (model_error)\n");
  CHECK(bytes(x.over(ended(3, task_status::completed), start + 1s, {})) ==
        "[4/4] ✓ d (1.0s)\n");
}

TEST_CASE("an error that a task repeats is one line and a count") {
  volley_view x{{}, {"a", "b"}};
  events::tool_result result;
  result.id = {"c1"};
  result.tool = "read";
  result.how = outcome::failed;
  result.err = error{errc::tool_execution_error, "read", "no such file"};
  std::string all;
  for (std::size_t task = 0; task < 2; ++task) x.begun(task, false, start, {});
  for (std::size_t i = 0; i < 6; ++i) {
    x.on(i % 2, call_of("c1", "Reading a"), {});
    all += bytes(x.on(i % 2, with(result), {}));
  }
  CHECK(all ==
        "[1/2] [TOOL] read: a ✗ no such file\n"
        "[2/2] [TOOL] read: a ✗ no such file\n");
  CHECK(bytes(x.on(0, with(events::run_finished{}), {})) ==
        "[1/2] [TOOL] … the same 2 times more\n");
  // A run that is cut off has no such end.
  CHECK(bytes(x.over(ended(1, task_status::failed), start + 1s, {})) ==
        "[2/2] [TOOL] … the same 2 times more\n"
        "[2/2] ✗ b (1.0s)\n        failed\n");
}

TEST_CASE("each task thinks aloud where that is wanted") {
  view_options options;
  options.reasoning = true;
  volley_view x{options, {"a", "b"}};
  CHECK(x.wants_text());
  for (std::size_t task = 0; task < 2; ++task) x.begun(task, false, start, {});
  const auto thinks = [&](std::size_t task, const std::string& text) {
    return bytes(x.on(task, with(events::llm_reasoning{text, 1}), {}));
  };
  CHECK(thinks(0, "First\nth").ends_with("[1/2] [THINK] First\n"));
  CHECK(thinks(1, "I look.").empty());
  CHECK(thinks(0, "en").empty());
  CHECK(bytes(x.on(0, with(events::llm_token{"Yes", 1}), {})) ==
        "[1/2] [THINK] then\n");
  CHECK(bytes(x.on(1, with(events::run_finished{}), {})) ==
        "[2/2] [THINK] I look.\n");
  volley_view silent{{}, {"a"}};
  CHECK_FALSE(silent.wants_text());
  silent.begun(0, false, start, {});
  CHECK(bytes(silent.on(0, with(events::llm_reasoning{"x\n", 1}), {})).empty());
}

TEST_CASE("what is typed stands below all rows, also of a volley") {
  volley_view x{at_terminal(), {"a", "b"}};
  x.begun(0, false, start, {80, 24});
  x.typing("> and then");
  const auto drawn = bytes(x.tick(start + 1s, {80, 24}));
  CHECK(drawn.find("0/2 ended, 1 waits — 1.0s\n> and then") !=
        std::string::npos);
  CHECK(x.doing(50) == "0 of 2 ended – starting");
  x.typing("");
  CHECK(bytes(x.tick(start + 2s, {80, 24})).find("and then") ==
        std::string::npos);
}

TEST_CASE("what stays of a task that failed is broken at blanks") {
  volley_view x{at_terminal(), {"a"}};
  x.begun(0, false, start, {40, 24});
  events::tool_result result;
  result.id = {"c1"};
  result.tool = "read";
  result.how = outcome::failed;
  result.err = error{errc::tool_execution_error, "read",
                     "there is no such file in this folder"};
  x.on(0, call_of("c1", "Reading a"), {40, 24});
  x.on(0, with(result), {40, 24});
  auto failed = ended(0, task_status::failed);
  failed.failure = error{errc::model_error, "m", "HTTP 400: no such model"};
  CHECK(bytes(x.over(failed, start + 1s, {40, 24})) ==
        "[1/1] [TOOL] read: a ✗ there is no such\n"
        "  file in this folder\n"
        "[1/1] ✗ a (1.0s)\n"
        "        HTTP 400: no such model\n"
        "          (model_error)\n");
}

TEST_CASE("-v repeats below no question of a volley what it has shown") {
  auto verbose = at_terminal();
  verbose.level = verbosity::verbose;
  volley_view x{verbose, {"a", "b"}};
  x.begun(1, false, start, {80, 24});
  const auto on = [&](events::body body) {
    return bytes(x.on(1, with(std::move(body)), {80, 24}));
  };
  events::approval_required asked;
  asked.proposal = {"p"};
  asked.id = {"c"};
  asked.tool = "write";
  asked.arguments = R"({"path":"a","content":"x"})";
  on(asked);
  x.stands_asked(asked.proposal, "+z\n");
  events::approval_resolved decided;
  decided.proposal = asked.proposal;
  decided.id = asked.id;
  decided.how = events::proposal_outcome::approved;
  decided.by = "user";
  const bool here = GENERATE(true, false);
  // Also where the person has changed it.
  const bool changed = here && GENERATE(true, false);
  if (here) x.decided_here(asked.proposal);
  if (changed) decided.arguments = R"({"path":"a","content":"y"})";
  const auto said = on(decided);
  CHECK((said.find("approved by user, as changed") != std::string::npos) ==
        changed);
  CHECK((said.find("approved elsewhere") != std::string::npos) == !here);
  CHECK((said.find("[APPROVAL]") != std::string::npos) == (changed || !here));
  CHECK(said.find("[2/2]     +z\n") != std::string::npos);
  events::tool_call call;
  call.id = asked.id;
  call.tool = "write";
  call.arguments = changed ? decided.arguments : asked.arguments;
  CHECK(on(call).empty());
  events::tool_result result;
  result.id = call.id;
  result.tool = call.tool;
  result.how = outcome::ok;
  result.attempts = 1;
  result.metadata = R"({"added":1,"removed":0,"diff":"+x\n"})";
  CHECK(on(result) == "[2/2] [TOOL] write: a (+1 -0) — 0.0s\n");
}
