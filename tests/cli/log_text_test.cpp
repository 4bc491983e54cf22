// SPDX-License-Identifier: MIT
// What a person who watches a run is told of the log.
#include "runtime/cli/view/log_text.hpp"

#include <array>

#include "tests/cli/live_stage.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

std::string told(log_text& to, std::string_view op, std::string_view message,
                 std::string_view cause = {}) {
  const std::array<log_field, 1> fields{{{"cause", cause}}};
  return to.on({{}, log_level::warn, op, message, fields});
}

}  // namespace

TEST_CASE("of a server a person is told in words, once for a cause") {
  log_text text{false};
  CHECK(told(text, "mcp.files", "it ended; process 17\x1b[2J") ==
        "[MCP] files: it ended; process 17^[[2J\n");
  CHECK(told(text, "mcp.files", "it ended; process 4711\x1b[2J").empty());
  CHECK(told(text, "mcp.other", "it ended; process 17\x1b[2J") ==
        "[MCP] other: it ended; process 17^[[2J\n");
  CHECK(told(text, "mcp.files", "odd: a", "lies") == "[MCP] files: odd: a\n");
  CHECK(told(text, "mcp.files", "odd: b", "lies").empty());
  CHECK(told(text, "mcp.files", "lies").empty());
  log_text colors{true};
  CHECK(told(colors, "mcp.s", "gone") == "\x1b[2m[MCP] s: gone\x1b[0m\n");
}

TEST_CASE("all else of the log stays as it is, and as often") {
  log_text text{false};
  for (int i = 0; i < 2; ++i)
    CHECK(told(text, "journal", "it is locked")
              .ends_with(" warn journal: it is locked\n"));
}

TEST_CASE("what becomes of a server does not stand within an answer") {
  live_stage s{on_terminal(), 40};
  const auto note = [&s] {
    s.write(s.view.note("[MCP] files: it ended with exit status 17\n", 40));
  };
  s.on(events::step_start{1, 3});
  SECTION("of which a line is open") {
    s.on(events::llm_token{"The first line.\nAnd the sec", 1});
    note();
    s.tick(3s);
    s.on(events::llm_token{"ond.\n", 1});
  }
  SECTION("between two lines of it") {
    s.on(events::llm_token{"The first line.\n", 1});
    note();
    s.tick(3s);
    s.on(events::llm_token{"And the second.\n", 1});
  }
  CHECK(s.picture.text().find("[MCP]") == std::string::npos);
  s.on(events::final_answer{"The first line.\nAnd the second.\n", 1});
  s.on(events::run_finished{});
  s.write(s.view.finish("The first line.\nAnd the second.\n"));
  CHECK(s.out == "The first line.\nAnd the second.\n");
  CHECK(s.picture.text() ==
        "The first line.\nAnd the second.\n"
        "[MCP] files: it ended with exit status\n  17\n");
}

TEST_CASE("what becomes of a server is said at once where nothing is written") {
  live_stage s{on_terminal(), 80};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{"I look.\n", 1});
  s.at(1s);
  s.on(call("c", "files__look", "Using files to look", "{}"));
  s.write(s.view.note("[MCP] files: gone\n", 80));
  s.tick(2s);  // the text did not go on
  CHECK(
      s.picture.text() ==
      "I look.\n[MCP] files: gone\n⠋ Using files to look — 1.0s, ~2 tokens\n");
}
