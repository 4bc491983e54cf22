// SPDX-License-Identifier: MIT
// Which model takes the place of another one, and what the first one cost.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;

TEST_CASE("a model that is too small does not take over") {
  const work_folder folder;
  http_server small{respond_sse(answer("from the small one"))};
  http_server second{respond_sse(answer("from the other"))};
  folder.configure("http://127.0.0.1:1/v1",
                   "retry = { max_attempts = 2, base = \"10ms\" }\n"
                   "fallback = [\"small\", \"vllm/big\"]\n"
                   "[models.small]\ncontext_window = 1000\nbase_url = \"" +
                       small.url("/v1") +
                       "\"\napi_key_env = \"\"\n"
                       "[models.\"vllm/big\"]\nbase_url = \"" +
                       second.url("/v1") + "\"\n");
  std::string said = "from the other\n";
  std::vector<std::string> words{"run", "go", "--context",
                                 std::string(20'000, 'x')};
  SECTION("another one does") {}
  SECTION("none is left: it is a failure of the first") {
    words.insert(words.end(), {"--set", "models.default.fallback=[\"small\"]"});
    said.clear();
  }
  const auto end = riffle::testing::riffle(folder, words);
  INFO(end.err);
  CHECK(end.out == said);
  CHECK(end.status == (said.empty() ? 1 : 0));
  if (said.empty())
    CHECK_THAT(end.err, Contains("attempt 1 of 2") &&
                            Contains("cannot be reached") &&
                            !Contains("context_window"));
  CHECK(small.request_count() == 0);
}

TEST_CASE("what a model read before it was overloaded is counted") {
  const work_folder folder;
  http_server second{respond_sse(answer("from the other"))};
  http_server first{http_reply::sse().send(
      "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1000,"
      "\"completion_tokens\":0}}\n\ndata: {\"error\":{\"message\":"
      "\"Overloaded\",\"type\":\"overloaded_error\"}}\n\n")};
  folder.configure(first.url("/v1"),
                   "fallback = [\"vllm/x\"]\n[models.\"vllm/x\"]\n"
                   "base_url = \"" +
                       second.url("/v1") + "\"\n");
  const auto end =
      riffle::testing::riffle(folder, {"run", "go", "--output", "jsonl"});
  CHECK(end.status == 0);
  const auto events = checked_events(end.out);
  const auto usage = of_type(events, "usage");
  REQUIRE(usage.size() == 2);
  CHECK(usage.at(0).at("data").at("input_tokens") == 1000);
  const auto sum = of_type(events, "run_finished").at(0).at("data").at("usage");
  CHECK(sum.at("input_tokens") >
        usage.at(1).at("data").at("input_tokens").get<int>() + 999);
}

TEST_CASE("what a server wants back goes to no other one of its provider") {
  const work_folder folder;
  const auto thinks = respond_sse(
      R"(data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]})"
      "\n\n" +
      answer("ok"));
  http_server first{thinks};
  http_server second{thinks};
  folder.write("riffle.toml", "[runtime]\ndata_dir = \"data\"\n");
  const auto told_at = [&](const http_server& server) {
    const auto end = riffle::testing::riffle(
        folder, {"run", "-m", "deepseek/x", "--session", "s", "go"},
        {{"DEEPSEEK_API_KEY", "canary-key"},
         {"DEEPSEEK_BASE_URL", server.url("/v1")},
         {"RIFFLE_CONFIG", (folder.path() / "riffle.toml").string()}});
    INFO(end.err);
    CHECK(end.status == 0);
    std::string out;
    const auto body = nlohmann::json::parse(server.requests().back().body);
    for (const auto& x : body.at("messages"))
      if (x.at("role") == "assistant")
        out += x.value("reasoning_content", "") + ";";
    return out;
  };
  CHECK(told_at(first).empty());
  CHECK(told_at(first) == "hm;");
  CHECK(told_at(second) == ";;");
  CHECK(told_at(first) == "hm;hm;;");
}
