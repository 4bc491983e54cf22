// SPDX-License-Identifier: MIT
// A volley runs as many tasks as the servers of its models take, down and up:
// the real program.
#include <algorithm>
#include <atomic>
#include <map>
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
