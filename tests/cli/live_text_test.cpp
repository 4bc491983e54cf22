// SPDX-License-Identifier: MIT
#include <algorithm>

#include "tests/cli/live_stage.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;
using namespace std::chrono_literals;

TEST_CASE("parallel tools have a line each, as many as fit") {
  live_stage s{on_terminal(), 60};
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
  live_stage s{on_terminal(), 40};
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

TEST_CASE("what a person asks for stands between paragraphs, and comes soon") {
  auto options = on_terminal();
  options.rendered = GENERATE(true, false);
  CAPTURE(options.rendered);
  live_stage s{options, 40};
  const auto says = [&](const char* text) {
    s.on(events::llm_token{text, 1});
    s.tick();
  };
  const auto asks = [&](std::string_view lines) {
    s.write(s.view.aside(lines, s.now));
    s.tick();
  };
  const auto text = [&] { return s.picture.text(); };
  s.on(events::step_start{1, 3});
  asks("at once\n");  // nothing is written yet
  CHECK(text().starts_with("at once\n"));
  says("One paragraph that ");
  asks("a list\n");
  CHECK(text().find("a list") == std::string::npos);
  says("goes on.\n\nAnother one ");
  // Raw text has shown its blank line.
  const std::string blank = options.rendered ? "" : "\n";
  CHECK(text().find("One paragraph that goes on.\n" + blank + "a list\n") !=
        std::string::npos);
  CHECK(text().find("\n\nAnother one") != std::string::npos);
  // It never waits for longer than this, and no sentence is cut before.
  asks("the next\n");
  s.at(4s);
  says("has two ");
  CHECK(text().find("the next") == std::string::npos);
  SECTION("a sentence ends") {
    says("sentences. ");
    CHECK(text().find("has two sentences.\nthe next\n") != std::string::npos);
  }
  SECTION("it does not") {
    s.tick(6s);
    CHECK(text().find("the next\n") != std::string::npos);
  }
  SECTION("the text ends") {
    s.on(events::final_answer{"", 1});
    CHECK(text().find("the next\n") != std::string::npos);
  }
}

TEST_CASE("text that may fill its row ends its line for tools") {
  const auto joined = std::string(38, 'a') + "\U0001F468\u200D\U0001F469 x";
  for (const auto& words : {std::string(40, 'b'), joined}) {
    auto options = on_terminal();
    options.rendered = false;
    live_stage s{options, 40};
    s.on(events::step_start{1, 3});
    s.on(call("call_1", "bash", "Running: make", R"({"command":"make"})"));
    s.on(events::llm_token{words, 1});
    s.tick(1s);
    s.on(events::llm_token{" more", 1});
    CHECK(s.out == words + "\n more");
  }
}

TEST_CASE("the status line stays below text whose line is open") {
  for (const auto* words : {"I write, and ", "a\tb", "日本語の長い文字列と",
                            "\U0001F468\u200D\U0001F469 x"}) {
    CAPTURE(words);
    auto options = on_terminal();
    options.rendered = false;
    live_stage s{options, 14};
    const auto shows = [&s](const char* what) {
      const auto text = s.picture.text();
      INFO(text);
      const auto at = text.find(what);
      CHECK(at != std::string::npos);
      CHECK(text.find(what, at + 1) == std::string::npos);
    };
    s.on(events::step_start{1, 3});
    s.on(events::llm_token{words, 1});
    s.tick(1s);
    shows("the model");
    s.on(events::llm_token{"on", 1});  // it is there again at once
    s.tick(1040ms);
    shows("the model");
    s.view.typing("> my next");
    s.tick(2s);
    shows("the model");
    shows("> my next");
    s.picture.resize(25);
    s.columns = 25;
    s.tick(3s);
    shows("the model");
    s.on(events::llm_token{" and on\n", 1});
    s.view.typing("");
    s.write(s.view.finish(std::string{words} + "on and on\n"));
    CHECK(s.out == std::string{words} + "on and on\n");
    CHECK(s.picture.text().find("the model") == std::string::npos);
    CHECK(s.picture.text().find("my next") == std::string::npos);
  }
}

TEST_CASE("what is drawn for another width than the terminal has is one row") {
  live_stage s{on_terminal(), 80};
  s.on(events::step_start{1, 3});
  s.on(call("c", "bash", "Running: " + std::string(60, 'x'), "{}"));
  s.picture.resize(30);  // and nobody has seen it yet
  s.tick(1s);
  s.tick(2s);
  s.on(events::llm_token{"Well, ", 1});
  s.tick(3s);
  s.on(events::llm_token{"it goes on\n", 1});
  s.columns = 30;
  s.tick(4s);
  const auto text = s.picture.text();
  INFO(text);
  CHECK(text.starts_with("Well, it goes on\n"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
}

TEST_CASE("a line about a call waits for the end of a sentence") {
  auto options = on_terminal();
  options.rendered = true;
  live_stage s{options};
  s.on(events::step_start{1, 3});
  s.on(call("c", "read", "Reading a", R"({"path":"a"})"));
  s.on(events::llm_token{"They work while ", 1});
  s.at(1s);
  s.on(result("c", "read", 100, ""));
  s.tick(1s);
  CHECK(s.picture.text().find("[TOOL]") == std::string::npos);
  SECTION("but not for ever") {
    s.tick(2999ms);
    CHECK(s.picture.text().find("[TOOL]") == std::string::npos);
    s.tick(3s);
    CHECK(s.picture.text().find("[TOOL]") != std::string::npos);
    return;
  }
  SECTION("here it ends") { s.on(events::llm_token{"I write. ", 1}); }
  SECTION("here its line ends") { s.on(events::llm_token{"I write.\n", 1}); }
  SECTION("here it ends, and nothing comes") {
    s.on(events::llm_token{"I write.", 1});
    s.tick(1299ms);
    CHECK(s.picture.text().find("[TOOL]") == std::string::npos);
    s.tick(1300ms);
    CHECK(s.picture.text().find("[TOOL]") != std::string::npos);
  }
  SECTION("a call comes") {
    s.on(events::llm_token{"I write.", 1});
    s.on(call("d", "read", "Reading b", R"({"path":"b"})"));
    s.tick(1299ms);
    CHECK(s.picture.text().find("[TOOL]") == std::string::npos);
    s.tick(1300ms);
  }
  s.on(events::llm_token{"And I go on.\n", 1});
  s.on(events::final_answer{"", 1});
  s.write(s.view.finish(std::nullopt));
  CHECK(s.picture.text() ==
        "They work while I write.\n[TOOL] read: a — 0.1s\n\nAnd I go on.\n");
}

TEST_CASE("what was said before a call stands above it, however short it is") {
  const auto* const words =
      GENERATE("Ok", "Reading.", "# Look", "1. Read", "**Mixed**",
               "| a | b |\n|---|---|\n| 1 | 2 |", "Reading it.");
  CAPTURE(words);
  auto options = on_terminal();
  options.rendered = true;
  live_stage s{options};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{words, 1});
  s.on(call("c", "read", "Reading a", R"({"path":"a"})"));
  s.on(result("c", "read", 100, ""));
  SECTION("at once") {}
  SECTION("after a while") { s.tick(4s); }
  s.on(events::step_start{2, 3});
  s.on(events::llm_token{"Now", 2});
  s.on(call("d", "read", "Reading b", R"({"path":"b"})"));
  s.tick(10s);
  s.on(result("d", "read", 100, ""));
  s.on(events::step_start{3, 3});
  s.on(events::llm_token{"The end.\n", 3});
  s.write(s.view.finish("The end.\n"));
  const auto text = s.picture.text();
  INFO(text);
  const auto behind =
      text.find("\n[TOOL] read: a — 0.1s\n\nNow\n[TOOL] read: b");
  REQUIRE(behind != std::string::npos);
  CHECK(text.substr(0, behind).find_first_not_of(" \n") != std::string::npos);
  CHECK(text.ends_with("[TOOL] read: b — 0.1s\n\nThe end.\n"));
}

TEST_CASE("what was said before a plan is changed stands above that") {
  auto options = on_terminal();
  options.rendered = true;
  live_stage s{options};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{"I make a", 1});
  s.on(events::llm_token{" plan.", 1});
  s.on(events::plan_updated{
      "create", R"({"steps":[{"title":"look","status":"pending"}]})"});
  const auto text = s.picture.text();
  INFO(text);
  CHECK(text.starts_with("I make a plan.\n[PLAN] "));
}

TEST_CASE("an error that came again is counted before what is said then") {
  auto options = on_terminal();
  options.rendered = true;
  live_stage s{options};
  const auto fails = [&](const std::string& id, std::uint32_t step) {
    s.on(events::step_start{step, 5});
    s.on(call(id, "read", "Reading a", R"({"path":"a"})"));
    auto x = result(id, "read", 100, "");
    x.how = outcome::failed;
    x.err = error{errc::tool_execution_error, "read", "no such file"};
    s.on(x);
  };
  fails("a", 1);
  fails("b", 2);
  s.on(events::step_start{3, 5});
  s.on(events::llm_token{"It is not there.\n", 3});
  s.write(s.view.finish("It is not there.\n"));
  CHECK(s.picture.text() ==
        "[TOOL] read: a ✗ no such file — 0.1s\n[TOOL] … the same once more\n\n"
        "It is not there.\n");
}

TEST_CASE("the texts of two steps are two paragraphs") {
  auto options = on_terminal();
  options.rendered = true;
  live_stage s{options};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{"Now", 1});
  s.on(events::step_start{2, 3});
  s.on(events::llm_token{"and ", 2});
  s.on(events::llm_token{"then.", 2});
  s.on(events::step_start{3, 3});
  s.on(events::llm_token{"\nThe end.", 3});
  s.write(s.view.finish("\nThe end."));
  CHECK(s.picture.text() == "Now\n\nand then.\n\nThe end.\n");
}

