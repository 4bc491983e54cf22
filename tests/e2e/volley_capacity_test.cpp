// SPDX-License-Identifier: MIT
// A volley runs as many tasks as the servers of its models take, down and up:
// the real program.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;
using words = std::vector<std::string>;

namespace {

std::string model_of(const http_request& x) {
  return json::parse(x.body).at("model");
}

/// How many tasks were under way, with it, as each one began, in time; by
/// model.
std::map<std::string, std::vector<int>> begun_beside(const std::string& out) {
  std::map<std::string, std::string> model;  // of a run
  // With those first that end where others begin.
  std::vector<std::tuple<std::string, bool, std::string>> moves;
  for (const auto& x : checked_events(out)) {
    const auto& type = x.at("event_type");
    const bool begins = type == "run_started";
    if (begins) model[x.at("run_id")] = x.at("data").at("model");
    if (begins || type == "run_finished")
      moves.emplace_back(x.at("timestamp"), begins, x.at("run_id"));
  }
  std::ranges::sort(moves);
  std::map<std::string, std::vector<int>> seen;
  std::map<std::string, int> active;
  for (const auto& [when, begins, run] : moves) {
    auto& n = active[model[run]];
    n += begins ? 1 : -1;
    if (begins) seen[model[run]].push_back(n);
  }
  return seen;
}

/// Events of that type, in a log that need not have ended.
std::size_t count_of(const std::string& out, std::string_view type) {
  const auto word = "\"event_type\":\"" + std::string{type} + "\"";
  std::size_t n = 0;
  for (auto at = out.find(word); at != std::string::npos; ++n)
    at = out.find(word, at + 1);
  return n;
}

}  // namespace

TEST_CASE("a volley goes down with what its server takes, and up again") {
  // Eight are open, then all eight are refused; later ones are accepted.
  const work_folder folder;
  std::atomic<int> seen = 0;
  http_server server{[&](const http_request&) {
    const int n = ++seen;
    if (n <= 8) {
      return http_reply{429}
          .header("content-type", "application/json")
          .header("retry-after-ms", "200")
          .stall("all")
          .send(R"({"error":{"message":"slow"}})");
    }
    return http_reply::sse().pause(50ms).send(answer("fine"));
  }};
  folder.configure(server.url("/v1"), "model = \"only\"\n");
  words arguments{"run", "--workers", "8", "--output", "jsonl", "--"};
  for (int i = 0; i < 80; ++i) arguments.push_back("t" + std::to_string(i));
  program volley{installed_riffle(), folder, arguments};
  REQUIRE(eventually([&] { return seen == 8; }));
  server.release("all");
  const auto end = volley.wait();
  CAPTURE(end.err);
  REQUIRE(end.status == 0);
  const auto beside = begun_beside(end.out).at("only");
  REQUIRE(beside.size() == 80);
  CAPTURE(beside);
  CHECK(beside[7] == 8);
  // Half of them, until the first have been accepted.
  CHECK(*std::max_element(beside.begin() + 8, beside.begin() + 11) <= 5);
  CHECK(*std::max_element(beside.begin() + 60, beside.end()) == 8);
}

TEST_CASE("after a refusal a volley goes on with what its server has taken") {
  // Four in each 2 s, as it counts; each answer takes a while.
  using clock = std::chrono::steady_clock;
  constexpr auto length = 2s;
  const work_folder folder;
  std::mutex mutex;
  clock::time_point window{};
  int in_window = 0;
  int refused = 0;
  http_server server{[&](const http_request& x) {
    const std::lock_guard lock{mutex};
    const auto now = clock::now();
    if (now >= window + length) {
      window = now;
      in_window = 0;
    }
    if (++in_window > 4) {
      ++refused;
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(window + length - now);
      return http_reply{429}
          .header("content-type", "application/json")
          .header("retry-after-ms", std::to_string(left.count()))
          .send(R"({"error":{"message":"slow"}})");
    }
    // The first bytes come at once, the rest later.
    const bool asks = tool_messages(x).empty();
    return http_reply::sse()
        .send(say("So "))
        .pause(in_window == 1 ? 200ms : 600ms)
        .send(asks ? calls({{"glob", {{"pattern", "*"}}}}) : answer("fine"));
  }};
  folder.configure(server.url("/v1"));
  words arguments{"run", "--workers", "4", "--output", "json", "--"};
  for (int i = 0; i < 6; ++i) arguments.push_back("t" + std::to_string(i));
  const auto begun = clock::now();
  const auto end = riffle::testing::riffle(folder, arguments);
  const std::chrono::duration<double> took = clock::now() - begun;
  CAPTURE(end.err, refused, took.count());
  CHECK(end.status == 0);
  // Twelve requests: at 0, 2 and 4 s; one for each refusal would take 14 s.
  CHECK(took < (2 * length + 600ms) * 16 / 10);
  CHECK(server.requests().size() <= 15);
  CHECK(refused > 0);
}

