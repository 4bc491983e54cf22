// SPDX-License-Identifier: MIT
// A provider that nobody here wrote: aimock from npm, through a whole agent
// loop, with its own record of what we sent.
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <unistd.h>

#include <curl/curl.h>

#include "runtime/model/dialect.hpp"
#include "tests/e2e/npm_packages.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string get(const std::string& url) {
  const std::unique_ptr<CURL, void (*)(CURL*)> easy{curl_easy_init(),
                                                    curl_easy_cleanup};
  std::string body;
  curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_PROXY, "");
  curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT, 10L);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(
      easy.get(), CURLOPT_WRITEFUNCTION,
      +[](char* x, std::size_t, std::size_t n, std::string* to) {
        to->append(x, n);
        return n;
      });
  return curl_easy_perform(easy.get()) == CURLE_OK ? body : "";
}

/// A running aimock; ends with the object.
class aimock {
 public:
  aimock(const fs::path& packages, const work_folder& folder,
         const json& fixtures)
      : port_{dead_port()} {
    folder.write("fixtures.json", fixtures.dump());
    server_.emplace(
        node_of(packages), folder_,
        std::vector<std::string>{
            (packages / "@copilotkit" / "aimock" / "dist" / "cli.js").string(),
            "-p", std::to_string(port_), "-h", "127.0.0.1", "-f",
            (folder.path() / "fixtures.json").string(), "--strict"});
  }

  [[nodiscard]] std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  [[nodiscard]] bool ready() const {
    return eventually([this] { return !get(url("/health")).empty(); }, 30s);
  }
  /// The bodies of the requests that it got.
  [[nodiscard]] std::vector<json> journal() const {
    std::vector<json> out;
    const auto all = json::parse(get(url("/__aimock/journal")));
    for (const auto& x : all.is_array() ? all : all.at("entries"))
      out.push_back(x.at("body"));
    return out;
  }

 private:
  work_folder folder_;
  std::uint16_t port_;
  std::optional<program> server_;
};

/// Reads two files, writes with bash what they hold, then answers.
/// `one_call`: reads one alone, for it counts the calls of Responses as turns.
json fixtures(bool one_call = false) {
  const auto call = [](const std::string& tool, const json& arguments) {
    return json{{"name", tool}, {"arguments", arguments.dump()}};
  };
  json reads = json::array({call("read", {{"path", "a.txt"}})});
  if (!one_call) reads.push_back(call("read", {{"path", "b.txt"}}));
  return {
      {"fixtures",
       {{{"match", {{"userMessage", "two files"}, {"turnIndex", 0}}},
         {"response", {{"toolCalls", reads}}}},
        {{"match", {{"userMessage", "two files"}, {"turnIndex", 1}}},
         {"response",
          {{"toolCalls",
            {call("bash", {{"command", "cat a.txt b.txt > c.txt"}})}}}}},
        {{"match", {{"userMessage", "two files"}, {"turnIndex", 2}}},
         {"response", {{"content", "Both are in c.txt now."}}}},
        {{"match", {{"userMessage", "too fast"}}},
         {"response",
          {{"error",
            {{"message", "Rate limit exceeded"}, {"type", "rate_limit_error"}}},
           {"status", 429}}}}}}};
}

void check_journal(const std::vector<json>& sent, bool streaming) {
  REQUIRE(sent.size() == 3);
  for (const auto& body : sent) {
    CHECK(body.at("model") == "gpt-4o");
    CHECK(body.value("stream", false) == streaming);
    CHECK(body.at("tools").size() == 7);
    check_results({"POST", "", {}, body.dump(), 1});
  }
  const auto& last = sent.back().at("messages");
  REQUIRE(last.size() == 7);
  CHECK(last[0].at("role") == "system");
  CHECK(last[1].at("content") == "join the two files");
  CHECK(last[2].at("tool_calls").size() == 2);
  CHECK(last[3].at("content").get<std::string>().starts_with("Ada"));
  CHECK(last[4].at("content").get<std::string>().starts_with("Bob"));
  CHECK(last[5].at("tool_calls")[0].at("function").at("name") == "bash");
}

}  // namespace

TEST_CASE("aimock leads an agent through a whole task") {
  const auto there = npm_packages();
  if (!there) return skip("npm or its network is missing");
  for (const bool streaming : {true, false}) {
    DYNAMIC_SECTION("streaming: " << streaming) {
      const work_folder folder;
      folder.write("a.txt", "Ada\n");
      folder.write("b.txt", "Bob\n");
      const aimock server{*there, folder, fixtures()};
      REQUIRE(server.ready());
      folder.configure(server.url("/v1"),
                       std::string{"model = \"gpt-4o\"\nstreaming = "} +
                           (streaming ? "true" : "false") +
                           "\n[tools.bash]\napproval = \"allow\"\n");
      const auto end = riffle::testing::riffle(
          folder, {"run", "join the two files", "--output", "jsonl"});
      INFO(end.err);
      CHECK(end.status == 0);
      CHECK(folder.read("c.txt") == "Ada\nBob\n");
      const auto events = checked_events(end.out);
      CHECK(of_type(events, "tool_result").size() == 3);
      CHECK(of_type(events, "usage").size() == 3);
      CHECK(of_type(events, "final_answer").at(0).at("data").at("content") ==
            "Both are in c.txt now.");
      check_journal(server.journal(), streaming);
    }
  }
}

