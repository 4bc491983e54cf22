// SPDX-License-Identifier: MIT
// What the chunks of a plan tell of its steps.
#include <chrono>
#include <vector>

#include "runtime/api/plans.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;

TEST_CASE("a step that may fail tells in its last chunk why it did") {
  config::config config;
  config.runtime.log.level = "off";
  config.models["default"].dialect = "scripted";
  runtime_options options;
  options.journal = storage::make_memory_journal();
  options.scripts["default"] = "[[steps]]\ntext = \"Said.\"\n";
  auto rt = runtime::create(config, std::move(options));
  REQUIRE(rt);
  auto stream = execute_plan(*rt, {R"({"steps": [
    {"id": "a", "tool": "read", "arguments": {"path": "no such file"},
     "on_error": "continue"},
    {"id": "b", "instruction": "go", "depends_on": ["a"],
     "on_error": "continue"},
    {"id": "c", "instruction": "go"}]})",
                                   "plan.json",
                                   {}});
  REQUIRE(stream);
  std::vector<plan_chunk> all;
  while (auto chunk = stream->next(testing::scaled(20s)))
    all.push_back(std::move(*chunk));
  std::vector<std::string> failed;
  for (const auto& x : all)
    if (x.step_failure) {
      failed.push_back(x.step_id);
      CHECK_FALSE(x.is_last());
      CHECK_FALSE(x.step_failure->message.empty());
    }
  CHECK(failed == std::vector<std::string>{"a", "b"});
  REQUIRE_FALSE(all.empty());
  CHECK(all.back().final_answer == "Said.");
}
