// SPDX-License-Identifier: MIT
// The tool fetch as an agent uses it.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

/// The one result of a run whose model fetches the page.
json fetched(const http_server& page, const std::string& more) {
  const work_folder folder;
  http_server model{
      respond_sse(calls({{"fetch", {{"url", page.url("/page")}}}})),
      respond_sse(answer("done"))};
  folder.configure(model.url("/v1"),
                   "[agents.default]\ntools = [\"fetch\"]\n" + more);
  const auto end =
      riffle::testing::riffle(folder, {"run", "go", "--output", "jsonl"});
  INFO(end.err);
  CHECK(end.status == 0);
  const auto events = checked_events(end.out);
  CHECK(of_type(events, "tool_call").at(0).at("data").at("title") ==
        "Fetching " + page.url("/page"));
  return of_type(events, "tool_result").at(0).at("data");
}

}  // namespace

TEST_CASE("fetch reaches a local address only when it is allowed") {
  http_server page{http_reply::text("<h1>Hello</h1><p>text", 200, "text/html")};
  const auto refused = fetched(page, "");
  CHECK(refused.at("outcome") == "failed");
  CHECK(refused.at("error").at("code") == "invalid_arguments");
  CHECK(page.connection_count() == 0);
  const auto allowed = fetched(page, "[tools.fetch]\nallow = [\"127.0.0.1:" +
                                         std::to_string(page.port()) + "\"]\n");
  CHECK(allowed.at("outcome") == "ok");
  CHECK(allowed.at("output") == "# Hello\n\ntext");
  CHECK(allowed.at("metadata").at("status") == 200);
  CHECK(page.request_count() == 1);
}

TEST_CASE("what is no host in tools.fetch.allow is told with its place") {
  const work_folder folder;
  folder.configure("http://127.0.0.1:1/v1",
                   "[tools.fetch]\nallow = [\"wiki.local\", \"http://x/\"]\n");
  const auto end = riffle::testing::riffle(folder, {"run", "go"});
  CHECK(end.status == 2);
  CHECK(end.err.find("riffle.toml:6:9: tools.fetch.allow: item 2: "
                     "\"http://x/\" must be a host or a network") !=
        std::string::npos);
}
