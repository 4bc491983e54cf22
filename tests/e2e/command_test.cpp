// SPDX-License-Identifier: MIT
// Commands of the configuration as tools of the installed program.
#include <csignal>
#include <fstream>
#include <sys/stat.h>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
namespace rt = riffle::testing;

namespace {

/// The code blocks of a chapter of the README, in order.
std::vector<std::string> blocks_of(const std::string& heading) {
  std::ifstream in{RIFFLE_SOURCE_DIR "/docs/tools.md"};
  std::vector<std::string> out;
  bool here = false;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) here = line == "## " + heading;
    if (!here) continue;
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) out.emplace_back();
    } else if (inside) {
      out.back() += line + "\n";
    }
  }
  return out;
}

constexpr const char* table = R"(
[agents.default]
tools = ["work"]
[tools.work]
type = "command"
command = ["bash", "./work.sh"]
description = "works"
parameters = { type = "object", properties = { n = { type = "integer" } } }
approval = "allow"
)";

rt::http_server one_call(const json& arguments) {
  return rt::http_server{[arguments](const rt::http_request& request) {
    if (!rt::tool_messages(request).empty())
      return rt::respond_sse(rt::answer("done"));
    return rt::respond_sse(rt::calls({{"work", arguments}}));
  }};
}

}  // namespace

TEST_CASE("the documents' tool of one's own works as it stands there") {
  const auto blocks = blocks_of("Write a tool");
  REQUIRE(blocks.size() == 2);
  const rt::work_folder folder;
  folder.write("count_words.py", blocks[0]);
  folder.write("riffle.toml", blocks[1]);
  folder.write("x.txt", "to be or not to be");
  const auto end = rt::riffle(
      folder, {"tools", "call", "count_words", R"({"file": "x.txt"})"});
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(end.out == "x.txt has 6 words\n");
  CHECK(end.err.find("[TOOL] count_words") != std::string::npos);
  // JSON is read as JSON.
  folder.write("q\"ü.txt", "one");
  const auto quoted = rt::riffle(
      folder, {"tools", "call", "count_words", R"({"file": "q\"\u00fc.txt"})"});
  CHECK(quoted.status == 0);
  CHECK(quoted.out == "q\"ü.txt has 1 words\n");
  // What cannot be read is a failure, told to the model, and no answer.
  const auto missing = rt::riffle(
      folder, {"tools", "call", "count_words", R"({"file": "nope.txt"})"});
  INFO(missing.out << missing.err);
  CHECK(missing.status == 1);
  CHECK((missing.out + missing.err)
            .find("cannot read nope.txt: No such file or directory") !=
        std::string::npos);
  CHECK(missing.out.find("words") == std::string::npos);
  const auto wrong =
      rt::riffle(folder, {"tools", "call", "count_words", R"({"file": 7})"});
  CHECK(wrong.status == 2);
  CHECK(wrong.err.find("at /file") != std::string::npos);
}

TEST_CASE("a run calls a command, and the model gets what it says") {
  const rt::work_folder folder;
  auto server = one_call({{"n", 7}});
  folder.configure(server.url("/v1"), table);
  folder.write("work.sh",
               "echo '{\"progress\": 1, \"total\": 2, \"message\": \"half\"}' "
               ">&2\ncat");
  const auto end = rt::riffle(folder, {"run", "--output", "jsonl", "go"});
  CHECK(end.status == 0);
  const auto events = rt::checked_events(end.out);
  const auto call = rt::of_type(events, "tool_call").at(0)["data"];
  CHECK(call["effect"] == "mutating");
  CHECK(call["title"] == "Using work: 7");
  const auto progress = rt::of_type(events, "tool_progress").at(0)["data"];
  CHECK(progress["message"] == "half");
  CHECK(progress["progress"] == 1.0);
  CHECK(progress["total"] == 2.0);
  const auto result = rt::of_type(events, "tool_result").at(0)["data"];
  CHECK(result["outcome"] == "ok");
  CHECK(rt::tool_messages(server.requests().at(1)).at(0).at("content") ==
        "{\"n\":7}\n");
}

TEST_CASE("a command over its time limit ends with its descendants") {
  const rt::work_folder folder;
  auto server = one_call(json::object());
  folder.configure(server.url("/v1"),
                   std::string{table} + "timeout = \"1s\"\n");
  folder.write("work.sh",
               "(setsid bash -c 'echo >> begun; sleep 100' &)\n"
               "echo >> begun\necho half\nsleep 100");
  const auto end = rt::riffle(folder, {"run", "--output", "jsonl", "go"});
  const auto events = rt::checked_events(end.out);
  const auto result = rt::of_type(events, "tool_result").at(0)["data"];
  CHECK(result["outcome"] == "timed_out");
  CHECK(result["output"] == "half\n");  // the error names the limit
  CHECK(folder.lines("begun").size() == 2);
  CHECK(rt::processes_in(folder.path()).empty());
}

TEST_CASE("a command that is not there ends the start with its place") {
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1",
                   "[tools.work]\ntype = \"command\"\n"
                   "command = [\"./gone\"]\n"
                   "description = \"x\"\n"
                   "parameters = { type = \"object\" }\n");
  const auto end = rt::riffle(folder, {"run", "go"});
  CHECK(end.status == 2);
  CHECK(
      end.err.find("riffle.toml:7:11: tools.work.command: there is no file") !=
      std::string::npos);
}
