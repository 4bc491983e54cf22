// SPDX-License-Identifier: MIT
// The tool fetch as an agent uses it.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/packed.hpp"

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
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK(end.peak_kib < (100u << 10));  // it begins with some 30 MiB
#endif
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

TEST_CASE("a page that was compressed to a thousandth is cut as any other") {
  // 1 GiB, were it read to its end.
  http_server page{packed(gzip_bomb(16'384), "gzip", "text/plain")};
  const auto result = fetched(page, "[tools.fetch]\nallow = [\"127.0.0.1:" +
                                        std::to_string(page.port()) + "\"]\n");
  CHECK(result.at("outcome") == "ok");
  CHECK(result.at("metadata").at("truncated") == true);
}

TEST_CASE("an answer that is compressed ends a run, or a list, and says why") {
  const work_folder folder;
  http_server server{packed(squeezed()), packed(squeezed(), "br"),
                     packed(squeezed(), "gzip", "application/json")};
  folder.configure(server.url("/v1"), "model = \"m\"\n");
  for (const std::string how : {"gzip", "br"}) {
    const auto run = riffle::testing::riffle(folder, {"run", "go"});
    CHECK(run.status == 1);
    INFO(run.err);
    CHECK(run.err.find("the answer is compressed (" + how + "), which was") !=
          std::string::npos);
  }
  const auto list = riffle::testing::riffle(folder, {"models", "list"});
  INFO(list.out + list.err);
  CHECK((list.out + list.err).find("the answer is compressed (gzip)") !=
        std::string::npos);
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