TEST_CASE("aimock leads an agent through it in every other dialect, too") {
  const auto there = npm_packages();
  if (!there) return skip("npm or its network is missing");
  for (const std::string dialect : {"anthropic", "responses", "ollama"})
    for (const bool streaming : {true, false}) {
      CAPTURE(dialect, streaming);
      const work_folder folder;
      folder.write("a.txt", "Ada\n");
      folder.write("b.txt", "Bob\n");
      const bool one = dialect == "responses";
      const aimock server{*there, folder, fixtures(one)};
      REQUIRE(server.ready());
      folder.configure(server.url(dialect == "ollama" ? "" : "/v1"),
                       "model = \"gpt-4o\"\ndialect = \"" + dialect +
                           "\"\nstreaming = " + (streaming ? "true" : "false") +
                           "\n[tools.bash]\napproval = \"allow\"\n");
      const auto end = riffle::testing::riffle(
          folder, {"run", "join the two files", "--output", "jsonl"});
      INFO(end.err);
      CHECK(end.status == 0);
      CHECK(folder.read("c.txt") == "Ada\nBob\n");
      const auto events = checked_events(end.out);
      CHECK(of_type(events, "tool_result").size() == (one ? 2 : 3));
      const auto answers = of_type(events, "final_answer");
      REQUIRE(answers.size() == 1);
      CHECK(answers[0].at("data").at("content") == "Both are in c.txt now.");
      CHECK(server.journal().size() == 3);
    }
}

TEST_CASE("aimock answers a hundred tasks of one volley") {
  const auto there = npm_packages();
  if (!there) return skip("npm or its network is missing");
  const work_folder folder;
  json all = json::array();
  std::string tasks;
  for (int i = 0; i < 100; ++i) {
    const auto name = "task-" + std::to_string(1000 + i);
    tasks += name + "\n";
    all.push_back({{"match", {{"userMessage", name}}},
                   {"response", {{"content", "did " + name}}}});
  }
  folder.write("tasks.txt", tasks + "too fast\n");
  all.push_back(fixtures().at("fixtures").back());
  const aimock server{*there, folder, json{{"fixtures", all}}};
  REQUIRE(server.ready());
  folder.configure(server.url("/v1"),
                   "model = \"gpt-4o\"\nretry = { max_attempts = 1 }\n");
  const auto end = riffle::testing::riffle(
      folder, {"run", "--tasks-file", "tasks.txt", "--workers", "8", "--output",
               "json", "-q"});
  INFO(end.err);
  CHECK(end.status == 1);
  const auto results = json::parse(end.out).at("results");
  REQUIRE(results.size() == 101);
  for (std::size_t i = 0; i < 100; ++i)
    CHECK(results[i].at("answer") == "did task-" + std::to_string(1000 + i));
  CHECK(results[100].at("error").at("code") == "model_rate_limited");
  CHECK(server.journal().size() == 101);
}

TEST_CASE("aimock's refusals are understood") {
  const auto there = npm_packages();
  if (!there) return skip("npm or its network is missing");
  const work_folder folder;
  const aimock server{*there, folder, fixtures()};
  REQUIRE(server.ready());
  folder.configure(server.url("/v1"),
                   "retry = { max_attempts = 2, base = \"10ms\" }\n");
  const auto code = [&](const std::string& task) {
    const auto end =
        riffle::testing::riffle(folder, {"run", task, "--output", "jsonl"});
    CHECK(end.status == 1);
    return of_type(checked_events(end.out), "error")
        .at(0)
        .at("data")
        .at("code")
        .get<std::string>();
  };
  CHECK(code("too fast") == "model_rate_limited");
  CHECK(code("nobody wrote an answer for this") == "model_error");
}

TEST_CASE("a model is checked right with aimock, in all dialects") {
  const auto there = npm_packages();
  if (!there) return skip("npm or its network is missing");
  const auto call = [](const char* city) {
    return json{{"name", "note_city"},
                {"arguments", json{{"city", city}}.dump()}};
  };
  const json script{{"fixtures",
                     {{{"match", {{"userMessage", "Call the tool"}}},
                       {"response",
                        {{"toolCalls", {call("Oslo"), call("Rome")}},
                         {"reasoning", "Two cities."}}}}}}};
  const work_folder folder;
  const aimock server{*there, folder, script};
  REQUIRE(server.ready());
  // It thinks where a model of that name does.
  const std::vector<std::pair<std::string, std::string>> all{
      {"openai", "gpt-4o"},     {"anthropic", "gpt-4o"},
      {"responses", "gpt-4o"},  {"ollama", "gpt-4o"},
      {"openai", "o4-mini"},    {"anthropic", "claude-sonnet-4-5"},
      {"responses", "o4-mini"}, {"ollama", "o4-mini"}};
  for (const auto& [dialect, model] : all) {
    CAPTURE(dialect, model);
    folder.configure(
        server.url(dialect == "ollama" ? "" : "/v1"),
        "model = \"" + model + "\"\ndialect = \"" + dialect + "\"\n" +
            (dialect == "anthropic" ? "max_output_tokens = 500\n" : ""));
    const auto end = riffle::testing::riffle(
        folder, {"models", "check", "default", "--output", "json"});
    INFO(end.out << end.err);
    CHECK(end.status == 0);
    const auto said = json::parse(end.out);
    for (const auto* key :
         {"works", "streaming", "tools", "parallel", "usage"}) {
      CAPTURE(key);
      CHECK(said.at(key) == true);
    }
    // aimock has no thoughts in Ollama's own interface.
    CHECK(said.at("reasoning") == (model != "gpt-4o" && dialect != "ollama"));
  }
}
