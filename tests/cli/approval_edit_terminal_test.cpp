// SPDX-License-Identifier: MIT
// An edit in the editor, and a script that was allowed: what it is by then.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::scoped_env;
using riffle::testing::temp_folder;
using riffle::testing::terminal_picture;
using riffle::testing::terminal_program;

namespace {

constexpr auto its_prompt = "[s]top, [?] > ";

struct scripted_place {
  scripted_place() {
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in{folder.path() / name};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  temp_folder folder;
};

}  // namespace

TEST_CASE(
    "a script that was allowed with all words is asked about when changed") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const scripted_place at;
  at.folder.write("dev", "#!/bin/sh\necho \"$@\" >> ran\n");
  std::filesystem::permissions(at.folder.path() / "dev",
                               std::filesystem::perms::owner_all);
  at.folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "./dev test {{task}}" }
[[steps]]
text = "End."
)toml");
  {
    terminal_program riffle{
        at.folder.path(), {"run", "--no-color", "one"}, 100};
    REQUIRE(riffle.read_next(its_prompt));
    riffle.answer("a");
    REQUIRE(riffle.read_next("p  any `./dev test` with plain words"));
    REQUIRE(riffle.read_next("[b]ack > "));
    riffle.type("P");
    CHECK(riffle.finish() == 0);
  }
  {
    terminal_program riffle{
        at.folder.path(), {"run", "--no-color", "two"}, 100};
    REQUIRE(riffle.read_next("End."));
    CHECK(riffle.finish() == 0);
    CHECK(riffle.written().find(its_prompt) == std::string::npos);
    CHECK(at.text_of("ran") == "test one\ntest two\n");
  }
  at.folder.write("dev", "#!/bin/sh\necho other >> ran\n");
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "one"}, 100};
  REQUIRE(riffle.read_next(its_prompt));
  riffle.answer("s");
  CHECK(riffle.finish() == 130);
  CHECK(at.text_of("ran") == "test one\ntest two\n");
}

TEST_CASE("a file that is written to in the editor becomes what was edited") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const scripted_place at;
  at.folder.write("notes.md", "one\ntwo\n");
  at.folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "edit"
arguments = { path = "notes.md", old_string = "two", new_string = "TWO" }
[[steps]]
text = "End."
)toml");
  at.folder.write("ed.sh", "printf '1\\n2\\n' > '" +
                               (at.folder.path() / "notes.md").string() +
                               "'; printf 'one\\nmine\\n' > \"$1\"\n");
  const scoped_env editor{"VISUAL",
                          "sh " + (at.folder.path() / "ed.sh").string()};
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "go"}, 100};
  REQUIRE(riffle.read_next(its_prompt));
  riffle.answer("e");
  REQUIRE(riffle.read_next("-2"));
  REQUIRE(riffle.read_next("+mine"));
  REQUIRE(riffle.read_next("has changed since you opened it"));
  REQUIRE(riffle.read_next(its_prompt));
  riffle.answer("y");
  CHECK(riffle.finish() == 0);
  CHECK(at.text_of("notes.md") == "one\nmine\n");
}

TEST_CASE("an editor that takes a line begins where the change does") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const std::string name = GENERATE("vi", "other");
  const scripted_place at;
  at.folder.write("notes.md", "one\ntwo\nthree\n");
  at.folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "edit"
arguments = { path = "notes.md", old_string = "three", new_string = "3" }
[[steps]]
text = "End."
)toml");
  at.folder.write(name, "#!/bin/sh\necho $# \"$1\" > '" +
                            (at.folder.path() / "told").string() + "'\n");
  std::filesystem::permissions(at.folder.path() / name,
                               std::filesystem::perms::owner_all);
  const scoped_env editor{"VISUAL", (at.folder.path() / name).string()};
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "go"}, 100};
  REQUIRE(riffle.read_next(its_prompt));
  riffle.answer("e");
  REQUIRE(riffle.read_next(its_prompt));
  riffle.answer("s");
  CHECK(riffle.finish() == 130);
  CHECK(at.text_of("told").starts_with(name == "vi" ? "2 +3\n" : "1 /"));
}

TEST_CASE("arguments that cannot be done are said to be so at once") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const scripted_place at;
  at.folder.write("notes.md", "two\nlines\n");
  at.folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "edit"
arguments = { path = "notes.md", old_string = "two", new_string = "TWO" }
[[steps]]
text = "End."
)toml");
  at.folder.write("ed.sh", "sed -i s/two/three/ \"$1\"\n");
  const scoped_env editor{"VISUAL",
                          "sh " + (at.folder.path() / "ed.sh").string()};
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "go"}, 100};
  REQUIRE(riffle.read_next(its_prompt));
  // What it replaces is gone, so its arguments are what is edited.
  at.folder.write("notes.md", "other\nlines\n");
  REQUIRE(riffle.read_next("This file has been written to since"));
  riffle.answer("e");
  REQUIRE(riffle.read_next("you edit its arguments"));
  REQUIRE(riffle.read_next("This cannot be done: old_string is not in"));
  REQUIRE(riffle.read_next("'e' opens it again"));
  riffle.answer("s");
  CHECK(riffle.finish() == 130);
  CHECK(at.text_of("notes.md") == "other\nlines\n");
}

