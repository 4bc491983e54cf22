// SPDX-License-Identifier: MIT
// A line that is a question's key alone, typed before the question came.
#include <filesystem>
#include <string>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;

namespace {

/// A turn that waits for a file `go`, and then may ask about another one.
struct place {
  explicit place(bool asks) {
    folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "until test -e go; do sleep 0.02; done" }
)toml" +
                               std::string{asks ? R"toml([[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "made", content = "x" }
)toml"
                                                : ""} +
                               R"toml([[steps]]
chunk = 999
text = "You said: {{task}}"
)toml");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n[tools.bash]\napproval = \"allow\"\n");
  }
  [[nodiscard]] bool is_made() const {
    return std::filesystem::exists(folder.path() / "made");
  }
  temp_folder folder;
};

struct early_talk : place {
  explicit early_talk(bool asks) : place{asks} {
    REQUIRE(riffle.read_next("/help shows"));
    riffle.type("begin\r");
    REQUIRE(riffle.read_next("Running: until"));
    riffle.type("y\r");
    REQUIRE(riffle.read_next("(1 queued"));
    folder.write("go", "");
  }
  int leave() {
    REQUIRE(riffle.read_next("\x1b[?2004h"));
    riffle.type("\x04");
    return riffle.finish();
  }
  terminal_program riffle{folder.path(), {"chat", "--no-color"}, 110};
};

}  // namespace

TEST_CASE("a key that was queued before its question is no task, nor a yes") {
  if (!has_terminals()) return skip(no_terminals);
  early_talk x{true};
  REQUIRE(x.riffle.read_next("\"y\" answered nothing, and was not sent"));
  REQUIRE(x.riffle.read_next("[?] > "));
  CHECK_FALSE(x.is_made());
  x.riffle.answer("y");
  REQUIRE(x.riffle.read_next("You said: begin"));
  CHECK(x.leave() == 0);
  CHECK(x.is_made());
  CHECK(x.riffle.written().find("You said: y") == std::string::npos);
}

TEST_CASE("where no question came such a line is a task as any other") {
  if (!has_terminals()) return skip(no_terminals);
  early_talk x{false};
  REQUIRE(x.riffle.read_next("You said: begin"));
  REQUIRE(x.riffle.read_next("You said: y"));
  CHECK(x.leave() == 0);
}

TEST_CASE("a write of what is there already asks nobody") {
  if (!has_terminals()) return skip(no_terminals);
  const place x{true};
  x.folder.write("go", "");
  x.folder.write("made", "x");
  const auto before =
      std::filesystem::last_write_time(x.folder.path() / "made");
  terminal_program riffle{x.folder.path(), {"run", "--no-color", "go"}, 110};
  REQUIRE(riffle.read_next("write: made ✗ holds exactly this already"));
  CHECK(riffle.finish() == 0);
  CHECK(riffle.written().find("[?] > ") == std::string::npos);
  CHECK(std::filesystem::last_write_time(x.folder.path() / "made") == before);
}

TEST_CASE("a Space at a question is no text, and no answer") {
  if (!has_terminals()) return skip(no_terminals);
  const place x{true};
  x.folder.write("go", "");
  terminal_program riffle{x.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(riffle.read_next("/help shows"));
  riffle.type("begin\r");
  REQUIRE(riffle.read_next("[?] > "));
  riffle.answer(" ");
  REQUIRE(riffle.read_next("[?]: wait half a second"));
  SECTION("silence makes keys answers again") {
    REQUIRE(riffle.read_next("[?] > "));
    CHECK(riffle.written().find("Tab first") == std::string::npos);
    CHECK_FALSE(x.is_made());
    riffle.answer("y");
    REQUIRE(riffle.read_next("You said: begin"));
    CHECK(x.is_made());
  }
  SECTION("within a text it is a part of it") {
    riffle.type("k");
    REQUIRE(riffle.read_next("Tab first"));
    riffle.type(" ");
    riffle.type("k");
    REQUIRE(riffle.read_next("k k"));
    CHECK_FALSE(x.is_made());
  }
}
