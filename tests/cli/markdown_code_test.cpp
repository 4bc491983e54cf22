// SPDX-License-Identifier: MIT
// Colours of code and titles, fences in lists and beside traces, and what of
// HTML models write.
#include "runtime/cli/markdown/code_line.hpp"
#include "runtime/cli/markdown/markdown.hpp"
#include "runtime/cli/markdown/text_style.hpp"
#include "tests/cli/live_stage.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;

namespace {

std::string bytes_of(std::string_view text) {
  markdown x{true};
  auto out = x.on(text, 80);
  return out + x.finish(80);
}

std::string seen(std::string_view text) {
  terminal_picture picture{80};
  picture.feed(bytes_of(text));
  return picture.text();
}

const std::string edge = [] {
  std::string out;
  for (int i = 0; i < 40; ++i) out += "─";
  return out + "\n";
}();

}  // namespace

TEST_CASE("a comment in a line of code is dim") {
  const auto code = style_of(text_marks::code);
  using parts = std::vector<painted_part>;
  CHECK(painted_code("int x;", "cpp") == parts{{"int x;", code}});
  CHECK(painted_code("int x;  // why", "cpp") ==
        parts{{"int x;  ", code}, {"// why", dim_style}});
  CHECK(painted_code("# all of it", "sh") == parts{{"# all of it", dim_style}});
  CHECK(painted_code("x = 1 -- one", "lua") ==
        parts{{"x = 1 ", code}, {"-- one", dim_style}});
  // No comment: in a string, an address, another language, a word.
  for (const std::string_view line :
       {R"(f("a // b", 'c // d');)", R"(s = "\" // ";)", "get http://a.b"})
    CHECK(painted_code(line, "cpp") == parts{{line, code}});
  CHECK(painted_code("# a", "cpp") == parts{{"# a", code}});
  CHECK(painted_code("a#b", "python") == parts{{"a#b", code}});
  CHECK(painted_code("// a", "") == parts{{"// a", code}});
  // A quote that is never closed hides nothing.
  CHECK(painted_code("it's  // so", "cpp") ==
        parts{{"it's  ", code}, {"// so", dim_style}});
  CHECK(painted_code("", "cpp").empty());
}

TEST_CASE("code in a fence has the colour of code, a diff its own") {
  CHECK(bytes_of("```\nint x;\n```\n").find("\n\x1b[36mint x;\x1b[0m\n") !=
        std::string::npos);
  const auto diff =
      bytes_of("1. so:\n\n   ```diff\n   -old\n   +new\n   ```\n");
  CHECK(diff.find("\n\x1b[31m-old\x1b[0m\n\x1b[32m+new\x1b[0m\n") !=
        std::string::npos);
}

TEST_CASE("titles of three levels differ") {
  CHECK(bytes_of("# One") == "\x1b[1m\x1b[4mOne\x1b[0m\n");
  CHECK(bytes_of("## Two") == "\x1b[1mTwo\x1b[0m\n");
  CHECK(bytes_of("### Three") == "\x1b[3m\x1b[1mThree\x1b[0m\n");
}

TEST_CASE("code in a list is not indented by the list") {
  CHECK(seen("1. so:\n\n     ```py\n     def f(x):\n\n         return x\n"
             "   less\n     ```\n")
            .find("\ndef f(x):\n\n    return x\nless\n─") != std::string::npos);
}

TEST_CASE("an item goes on behind its fence, with its indentation") {
  const std::string text(64, 'x');
  const auto shown = seen(
      "- a\n  - b\n\n    ```sh\n    make\n    ```\n\n"
      "    and then " +
      text + " at last\n");
  CAPTURE(shown);
  CHECK(shown.find("\n    and then " + text + "\n    at last") !=
        std::string::npos);
  // Behind one that is no item's it is code.
  CHECK(seen("- a\n\n```\nx\n```\n\n    and " + text + text).find("┊") !=
        std::string::npos);
}

TEST_CASE("an item may begin with a fence") {
  const auto shown = seen(
      "1. ```sh\n   make\n   ```\n   Then:\n2. ~~~\n   a\n   ~~~\n"
      "- ```not one``` but text\n");
  CAPTURE(shown);
  const auto sh = "── sh " + edge.substr(0, 34 * 3) + "\n";
  CHECK(shown == "1.\n" + sh + "make\n" + edge + "   Then:\n2.\n" + edge +
                     "a\n" + edge + "• not one but text\n");
}

TEST_CASE("a rule is no edge of a fence") {
  CHECK(seen("one\n\n---\n\ntwo").find("┄┄┄┄") != std::string::npos);
  CHECK(seen("one\n\n---\n\ntwo").find("─") == std::string::npos);
}

TEST_CASE("names of characters, bare links and pictures are read") {
  CHECK(seen("a &amp; b &lt;c&gt; &quot;d&quot; &#39;e&#39; &hellip;") ==
        "a & b <c> \"d\" 'e' …\n");
  CHECK(seen("AT&T; a && b &unknown; & &amp") ==
        "AT&T; a && b &unknown; & &amp\n");
  CHECK(seen("`&amp;` stays") == "&amp; stays\n");
  CHECK(seen("see <https://a.b/c_d_e>, a < b, <b>no</b>, <http://") ==
        "see https://a.b/c_d_e, a < b, <b>no</b>, <http://\n");
  CHECK(seen("![a plot](p.png) and ![](q.png), !not [x], well!") ==
        "a plot (p.png) and (q.png), !not [x], well!\n");
}

TEST_CASE("what HTML's marks mean does not depend on how the text was cut") {
  const std::string text =
      "&amp; &am &&lt; <https://a.b> <htt <https://a ![a](b) !! ![ &#39; <>\n";
  const auto whole = bytes_of(text);
  markdown x{true};
  std::string out;
  for (const char c : text) out += x.on({&c, 1}, 80);
  CHECK(out + x.finish(80) == whole);
}

TEST_CASE("a fence is closed for a line of a trace, and opened again") {
  auto options = on_terminal();
  options.rendered = options.styled = true;
  live_stage s{options, 80};
  s.on(events::step_start{1, 3});
  s.on(events::llm_token{"So:\n```py\na = 1\n", 1});
  s.on(call("c", "read", "Reading a", R"({"path":"a"})"));
  s.on(result("c", "read", 100, ""));
  s.on(events::llm_token{"b = 2\n```\nwell\n", 1});
  s.write(s.view.finish("So:\n```py\na = 1\nb = 2\n```\nwell\n"));
  const auto text = s.picture.text();
  INFO(text);
  const auto begin = text.find("── py ─");
  const auto trace = text.find("[TOOL] read: a");
  REQUIRE(begin < text.find("a = 1\n" + edge + "[TOOL] read: a"));
  const auto again = text.find("── py ─", trace);
  REQUIRE(again < text.find("b = 2\n" + edge + "well\n"));
  // A text that ends there has no second edge.
  markdown x{true};
  x.on("```\na\n", 80);
  CHECK_FALSE(x.leave_fence(80).empty());
  CHECK(x.leave_fence(80).empty());
  CHECK(x.finish(80).empty());
}