TEST_CASE("an editor that fails is told of at the question, once") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const scripted_place at;
  at.folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "n", content = "first\nlast\n" }
[[steps]]
text = "End."
)toml");
  const scoped_env editor{"VISUAL", "false"};
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "go"}, 100};
  REQUIRE(riffle.read_next(its_prompt));
  constexpr auto failed = "This cannot be done: the editor failed";
  const auto screen = [&] {
    terminal_picture out{100};
    out.feed(riffle.written());
    return out.text();
  };
  for (int i = 0; i < 2; ++i) {
    riffle.answer("e");
    REQUIRE(riffle.read_next(failed));
    REQUIRE(riffle.read_next(its_prompt));
    const auto now = screen();
    CAPTURE(now);
    CHECK(now.find(failed) == now.rfind(failed));
    CHECK(now.rfind("last") < now.find(failed));
    CHECK(now.find(failed) < now.rfind("Run it?"));
  }
  riffle.answer("v");
  REQUIRE(riffle.read_next("Nothing of it is left out above."));
  CHECK(screen().find(failed) == std::string::npos);
  riffle.answer("y");
  CHECK(riffle.finish() == 0);
}

TEST_CASE("a picture leaves room for all rows of what an editor came to") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const scripted_place at;
  // What is said of it needs six rows of 60 columns, and is one line.
  const std::string name(200, 'n');
  std::string lines;
  for (int i = 0; i < 40; ++i) lines += "line " + std::to_string(i) + "\\n";
  at.folder.write(name, "two\n");
  at.folder.write("s.toml",
                  "[[steps]]\n[[steps.calls]]\ntool = \"edit\"\narguments = "
                  "{ path = \"" +
                      name + "\", old_string = \"two\", new_string = \"" +
                      lines + "\" }\n[[steps]]\ntext = \"End.\"\n");
  at.folder.write("ed.sh", "sed -i s/two/three/ \"$1\"\n");
  const scoped_env editor{"VISUAL",
                          "sh " + (at.folder.path() / "ed.sh").string()};
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "go"}, 60};
  REQUIRE(riffle.read_next("[?] > "));
  at.folder.write(name, "other\n");
  REQUIRE(riffle.read_next("This file has been written to since"));
  riffle.answer("e");
  REQUIRE(riffle.read_next("'e' opens it again"));
  REQUIRE(riffle.read_next("[?]"));
  terminal_picture out{60};
  out.feed(riffle.written());
  const auto text = out.text();
  CAPTURE(text);
  const auto from = text.rfind("[APPROVAL]");
  REQUIRE(from != text.npos);
  CHECK(text.find("This cannot be done", from) != text.npos);
  // What is higher than the screen could not be erased.
  CHECK(std::count(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(),
                   '\n') <= 24);
  riffle.answer("s");
  CHECK(riffle.finish() == 130);
}

TEST_CASE("what [?] says goes with the prompt, [v] takes the picture's place") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const scripted_place at;
  std::string lines;
  for (int i = 0; i < 60; ++i) lines += "line " + std::to_string(i) + "\\n";
  at.folder.write("s.toml",
                  "[[steps]]\n[[steps.calls]]\ntool = \"write\"\narguments = "
                  "{ path = \"n\", content = \"" +
                      lines + "\" }\n[[steps]]\ntext = \"End.\"\n");
  terminal_program riffle{at.folder.path(), {"run", "--no-color", "go"}, 100};
  const auto screen = [&] {
    terminal_picture out{100};
    out.feed(riffle.written());
    return out.text();
  };
  const auto times = [&](const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (auto i = text.find(part); i != text.npos; i = text.find(part, i + 1))
      ++n;
    return n;
  };
  constexpr auto help = "shows what it does, all of it";
  REQUIRE(riffle.read_next(its_prompt));
  riffle.answer("?");
  REQUIRE(riffle.read_next(help));
  REQUIRE(riffle.read_next(its_prompt));
  CHECK(times(screen(), "+line 0\n") == 1);
  CHECK(times(screen(), help) == 1);
  riffle.answer("v");
  REQUIRE(riffle.read_next("+line 59"));
  REQUIRE(riffle.read_next(its_prompt));
  const auto whole = screen();
  CAPTURE(whole);
  CHECK(times(whole, help) == 0);
  CHECK(times(whole, "[v]iew shows all") == 0);
  CHECK(times(whole, "+line 0\n") == 1);
  CHECK(times(whole, "+line 30\n") == 1);
  riffle.answer("?");
  REQUIRE(riffle.read_next(help));
  REQUIRE(riffle.read_next(its_prompt));
  riffle.answer("y");
  CHECK(riffle.finish() == 0);
  const auto left = screen();
  CAPTURE(left);
  CHECK(times(left, help) == 0);
  CHECK(times(left, "+line 59\n") == 1);
  CHECK(times(left, "Run it?") == 0);
}
