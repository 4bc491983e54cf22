// SPDX-License-Identifier: MIT
// Lines about calls of tools that nobody here knows.
#include "runtime/cli/view/trace_writer.hpp"
#include "tests/cli/live_stage.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using riffle::testing::call;

namespace {

struct feed {
  explicit feed(verbosity level = verbosity::normal) : traces{{level}} {}
  std::string operator()(events::body body) {
    event x;
    x.body = std::move(body);
    return traces.on(x);
  }
  trace_writer traces;
};

events::tool_result ended(outcome how, std::uint64_t ms,
                          const std::string& metadata,
                          const std::string& message = {}) {
  auto x = riffle::testing::result("c", "any", ms, metadata);
  x.how = how;
  if (!message.empty())
    x.err = error{errc::tool_execution_error, "tool", message, false, {}};
  return x;
}

}  // namespace

TEST_CASE("the tool of a server has its title, and what came back") {
  feed on;
  auto x = call("c", "files__read_text_file", "", R"({"path":"README.md"})");
  x.title = "Using files to read text file: README.md";
  on(x);
  CHECK(on(ended(outcome::ok, 103, R"({"lines":42,"bytes":1331})")) ==
        "[TOOL] Using files to read text file: README.md (42 lines, 1.3 KB) — "
        "0.1s\n");
  x.title = "Using files to list: a\u200bb\x1b[2J";
  on(x);
  CHECK(on(ended(outcome::ok, 0, R"({"items":3,"lines":9,"bytes":99})")) ==
        "[TOOL] Using files to list: a\\u{200b}b^[[2J (3 items, 99 B) — "
        "0.0s\n");
  x.node = "gpu-1";
  x.title = "Using files to list";
  on(x);
  CHECK(on(ended(outcome::failed, 0, {}, "no such folder; check its name")) ==
        "[TOOL] Using files to list@gpu-1 ✗ no such folder — 0.0s\n");
  x.node = {};
  on(x);
  auto lost = ended(outcome::interrupted, 0, {},
                    "the tool's worker was lost: the server files was lost: "
                    "it was ended by SIGKILL");
  CHECK(on(lost) ==
        "[TOOL] Using files to list ✗ interrupted: the server files was "
        "lost\n");
}

TEST_CASE("a tool without a title of its own has its first short text") {
  feed on;
  auto x = call("c", "lookup", "", R"({"n":1,"ticket":"T-1"})");
  x.title = "Using lookup";
  on(x);
  CHECK(on(ended(outcome::ok, 0, {})) == "[TOOL] lookup: T-1 — 0.0s\n");
}

TEST_CASE("arguments are shown as text where everything is") {
  feed on{verbosity::verbose};
  CHECK(on(call("c", "write", "Writing a",
                R"({"content":"\u00fc\u202e","path":"a"})")) ==
        "[CALL] write {\"content\":\"ü\\u202e\",\"path\":\"a\"}\n");
}
