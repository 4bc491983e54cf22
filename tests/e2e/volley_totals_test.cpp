// SPDX-License-Identifier: MIT
// What a volley has cost, over all runs of its tasks, and how it ended: the
// real program.
#include <atomic>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;
using words = std::vector<std::string>;

namespace {

/// The last thing that the user said.
std::string task_of(const http_request& x) {
  std::string task;
  const auto body = json::parse(x.body);
  for (const auto& m : body.at("messages"))
    if (m.at("role") == "user") task = m.at("content");
  return task;
}

finished run(const work_folder& folder, words arguments) {
  return riffle::testing::riffle(folder, std::move(arguments));
}

std::string volley_of(const std::string& err) {
  const auto at = err.find("volley_");
  REQUIRE(at != std::string::npos);
  return err.substr(at, err.find_first_of(", \n", at) - at);
}

/// Whether it has results of this run: a task that is run again has those of
/// the run that failed before it.
bool has_results(const http_request& x) {
  const auto body = json::parse(x.body);
  return body.at("messages").back().at("role") == "tool";
}

/// What a turn is billed.
const std::string bill =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,"
    "\"completion_tokens\":10}}\n\n";

std::string billed(const std::string& turn) {
  return turn.substr(0, turn.size() - done_mark.size()) + bill + done_mark;
}

/// The sum over the logs of all runs.
std::uint64_t logged(const work_folder& folder, const std::string& id) {
  std::uint64_t sum = 0;
  const auto log = run(folder, {"sessions", "events", id});
  for (const auto& end : of_type(checked_events(log.out), "run_finished"))
    sum += end.at("data").at("usage").at("input_tokens").get<std::uint64_t>();
  return sum;
}

std::size_t begun_steps(const work_folder& folder, const std::string& id) {
  const auto log = run(folder, {"sessions", "events", id}).out;
  std::size_t n = 0;
  for (auto at = log.find("\"step_start\""); at != std::string::npos;
       at = log.find("\"step_start\"", at + 1))
    ++n;
  return n;
}

}  // namespace

TEST_CASE("what a task has cost counts the runs that failed, killed or not") {
  // Its first run makes a turn and fails in the second one; so does the next
  // one, unless the program is killed in it.
  const work_folder folder;
  folder.write("a", "text");
  std::atomic<int> first_turns = 0;
  std::atomic<bool> held = true;
  http_server server{[&](const http_request& x) {
    if (task_of(x) == "good") return respond_sse(billed(answer("fine")));
    if (!has_results(x)) {
      ++first_turns;
      return respond_sse(billed(calls({{"read", {{"path", "a"}}}})));
    }
    if (first_turns == 1) return http_reply::json("{}", 503);
    if (held) return http_reply::sse().pause(20s).send(answer("late"));
    return respond_sse(billed(answer("fine")));
  }};
  folder.configure(server.url("/v1"),
                   "[models.default.retry]\nmax_attempts = 1\n");
  const bool killed = GENERATE(false, true);
  CAPTURE(killed);
  words arguments{"run", "--max-retries", "2",   "--output", "json", "--stats",
                  "--",  "is odd",        "good"};
  if (killed) {
    program volley{installed_riffle(), folder, arguments};
    REQUIRE(eventually([&] { return server.requests().size() == 5; }));
    const auto id = volley_of(volley.err());
    // A turn is asked for while the one before it is saved: killed before
    // that, the run would ask for it again.
    REQUIRE(eventually([&] { return begun_steps(folder, id) == 5; }));
    volley.signal(SIGKILL);
    volley.wait();
    arguments = {"sessions", "resume", id, "--output", "json", "--stats"};
  }
  held = false;
  const auto end = run(folder, arguments);
  CAPTURE(end.err);
  CHECK(end.status == 0);
  const auto all = json::parse(end.out);
  const auto& odd = all.at("results").at(0);
  CHECK(odd.at("attempts") == 2);
  CHECK(odd.at("answer") == "fine");
  CHECK(odd.at("usage").at("input_tokens") == 300);
  CHECK(odd.at("steps") == 4);
  CHECK(odd.at("tools").at(0).at("calls") == 2);
  const auto& totals = all.at("totals").at("usage");
  CHECK(totals.at("input_tokens") == 400);
  CHECK(totals.at("output_tokens") == 40);
  CHECK(logged(folder, all.at("volley_id")) == 400);
  CHECK(end.err.find("[STATS] all tasks: 5 steps, 2 tool calls") !=
        std::string::npos);
  CHECK(end.err.find("tokens: 400 in, 40 out") != std::string::npos);
  CHECK(end.err.find("1 retry, 1 of run") != std::string::npos);
}

TEST_CASE(
    "the exit status of a volley: a time limit, a failure, nobody asked") {
  const work_folder folder;
  http_server server{[&](const http_request& x) {
    const auto task = task_of(x);
    if (task == "late") return http_reply::sse().pause(20s).send(answer("x"));
    if (task == "bad") return http_reply::json("{}", 400);
    if (task == "asks" && tool_messages(x).empty())
      return respond_sse(calls({{"bash", {{"command", "touch asked"}}}}));
    return respond_sse(answer("fine"));
  }};
  folder.configure(server.url("/v1"));
  const auto status_of = [&](words tasks) {
    words all{"run", "--timeout", "2s", "-q", "--"};
    all.insert(all.end(), tasks.begin(), tasks.end());
    return run(folder, all).status;
  };
  CHECK(status_of({"good", "fine"}) == 0);
  CHECK(status_of({"good", "asks"}) == 3);
  CHECK(status_of({"asks", "bad"}) == 1);
  CHECK(status_of({"asks", "bad", "late"}) == 124);
}
