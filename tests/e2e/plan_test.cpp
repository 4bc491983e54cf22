// SPDX-License-Identifier: MIT
// The plan of a session, as a person and the model see it.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

std::string last_message(const http_server& server, std::size_t number) {
  const auto body = json::parse(server.requests().at(number).body);
  return body.at("messages").back().at("content").get<std::string>();
}

}  // namespace

TEST_CASE("a plan is shown, saved with the session and told to the model") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    if (!tool_messages(request).empty()) return respond_sse(answer("ok"));
    const json plan{{"action", "create"}, {"steps", {"look", "leap"}}};
    return respond_sse(calls({{"manage_plan", plan}}));
  }};
  folder.configure(server.url("/v1"));
  const auto first = riffle::testing::riffle(
      folder, {"run", "go", "--session", "ses_plan", "--output", "jsonl"});
  INFO(first.err);
  const auto events = checked_events(first.out);
  const auto updates = of_type(events, "plan_updated");
  REQUIRE(updates.size() == 1);
  CHECK(updates[0].at("data").at("plan").at(1) ==
        json{{"id", 2}, {"title", "leap"}, {"status", "pending"}});
  CHECK(last_message(server, 1).find("1. [pending] look\n2. [pending] leap") !=
        std::string::npos);
  // Another process goes on with it.
  const auto second =
      riffle::testing::riffle(folder, {"run", "on", "--session", "ses_plan"});
  CHECK(second.status == 0);
  CHECK(last_message(server, 2).find("2. [pending] leap") != std::string::npos);
  const auto shown = riffle::testing::riffle(folder, {"run", "go"});
  INFO(shown.err);
  CHECK(shown.err.find("[PLAN] 0 of 2 done\n    · look\n"
                       "    · leap\n") != std::string::npos);
}
