// SPDX-License-Identifier: MIT
#include "runtime/cli/view/session_text.hpp"
#include "runtime/service/stored_request.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using storage::run_state;

namespace {

constexpr wall_time now{3'600'000'000};

session_summary task(std::size_t n, run_state state, std::int64_t seconds) {
  session_summary x;
  x.id = {"task" + std::to_string(n)};
  x.runs = 1;
  x.last.id = {"run_" + std::to_string(n)};
  x.last.started = {now.us - seconds * 1'000'000};
  x.last.state = state;
  x.last.task = "task " + std::to_string(n);
  service::stored_request from;
  from.place = service::task_place{"volley_1", n - 1};
  x.last.settings = service::to_json(from);
  return x;
}

/// The row of the volley, and the ids of those below it.
std::pair<std::string, std::string> listed(
    const std::vector<session_summary>& all,
    const volley_standings& volleys = {}, const asking_sessions& asking = {}) {
  const auto text = summaries_text(all, now, 0, {}, asking, volleys);
  std::string ids;
  for (auto at = text.find("\n  task"); at != text.npos;
       at = text.find("\n  task", at + 1))
    ids += text[at + 7];
  return {text.substr(0, text.find('\n')), ids};
}

}  // namespace

TEST_CASE("the row of a volley says how it stands, its tasks come in order") {
  const auto done = run_state::completed;
  const volley_standings of_four{
      {"volley_1", {.tasks = 4, .done = 2, .runs = 3}}};
  const std::vector<session_summary> all{
      task(2, done, 120), task(3, run_state::failed, 180), task(1, done, 240)};
  CHECK(listed(all, of_four) == std::pair<std::string, std::string>{
                                    "volley_1  2 min ago   failed       "
                                    "3 runs   volley, 2 of 4 done",
                                    "123"});
  const auto state = [](const auto& x) { return x.first.substr(22, 11); };
  CHECK(state(listed({all[0], all[2]})) == "completed  ");
  // Two have not begun.
  CHECK(state(listed({all[0], all[2]}, of_four)) == "interrupted");
  auto killed = task(4, run_state::active, 60);
  CHECK(state(listed({killed, all[1]}, of_four)) == "active     ");
  CHECK(state(listed({killed, all[1]}, of_four, {killed.id})) == "asks       ");
  killed.interrupted = true;
  CHECK(state(listed({killed, all[1]}, of_four)) == "interrupted");
  CHECK(state(listed({task(4, run_state::cancelled, 60), all[1]}, of_four)) ==
        "cancelled  ");
}

TEST_CASE("the row of a volley is of all its tasks, whatever is listed") {
  const auto row = [](const volley_standing& x) {
    return listed({task(1, run_state::completed, 60)}, {{"volley_1", x}}).first;
  };
  CHECK(row({.tasks = 4, .done = 3, .failed = 1, .runs = 6}) ==
        "volley_1  1 min ago   failed       6 runs   volley, 3 of 4 done");
  CHECK(row({.tasks = 4, .done = 2, .failed = 1, .cancelled = 1, .runs = 4}) ==
        "volley_1  1 min ago   cancelled    4 runs   volley, 2 of 4 done");
  CHECK(row({.tasks = 4, .done = 3, .open = 1, .runs = 4}) ==
        "volley_1  1 min ago   interrupted  4 runs   volley, 3 of 4 done");
}
