// SPDX-License-Identifier: MIT
#include "actors/core/termination_policy.hpp"

#include "tests/support/catch.hpp"

using namespace riffle::core;

namespace {

const termination_limits free_form{false, 2, true};
const termination_limits strict{true, 2, false};
const termination_limits lenient{true, 2, true};

termination on_turn_without_calls(const termination_limits& limits,
                                  std::string_view text,
                                  std::uint32_t reminders,
                                  std::uint32_t tools_run) {
  return make_termination_policy(limits)->on_turn_without_calls(
      {text, limits.phase, reminders, tools_run});
}

termination on_complete(std::string_view answer, std::string_view text,
                        std::uint32_t tools_run) {
  return free_ending()->on_complete(answer, {text, {}, 0, tools_run});
}

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

TEST_CASE("exempt phases need no complete, others do, as the run goes on") {
  auto limits = strict;
  limits.exempt_phases = {"chat", "brainstorm"};
  const auto policy = make_termination_policy(limits);
  const auto step_in = [&](std::string_view phase) {
    return policy->on_turn_without_calls({"Done.", phase, 0, 0}).step;
  };
  CHECK(step_in("build") == termination_step::remind);
  CHECK(step_in("chat") == termination_step::finish);
  CHECK(step_in("brainstorm") == termination_step::finish);
  CHECK(step_in("") == termination_step::remind);
  limits.needs_complete = false;
  CHECK(make_termination_policy(limits)
            ->on_turn_without_calls({"Done.", "build", 0, 0})
            .step == termination_step::finish);
}

TEST_CASE("a policy of one's own takes the place of the built-in ones") {
  class at_once final : public termination_policy {
   public:
    termination on_turn_without_calls(const turn_end& turn) const override {
      return {termination_step::fail, std::string{turn.visible_text}, false};
    }
    termination on_complete(std::string_view,
                            const turn_end& turn) const override {
      return {termination_step::finish, std::string{turn.phase}, false};
    }
  };
  const auto policy =
      ending_by_phase(std::make_shared<at_once>(), {"chat"}, free_ending());
  CHECK(policy->on_turn_without_calls({"x", "work", 0, 0}).step ==
        termination_step::fail);
  CHECK(policy->on_turn_without_calls({"x", "chat", 0, 0}) == finish("x"));
  CHECK(policy->on_complete("a", {"x", "work", 0, 0}) == finish("work"));
  CHECK(policy->on_complete("a", {"x", "chat", 0, 0}) == finish("a"));
}

TEST_CASE("a phase has a name of 1 to 64 bytes without control characters") {
  for (const auto* good : {"work", "x y", "Überarbeitung"})
    CHECK(phase_problem(good).empty());
  CHECK(phase_problem("") == "is empty");
  CHECK(phase_problem(" \t") == "is empty");
  CHECK(phase_problem("a\nb") == "holds a control character");
  CHECK(phase_problem(std::string(64, 'x')).empty());
  CHECK(phase_problem(std::string(65, 'x')) == "is longer than 64 bytes");
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
