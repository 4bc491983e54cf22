// SPDX-License-Identifier: MIT
// What stands on the screen while the model rests in the middle of its text.
#include "tests/cli/live_stage.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

view_options rendered() {
  auto options = on_terminal();
  options.rendered = true;
  options.styled = GENERATE(true, false);
  return options;
}

}  // namespace

TEST_CASE("a sentence stands whole above the lines of its calls") {
  const std::string last =
      GENERATE("files.", "files!", "files?", "files:", "`files`.",
               "**files**:", "(files):");
  const bool at_once = GENERATE(true, false);
  CAPTURE(last, at_once);
  live_stage s{rendered()};
  s.on(events::step_start{1, 3});
  if (at_once) {
    s.on(events::llm_token{"I look at two " + last, 1});
  } else {
    for (const auto& word : {std::string{"I "}, std::string{"look "},
                             std::string{"at two"}, " " + last})
      s.on(events::llm_token{word, 1});
  }
  s.at(20ms);
  s.on(call("c", "read", "Reading a", R"({"path":"a"})"));
  s.at(50ms);
  s.on(result("c", "read", 10, ""));
  for (int i = 1; i <= 10; ++i) s.tick(50ms + i * 100ms);
  s.on(call("d", "read", "Reading b", R"({"path":"b"})"));
  s.on(result("d", "read", 10, ""));
  s.on(events::step_start{2, 3});
  s.on(events::llm_token{"Done.\n", 2});
  s.write(s.view.finish(std::nullopt));
  const auto text = s.picture.text();
  CAPTURE(text);
  const auto line = text.substr(0, text.find('\n'));
  CHECK(line.starts_with("I look at two "));
  CHECK(line.find("files") != std::string::npos);
  CHECK(text.find("\n[TOOL] read: a — 0.0s\n") == line.size());
}

TEST_CASE("the last word of a text that rests is shown") {
  live_stage s{rendered()};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{"I begin", 1});
  CHECK(s.picture.text().find("begin") == std::string::npos);
  s.tick(400ms);
  CHECK(s.picture.text().starts_with("I begin\n"));
  // And goes on as if nothing had been.
  s.on(events::llm_token{"ning this ", 1});
  s.on(events::llm_token{"is held.\n", 1});
  s.tick(500ms);
  CHECK(s.picture.text().starts_with("I beginning this is held.\n"));
}

TEST_CASE("a word that rests stays within its row") {
  live_stage s{rendered(), 20};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{"It takes a very long", 1});
  s.tick(400ms);
  s.on(events::llm_token{"ish word. Then", 1});
  s.tick(800ms);
  s.on(events::llm_token{" more.\n", 1});
  s.write(s.view.finish(std::nullopt));
  CHECK(s.picture.text() == "It takes a very\nlongish word. Then\nmore.\n");
}
