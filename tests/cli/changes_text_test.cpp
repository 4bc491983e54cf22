// SPDX-License-Identifier: MIT
#include "runtime/cli/view/changes_text.hpp"

#include "tests/support/catch.hpp"

using namespace riffle::cli;

TEST_CASE("a change that is taken back has the heading of a change") {
  const std::string diff =
      "--- a/src/a.cpp\n+++ b/src/a.cpp\n@@ -1,2 +1,3 @@\n one\n-two\n"
      "+2\n+3\n";
  CHECK(change_text("./src/a.cpp", diff, {}) ==
        "src/a.cpp  +2 -1\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n");
  CHECK(change_text("a", diff, {.color = true})
            .starts_with("\x1b[1ma  +2 -1\x1b[0m\n@@ -1,2"));
}

TEST_CASE("no row of a long line of a diff looks like a line of it") {
  const std::string diff = "@@ -1 +1 @@\n-a\n+one two - three\n";
  CHECK(change_text("a", diff, {}) == "a  +1 -1\n" + diff);
  CHECK(change_text("a", diff, {.columns = 13}) ==
        "a  +1 -1\n@@ -1 +1 @@\n-a\n+one two - \n┊ three\n");
  CHECK(change_text("a", diff, {true, 13})
            .ends_with("\x1b[31m-a\x1b[0m\n\x1b[32m+one two - \x1b[0m\n"
                       "\x1b[32m┊ three\x1b[0m\n"));
}

TEST_CASE("files of a session that worked in several folders have both names") {
  const auto change = [](const std::string& path, const std::string& folder) {
    riffle::file_change x;
    x.path = path;
    x.folder = folder;
    x.added = 1;
    return x;
  };
  riffle::session_changes all;
  all.files = {change("a.txt", "/repo"), change("./a.txt", "/repo")};
  REQUIRE(by_file(all).size() == 1);
  CHECK(by_file(all)[0].path == "a.txt");
  all.files.push_back(change("a.txt", ""));  // of a run of long ago
  REQUIRE(by_file(all).size() == 1);
  CHECK(by_file(all)[0].path == "a.txt");
  all.files.pop_back();
  all.files.push_back(change("a.txt", "/other"));
  all.files.push_back(change("/repo/a.txt", "/other"));
  const auto files = by_file(all);
  REQUIRE(files.size() == 2);
  CHECK(files[0].path == "/repo/a.txt");
  CHECK(files[0].calls.size() == 3);
  CHECK(files[1].path == "/other/a.txt");
  CHECK(by_file(all, "a.txt").size() == 2);
  CHECK(by_file(all, "other/a.txt").size() == 1);
}

TEST_CASE("a file is one file, by whatever names its calls knew it") {
  const auto change = [](const std::string& path, const std::string& place) {
    riffle::file_change x;
    x.path = path;
    x.folder = "/repo";
    x.place = place;
    return x;
  };
  riffle::session_changes all;
  all.files = {change("/repo/d/a.txt", ""), change("link/a.txt", "d/a.txt"),
               change("d/../d/a.txt", ""), change("link/b.txt", "d/b.txt")};
  all.files.push_back(change("old.txt", ""));
  all.files.back().folder.clear();  // not on record, so the same one
  const auto files = by_file(all);
  REQUIRE(files.size() == 3);
  CHECK(files[0].path == "d/a.txt");
  CHECK(files[0].calls.size() == 3);
  CHECK(files[1].path == "link/b.txt");
  CHECK(files[2].path == "old.txt");
  REQUIRE(by_file(all, "/repo/link/b.txt").size() == 1);
  CHECK(by_file(all, "/other/link/b.txt").empty());
  for (const auto* name : {"link/a.txt", "a.txt", "/repo/d/a.txt"}) {
    CAPTURE(name);
    REQUIRE(by_file(all, name).size() == 1);
    CHECK(by_file(all, name)[0].calls.size() == 3);
  }
  for (const auto* name : {"d/b.txt", "/repo/d/b.txt", "link", "link/b.txt"})
    CHECK(by_file(all, name).size() >= 1);
  CHECK(by_file(all, "d/b.txt")[0].path == "link/b.txt");
  for (const auto* folder : {"d", "./d/", "/repo/d", "d/../d", "link/"}) {
    CAPTURE(folder);
    REQUIRE(by_file(all, folder).size() == 2);
  }
  for (const auto* whole : {".", "./", "/repo", "/repo/"})
    CHECK(by_file(all, whole).size() == files.size());
  for (const auto* none : {"li", "/rep", "e", "/repo/d/a"})
    CHECK(by_file(all, none).empty());
  // On a node it is another one.
  all.files[2].node = "far";
  CHECK(by_file(all).size() == 4);
}

TEST_CASE("a change of line ends can be read, and a file of CRLF as well") {
  const std::string place = "@@ -1 +1 @@\n";
  CHECK(change_text("a", place + "-one\n+one\r\n", {}) ==
        "a  +1 -1\n" + place + "-one\n+one\\x0d\n");
  CHECK(change_text("a", place + "-one\r\n+two\r\n", {}) ==
        "a  +1 -1\n" + place + "-one\n+two\n");
}
