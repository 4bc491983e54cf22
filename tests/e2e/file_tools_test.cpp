// SPDX-License-Identifier: MIT
// A scripted model that works on a real folder with every file tool.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

constexpr std::string_view script = R"(
[[steps]]
calls = [{ tool = "write", arguments = { path = "src/new.rs", content = "fn one() {}\nfn two() {}\n" } }]

[[steps]]
calls = [
  { tool = "edit", arguments = { path = "src/new.rs", old_string = "two", new_string = "three" } },
  { tool = "edit", arguments = { path = "src/new.rs", old_string = "fn", new_string = "x" } },
]

[[steps]]
calls = [
  { tool = "glob", arguments = { pattern = "**/*.rs" } },
  { tool = "grep", arguments = { pattern = "fn \\w+", glob = "*.rs" } },
  { tool = "read", arguments = { path = "src/new.rs" } },
  { tool = "bash", arguments = { command = "cat src/new.rs" } },
]

[[steps]]
text = "done: {{step.2.result.0 | lines}} files"
)";

constexpr std::string_view settings = R"(
[models.default]
dialect = "scripted"
model = "script"
script = "script.toml"
)";

finished work(const work_folder& folder, const std::string& output) {
  folder.write("script.toml", script);
  folder.write("files.toml", settings);
  folder.write(".gitignore", "target/\n");
  folder.write("target/old.rs", "fn old() {}\n");
  folder.write("main.rs", "fn main() {}\n");
  return riffle::testing::riffle(
      folder,
      {"run", "--config", "files.toml", "--set", "runtime.data_dir=data",
       "--approve", "all", "--output", output, "work"});
}

}  // namespace

TEST_CASE("a model works on a folder with all file tools") {
  const work_folder folder;
  const auto end = work(folder, "jsonl");
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(folder.read("src/new.rs") == "fn one() {}\nfn three() {}\n");
  const auto events = checked_events(end.out);
  std::map<std::string, json> results;
  for (const auto& event : of_type(events, "tool_result"))
    results[event["data"]["tool"].get<std::string>() +
            (event["data"]["success"] == true ? "" : " failed")] =
        event["data"];
  REQUIRE(results.size() == 7);
  CHECK(results["write"]["metadata"]["created"] == true);
  CHECK(results["edit"]["metadata"]["replacements"] == 1);
  CHECK(results["edit failed"]["error"]["code"] == "invalid_arguments");
  CHECK(results["glob"]["output"] == "main.rs\nsrc/new.rs");
  CHECK(results["glob"]["metadata"]["matches"] == 2);
  CHECK(results["grep"]["metadata"]["matches"] == 3);
  CHECK(results["read"]["output"] == "fn one() {}\nfn three() {}\n");
  CHECK(of_type(events, "final_answer").at(0)["data"]["content"] ==
        "done: 2 files");
}

TEST_CASE("the traces of file tools count what they found and changed") {
  const work_folder folder;
  const auto end = work(folder, "text");
  CHECK(end.out == "done: 2 files\n");
  for (const std::string trace : {"[TOOL] glob: **/*.rs → 2 matches — ",
                                  "[TOOL] grep: fn \\w+ → 3 matches — ",
                                  "[TOOL] edit: src/new.rs (+1 -1) — ",
                                  "[TOOL] write: src/new.rs (+2 -0) — "}) {
    CAPTURE(trace, end.err);
    CHECK(end.err.find(trace) != std::string::npos);
  }
}
