// SPDX-License-Identifier: MIT
// Commands that are files: of the user, and of a folder that is a stranger's.
#include "runtime/cli/commands/own_commands.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/parsing.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::cli;
using riffle::testing::has;
using riffle::testing::scoped_directory;
using riffle::testing::scoped_env;
using riffle::testing::temp_folder;
using riffle::testing::terminal_program;
using names = std::vector<std::string>;

namespace {

/// A configuration folder, and a working directory beside it.
struct place {
  place() { std::filesystem::create_directories(root.path() / "work"); }
  /// Of the user, or of the folder.
  void own(const std::string& name, const std::string& text) const {
    root.write("config/riffle/commands/" + name, text);
  }
  void foreign(const std::string& name, const std::string& text) const {
    root.write("work/.riffle/commands/" + name, text);
  }
  temp_folder root;
  scoped_env config{"XDG_CONFIG_HOME", (root.path() / "config").string()};
  [[nodiscard]] std::filesystem::path work() const {
    return root.path() / "work";
  }
};

names shown_of(const own_commands& x) {
  names out;
  for (const auto& one : x.all) out.push_back(one.name + " " + one.shown);
  return out;
}

std::string why_not(const std::string& name) {
  const auto found = find_own_command(name);
  if (!found) return "not there";
  const auto text = read_own(*found);
  return text ? "can be read" : text.error().message;
}

}  // namespace

TEST_CASE("a file's head says what it is about, the rest is the task") {
  const auto plain = parse_own("\n# Review\n\nLook at $ARGUMENTS.\n");
  CHECK(plain.about == "Review");
  CHECK(plain.task == "# Review\n\nLook at $ARGUMENTS.");
  const auto headed = parse_own(
      "---\r\ndescription: \"Of tea\"\r\nmodel: x\r\n---\r\nDo it\r\n");
  CHECK(headed.about == "Of tea");
  CHECK(headed.task == "Do it");
  CHECK(parse_own("---\nfor ever\n").task == "---\nfor ever");
  CHECK(parse_own("---\nfor: ever\n---\n").task.empty());
}

TEST_CASE("what stands between two rules is a head only where it looks so") {
  const std::string text = "---\nFirst, look at it.\n---\nThen write.";
  CHECK(parse_own(text).task == text);
  const auto listed = parse_own(
      "---\ndescription: >\n  Of tea,\n  and of milk\n\ntools:\n  - a b\n"
      "---\nDo it");
  CHECK(listed.about == "Of tea,");
  CHECK(listed.task == "Do it");
  const auto none = parse_own("---\ndescription: |-\nmodel: x\n---\nDo it");
  CHECK(none.about == "Do it");
}

TEST_CASE("what is typed behind a command stands in its text, once") {
  CHECK(fill_in("a $ARGUMENTS b $ARGUMENTS", "x $ARGUMENTS") ==
        "a x $ARGUMENTS b x $ARGUMENTS");
  CHECK(fill_in("a $ARGUMENTS.", "") == "a .");
  CHECK(fill_in("a", "x y") == "a\n\nx y");
  CHECK(fill_in("a", "") == "a");
}

