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
