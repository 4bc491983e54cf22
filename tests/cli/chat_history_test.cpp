// SPDX-License-Identifier: MIT
// What was typed, kept for later conversations.
#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_program;
using lines = std::vector<std::string>;

namespace {

struct place {
  place() {
    folder.write("s.toml", "[[steps]]\nchunk = 99\ntext = \"Told {{task}}\"\n");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
  }
  [[nodiscard]] lines kept() const {
    std::ifstream in{folder.path() / "data" / "history"};
    lines out;
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }
  temp_folder folder;
};

void say(terminal_program& at, const std::string& task) {
  at.type(task + "\r");
  REQUIRE(at.read_next("Told " + task));
}

int leave(terminal_program& at) {
  at.type("\x04");
  return at.finish();
}

}  // namespace

TEST_CASE("no conversation takes away what was typed in another one") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  const lines chat{"chat", "--no-color"};
  terminal_program one{here.folder.path(), chat, 110};
  REQUIRE(one.read_next("/help shows"));
  terminal_program other{here.folder.path(), chat, 110};
  REQUIRE(other.read_next("/help shows"));
  say(one, "first");
  say(other, "second");
  // Before anything can end the program, and each once.
  CHECK(here.kept() == lines{"\"first\"", "\"second\""});
  say(one, "third");
  CHECK(leave(other) == 0);
  CHECK(leave(one) == 0);
  CHECK(here.kept() == lines{"\"first\"", "\"second\"", "\"third\""});
}

TEST_CASE("of what was typed the newest lines are kept") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  std::string all;
  for (int i = 1; i <= 1200; ++i) all += "\"n" + std::to_string(i) + "\"\n";
  here.folder.write("data/history", all);
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  say(at, "last");
  CHECK(leave(at) == 0);
  const auto kept = here.kept();
  REQUIRE(kept.size() == 1001);
  CHECK(kept.front() == "\"n201\"");
  CHECK(kept.back() == "\"last\"");
}
