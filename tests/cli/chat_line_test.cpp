// SPDX-License-Identifier: MIT
#include "runtime/cli/view/chat_line.hpp"

#include <array>

#include "tests/support/catch.hpp"

using namespace riffle::cli;
using names = std::vector<std::string>;

TEST_CASE("a line is a task, a command, or one for the shell") {
  CHECK(parse_chat_line("  ") == chat_line{});
  CHECK(parse_chat_line(" what is here? ") ==
        chat_line{chat_act::task, "", "what is here?"});
  CHECK(parse_chat_line("!make -j2") ==
        chat_line{chat_act::shell, "", "make -j2"});
  CHECK(parse_chat_line("! ") == chat_line{});
  CHECK(parse_chat_line("/model  a/b") ==
        chat_line{chat_act::command, "model", "a/b"});
  CHECK(parse_chat_line("/exit").word == "quit");
  CHECK(parse_chat_line("/usr/bin is full").what == chat_act::task);
  CHECK(parse_chat_line("/").what == chat_act::task);
  CHECK(parse_chat_line("/files__Review2 a b") ==
        chat_line{chat_act::command, "files__Review2", "a b"});
  const auto shell = [](const char* line) {
    const auto x = parse_chat_line(line);
    CHECK(x.what == chat_act::shell);
    return x.rest;
  };
  CHECK(shell("!ls") == "ls");
  CHECK(shell("! ls ") == "ls");
  CHECK(shell("!!ls") == "!ls");
  CHECK(shell("!! ls") == "!ls");
  CHECK(shell("! !ls") == " !ls");
  CHECK(parse_chat_line("/fix-2_now it") ==
        chat_line{chat_act::command, "fix-2_now", "it"});
  CHECK(parse_chat_line("/2 of them").what == chat_act::task);
  CHECK(parse_chat_line("/__init__ is long").what == chat_act::task);
  CHECK(parse_chat_line("/hepl").what == chat_act::command);
  CHECK(parse_chat_line("/Cost  now") ==
        chat_line{chat_act::command, "cost", "now"});
  CHECK(parse_chat_line("/Users are many").what == chat_act::task);
  CHECK(no_such_command("hepl") ==
        "there is no /hepl; did you mean /help? /help lists all");
  CHECK(no_such_command("xyzxyz") == "there is no /xyzxyz: /help lists all");
  CHECK(no_such_command("reviw", {"review"}).find("/review?") !=
        std::string::npos);
  CHECK(no_such_command("odel").find("/model?") != std::string::npos);
  CHECK(no_such_command("undoo").find("/undo?") != std::string::npos);
  CHECK(no_such_command("contextual").find("/context?") != std::string::npos);
}

TEST_CASE("help names every command") {
  const auto text = chat_help();
  for (const auto& x : chat_commands()) {
    CAPTURE(x.word);
    CHECK(text.find("  /" + std::string{x.word} + " ") != std::string::npos);
    // In one column.
    const auto at = text.find("/" + std::string{x.word} + " ");
    CHECK(text.find(x.about, at) - at == 25);
  }
  for (const auto* key : {"Ctrl-R", "Ctrl-Z", "Tab goes"})
    CHECK(text.find(key) != std::string::npos);
}

TEST_CASE("files are named by an @ at the beginning of a word") {
  CHECK(mentioned_files("look at @a.cpp and @\"b c.md\", me@home @a.cpp") ==
        names{"a.cpp", "b c.md"});
  CHECK(mentioned_files("@ @\"\" @").empty());
  CHECK(mentioned_files("@\"open end") == names{"open end"});
  CHECK(mentioned_files("(@a.cpp:1) @\"b c\":2-3 @\"d\":x") ==
        names{"a.cpp:1)", "b c:2-3", "d"});
  CHECK(path_before("see (@src/m").path == "src/m");
  CHECK(path_before("see @src/m").path == "src/m");
  CHECK(path_before("see @\"a b").path == "a b");
  CHECK(path_before("@").found);
  CHECK_FALSE(path_before("me@home").found);
  CHECK_FALSE(path_before("@a b").found);
}

TEST_CASE("words behind a command that takes none are not understood") {
  const auto said = [](const char* text) {
    return not_understood(parse_chat_line(text));
  };
  CHECK(said("/undo 3") ==
        "/undo takes nothing behind it, so \"3\" is not understood: nothing "
        "was done.");
  CHECK(said("/exit now").starts_with("/quit takes nothing"));
  for (const auto& x : chat_commands()) {
    const auto bare = "/" + std::string{x.word};
    CAPTURE(bare);
    CHECK(said(bare.c_str()).empty());
    CHECK(said((bare + " x").c_str()).empty() == !x.arguments.empty());
  }
  CHECK(said("undo 3").empty());
  CHECK(said("/own-command x").empty());
}
