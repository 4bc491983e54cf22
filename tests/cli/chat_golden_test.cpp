// SPDX-License-Identifier: MIT
// What a conversation looks like, and that a terminal of another size at any
// moment leaves nothing behind.
#include <filesystem>
#include <regex>
#include <sstream>

#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle::testing;

namespace {

constexpr auto text = R"(
# What I do

I look at **both** files of 日本 first, and say which of them has to be another one:

- `a.txt`
- b.txt

| File | Lines |
|------|------:|
| a.txt | 12 |
)";

struct talk {
  explicit talk(unsigned short width, const std::string& pace = "")
      : columns{width},
        picture{width},
        riffle{prepared(folder, pace), {"chat", "--no-color"}, width} {}

  static const std::filesystem::path& prepared(const temp_folder& folder,
                                               const std::string& pace) {
    folder.write("s.toml", pace + "[[steps]]\ntext = \"\"\"" + text +
                               R"toml("""
[[steps.calls]]
tool = "bash"
arguments = { command = "touch a; while [ -e a ]; do sleep 0.05; done; echo done" }
[[steps]]
text = "All is done: {{step.0.result.0}}"
)toml");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
    return folder.path();
  }

  /// What stands there now; times and ids differ between runs.
  std::string shown() {
    picture.feed(riffle.written().substr(fed));
    fed = riffle.written().size();
    auto out =
        std::regex_replace(picture.text(), std::regex{"— [0-9.]+s"}, "— TIME");
    return std::regex_replace(out, std::regex{"--session [0-9a-z]+"},
                              "--session ID");
  }
  void resize(unsigned short width) {
    shown();
    riffle.resize(width);
    picture.resize(width);
  }
  [[nodiscard]] bool goes_on() const {
    return eventually(
        [&] { return std::filesystem::remove(folder.path() / "a"); },
        scaled(std::chrono::seconds{20}));
  }

  temp_folder folder;
  unsigned short columns;
  terminal_picture picture;
  terminal_program riffle;
  std::size_t fed = 0;
};

std::size_t count(const std::string& all, const std::string& part) {
  std::size_t n = 0;
  for (auto at = all.find(part); at != std::string::npos;
       at = all.find(part, at + 1))
    ++n;
  return n;
}

std::string words_of(const std::string& all) {
  std::istringstream in{all};
  std::string out;
  for (std::string word; in >> word;) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string broken(const std::string& line, std::size_t columns) {
  return riffle::cli::wrap_lines(line + "\n", columns);
}

}  // namespace

TEST_CASE("a conversation at 60, 80, 110 and 200 columns") {
  if (!has_terminals()) return skip(no_terminals);
  struct row {
    unsigned short columns;
    std::string sentence;
    std::string label;
  };
  const std::string command =
      "touch a; while [ -e a ]; do sleep 0.05; done; echo done";
  const std::string begin = "I look at **both** files of 日本 first, and say ";
  const auto [columns, sentence, label] = GENERATE_COPY(values<row>(
      {{60, begin + "which of\nthem has to be another one:\n",
        "touch a; while [ -e a ]; …"},
       {80, begin + "which of them has to be another\none:\n",
        "touch a; while [ -e a ]; do sleep 0.05; done;…"},
       {110, begin + "which of them has to be another one:\n", command},
       {200, begin + "which of them has to be another one:\n", command}}));
  CAPTURE(columns);
  talk x{columns};
  REQUIRE(x.riffle.read_next("/help shows what can be"));
  REQUIRE(x.riffle.read_next("> "));
  x.riffle.type("one task\r");
  REQUIRE(x.riffle.read_next("[?] > "));
  x.riffle.answer("y");
  REQUIRE(x.riffle.read_next(" Running: "));
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("All is done: done"));
  REQUIRE(x.riffle.read_next("> "));
  x.riffle.type("\x04");
  REQUIRE(x.riffle.finish() == 0);
  // Without colours, the marks of Markdown say what stands out.
  CHECK(x.shown() ==
        broken("riffle 0.1.0, model default (s). /help shows what can be "
               "typed.",
               columns) +
            "> one task\n# What I do\n\n" + sentence +
            "\n• `a.txt`\n• b.txt\n\n"
            "File  │ Lines\n──────┼──────\na.txt │    12\n"
            "[APPROVAL] bash wants to run:\n│ " +
            command + "\n" + "[TOOL] bash: " + label +
            " (1 line, 5 B) — TIME\n    done\n\n"
            "All is done: done\n\n>\n"
            "Go on: riffle -c, or riffle chat --session ID\n");
}

TEST_CASE("a conversation whose terminal changes in each of its states") {
  if (!has_terminals()) return skip(no_terminals);
  talk x{80};
  const auto changes = [&x](const std::string& part) {
    for (const unsigned short columns : {60, 200, 30, 110, 80}) {
      CAPTURE(columns, part);
      x.resize(columns);
      REQUIRE(x.riffle.read_next("\x1b[J"));
      const auto all = x.shown();
      INFO(all);
      CHECK(count(all, part) == 1);
      CHECK(count(all, "/help") == 1);
    }
  };
  REQUIRE(x.riffle.read_next("> "));
  x.riffle.type("short");
  REQUIRE(x.riffle.read_next("> short"));
  changes("> short");
  x.riffle.type(" and longer שלום 日本語, so that it needs two rows at least");
  REQUIRE(x.riffle.read_next("least"));
  changes("> short");
  x.riffle.type("\r");
  REQUIRE(x.riffle.read_next("[?] > "));
  changes("[APPROVAL]");
  CHECK(count(x.shown(), "What I do") == 1);
  x.riffle.answer("y");
  REQUIRE(x.riffle.read_next(" Running: "));
  changes(" Running: ");
  REQUIRE(x.goes_on());
  REQUIRE(x.riffle.read_next("All is done: done"));
  REQUIRE(x.riffle.read_next("> "));
  changes("All is done: done");
  x.riffle.type("\x04");
  REQUIRE(x.riffle.finish() == 0);
  CHECK(count(x.shown(), " Running: ") == 0);
  CHECK(count(x.shown(), "Run it?") == 0);
}

/// What stands there when the question comes, and the terminal has changed at
/// each of these words.
std::string shown_through_changes() {
  talk x{80, "chunk = 3\ndelay = \"10ms\"\n"};
  REQUIRE(x.riffle.read_next("> "));
  x.riffle.type("go\r");
  unsigned short columns = 80;
  for (const auto* part : {"What", "look", "files", "first", "which", "has",
                           "another", "a.txt", "b.txt"}) {
    CAPTURE(part);
    REQUIRE(x.riffle.read_next(part));
    columns = columns == 80 ? 60 : columns == 60 ? 110 : 80;
    x.resize(columns);
  }
  REQUIRE(x.riffle.read_next("[?] > "));
  return x.shown();
}

TEST_CASE("text that streams while its terminal changes is there once") {
  if (!has_terminals()) return skip(no_terminals);
  const std::string expected =
      "# What I do I look at **both** files of 日本 first, and say which of "
      "them has to be another one: • `a.txt` • b.txt File │ Lines";
  // A line that was on its way for the old width leaves a part of itself on a
  // machine where the program waits long for a core: no program can help it.
  std::string shown;
  for (int tries = 0; tries < 3; ++tries) {
    shown = shown_through_changes();
    const auto words = words_of(shown);
    if (words.find(expected) != std::string::npos &&
        count(words, "What I do I look") == 1 &&
        count(words, "b.txt File") == 1)
      return;
  }
  FAIL_CHECK(shown);
}