TEST_CASE("a task that the minute has no request for waits without a clock") {
  const work_folder folder;
  http_server server{
      [](const http_request&) { return respond_sse(answer("fine")); }};
  folder.configure(server.url("/v1"), "requests_per_minute = 4\n");
  words arguments{"run",           "--workers", "8",        "--timeout", "2s",
                  "--max-retries", "1",         "--output", "jsonl",     "--"};
  for (int i = 0; i < 8; ++i) arguments.push_back("t" + std::to_string(i));
  program volley{installed_riffle(), folder, arguments};
  REQUIRE(
      eventually([&] { return count_of(volley.out(), "run_finished") == 4; }));
  std::this_thread::sleep_for(4s);  // more than a run may take
  CHECK(count_of(volley.out(), "run_started") == 4);
  volley.signal(SIGINT);
  const auto end = volley.wait();
  CAPTURE(end.err);
  CHECK(end.status == 130);
  CHECK(server.requests().size() == 4);
}

TEST_CASE("a run whose request is held back says so, with the time") {
  const work_folder folder;
  http_server server{[](const http_request& x) {
    return respond_sse(tool_messages(x).empty()
                           ? calls({{"glob", {{"pattern", "*"}}}})
                           : answer("fine"));
  }};
  folder.configure(server.url("/v1"), "requests_per_minute = 1\n");
  program run{installed_riffle(), folder, {"run", "--output", "jsonl", "look"}};
  const std::string held = "held back by the model's rate limit, next in ";
  REQUIRE(
      eventually([&] { return run.out().find(held) != std::string::npos; }));
  const auto out = run.out();
  const auto at = out.find(held) + held.size();
  CHECK(std::stoi(out.substr(at)) > 50);
  run.signal(SIGINT);
  CHECK(run.wait().status == 130);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("more workers than a model takes at once are told of, once") {
  const work_folder folder;
  http_server server{
      [](const http_request&) { return respond_sse(answer("fine")); }};
  folder.configure(server.url("/v1"), "max_concurrent = 2\n");
  const auto told = [&](words arguments) {
    arguments.insert(arguments.begin(), "run");
    for (const auto* task : {"--", "a", "b", "c"}) arguments.emplace_back(task);
    const auto end = riffle::testing::riffle(folder, arguments);
    CHECK(end.status == 0);
    const std::string word = "2 at a time: models.default.max_concurrent\n";
    const auto at = end.err.find(word);
    if (at == std::string::npos) return 0;
    return end.err.find(word, at + 1) == std::string::npos ? 1 : 2;
  };
  CHECK(told({"--workers", "3"}) == 1);
  CHECK(told({"--workers", "3", "-q"}) == 0);
  CHECK(told({"--workers", "3", "--output", "json"}) == 0);
  CHECK(told({"--workers", "2"}) == 0);
}

TEST_CASE("a model with a limit holds up its own tasks alone, from the start") {
  const work_folder folder;
  std::atomic<int> slow = 0;
  http_server server{[&](const http_request& x) {
    if (model_of(x) == "fast") return respond_sse(answer("fine"));
    ++slow;
    return http_reply::sse().stall("slow").send(answer("fine"));
  }};
  folder.configure(server.url("/v1"),
                   "model = \"fast\"\n[models.one]\nbase_url = \"" +
                       server.url("/v1") +
                       "\"\nmodel = \"slow\"\nmax_concurrent = 1\n");
  std::string tasks;
  for (int i = 0; i < 5; ++i)
    tasks += R"({"task": "s", "model": "one"})"
             "\n{\"task\": \"f\"}\n";
  folder.write("t.txt", tasks);
  program volley{
      installed_riffle(),
      folder,
      {"run", "--tasks-file", "t.txt", "--workers", "3", "--output", "jsonl"}};
  // All of the others end while the first of these is held.
  const auto told = [&](std::string_view type) {
    const auto out = volley.out();
    std::size_t n = 0;
    for (auto at = out.find(type); at != std::string::npos; ++n)
      at = out.find(type, at + 1);
    return n;
  };
  REQUIRE(
      eventually([&] { return told("\"run_finished\"") == 5 && slow == 1; }));
  CHECK(told("\"run_started\"") == 6);
  server.release("slow");
  const auto end = volley.wait();
  CHECK(end.status == 0);
  CHECK(begun_beside(end.out).at("slow") == std::vector<int>(5, 1));
}
