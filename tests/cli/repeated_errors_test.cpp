// SPDX-License-Identifier: MIT
// Errors that come again and again: told once, and counted.
#include "runtime/cli/view/trace_writer.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

/// Feeds events of one run.
struct feed {
  explicit feed(verbosity level = verbosity::normal)
      : traces{{level, false, true, false}} {}

  std::string operator()(events::body body) {
    event x;
    x.run = {"run_1"};
    x.body = std::move(body);
    return traces.on(x);
  }
  /// A call with its end.
  std::string call(const std::string& tool, const std::string& arguments,
                   events::tool_result end) {
    events::tool_call x;
    x.id = end.id = {"call_1"};
    x.tool = end.tool = tool;
    x.title = "Doing it";
    x.arguments = arguments;
    (*this)(x);
    return (*this)(end);
  }
  std::string read(const std::string& path, outcome how, std::uint64_t ms) {
    events::tool_result x;
    x.how = how;
    x.duration_ms = ms;
    x.attempts = 1;
    if (how != outcome::ok)
      x.err = error{errc::tool_execution_error, "tool", "no such file"};
    return call("read", R"({"path":")" + path + R"("})", x);
  }

  trace_writer traces;
};

}  // namespace

TEST_CASE("the same error again is counted, and told before what comes next") {
  feed on;
  CHECK(on.read("a", outcome::failed, 10) ==
        "[TOOL] read: a ✗ no such file — 0.0s\n");
  CHECK(on.read("a", outcome::failed, 2000).empty());
  CHECK(on.read("a", outcome::failed, 30).empty());
  CHECK(on.traces.rest().empty());  // a pause ends nothing
  CHECK(on.read("b", outcome::failed, 10) ==
        "[TOOL] … the same 2 times more\n"
        "[TOOL] read: b ✗ no such file — 0.0s\n");
  CHECK(on.read("b", outcome::failed, 10).empty());
  CHECK(on.read("c", outcome::ok, 1)
            .starts_with("[TOOL] … the same once more\n[TOOL] read: c"));
  CHECK(on.read("b", outcome::failed, 10) ==
        "[TOOL] read: b ✗ no such file — 0.0s\n");
  CHECK(on.read("b", outcome::failed, 10).empty());
  CHECK(on(events::run_finished{}) == "[TOOL] … the same once more\n");
}

TEST_CASE("errors that end alike are not the same") {
  feed on;
  events::tool_result skipped;
  skipped.how = outcome::skipped;
  const auto begins = [&](const std::string& command) {
    return on.call("bash", R"({"command":")" + command + R"("})", skipped);
  };
  CHECK_FALSE(begins("a — b").empty());
  CHECK_FALSE(begins("a — c").empty());
}

TEST_CASE("verbose shows each error") {
  feed on{verbosity::verbose};
  for (int i = 0; i < 3; ++i)
    CHECK(on.read("a", outcome::failed, 10).find("✗ no such file") !=
          std::string::npos);
}
