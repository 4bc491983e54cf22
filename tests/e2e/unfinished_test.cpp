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
