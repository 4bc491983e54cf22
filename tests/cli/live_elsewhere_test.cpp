// SPDX-License-Identifier: MIT
// Answers, or what is said of their runs, that go elsewhere than the terminal.
#include "tests/cli/live_stage.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;

TEST_CASE("where traces go elsewhere each text keeps its words together") {
  auto options = on_terminal();
  options.rendered = true;
  options.status = false;
  live_stage s{options};
  const auto step = [&](std::uint32_t n, const char* text) {
    s.on(events::step_start{n, 3});
    s.on(events::llm_token{text, n});
    const auto id = std::to_string(n);
    s.on(call(id, "read", "Reading a", R"({"path":"a"})"));
    s.on(result(id, "read", 100, ""));
  };
  step(1, "Reading it.");
  step(2, "Now");
  s.on(events::step_start{3, 3});
  s.on(events::llm_token{"the end 2", 3});
  s.write(s.view.finish("the end 2"));
  CHECK(s.out == "Reading it.\n\nNow\n\nthe end 2\n");
}

TEST_CASE("text streams into a pipe as it is, untouched by traces") {
  view_options options;
  options.live_text = true;
  live_stage s{options};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{"**one\r\n", 1});
  CHECK(s.out == "**one\r\n");
  s.on(events::llm_token{"two** \x1b[1m", 1});
  s.on(call("c", "read", "Reading a", R"({"path":"a"})"));
  s.on(result("c", "read", 100, ""));
  s.on(events::llm_token{" three", 1});
  CHECK(s.out == "**one\r\ntwo** \x1b[1m three");
  s.on(events::step_start{2, 3});
  s.on(events::llm_token{"end", 2});
  s.write(s.view.finish("end"));
  CHECK(s.out == "**one\r\ntwo** \x1b[1m three\nend\n");
}

TEST_CASE("Ctrl-Z breaks no answer that goes elsewhere than the terminal") {
  view_options options;
  options.live_text = options.status = true;
  live_stage s{options};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{"one and", 1});
  s.write(s.view.leave_line());
  s.on(events::llm_token{" the same line", 1});
  s.write(s.view.finish("one and the same line"));
  CHECK(s.out == "one and the same line\n");
}
