// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/session_use.hpp"

#include "tests/support/catch.hpp"

using riffle::cli::named_use;
using riffle::cli::session_use;
using riffle::cli::use_of;

namespace {

riffle::config::config two_agents() {
  riffle::config::config x;
  x.models["fast"].model = "f";
  x.models["slow"].model = "s";
  x.agents["default"].model = "fast";
  x.agents["writer"].model = "slow";
  return x;
}

riffle::run_request asked(const std::string& agent,
                          std::optional<std::string> model = {}) {
  riffle::run_request x;
  x.agent = agent;
  x.model = std::move(model);
  return x;
}

}  // namespace

TEST_CASE("a session goes on with the agent and model that it had") {
  auto settings = two_agents();
  const auto use = [&](const auto& last, const named_use& named = {}) {
    return use_of(std::optional{last}, named, settings);
  };
  CHECK(use(asked("writer")) == session_use{"writer"});
  CHECK(use(asked("writer", "fast")) == session_use{"writer", "fast"});
  CHECK(use(asked("default", "slow")) == session_use{"default", "slow"});
  CHECK(use_of({}, {}, settings) == session_use{"default"});
  CHECK(use_of({}, {"writer", "slow"}, settings) ==
        session_use{"writer", "slow"});
}

TEST_CASE("what is named counts more than what a session had") {
  auto settings = two_agents();
  const std::optional last = asked("writer", "fast");
  CHECK(use_of(last, {"default"}, settings) == session_use{"default"});
  CHECK(use_of(last, {"writer"}, settings) == session_use{"writer", "fast"});
  CHECK(use_of(last, {{}, "slow"}, settings) == session_use{"writer", "slow"});
  CHECK(use_of(last, {"default", "slow"}, settings) ==
        session_use{"default", "slow"});
}

TEST_CASE("what a session had and is gone is named, with what is used") {
  auto settings = two_agents();
  const auto no_agent = use_of(asked("editor", "slow"), {}, settings);
  CHECK(no_agent ==
        session_use{"default",
                    {},
                    {"the agent of this session, \"editor\", is not in the "
                     "configuration any more; it goes on with the agent "
                     "\"default\""}});
  const auto no_model = use_of(asked("writer", "gone"), {}, settings);
  CHECK(no_model ==
        session_use{"writer",
                    {},
                    {"the model of this session, \"gone\", is not in the "
                     "configuration any more; it goes on with \"slow\""}});
  // Nobody asks for what was named instead.
  CHECK(use_of(asked("editor", "gone"), {"writer", "fast"}, settings) ==
        session_use{"writer", "fast"});
}