TEST_CASE("text that goes on behind a call goes on in its sentence") {
  auto options = on_terminal();
  options.rendered = true;
  live_stage s{options};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{"Two tools check both files.\nThey ", 1});
  s.on(call("c", "read", "Reading a", R"({"path":"a"})"));
  s.at(200ms);
  s.on(events::llm_token{"work while I write. ", 1});
  s.on(result("c", "read", 100, ""));
  s.tick(1s);
  s.on(events::step_start{2, 3});
  s.on(events::llm_token{"Next.\n", 2});
  s.write(s.view.finish("Next.\n"));
  CHECK(s.picture.text() ==
        "Two tools check both files.\nThey work while I write.\n"
        "[TOOL] read: a — 0.1s\n\nNext.\n");
}

TEST_CASE("the last word of a text that is stopped stands above the end") {
  auto options = on_terminal();
  options.rendered = true;
  live_stage s{options};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{"This is all of it", 1});
  events::failure why;
  why.err = {errc::cancelled, "run", "stopped by the user"};
  s.on(why);
  events::run_finished end;
  end.status = events::run_status::cancelled;
  s.on(end);
  s.write(s.view.finish(std::nullopt));
  CHECK(s.picture.text().starts_with("This is all of it\nStopped after 0.0s."));
}

TEST_CASE("a block of code that is cut ends above what says so") {
  auto options = on_terminal();
  options.rendered = true;
  live_stage s{options};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{"Look:\n```\nint x;\nint", 1});
  events::failure why;
  why.err = {errc::cancelled, "run", "stopped by the user"};
  s.on(why);
  events::run_finished end;
  end.status = events::run_status::cancelled;
  s.on(end);
  s.write(s.view.finish(std::nullopt));
  const auto text = s.picture.text();
  INFO(text);
  CHECK(text.find("int x;") < text.find("Stopped"));
  CHECK(text.ends_with("─\nStopped after 0.0s.\n"));
}

TEST_CASE("text that stands below traces has one blank line above it") {
  auto options = on_terminal();
  options.rendered = true;
  live_stage s{options};
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
  live_stage s{options};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{"Now I write", 1});
  s.on(events::llm_token{" it.", 1});
  s.on(events::approval_required{
      {"prop_1"}, {"c"}, "write", "Writing a", "{}", "", "it writes", {}});
  CHECK(s.picture.text().find("Now I write it.") != std::string::npos);
}
