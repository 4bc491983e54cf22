// SPDX-License-Identifier: MIT
// The log in the hands of an application.
#include <algorithm>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/api/riffle.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using nlohmann::json;

namespace {

/// Keeps what it gets.
struct kept_lines {
  log_sink sink() {
    return [this](const log_line& x) {
      const std::lock_guard lock{mutex};
      all.push_back(std::string{to_string(x.level)} + " " + std::string{x.op} +
                    ": " + std::string{x.message});
    };
  }
  bool has(const std::string& line) {
    const std::lock_guard lock{mutex};
    return std::ranges::find(all, line) != all.end();
  }
  std::mutex mutex;
  std::vector<std::string> all;
};

runtime make_runtime(kept_lines& lines) {
  config::config config;
  config.runtime.log.level = "warn";
  config.models["default"].dialect = "scripted";
  config.agents["default"].tools = {"break"};
  runtime_options options;
  options.journal = storage::make_memory_journal();
  options.log = lines.sink();
  options.scripts["default"] =
      "[[steps]]\ncalls = [{ tool = \"break\", arguments = {} }]\n"
      "[[steps]]\ntext = \"over\"\n";
  options.tools = {make_tool(
      {.name = "break",
       .description = "breaks",
       .parameters = R"({"type":"object"})"},
      [](const json&) -> std::string { throw std::runtime_error{"boom"}; })};
  auto made = runtime::create(std::move(config), std::move(options));
  REQUIRE(made);
  return std::move(*made);
}

}  // namespace

TEST_CASE("an application's log sink gets the lines of its runtime") {
  kept_lines lines;
  {
    auto runtime = make_runtime(lines);
    REQUIRE(runtime.execute({.task = "go", .approval = approve::all}));
    log_warn("test", "while it lives");
    log_info("test", "not bad enough");
  }
  log_warn("test", "when it is gone");
  CHECK(lines.has("warn test: while it lives"));
  CHECK_FALSE(lines.has("info test: not bad enough"));
  CHECK_FALSE(lines.has("warn test: when it is gone"));
  const auto broke = [](const std::string& x) {
    return x.find("boom") != std::string::npos;
  };
  CHECK(std::ranges::count_if(lines.all, broke) >= 1);
}

TEST_CASE("each of several runtimes has its sink as long as it lives") {
  kept_lines first;
  kept_lines second;
  auto one = std::make_unique<runtime>(make_runtime(first));
  auto other = std::make_unique<runtime>(make_runtime(second));
  log_warn("test", "both");
  one.reset();
  log_warn("test", "one");
  other.reset();
  CHECK(first.has("warn test: both"));
  CHECK_FALSE(first.has("warn test: one"));
  CHECK(second.has("warn test: both"));
  CHECK(second.has("warn test: one"));
}
