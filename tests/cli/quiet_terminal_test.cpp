// SPDX-License-Identifier: MIT
// Where rows are drawn and no key is read: what a Ctrl-C throws away.
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;

namespace {

/// A task whose call ends by no signal but SIGKILL.
void write_deaf_task(const temp_folder& folder) {
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n"
               "[tools]\nkill_grace = \"5s\"\n"
               "[tools.bash]\napproval = \"allow\"\n");
  folder.write("s.toml",
               "[[steps]]\n[[steps.calls]]\ntool = \"bash\"\narguments = { "
               "command = \"trap '' TERM INT; echo ready; "
               "while true; do sleep 1; done\" }\n");
}

std::size_t count(const std::string& all, const std::string& what) {
  std::size_t n = 0;
  for (auto at = all.find(what); at != all.npos; at = all.find(what, at + 1))
    ++n;
  return n;
}

}  // namespace

TEST_CASE("a Ctrl-C throws nothing away of what is drawn") {
  if (!has_terminals()) return skip(no_terminals);
  const temp_folder folder;
  write_deaf_task(folder);
  terminal_program riffle{folder.path(), {"run", "a b", "c d"}, 80};
  REQUIRE(riffle.read_until("(ready)"));
  // A terminal that is slow: more than it takes without reading (4 KiB).
  const auto enough = riffle.bytes_written() + (8u << 10);
  REQUIRE(eventually([&] { return riffle.bytes_written() > enough; }));
  riffle.type("\x03");
  REQUIRE(riffle.read_next(" ended, cancelling"));
  riffle.type("\x03");
  CHECK(riffle.finish() == 130);
  const auto& all = riffle.written();
  CHECK(count(all, "\x1b[?7l") == count(all, "\x1b[?7h"));
  terminal_picture last{80};
  last.feed(all);
  CHECK(last.text().find("▶") == std::string::npos);
}

TEST_CASE("what was typed before a Ctrl-C goes to no shell") {
  if (!has_terminals()) return skip(no_terminals);
  const temp_folder folder;
  write_deaf_task(folder);
  const auto program = terminal_program::built().string();
  terminal_program shell{folder.path(),
                         {"-c",
                          "trap : INT; \"$0\" run 'a b' 'c d'; "
                          "IFS= read -r line; echo \"<$line>\"",
                          program},
                         80,
                         "xterm",
                         "",
                         "/bin/sh"};
  REQUIRE(shell.read_until("(ready)"));
  shell.type("first\r");
  shell.type("\x03");
  REQUIRE(shell.read_next(" ended, cancelling"));
  shell.type("second\r\x03");
  REQUIRE(shell.read_next("\x1b[?7h\r\x1b[2A\x1b[23;2t"));
  shell.type("next\r");
  CHECK(shell.read_next("<next>"));
}
