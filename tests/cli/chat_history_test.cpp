// SPDX-License-Identifier: MIT
// What was typed, kept for later conversations.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/cli/commands/history_file.hpp"
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

TEST_CASE("a long text is kept as a short one is") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  const lines chat{"chat", "--no-color"};
  std::string paste = "\x1b[200~";
  for (int i = 0; i < 400; ++i)
    paste += "a line of the log that somebody wants to hear of, too\r";
  paste += "\x1b[201~";
  {
    terminal_program at{here.folder.path(), chat, 110};
    REQUIRE(at.read_next("\x1b[?2004h"));
    for (std::size_t i = 0; i < paste.size(); i += 1000)
      at.type(paste.substr(i, 1000));
    at.type("why?\r");
    REQUIRE(at.read_next("> [pasted text, 400 lines]why?"));
    REQUIRE(at.read_next("\x1b[?2004h"));
    at.type("\x1b[A");
    CHECK(at.read_next("> [pasted text, 400 lines]why?"));
    at.type("\x03");
    CHECK(leave(at) == 0);
  }
  const auto kept = here.kept();
  REQUIRE(kept.size() == 1);
  CHECK(kept.front().size() > 21'000);
  CHECK(kept.front().ends_with("to hear of, too\\nwhy?\""));
  terminal_program later{here.folder.path(), chat, 110};
  REQUIRE(later.read_next("\x1b[?2004h"));
  later.type("\x1b[A");
  CHECK(later.read_next("> [pasted text, 401 lines]"));
  later.type("\x03");
  CHECK(leave(later) == 0);
}

TEST_CASE("the file of what was typed has a bound while a program works") {
  const riffle::testing::temp_folder folder;
  const auto file = folder.path() / "history";
  riffle::cli::history_file history{file};
  auto editor = riffle::cli::line_editor::with_pieces();
  history.load(editor);
  constexpr std::size_t longest = 1u << 20;
  for (char c = 'a'; c <= 'z'; ++c) {
    editor.remember(std::string(longest, c));
    history.add_typed(editor);
  }
  REQUIRE(std::filesystem::exists(file));
  CHECK(std::filesystem::file_size(file) <=
        2 * riffle::cli::line_editor::most_kept);
  auto later = riffle::cli::line_editor::with_pieces();
  riffle::cli::history_file{file}.load(later);
  REQUIRE_FALSE(later.history().empty());
  CHECK(later.history().back() == std::string(longest, 'z'));
  CHECK(std::filesystem::file_size(file) <=
        riffle::cli::line_editor::most_kept);
}
