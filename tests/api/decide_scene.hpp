// SPDX-License-Identifier: MIT
#pragma once

// An application whose model wants to change something.

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/api/riffle.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/time_scale.hpp"

namespace riffle::testing {

inline const std::string one_change = R"(
[[steps]]
calls = [{ tool = "change", arguments = { at = "a" } }]
[[steps]]
text = "It said: {{result.0}}"
)";

/// A runtime with a tool that changes something: it notes with what.
struct decide_scene {
  explicit decide_scene(const std::string& script = one_change,
                        const std::string& mode = "wait",
                        std::shared_ptr<storage::journal> stored = {}) {
    config::config config;
    config.runtime.log.level = "off";
    config.models["default"].dialect = "scripted";
    config.approvals.mode = mode;
    config.agents["default"].tools = {"change", "seek_approval", "write"};
    auto& own = config.tools.by_name["change"] = config.tools.defaults;
    own.approval = "ask";
    own.rules = {{R"({"at":"forbidden"})", "deny"}};
    runtime_options options;
    options.tools = {
        make_tool({.name = "change",
                   .description = "changes something",
                   .parameters = R"({"type": "object", "required": ["at"],
                           "properties": {"at": {"type": "string"}}})"},
                  [this](const nlohmann::json& arguments) {
                    const std::lock_guard lock{mutex};
                    changed.push_back(arguments.at("at"));
                    return "changed " + changed.back();
                  },
                  {.preview = [](const nlohmann::json& arguments, const auto&) {
                    return "at " + std::string{arguments.at("at")};
                  }})};
    journal = stored ? stored : storage::make_memory_journal();
    options.journal = journal;
    options.scripts["default"] = script;
    auto made = runtime::create(std::move(config), std::move(options));
    REQUIRE(made);
    rt.emplace(std::move(*made));
  }

  run start(event_handler on_events = {}) {
    auto started = rt->start(
        {.task = "go", .session = session_id{"s1"}, .approval = approve::ask},
        std::move(on_events));
    REQUIRE(started);
    return std::move(*started);
  }

  proposal await_one() {
    expected<std::vector<proposal>> open;
    REQUIRE(eventually([&] {
      open = rt->proposals({.undecided = true});
      return !open || !open->empty();
    }));
    REQUIRE(open);
    return open->front();
  }

  std::vector<std::string> seen() {
    const std::lock_guard lock{mutex};
    return changed;
  }

  std::shared_ptr<storage::journal> journal;
  std::mutex mutex;
  std::vector<std::string> changed;
  std::optional<runtime> rt;
};

inline run_outcome end_of(const run& x) {
  auto end = x.wait(scaled(std::chrono::seconds{20}));
  REQUIRE(end);
  return *end;
}

inline decision approved() {
  decision x;
  x.approved = true;
  x.by = "ann";
  return x;
}

inline decision with(const std::string& arguments) {
  auto x = approved();
  x.arguments = arguments;
  return x;
}

/// A folder with a durable journal, removed at the end.
struct stored_in_folder {
  stored_in_folder() { REQUIRE(::mkdtemp(name.data()) != nullptr); }
  ~stored_in_folder() { std::filesystem::remove_all(name); }
  stored_in_folder(const stored_in_folder&) = delete;
  stored_in_folder& operator=(const stored_in_folder&) = delete;

  [[nodiscard]] std::shared_ptr<storage::journal> open() const {
    auto made =
        storage::open_sqlite_journal(name, storage::durability::process);
    REQUIRE(made);
    return std::move(*made);
  }

  std::string name =
      std::filesystem::temp_directory_path() / "riffle-decide-XXXXXX";
};

}  // namespace riffle::testing
