// SPDX-License-Identifier: MIT
#include "actors/core/termination_policy.hpp"

#include "tests/support/catch.hpp"

using namespace riffle::core;

namespace {

const termination_limits free_form{false, 2, true};
const termination_limits strict{true, 2, false};
const termination_limits lenient{true, 2, true};

termination finish(std::string_view text, bool fallback = false) {
  return {termination_step::finish, std::string{text}, fallback};
}

}  // namespace

TEST_CASE("a free agent's text is the answer, unchanged") {
  CHECK(on_turn_without_calls(free_form, " Done.\n", 0, 0) ==
        finish(" Done.\n"));
}

TEST_CASE("a blank text gets a sentence, with or without tools") {
  for (const auto* text : {"", " ", "\n\t \r\n"}) {
    CHECK(on_turn_without_calls(free_form, text, 0, 3) ==
          finish(fallback_after_tools, true));
    CHECK(on_turn_without_calls(free_form, text, 0, 0) ==
          finish(fallback_without_tools, true));
  }
}

TEST_CASE("an agent that must complete is reminded, at most N times") {
  for (const auto& limits : {strict, lenient}) {
    for (std::uint32_t used = 0; used < 2; ++used) {
      const auto x = on_turn_without_calls(limits, "Done.", used, 0);
      CHECK(x.step == termination_step::remind);
      CHECK(x.text.find("`complete`") != std::string::npos);
      CHECK(x.text.find("Reminder " + std::to_string(used + 1) + " of 2") !=
            std::string::npos);
    }
  }
}

TEST_CASE("after the reminders it is completed or failed, as configured") {
  CHECK(on_turn_without_calls(lenient, "Done.", 2, 0) == finish("Done."));
  CHECK(on_turn_without_calls(lenient, "  ", 2, 1) ==
        finish(fallback_after_tools, true));
  const auto x = on_turn_without_calls(strict, "Done.", 2, 0);
  CHECK(x.step == termination_step::fail);
  CHECK(x.text.find("auto_complete") != std::string::npos);
  CHECK(on_turn_without_calls({true, 0, true}, "Done.", 0, 0) ==
        finish("Done."));
}

TEST_CASE("exempt phases need no complete") {
  const std::vector<std::string> exempt{"chat", "brainstorm"};
  CHECK(needs_complete(true, "build", exempt));
  CHECK_FALSE(needs_complete(true, "chat", exempt));
  CHECK_FALSE(needs_complete(true, "brainstorm", exempt));
  CHECK_FALSE(needs_complete(false, "build", exempt));
  CHECK(needs_complete(true, "", {}));
}

TEST_CASE("the argument of complete is the answer") {
  CHECK(on_complete("42", "text", 1) == finish("42"));
  CHECK(on_complete(" 42\n", "text", 1) == finish(" 42\n"));
}

TEST_CASE("a complete without an answer takes the text, then a fallback") {
  for (const auto* answer : {"", " ", "\n\t "}) {
    CAPTURE(answer);
    CHECK(on_complete(answer, "text", 1) == finish("text"));
    CHECK(on_complete(answer, " ", 1) == finish(fallback_after_tools, true));
    CHECK(on_complete(answer, " ", 0) == finish(fallback_without_tools, true));
  }
}

TEST_CASE("a reminder fits the agent: its phase, its tools") {
  const termination_limits worker{true,  2,       true,
                                  false, "build", {"read", "complete", "bash"}};
  const auto text = on_turn_without_calls(worker, "Done.", 0, 0).text;
  CHECK(text.starts_with("[Note of the runtime] "));
  CHECK(text.find("in the phase \"build\"") != std::string::npos);
  CHECK(text.find("go on with it (`read`, `bash`)") != std::string::npos);
  const termination_limits many{
      true, 2, true, false, "", {"a", "b", "c", "d", "e", "f", "g", "h", "i"}};
  const auto other = on_turn_without_calls(many, "Done.", 0, 0).text;
  CHECK(other.find("phase") == std::string::npos);
  CHECK(other.find("`h`, …)") != std::string::npos);
}

TEST_CASE("an agent that routes others is never completed automatically") {
  const termination_limits router{true, 1, true, true, "plan", {"volley"}};
  const auto reminded = on_turn_without_calls(router, "Hm.", 0, 0);
  CHECK(reminded.step == termination_step::remind);
  CHECK(reminded.text.find("You route the work of others") !=
        std::string::npos);
  const auto x = on_turn_without_calls(router, "Hm.", 1, 0);
  CHECK(x.step == termination_step::fail);
  CHECK(x.text.find("never completed automatically") != std::string::npos);
}
