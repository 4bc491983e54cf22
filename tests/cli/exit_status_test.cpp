// SPDX-License-Identifier: MIT
#include "runtime/cli/view/exit_status.hpp"

#include <algorithm>
#include <map>

#include "runtime/cli/view/results.hpp"
#include "tests/cli/parsing.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using events::run_status;

namespace {

errc code(std::size_t i) { return static_cast<errc>(i); }

}  // namespace

TEST_CASE("a completed run in which nobody could be asked is 3") {
  CHECK(status_of(run_status::completed, std::nullopt, true) == 3);
  CHECK(status_of(run_status::failed, errc::model_error, true) == 1);
  CHECK(status_of(run_status::cancelled, errc::timeout, true) == 124);
}

TEST_CASE("the help of what runs tasks says what 3 means") {
  for (const std::vector<std::string>& of :
       {std::vector<std::string>{"--help"},
        {"run", "--help"},
        {"plan", "--help"},
        {"sessions", "resume", "--help"}}) {
    auto text = testing::parsed<leave_command>(of).out;
    std::ranges::replace(text, '\n', ' ');
    CAPTURE(of);
    CHECK(testing::has(
        text,
        "3 completed, but calls were denied since nobody could be asked"));
  }
}

TEST_CASE("a completed run is 0, whatever else") {
  CHECK(status_of(run_status::completed, std::nullopt) == 0);
  for (std::size_t i = 0; i < errc_count; ++i) {
    CHECK(status_of(run_status::completed, code(i)) == 0);
  }
}

TEST_CASE("a failed run tells by its status what it failed for") {
  const std::map<errc, int> special = {
      {errc::timeout, 124}, {errc::cancelled, 130}, {errc::invalid_config, 2}};
  for (std::size_t i = 0; i < errc_count; ++i) {
    CAPTURE(to_string(code(i)));
    const auto found = special.find(code(i));
    CHECK(status_of(run_status::failed, code(i)) ==
          (found == special.end() ? 1 : found->second));
  }
  CHECK(status_of(run_status::failed, std::nullopt) == 1);
}

TEST_CASE("a cancelled run is 130, unless its time was over") {
  for (std::size_t i = 0; i < errc_count; ++i) {
    CAPTURE(to_string(code(i)));
    CHECK(status_of(run_status::cancelled, code(i)) ==
          (code(i) == errc::timeout ? 124 : 130));
  }
  CHECK(status_of(run_status::cancelled, std::nullopt) == 130);
}

TEST_CASE("what never became a run is usage, or a failure") {
  const std::map<errc, int> special = {
      {errc::invalid_config, 2},      {errc::invalid_request, 2},
      {errc::invalid_plan, 2},        {errc::not_found, 2},
      {errc::agent_not_streaming, 2}, {errc::session_busy, 2},
      {errc::timeout, 124},           {errc::cancelled, 130}};
  for (std::size_t i = 0; i < errc_count; ++i) {
    CAPTURE(to_string(code(i)));
    const auto found = special.find(code(i));
    CHECK(status_of(code(i)) == (found == special.end() ? 1 : found->second));
  }
}

TEST_CASE("the status of a volley is the first that one of its tasks has") {
  using all = std::vector<exit_status>;
  CHECK(status_of(all{}) == 0);
  CHECK(status_of(all{completed, completed}) == 0);
  all order{interrupted_by_user, out_of_time, failed, unasked, completed};
  // Whatever stands before it, and whatever comes behind in the order.
  for (std::size_t first = 0; first < order.size(); ++first) {
    all some(order.begin() + static_cast<std::ptrdiff_t>(first), order.end());
    CHECK(status_of(some) == order[first]);
    std::ranges::reverse(some);
    CHECK(status_of(some) == order[first]);
    CHECK(status_of(all{completed, order[first]}) == order[first]);
  }
  CHECK(status_of(all{usage, unasked}) == 1);
  CHECK(status_of(all{usage, out_of_time}) == 124);
  CHECK(status_of(all{usage, interrupted_by_user}) == 130);
}

TEST_CASE("what a task alone would end with") {
  told_result x;
  CHECK(status_of(x) == 0);  // it was not run: another one says why
  x.result.status = task_status::completed;
  CHECK(status_of(x) == 0);
  events::approval_resolved nobody;
  nobody.unasked = true;
  x.report.on({1, {"run_1"}, nobody, {}});
  CHECK(status_of(x) == 3);
  x.result.status = task_status::failed;
  CHECK(status_of(x) == 1);
  x.result.failure = error{errc::timeout, "run", "too late"};
  CHECK(status_of(x) == 124);
  x.result.status = task_status::cancelled;
  CHECK(status_of(x) == 124);
  x.result.failure = error{errc::cancelled, "run", "by Ctrl-C"};
  CHECK(status_of(x) == 130);
  const error other{errc::cancelled, "run", "cancelled: another task failed"};
  x.report.on({2, {"run_1"}, events::failure{other}, {}});
  CHECK(status_of(x) == 0);
}
