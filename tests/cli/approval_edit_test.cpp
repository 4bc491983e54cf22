// SPDX-License-Identifier: MIT
// An edit whose file changes while a person edits it.
#include <string>

#include "runtime/cli/terminal/approval_dialog.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using Catch::Matchers::Contains;

namespace {

events::approval_required an_edit_call() {
  events::approval_required x;
  x.proposal = proposal_id{"prop_1"};
  x.id = call_id{"call_1"};
  x.tool = "write";
  x.title = "Writing notes.md";
  x.arguments = R"({"content":"two\n","path":"notes.md"})";
  return x;
}

approval_dialog dialog_of(events::approval_required x = an_edit_call()) {
  return {std::move(x), {}};
}

}  // namespace

TEST_CASE("no text of the editor is lost behind one that could be used") {
  auto about = an_edit_call();
  about.tool = "edit";
  about.arguments =
      R"({"new_string":"TWO","old_string":"two","path":"notes.md"})";
  auto x = dialog_of(about);
  x.set_file("one\ntwo\n");
  REQUIRE(x.editable() == "one\nTWO\n");
  REQUIRE(x.on_edited("one\nA\n").show.empty());
  REQUIRE(x.editable() == "one\nA\n");
  SECTION("the second cannot be used, nor the first any more") {
    x.set_file({});
    CHECK_THAT(x.on_edited("one\nB\n").show, Contains("This cannot be used: "));
    x.drop_changes("notes.md is gone");
    CHECK_FALSE(x.edited());
    CHECK(x.editable() == "one\nB\n");
    CHECK(x.ending() == ".md");
  }
  SECTION("the second cannot be used, and the first still can") {
    x.on_edited("one\n\xFF\n");
    CHECK(x.edited());
    CHECK(x.editable() == "one\n\xFF\n");
  }
  SECTION("nothing came back") {
    // What it replaced is not there by now: its arguments are what is edited.
    x.set_file("other\n");
    CHECK_THAT(x.editable(), Contains("\"old_string\""));
    CHECK_THAT(x.on_edited("").show, Contains("Nothing came back"));
    CHECK(x.edited());
    x.drop_changes("old_string is not in notes.md");
    CHECK(x.editable() == "one\nA\n");
    CHECK(x.ending() == ".md");
  }
}

TEST_CASE("what was edited of a file is of that file, when it is asked again") {
  auto about = an_edit_call();
  about.tool = "edit";
  about.arguments =
      R"({"new_string":"TWO","old_string":"two","path":"notes.md"})";
  auto before = dialog_of(about);
  before.set_file("one\ntwo\n");
  REQUIRE(before.editable() == "one\nTWO\n");
  before.on_edited("one\nmine\n");
  REQUIRE(before.changes());
  about.proposal = proposal_id{"prop_2"};
  auto x = dialog_of(about);
  SECTION("whose lines are still there") { x.set_file("one\ntwo\nthree\n"); }
  SECTION("whose lines are gone") { x.set_file("1\n2\n"); }
  CHECK_THAT(x.take_up(*before.changes(), about.arguments),
             Contains("is kept: 'e' opens it again"));
  CHECK_FALSE(x.edited());
  CHECK(x.editable() == "one\nmine\n");
  CHECK(x.ending() == ".md");
  CHECK(x.told_before_edit().empty());
  CHECK(x.on_edited("one\nmine too\n").show ==
        "The file has changed since you opened it: your text takes the place "
        "of all of it.\n");
  CHECK_THAT(x.edited().value_or(""),
             Contains(R"("new_string":"one\nmine too\n")"));
}

TEST_CASE("a text that is opened again and stays is still what counts") {
  auto about = an_edit_call();
  about.tool = "edit";
  about.arguments =
      R"({"new_string":"TWO","old_string":"two","path":"notes.md"})";
  auto x = dialog_of(about);
  x.set_file("one\ntwo\n");
  REQUIRE(x.editable() == "one\nTWO\n");
  x.on_edited("one\nmine\n");
  REQUIRE(x.editable() == "one\nmine\n");
  SECTION("where what it replaces is gone, of all of the file") {
    x.set_file("1\n2\n");
    CHECK_THAT(x.on_edited("one\nmine\n").show,
               Contains("takes the place of all of it"));
    CHECK_THAT(x.edited().value_or(""), Contains(R"("old_string":"1\n2\n")"));
  }
  SECTION("where it is still there, of that alone") {
    x.set_file("one\ntwo\nthree\n");
    CHECK(x.on_edited("one\nmine\n").show.empty());
    CHECK_THAT(x.edited().value_or(""),
               Contains(R"("old_string":"one\ntwo\n")"));
  }
}

TEST_CASE("a file that changes in the editor is not changed back unseen") {
  auto about = an_edit_call();
  about.tool = "edit";
  about.arguments =
      R"({"new_string":"TWO","old_string":"two","path":"notes.md"})";
  auto x = dialog_of(about);
  x.set_file("one\ntwo\n");
  REQUIRE(x.editable() == "one\nTWO\n");
  REQUIRE(x.told_before_edit().empty());
  SECTION("what stands there by then is what it replaces") {
    x.set_file("1\n2\n");
    CHECK(x.on_edited("one\nZWEI\n").show ==
          "The file has changed since you opened it: your text takes the place "
          "of all of it.\n");
    CHECK(x.on_line("y").decided->arguments ==
          R"({"new_string":"one\nZWEI\n","old_string":"1\n2\n",)"
          R"("path":"notes.md"})");
  }
  SECTION("where it is gone the text is kept, as a text") {
    x.set_file({});
    CHECK_THAT(x.on_edited("one\nZWEI\n").show,
               Contains("notes.md is empty, gone, or cannot be read") &&
                   Contains("'e' opens it again"));
    CHECK(x.editable() == "one\nZWEI\n");
    CHECK(x.ending() == ".md");
    x.set_file("new\n");
    x.on_edited("one\nZWEI\n");
    CHECK(x.on_line("y").decided->arguments ==
          R"({"new_string":"one\nZWEI\n","old_string":"new\n",)"
          R"("path":"notes.md"})");
  }
  SECTION("where it changed before, the arguments are opened, and it is said") {
    auto y = dialog_of(about);
    y.set_file("1\n2\n");
    CHECK_THAT(y.editable(), Contains("\"old_string\": \"two\""));
    CHECK_THAT(y.told_before_edit(), Contains("not in the file as it is now"));
  }
}
