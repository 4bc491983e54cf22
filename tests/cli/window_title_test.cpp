// SPDX-License-Identifier: MIT
// What the title of the window says in a conversation.
#include <string>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_program;

namespace {

constexpr auto at_prompt = "\x1b[?2004h";
constexpr auto old_title_again = "\x1b[23;2t";

/// The newest one that was written.
std::string newest_title(const std::string& written) {
  const auto from = written.rfind("\x1b]2;");
  if (from == std::string::npos) return {};
  return written.substr(from + 4, written.find('\x1b', from + 4) - from - 4);
}

struct place {
  place() {
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n[tools.bash]\napproval = \"ask\"\n");
    folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch made" }
[[steps]]
text = "It is done."
)toml");
  }
  temp_folder folder;
};

}  // namespace

TEST_CASE("the prompt and a question have a title of the window") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next(at_prompt));
  const auto idle = newest_title(at.written());
  CAPTURE(idle);
  REQUIRE(idle.starts_with("riffle: "));
  at.type("go\r");
  REQUIRE(at.read_next("[?] > "));
  // In front of it, so that nobody looks at an old one.
  CHECK(newest_title(at.written().substr(0, at.written().rfind("Run it?")))
            .starts_with("riffle: waiting for approval: touch made"));
  at.answer("y");
  REQUIRE(at.read_next("It is done."));
  REQUIRE(at.read_next(at_prompt));
  CHECK(newest_title(at.written()) == idle);
  at.type("\x04");
  CHECK(at.finish() == 0);
  const auto& all = at.written();
  CHECK(all.rfind(old_title_again) > all.rfind("\x1b]2;"));
  CHECK(all.rfind(old_title_again) != std::string::npos);
}