TEST_CASE("what a command becomes has a limit, which is computed first") {
  std::string task;
  for (int i = 0; i < 6000; ++i) task += "$ARGUMENTS";
  CHECK_FALSE(fill_in(task, std::string(60'000, 'x')));
  CHECK_FALSE(fill_in(task, std::string(170, 'x')));
  const auto most = fill_in(task, std::string(160, 'x'));
  REQUIRE(most);
  CHECK(most->size() == 960'000);
  CHECK_FALSE(fill_in("a", std::string(most_filled, 'x')));
}

TEST_CASE("the user's own commands count before those of a folder") {
  const place here;
  const scoped_directory there{here.work()};
  here.own("review.md", "mine");
  here.own("help.md", "none");
  here.own("exit.md", "none");
  here.own("a__b.md", "none");
  here.own("README.md", "about this folder");
  here.own("note.txt", "none");
  here.own("Review.md", "of a capital letter");
  here.foreign("review.md", "theirs");
  here.foreign("fix-2_now.md", "theirs");
  const auto all = find_own_commands();
  const auto own = here.root.path() / "config/riffle/commands";
  CHECK(shown_of(all) == names{"fix-2_now ./.riffle/commands/fix-2_now.md",
                               "review " + (own / "review.md").string()});
  CHECK(all.refused ==
        names{(own / "Review.md").string() +
                  " is not used: a command is named with small letters, "
                  "digits, - and _, a letter first",
              (own / "a__b.md").string() +
                  " is not used: names with __ are of servers",
              (own / "exit.md").string() + " is not used: /exit is built in",
              (own / "help.md").string() + " is not used: /help is built in",
              "./.riffle/commands/review.md is not used: /review is " +
                  (own / "review.md").string()});
}

TEST_CASE("a command is a text of limited size that leads nowhere else") {
  const place here;
  const scoped_directory there{here.work()};
  const auto secret = here.root.write("secret.md", "secret");
  const auto link = [&](const std::filesystem::path& at) {
    std::filesystem::create_directories(at.parent_path());
    std::filesystem::create_symlink(secret, at);
  };
  here.foreign("most.md", std::string(most_of_command, 'x'));
  here.foreign("more.md", std::string(most_of_command + 1, 'x'));
  here.foreign("bytes.md", std::string{"a\0b", 3});
  here.foreign("latin.md", "caf\xE9");
  here.foreign("blank.md", " \n");
  std::filesystem::create_directories(here.work() / ".riffle/commands/d.md");
  link(here.work() / ".riffle/commands/link.md");
  link(here.root.path() / "config/riffle/commands/dots.md");
  CHECK(why_not("most") == "can be read");
  CHECK(has(why_not("more"), "is larger than 64.0 KB"));
  CHECK(has(why_not("bytes"), "is no text in UTF-8"));
  CHECK(has(why_not("latin"), "is no text in UTF-8"));
  CHECK(has(why_not("blank"), "says nothing"));
  CHECK(has(why_not("d"), "is no file that can be read"));
  CHECK(has(why_not("link"), "./.riffle/commands/link.md leads out of this"));
  // As people keep their settings elsewhere.
  CHECK(why_not("dots") == "can be read");
}

TEST_CASE("a command is found by its name however many there are") {
  const place at;
  const scoped_directory here{at.work()};
  constexpr int many = 1500;
  for (int i = 0; i < many; ++i)
    at.foreign("c" + std::to_string(i) + ".md", "Do it.");
  CHECK(find_own_commands().all.size() == 1000);
  for (int i = 0; i < many; ++i)
    if (const auto why = why_not("c" + std::to_string(i)); why != "can be read")
      FAIL("c" << i << ": " << why);
  CHECK(why_not("c1500") == "not there");
  CHECK(why_not("help") == "not there");
}

TEST_CASE("a folder's text names files of the folder alone") {
  const place here;
  const scoped_directory there{here.work()};
  const auto secret = here.root.write("secret", "s").string();
  here.root.write("work/a.txt", "a");
  std::filesystem::create_symlink(secret, here.work() / "link");
  const auto task = "@a.txt @" + secret + " @../secret @link @nothing.at.all";
  CHECK(leading_out(task, "") == names{secret, "../secret", "link"});
  CHECK(leading_out(task, "see @../secret") == names{secret, "link"});
}

TEST_CASE("a folder's text attaches nothing that read is denied") {
  const place here;
  const scoped_directory there{here.work()};
  for (const auto* name : {"a.txt", ".env", "asked.txt"})
    here.root.write(std::string{"work/"} + name, "x");
  std::filesystem::create_symlink(".env", here.work() / "link");
  riffle::config::tools_config settings;
  const auto task = "@a.txt @.env @./.env @link:1 @asked.txt";
  CHECK(kept_from_read(task, "", settings).empty());
  auto& read = settings.by_name["read"];
  read.rules = {{".env", "deny"}, {"asked*", "ask"}};
  CHECK(kept_from_read(task, "", settings) ==
        names{".env", "./.env", "link:1", "asked.txt"});
  CHECK(kept_from_read(task, "look at @.env", settings) ==
        names{"./.env", "link:1", "asked.txt"});
  here.root.write("work/in/k", "x");
  read.workspace = "in";
  read.rules = {{"k", "deny"}};
  CHECK(kept_from_read("@in/k @a.txt", "", settings) == names{"in/k"});
  read.workspace = ".";
  read.rules.clear();
  read.approval = "ask";
  CHECK(kept_from_read(task, "", settings).size() == 5);
}

TEST_CASE("own commands are listed, and sent as tasks, never to a shell") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  here.root.write("work/s.toml",
                  "[[steps]]\nchunk = 999\ntext = \"You said: {{task}}\"\n");
  here.root.write("work/riffle.toml",
                  "[runtime]\ndata_dir = \"data\"\n"
                  "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                  "script = \"s.toml\"\n");
  here.root.write("work/a.txt", "of a");
  here.root.write("secret", "of a secret");
  here.own("greet.md", "Greet $ARGUMENTS, with @a.txt");
  here.own("undo.md", "none");
  here.foreign("danger.md", "!touch made\n@../secret");
  terminal_program at{here.work(), {"chat", "--no-color"}, 200};
  REQUIRE(at.read_next("undo.md is not used: /undo is built in"));
  at.type("/help\r");
  REQUIRE(at.read_next("!touch made (./.riffle/commands/danger.md)"));
  REQUIRE(at.read_next("  /greet "));
  REQUIRE(at.read_next("> "));
  at.type("/gre\tAnn\r");
  REQUIRE(at.read_next("attached: a.txt"));
  REQUIRE(at.read_next("You said: Greet Ann, with @a.txt"));
  at.type("/danger\r");
  REQUIRE(at.read_next("/danger is from ./.riffle/commands/danger.md"));
  REQUIRE(at.read_next("@../secret leads out of this folder"));
  REQUIRE(at.read_next("You said: !touch made"));
  const auto first = at.written().size();
  at.type("/danger @../secret\r");
  REQUIRE(at.read_next("attached: ../secret"));
  REQUIRE(at.read_next("You said: !touch made"));
  CHECK_FALSE(has(at.written().substr(first), "/danger is from"));
  here.foreign("danger.md", "Other words");
  at.type("/danger\r");
  REQUIRE(at.read_next("/danger is from ./.riffle/commands/danger.md"));
  REQUIRE(at.read_next("You said: Other words"));
  at.type("/dangre\r");
  REQUIRE(at.read_next("there is no /dangre; did you mean /danger?"));
  REQUIRE(at.read_next("> "));
  at.type("\x04");
  CHECK(at.finish() == 0);
  CHECK_FALSE(std::filesystem::exists(here.work() / "made"));
}
