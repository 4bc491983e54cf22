// SPDX-License-Identifier: MIT
// How much of a conversation a local model takes: what a person says, else what
// its server says of it.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

http_reply ollama_answer() {
  return http_reply::text(
      R"({"message":{"role":"assistant","content":"ok"},"done":false})"
      "\n"
      R"({"done":true,"done_reason":"stop"})"
      "\n",
      200, "application/x-ndjson");
}

/// One that answers `/api/show` like this.
http_server::handler ollama(const http_reply& shown) {
  return [shown](const http_request& request) {
    return request.target == "/api/show" ? shown : ollama_answer();
  };
}

http_reply window(std::uint64_t tokens) {
  return http_reply::json(json{
      {"model_info",
       {{"general.architecture", "qwen3"}, {"qwen3.context_length", tokens}}}}
                              .dump());
}

finished run(const work_folder& folder, const http_server& server,
             std::vector<std::string> arguments, const std::string& more = {}) {
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n[models.\"ollama/q\"]\n"
               "base_url = \"" +
                   server.url("") + "\"\n" + more);
  return riffle::testing::riffle(
      folder, std::move(arguments),
      {{"RIFFLE_CONFIG", (folder.path() / "riffle.toml").string()}});
}

/// What the server was told, at its last request.
json asked_window(const http_server& server) {
  const auto last = server.requests().back();
  CHECK(last.target == "/api/chat");
  return json::parse(last.body).at("options").at("num_ctx");
}

const std::vector<std::string> go{"run", "-m", "ollama/q", "go"};

}  // namespace

TEST_CASE(
    "a local model is asked for its own window, up to what laptops bear") {
  const work_folder folder;
  const auto own = GENERATE(8192u, 131072u);
  http_server server{ollama(window(own))};
  CHECK(run(folder, server, go).status == 0);
  const auto seen = server.requests();
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].target == "/api/show");
  CHECK(json::parse(seen[0].body) == json{{"model", "q"}});
  CHECK(asked_window(server) == std::min(own, 16384u));
  // The model is loaded with the same window, not twice.
  CHECK(run(folder, server, {"models", "check", "ollama/q"}).status == 1);
  CHECK(server.request_count() == 4);
  CHECK(asked_window(server) == std::min(own, 16384u));
}

TEST_CASE("the window that a person set is what the server is told") {
  const work_folder folder;
  http_server server{ollama(window(8192))};
  const auto set = GENERATE(4096, 16384, 128000, 200000);
  const auto text = "context_window = " + std::to_string(set) + "\n";
  CHECK(run(folder, server, go, text).status == 0);
  CHECK(server.request_count() == 1);
  CHECK(asked_window(server) == set);
}

TEST_CASE("the window counts for who says only that the dialect is Ollama's") {
  const work_folder folder;
  http_server server{ollama(window(8192))};
  run(folder, server, {"run", "-m", "mine", "go"},
      "[models.mine]\ndialect = \"ollama\"\nmodel = \"q\"\nbase_url = \"" +
          server.url("") + "\"\napi_key_env = \"\"\n");
  CHECK(asked_window(server) == 8192);
}

TEST_CASE("a conversation that is longer than the own window is not sent") {
  const work_folder folder;
  http_server server{ollama(window(2000))};
  auto words = go;
  words.back() = std::string(20'000, 'x');
  const auto x = run(folder, server, words);
  CHECK(x.status == 2);  // before anything starts
  CHECK(server.request_count() == 1);
  CHECK_THAT(x.err, Catch::Matchers::Contains("that is too long: about 5.0k "
                                              "tokens, and the model ollama/q "
                                              "takes 2.0k") &&
                        Catch::Matchers::Contains("context_window"));
}

TEST_CASE("a server that does not say the window gets what laptops bear") {
  const work_folder folder;
  const auto shown = GENERATE(
      http_reply::text("404 page not found", 404), http_reply::json("{}"),
      http_reply::json("{").cut(), http_reply::sse().stall());
  http_server server{ollama(shown)};
  const auto begin = std::chrono::steady_clock::now();
  CHECK(run(folder, server, go).status == 0);
  CHECK(std::chrono::steady_clock::now() - begin < 30s);
  CHECK(asked_window(server) == 16384);
}

TEST_CASE("a local model is asked once for all runs of a process") {
  const work_folder folder;
  http_server server{ollama(window(8192))};
  CHECK(run(folder, server,
            {"run", "-m", "ollama/q", "--", "one", "two", "three"})
            .status == 0);
  std::size_t shown = 0;
  for (const auto& x : server.requests()) shown += x.target == "/api/show";
  CHECK(shown == 1);
  CHECK(server.request_count() == 4);
}
