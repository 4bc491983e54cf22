// SPDX-License-Identifier: MIT
// What "/approve" means for questions that nobody reads then, and for what was
// allowed before.
#include <filesystem>
#include <string>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_picture;
using riffle::testing::terminal_program;

namespace {

constexpr auto question = "[?] > ";
constexpr auto at_prompt = "\x1b[?2004h";

struct place {
  place(const std::string& bash, const std::string& steps) {
    folder.write("s.toml", steps + "[[steps]]\ntext = \"It is done.\"\n");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n[tools.bash]\n" +
                     bash + "\n");
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::filesystem::exists(folder.path() / name);
  }
  temp_folder folder;
};

int leave(terminal_program& at) {
  at.type("\x04");
  return at.finish();
}

}  // namespace

TEST_CASE("what a deny rule may mean runs by a key, not by /approve all") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here{R"(rules = [{ match = "rm *", approval = "deny" }])", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "X=rm; $X junk" }
)toml"};
  here.folder.write("junk", "");
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  at.type("go\r");
  REQUIRE(at.read_next(question));
  SECTION("for all that follow") {
    at.type("/approve all\r");
    REQUIRE(at.read_next("From here calls run without a question"));
    REQUIRE(at.read_next("denied: rule `rm *` of tools.bash may forbid it"));
    REQUIRE(at.read_next("It is done."));
    CHECK(here.has("junk"));
    // As where the run begins so.
    at.type("again\r");
    REQUIRE(at.read_next("denied"));
    REQUIRE(at.read_next("It is done."));
    CHECK(here.has("junk"));
  }
  SECTION("by the person who has read it") {
    at.answer("y");
    REQUIRE(at.read_next("It is done."));
    CHECK_FALSE(here.has("junk"));
  }
  CHECK(leave(at) == 0);
}

TEST_CASE("a note beside a question is broken at words") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here{R"(approval = "ask")", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch made" }
)toml"};
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 60};
  REQUIRE(at.read_next("/help shows"));
  at.type("go\r");
  REQUIRE(at.read_next(question));
  at.type("/approve all\r");
  REQUIRE(at.read_next("It is done."));
  terminal_picture screen{60};
  screen.feed(at.written());
  CHECK_THAT(screen.text(),
             Catch::Matchers::Contains(
                 "From here calls run without a question; what a deny rule of\n"
                 "  the configuration keeps back stays denied. /approve ask\n"
                 "  ends it.\n"));
  CHECK(leave(at) == 0);
}

TEST_CASE("/approve none ends with the run what was allowed for always") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here{R"(approval = "allow")", R"toml(
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "n1", content = "x" }
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "until test -e go; do sleep 0.02; done" }
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "n2", content = "x" }
)toml"};
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  at.type("go\r");
  REQUIRE(at.read_next(question));
  at.answer("a");
  REQUIRE(at.read_next("Which?"));
  at.answer("t");
  REQUIRE(at.read_next("From now on without a question: every call"));
  at.type("\r/approve none\r");
  REQUIRE(at.read_next("What you allowed for always still runs in this run"));
  here.folder.write("go", "");
  REQUIRE(at.read_next("It is done."));
  REQUIRE(here.has("n2"));
  std::filesystem::remove(here.folder.path() / "n2");
  at.type("go\r");
  REQUIRE(at.read_next("It is done."));
  CHECK_FALSE(here.has("n2"));
  CHECK(leave(at) == 0);
}

TEST_CASE("/approve names what is allowed for always, and ask takes it back") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here{"", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch made" }
[[steps.calls]]
tool = "write"
arguments = { path = "n1", content = "x" }
)toml"};
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  at.type("go\r");
  for (const auto* scope : {"t", "T"}) {
    REQUIRE(at.read_next(question));
    at.answer("a");
    REQUIRE(at.read_next("Which?"));
    at.answer(scope);
    REQUIRE(at.read_next("From now on without a question: every call"));
  }
  REQUIRE(at.read_next("It is done."));
  REQUIRE(at.read_next(at_prompt));
  at.type("/approve\r");
  REQUIRE(at.read_next("but not about what you allowed for always:"));
  REQUIRE(at.read_next("bash: every call, in this session"));
  REQUIRE(at.read_next("write: every call, in every session of this folder"));
  REQUIRE(at.read_next("always --revoke "));
  REQUIRE(at.read_next("/approve ask takes back"));
  REQUIRE(at.read_next(at_prompt));
  at.type("/approve ask\r");
  REQUIRE(at.read_next("Taken back"));
  REQUIRE(at.read_next("bash: every call"));
  REQUIRE(at.read_next("but not about what you allowed for always:"));
  REQUIRE(at.read_next("write: every call"));
  REQUIRE(at.read_next(at_prompt));
  at.type("go\r");
  REQUIRE(at.read_next(question));
  at.answer("y");
  REQUIRE(at.read_next("It is done."));
  REQUIRE(at.read_next(at_prompt));
  CHECK(leave(at) == 0);
}
