// SPDX-License-Identifier: MIT
// A person edits what a call would make, not how it is written down.
#include "runtime/cli/view/call_edit.hpp"

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"

using namespace riffle::cli;
using Catch::Matchers::Contains;

TEST_CASE("of a write its content is edited") {
  const std::optional<std::string> one = "one\n";
  const call_edit x{"write", R"({"content":"two\n","path":"a/notes.md"})", one};
  CHECK(x.text() == "two\n");
  CHECK(x.ending() == ".md");
  CHECK(x.first_line() == 1);
  CHECK(*x.arguments_of("2\n", one) ==
        R"({"content":"2\n","path":"a/notes.md"})");
  CHECK(*x.arguments_of("", one) == R"({"content":"","path":"a/notes.md"})");
  CHECK(x.preview_of(*x.arguments_of("2\n", one)) ==
        "--- a/a/notes.md\n+++ b/a/notes.md\n@@ -1 +1 @@\n-one\n+2\n");
  CHECK_THAT(x.arguments_of("\xFF", one).error().message, Contains("UTF-8"));
  // The model's own order: it makes the same call once more.
  const call_edit y{"write", R"({"path":"f","content":"1\n"})", {}};
  CHECK(*y.arguments_of("2\n", {}) == R"({"path":"f","content":"2\n"})");
  const call_edit z{"other", R"({"b":1,"a":2})", {}};
  CHECK(*z.arguments_of("{\"b\": 3, \"a\": 2}\n", {}) == R"({"b":3,"a":2})");
  CHECK(*z.arguments_of(" ", {}) == "{}");
}

TEST_CASE("of an edit the whole file is edited") {
  const std::string arguments =
      R"({"path":"f","old_string":"b","new_string":"B","replace_all":true})";
  const std::optional<std::string> file = "a\nb\nb\n";
  const call_edit x{"edit", arguments, file};
  CHECK(x.text() == "a\nB\nB\n");
  CHECK(x.ending() == ".txt");
  CHECK(x.first_line() == 2);
  const auto now = x.arguments_of("A\nB\nB\n", file);
  REQUIRE(now);
  CHECK(*now ==
        R"({"path":"f","old_string":"a\nb\nb\n","new_string":"A\nB\nB\n"})");
  CHECK(call_edit{"edit", *now, "a\nb\nb\n"}.text() == "A\nB\nB\n");
  CHECK(nlohmann::json::parse(*x.arguments_of("a\nB\nB\n", file)) ==
        nlohmann::json::parse(arguments));
  CHECK_THAT(x.arguments_of("a\nb\nb\n", file).error().message,
             Contains("would stay as it is"));
  SECTION("where the file is not known, its arguments are") {
    for (const auto& file :
         {std::optional<std::string>{}, std::optional<std::string>{"c\n"}}) {
      const call_edit y{"edit", arguments, file};
      CHECK(y.ending() == ".json");
      CHECK_THAT(y.text(), Contains("\"old_string\": \"b\""));
    }
  }
  SECTION("and where it is not unique") {
    const call_edit y{
        "edit", R"({"path":"f","old_string":"b","new_string":"B"})", "b\nb\n"};
    CHECK(y.ending() == ".json");
  }
}

TEST_CASE("what is edited comes in the place of the file as it is by then") {
  const std::optional<std::string> before = "a\nb\nc\n";
  const std::optional<std::string> now = "a\nother\nc\n";
  const call_edit x{"edit",
                    R"({"path":"f","old_string":"b\nc","new_string":"B\nC"})",
                    before};
  REQUIRE(x.text() == "a\nB\nC\n");
  // Also where the lines that it replaces are not there any more.
  CHECK(
      *x.arguments_of("A\nmine\nC\n", now) ==
      R"({"path":"f","old_string":"a\nother\nc\n","new_string":"A\nmine\nC\n"})");
  CHECK_THAT(x.arguments_of("a\nother\nc\n", now).error().message,
             Contains("would stay as it is"));
  for (const auto& gone :
       {std::optional<std::string>{}, std::optional<std::string>{""}})
    CHECK_THAT(x.arguments_of("A\n", gone).error().message,
               Contains("f is empty, gone, or cannot be read by now"));
}

TEST_CASE("an edit is shown with the line ends of its file") {
  const std::optional<std::string> file = "a\r\nb\r\nc\r\n";
  const call_edit x{
      "edit", R"({"path":"f","old_string":"a\nb","new_string":"A\nB"})", file};
  CHECK(x.text() == "A\r\nB\r\nc\r\n");
  const std::optional<std::string> mixed = "a\nb\r\nc\r\n";
  CHECK(call_edit{"edit",
                  R"({"path":"f","old_string":"a\nb","new_string":"A"})", mixed}
            .text() == "A\r\nc\r\n");
}

TEST_CASE("of a shell call its command is edited") {
  const call_edit x{"bash", R"({"command":"ls  ","timeout_ms":5})", {}};
  CHECK(x.text() == "ls  \n");
  CHECK(x.ending() == ".sh");
  CHECK(*x.arguments_of("ls  \n", {}) ==
        R"({"command":"ls  ","timeout_ms":5})");
  CHECK(*x.arguments_of("pwd\n", {}) == R"({"command":"pwd","timeout_ms":5})");
  CHECK_THAT(x.arguments_of(" \n", {}).error().message,
             Contains("there is no command"));
  CHECK(x.preview_of(*x.arguments_of("pwd\n", {})) == "pwd");
}

TEST_CASE("an editor that ends the last line changes nothing by that") {
  const call_edit x{"write", R"({"content":"no end","path":"f"})", {}};
  CHECK(*x.arguments_of("no end\n", {}) ==
        R"({"content":"no end","path":"f"})");
  CHECK_THAT(x.preview_of(*x.arguments_of("no end", {})),
             Contains("--- /dev/null"));
}
