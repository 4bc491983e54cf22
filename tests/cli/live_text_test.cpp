// SPDX-License-Identifier: MIT
#include "tests/cli/live_stage.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;
using namespace std::chrono_literals;

TEST_CASE("parallel tools have a line each, as many as fit") {
  stage s{on_terminal(), 60};
  s.on(events::step_start{1, 3});
  for (int i = 1; i <= 10'000; ++i) {
    const auto id = std::to_string(i);
    s.on(call(id, "read", "Reading " + id, "{}"));
  }
  s.on(progress("2", "half", 1, 2));
  s.rows = 12;
  s.tick(1s);
  CHECK(s.picture.text() ==
        "⠋ 10000 tools — 1.0s\n"
        "  Reading 1\n"
        "  Reading 2 (1/2: half)\n"
        "  Reading 3\n"
        "  Reading 4\n"
        "  … 9996 more\n");
  for (int i = 4; i <= 10'000; ++i)
    s.on(result(std::to_string(i), "read", 1, ""));
  s.tick(2s);
  CHECK(s.picture.text().ends_with(
      "⠋ 3 tools — 2.0s\n  Reading 1\n  Reading 2 (1/2: half)\n"
      "  Reading 3\n"));
}

TEST_CASE("text goes on in its line while tools work below it") {
  stage s{on_terminal(), 40};
  s.on(events::step_start{1, 3});
  s.on(call("call_1", "bash", "Running: make", R"({"command":"make"})"));
  s.on(call("call_2", "bash", "Running: ctest", R"({"command":"ctest"})"));
  s.on(events::llm_token{"They work while ", 1});
  s.tick(1s);
  CHECK(s.picture.text().find("They work while\n") != std::string::npos);
  CHECK(s.picture.text().find("2 tools") != std::string::npos);
  SECTION("at this width") {
    s.on(events::llm_token{"I still write to you.\n", 1});
  }
  SECTION("at another one") {
    s.picture.resize(30);
    s.columns = 30;
    s.on(events::llm_token{"I still ", 1});
    s.tick(2s);
    s.picture.resize(40);
    s.columns = 40;
    s.on(events::llm_token{"write to you.\n", 1});
  }
  s.tick(3s);
  auto text = s.picture.text();
  CHECK(text.find("They work while I still") != std::string::npos);
  s.on(result("call_2", "bash", 10, "{}"));
  s.on(result("call_1", "bash", 10, "{}"));
  s.on(events::final_answer{"", 1});
  s.write(s.view.finish(std::nullopt));
  text = s.picture.text();
  CHECK(text.find("2 tools") == std::string::npos);
  CHECK(text.find("waiting") == std::string::npos);
}

TEST_CASE("text of which nobody knows how wide it is ends its line for tools") {
  for (const auto* words : {"a\tb", "\U0001F468\u200D\U0001F469 x"}) {
    auto options = on_terminal();
    options.rendered = false;
    stage s{options, 40};
    s.on(events::step_start{1, 3});
    s.on(call("call_1", "bash", "Running: make", R"({"command":"make"})"));
    s.on(events::llm_token{words, 1});
    s.tick(1s);
    s.on(events::llm_token{" more", 1});
    CHECK(s.out == std::string{words} + "\n more");
  }
}

TEST_CASE("text that stands below traces has one blank line above it") {
  auto options = on_terminal();
  options.rendered = true;
  stage s{options};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{"I **look** at", 1});
  s.on(call("c", "read", "Reading a", R"({"path":"a"})"));
  s.tick(1s);
  s.on(result("c", "read", 100, ""));
  s.on(events::step_start{2, 3});
  s.on(events::llm_token{"\n\n# Done\n\n\nwell", 2});
  s.write(s.view.finish("\n\n# Done\n\n\nwell"));
  CHECK(s.picture.text() == R"(I **look** at
[TOOL] read: a — 0.1s

# Done

well
)");
}

TEST_CASE("a question comes behind all that was said before it") {
  auto options = on_terminal();
  options.rendered = true;
  stage s{options};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{"Now I write", 1});
  s.on(events::llm_token{" it.", 1});
  s.on(events::approval_required{
      {"prop_1"}, {"c"}, "write", "Writing a", "{}", "", "it writes", {}});
  CHECK(s.picture.text().find("Now I write it.") != std::string::npos);
}

TEST_CASE("text streams into a pipe as it is, untouched by traces") {
  view_options options;
  options.live_text = true;
  stage s{options};
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
