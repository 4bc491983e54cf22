// SPDX-License-Identifier: MIT
// What a call came to while the disk was full: known by the program, so told
// when there is room again.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A run of one command, on a disk that is full while `full` is there.
struct command_run {
  explicit command_run(const std::string& command)
      : server{[command](const http_request& request) {
          if (!tool_messages(request).empty())
            return respond_sse(answer("Over."));
          return respond_sse(calls({{"bash", {{"command", command}}}}));
        }} {
    folder.configure(server.url("/v1"));
    running.emplace(
        crashable_riffle(), folder,
        std::vector<std::string>{"run", "go", "--session", "s1", "--approve",
                                 "all", "--output", "jsonl"},
        std::map<std::string, std::string>{
            {"RIFFLE_TEST_FAIL_WHILE", (folder.path() / "full").string()},
            {"RIFFLE_TEST_FAIL", "ENOSPC"}});
    REQUIRE(eventually([&] { return told_what_it_does(); }));
  }

  /// Nothing more is written by then, unless the command says or ends.
  [[nodiscard]] bool told_what_it_does() const {
    const auto out = running->out();
    const auto begun = out.find("\"event_type\":\"tool_call\"");
    return begun != std::string::npos &&
           out.find("\"event_type\":\"status\"", begun) != std::string::npos;
  }

  /// The disk is full when `name` comes; there is room once it waits for that.
  std::vector<json> fill_and_make_room(const std::string& name) {
    folder.write("full", "");
    folder.write(name, "");
    REQUIRE(
        eventually([&] { return says(running->err(), "waiting for room"); }));
    std::filesystem::remove(folder.path() / "full");
    const auto end = running->wait();
    INFO(end.err);
    CHECK(end.status == 0);
    auto events = checked_events(end.out);
    CHECK(riffle::testing::riffle(folder, {"sessions", "events", "s1"}).out ==
          end.out);
    return events;
  }

  /// The one result that the model was told.
  [[nodiscard]] std::string told() const {
    const auto all = server.requests();
    REQUIRE(all.size() == 2);
    const auto messages = tool_messages(all.back());
    REQUIRE(messages.size() == 1);
    return messages[0].at("content");
  }

  work_folder folder;
  http_server server;
  std::optional<program> running;
};

json only_result(const std::vector<json>& events) {
  const auto results = of_type(events, "tool_result");
  REQUIRE(results.size() == 1);
  return results[0].at("data");
}

}  // namespace

TEST_CASE("a result that could not be saved is saved when there is room") {
  // It says nothing: a word of it would have no room, and it be stopped.
  command_run x{
      "until [ -e go ]; do sleep 0.02; done; echo once >> effects; exit 3"};
  const auto result = only_result(x.fill_and_make_room("go"));
  CHECK(result.at("outcome") == "failed");
  CHECK(result.at("error").at("code") == "tool_execution_error");
  CHECK(says(result.at("output"), "exit status 3"));
  CHECK(result.at("attempts") == 1);
  CHECK(result.at("duration_ms") > 0);
  CHECK(says(x.told(), "exit status 3"));
  CHECK_FALSE(says(x.told(), "unknown"));
  CHECK(x.folder.lines("effects") == std::vector<std::string>{"once"});
}

TEST_CASE(
    "a command that works while nothing can be saved is stopped, as told") {
  // What it says has no room, long before its end.
  command_run x{
      "until [ -e speak ]; do sleep 0.02; done; echo a word; sleep 60; "
      "echo late >> effects"};
  const auto result = only_result(x.fill_and_make_room("speak"));
  CHECK(result.at("outcome") == "interrupted");
  const std::string why = result.at("error").at("message");
  CHECK(
      why.starts_with("nothing could be saved while this call was under way"));
  CHECK(says(x.told(), "its outcome is unknown"));
  CHECK(x.folder.lines("effects").empty());
}
