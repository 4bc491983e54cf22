// SPDX-License-Identifier: MIT
// What calls that work have written so far.
#include "runtime/cli/view/running_output.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "actors/core/wait_notice.hpp"
#include "runtime/cli/view/output_text.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using namespace riffle;
using cli::newest_lines;
using cli::running_output;

namespace {

constexpr std::int64_t second = 1'000'000;

struct told_calls {
  void at(int seconds, events::body body) {
    event x;
    x.body = std::move(body);
    x.at = {seconds * second};
    calls.on(x);
  }
  void begin(int seconds, const std::string& id, const std::string& command) {
    events::tool_call x;
    x.id = {id};
    x.tool = "bash";
    x.arguments = "{\"command\":\"" + command + "\"}";
    at(seconds, x);
  }
  void says(int seconds, const std::string& id, const std::string& text,
            std::uint64_t coalesced = 0) {
    events::tool_progress x;
    x.id = {id};
    x.report = {.message = text, .stream = "stdout", .coalesced = coalesced};
    at(seconds, x);
  }
  void end(int seconds, const std::string& id) {
    events::tool_result x;
    x.id = {id};
    at(seconds, x);
  }
  [[nodiscard]] std::string head(int seconds) const {
    return calls.head({seconds * second});
  }
  running_output calls;
};

}  // namespace

TEST_CASE("what a call that works has written so far can be looked at") {
  told_calls x;
  CHECK_FALSE(x.calls.any());
  x.begin(1, "call_1", "make");
  CHECK(x.head(3) == "bash: make, running for 2s: nothing so far.");
  x.says(2, "call_1", "one\n");
  x.says(3, "call_1", "two\nthree\n");
  CHECK(x.head(13) == "bash: make, running for 12s, so far:");
  CHECK(x.calls.text() == "one\ntwo\nthree\n");
  x.end(14, "call_1");
  CHECK_FALSE(x.calls.any());
  CHECK(x.calls.text().empty());
}

TEST_CASE("of several calls it is the one that wrote last") {
  told_calls x;
  x.begin(1, "call_1", "make");
  x.begin(1, "call_2", "ls");
  x.says(2, "call_1", "one\n");
  CHECK(x.head(3) == "bash: make, running for 2s (1 more), so far:");
  x.says(4, "call_2", "two\n");
  CHECK(x.head(5) == "bash: ls, running for 4s (1 more), so far:");
  x.end(5, "call_2");
  CHECK(x.head(6) == "bash: make, running for 5s, so far:");
}

TEST_CASE("what was left out of a call's reports is seen") {
  told_calls x;
  x.begin(1, "call_1", "make");
  x.says(1, "call_1", "a piece");
  x.says(2, "call_1", "last\n", 5);
  CHECK(x.calls.text() == "a piece\n…\nlast\n");
  CHECK(x.head(3) == "bash: make, running for 2s, so far, not all of it:");
  for (int i = 0; i < 100; ++i)
    x.says(3, "call_1", std::string(4'000, 'x') + "\n");
  CHECK(x.calls.text().size() <= 2 * running_output::most_kept);
  CHECK(x.calls.text().ends_with("x\n"));
}

TEST_CASE("who waits for a person or a worker has not begun") {
  told_calls x;
  x.begin(1, "call_1", "make");
  events::approval_required asks;
  asks.id = {"call_1"};
  x.at(2, asks);
  CHECK_FALSE(x.calls.any());
  events::approval_resolved decided;
  decided.id = {"call_1"};
  x.at(10, decided);
  CHECK(x.head(11) == "bash: make, running for 1s: nothing so far.");
  x.says(12, "call_1", std::string{core::waits_for_worker});
  x.says(20, "call_1", core::waited_notice(std::chrono::seconds{8}));
  CHECK(x.head(21) == "bash: make, running for 1s: nothing so far.");
}

TEST_CASE("/output shows what the command that runs has written") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const testing::temp_folder folder;
  folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "echo of before" }
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "sh says.sh" }
[[steps]]
text = "Done."
)toml");
  folder.write("says.sh",
               "touch a; echo begun; echo more\n"
               "while [ -e a ]; do sleep 0.05; done\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n[tools.bash]\napproval = \"allow\"\n");
  testing::terminal_program at{folder.path(), {"chat", "--no-color"}, 120};
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("go\r");
  REQUIRE(at.read_next("Running: sh says.sh"));
  REQUIRE(at.read_next("more"));  // in the status line
  at.type("/output\r");
  REQUIRE(at.read_next("> /output\r\nbash: sh says.sh, "));
  REQUIRE(at.read_next(" so far:\r\nbegun\r\nmore\r\n"));
  at.type("/output 1\r");
  REQUIRE(at.read_next("> /output 1\r\nbash: echo of before\r\nof before\r\n"));
  std::filesystem::remove(folder.path() / "a");
  REQUIRE(at.read_next("Done."));
  REQUIRE(at.read_next("> "));
  at.type("\x04");
  CHECK(at.finish() == 0);
}

TEST_CASE("of very many lines the newest are shown, and that is said") {
  CHECK(newest_lines("a\nb\nc\n", 3) == "a\nb\nc\n");
  CHECK(newest_lines("a\nb\nc\n", 2) ==
        "… what comes before is left out\nb\nc\n");
  CHECK(newest_lines("a\n\n\n", 1) == "… what comes before is left out\n\n");
  CHECK(newest_lines("", 1).empty());
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const testing::temp_folder folder;
  folder.write("s.toml",
               "[[steps]]\n[[steps.calls]]\ntool = \"bash\"\narguments = { "
               "command = \"seq 1000\" }\n[[steps]]\ntext = \"Done.\"\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n");
  testing::terminal_program at{
      folder.path(), {"chat", "--no-color", "--approve", "all"}, 110};
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("go\r");
  REQUIRE(at.read_next("Done."));
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("/output\r");
  REQUIRE(at.read_next("… what comes before is left out\r\n801\r\n"));
  REQUIRE(at.read_next("1000\r\nAll of it: riffle sessions output call_"));
  at.type("/quit\r");
  CHECK(at.finish() == 0);
}

TEST_CASE("/output waits for nothing of a command that goes on writing") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const testing::temp_folder folder;
  folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "sh says.sh" }
[[steps]]
text = "Done."
)toml");
  folder.write("says.sh",
               "touch a; while [ -e a ]; do echo more; sleep 0.04; done\n"
               "echo over\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n[tools.bash]\napproval = \"allow\"\n");
  testing::terminal_program at{folder.path(), {"chat", "--no-color"}, 120};
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("go\r");
  REQUIRE(at.read_next("Running: sh says.sh"));
  REQUIRE(at.read_next("more"));  // in the status line
  // A look that waits for a pause takes its whole limit of 2 s each time; one
  // that does not may be late on a machine that has much to do.
  using clock = std::chrono::steady_clock;
  auto fastest = clock::duration::max();
  for (int i = 0; i < 5 && fastest > std::chrono::seconds{1}; ++i) {
    const auto began = clock::now();
    at.type("/output\r");
    REQUIRE(at.read_next("> /output\r\nbash: sh says.sh"));
    REQUIRE(at.read_next(", so far"));
    fastest = std::min(fastest, clock::now() - began);
  }
  CHECK(fastest < std::chrono::seconds{1});
  std::filesystem::remove(folder.path() / "a");
  REQUIRE(at.read_next("Done."));
  at.type("/output\r");
  REQUIRE(at.read_next("more\r\nover\r\n"));
  REQUIRE(at.read_next("> "));
  at.type("\x04");
  CHECK(at.finish() == 0);
}
