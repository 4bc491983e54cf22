// SPDX-License-Identifier: MIT
#include "runtime/cli/view/exit_status.hpp"

#include <map>

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
