// SPDX-License-Identifier: MIT
// riffle tools list|call
#include <nlohmann/json.hpp>

#include "messages/event_line.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/storage/health_registry.hpp"
#include "tests/cli/test_console.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using nlohmann::json;
using testing::temp_folder;
using testing::test_console;

namespace {

struct answer {
  int status = -1;
  std::string out;
  std::string err;
};

answer outcome_of(const tools_command& x) {
  test_console c;
  answer out;
  out.status = execute(x, c.io);
  out.out = c.out.text();
  out.err = c.err.text();
  return out;
}

/// Defaults, with the folder as workspace.
tools_command in_folder(const temp_folder& folder) {
  tools_command x;
  x.common.config = folder.write(
      "riffle.toml", "tools.workspace = \"" + folder.path().string() + "\"\n");
  return x;
}

tools_command call(const temp_folder& folder, const std::string& name,
                   const json& arguments) {
  auto x = in_folder(folder);
  x.action = tools_command::what::call;
  x.name = name;
  x.arguments = arguments.dump();
  return x;
}

}  // namespace

TEST_CASE("the list says which tool is out of service, where and why") {
  const temp_folder folder;
  auto x = in_folder(folder);
  x.common.sets = {"runtime.data_dir=" + (folder.path() / "data").string()};
  CHECK(outcome_of(x).out.find("out of service") == std::string::npos);
  storage::health_registry board{folder.path() / "data" / "service"};
  board.note("bash", "it crashed\x1b[2J too often");
  board.publish();
  const auto text = outcome_of(x).out;
  const auto line = text.find("  ✗ out of service in process ");
  REQUIRE(line != std::string::npos);
  CHECK(line > text.find("bash          mutating"));
  CHECK(text.find("it crashed^[[2J too often\n") != std::string::npos);
  x.common.output = output_kind::json;
  int out = 0;
  for (const auto& tool : json::parse(outcome_of(x).out)) {
    CHECK(tool.contains("out_of_service") == (tool.at("name") == "bash"));
    if (tool.at("name") == "bash" && ++out)
      CHECK(tool.at("out_of_service").at(0).at("why") ==
            "it crashed\x1b[2J too often");
  }
  CHECK(out == 1);
}

TEST_CASE("tools are listed, in each output") {
  const temp_folder folder;
  auto x = in_folder(folder);
  const auto text = outcome_of(x);
  CHECK(text.status == 0);
  CHECK(text.out.find("read          read_only") != std::string::npos);
  CHECK(text.out.find("bash          mutating") != std::string::npos);
  CHECK(text.out.find("complete      control") != std::string::npos);
  x.common.output = output_kind::json;
  const auto all = json::parse(outcome_of(x).out);
  REQUIRE(all.size() >= 5);
  CHECK(all[0].at("name") == "bash");
  CHECK(all[0].at("approval") == "ask");
  CHECK(all[0].at("parameters").at("type") == "object");
  x.common.output = output_kind::jsonl;
  const auto lines = outcome_of(x).out;
  CHECK(json::parse(lines.substr(0, lines.find('\n'))) == all[0]);
}

TEST_CASE("a call prints its output, and a trace on standard error") {
  const temp_folder folder;
  folder.write("a.txt", "one\ntwo\n");
  const auto got = outcome_of(call(folder, "read", {{"path", "a.txt"}}));
  CHECK(got.status == 0);
  CHECK(got.out.find("two") != std::string::npos);
  CHECK(got.err.starts_with("[TOOL] read: a.txt (2 lines"));
}

TEST_CASE("a call as JSON has its outcome and its whole output") {
  const temp_folder folder;
  folder.write("a.txt", "one \"two\"\n");
  auto x = call(folder, "read", {{"path", "a.txt"}});
  x.common.output = output_kind::json;
  x.common.sets = {"publish.output_limit=3"};
  const auto out = json::parse(outcome_of(x).out);
  CHECK(out.at("tool") == "read");
  CHECK(out.at("outcome") == "ok");
  CHECK(out.at("success") == true);
  CHECK(out.at("output").get<std::string>().find("one \"two\"") !=
        std::string::npos);
  CHECK(out.at("metadata").is_object());
  x.common.output = output_kind::jsonl;
  const auto lines = outcome_of(x).out;
  const auto first = json::parse(lines.substr(0, lines.find('\n')));
  CHECK(first.at("event_type") == "tool_call");
  CHECK(first.at("data").at("title") == "Reading a.txt");
  CHECK(lines.find("\"truncated\":true") != std::string::npos);
}

TEST_CASE("a call that fails ends with 1 and says why") {
  const temp_folder folder;
  auto x = call(folder, "read", {{"path", "gone"}});
  const auto got = outcome_of(x);
  CHECK(got.status == 1);
  CHECK(got.err.find("✗") != std::string::npos);
  x.common.output = output_kind::json;
  CHECK(json::parse(outcome_of(x).out).at("error").at("code").is_string());
}

TEST_CASE("what cannot be called is a usage mistake") {
  const temp_folder folder;
  const auto unknown = outcome_of(call(folder, "reed", json::object()));
  CHECK(unknown.status == 2);
  CHECK(unknown.err.find("read") != std::string::npos);
  const auto wrong = outcome_of(call(folder, "read", {{"pth", "a"}}));
  CHECK(wrong.status == 2);
  CHECK(wrong.err.find("path") != std::string::npos);
  CHECK(wrong.out.empty());
  auto broken = call(folder, "read", {});
  broken.arguments = "{\"path\":";
  CHECK(outcome_of(broken).status == 2);
  const auto control = outcome_of(call(folder, "complete", {{"answer", "x"}}));
  CHECK(control.status == 2);
  CHECK(control.err.find("handled by the run itself") != std::string::npos);
}

TEST_CASE("rules are for models, not for who calls a tool by hand") {
  const temp_folder folder;
  folder.write("a.env", "key = secret\n");
  tools_command x;
  x.common.config = folder.write(
      "riffle.toml", "[tools]\nworkspace = \"" + folder.path().string() +
                         "\"\n[tools.read]\napproval = \"deny\"\nrules = "
                         "[{ match = '*.env', approval = \"deny\" }]\n");
  x.action = tools_command::what::call;
  x.name = "read";
  x.arguments = R"({"path": "a.env"})";
  CHECK(outcome_of(x).out == "key = secret\n");
  x.name = "grep";
  x.arguments = R"({"pattern": "secret"})";
  CHECK(outcome_of(x).out == "a.env:1:key = secret");
}
