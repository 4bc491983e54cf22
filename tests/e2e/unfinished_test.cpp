// SPDX-License-Identifier: MIT
// Without a terminal an interrupted run of the folder is named, not offered.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;

TEST_CASE("a run says how to finish the one that was interrupted before it") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    if (request.body.find("\"first\"") == std::string::npos)
      return respond_sse(answer("second done"));
    return respond_sse(
        calls({{"bash", {{"command", "echo x > began; sleep 60"}}}}));
  }};
  folder.configure(server.url("/v1"));
  {
    program killed{installed_riffle(),
                   folder,
                   {"run", "first", "--session", "s1", "--approve", "all"}};
    REQUIRE(eventually([&] { return !folder.read("began").empty(); }));
    killed.signal(SIGKILL);
    killed.wait();
  }
  const auto next = riffle::testing::riffle(folder, {"run", "second"});
  CHECK(next.status == 0);
  CHECK(next.out == "second done\n");
  CHECK(next.err.find("riffle: A run of this folder was not finished: "
                      "\"first\" (session s1, begun ") != std::string::npos);
  CHECK(next.err.find("'riffle sessions resume s1' finishes it") !=
        std::string::npos);
  const auto quiet = riffle::testing::riffle(folder, {"run", "second", "-q"});
  CHECK(quiet.err.empty());
}

TEST_CASE("a run is cancelled from another process, and after a crash") {
  const bool crashed = GENERATE(false, true);
  CAPTURE(crashed);
  const work_folder folder;
  http_server server{[](const http_request&) {
    return respond_sse(
        calls({{"bash", {{"command", "echo x > began; sleep 60"}}}}));
  }};
  folder.configure(server.url("/v1"));
  program running{installed_riffle(),
                  folder,
                  {"run", "first", "--session", "s1", "--approve", "all"}};
  REQUIRE(eventually([&] { return !folder.read("began").empty(); }));
  if (crashed) {
    running.signal(SIGKILL);
    running.wait();
  } else {
    const auto kept =
        riffle::testing::riffle(folder, {"sessions", "delete", "s1"});
    CHECK(kept.status == 2);
    CHECK(kept.err.find("'riffle sessions cancel s1' ends it") !=
          std::string::npos);
  }
  // Who only ends a run asks no model, and needs no key for one.
  if (crashed) folder.configure("https://nowhere.invalid/v1");
  const auto cancel = riffle::testing::riffle(
      folder, {"sessions", "cancel", "s1", "--reason", "the wrong branch"},
      {{"OPENAI_API_KEY", ""}});
  INFO(cancel.err);
  CHECK(cancel.status == 0);
  CHECK(cancel.err.find("of session s1 is cancelled") != std::string::npos);
  if (!crashed) CHECK(running.wait().status == 130);
  const auto log =
      riffle::testing::riffle(folder, {"sessions", "events", "s1"});
  const auto events = checked_events(log.out);
  const auto results = of_type(events, "tool_result");
  REQUIRE(results.size() == 1);
  CHECK(results[0].at("data").at("outcome") ==
        (crashed ? "interrupted" : "cancelled"));
  const auto end = of_type(events, "run_finished").at(0).at("data");
  CHECK(end.at("status") == "cancelled");
  CHECK(end.at("error").at("message").get<std::string>().find(
            "the wrong branch") != std::string::npos);
  const auto again =
      riffle::testing::riffle(folder, {"sessions", "cancel", "s1"});
  CHECK(again.status == 2);
  CHECK(again.err.find("no run of session s1 is under way") !=
        std::string::npos);
}
