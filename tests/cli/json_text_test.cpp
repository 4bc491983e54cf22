// SPDX-License-Identifier: MIT
#include "runtime/cli/view/json_text.hpp"

#include "tests/support/catch.hpp"

using riffle::cli::readable_json;

TEST_CASE("characters that were escaped in JSON are shown") {
  CHECK(readable_json(R"({"a":"\u00fcber \u65e5\u672c \ud83d\udc4d"})") ==
        R"({"a":"über 日本 👍"})");
}

TEST_CASE("what nobody could see stays escaped, and all of ASCII") {
  for (const auto* text :
       {R"("\u200b")", R"("\u202e")", R"("\u0085")", R"("\u0000\u001b")",
        R"("\u0041\u0022")", R"("\ud83d")", R"("\udc4d\ud83d")", R"("\u12")",
        R"("\\u00fc")", R"("\n\t\"\\")", "\\"}) {
    CAPTURE(text);
    CHECK(readable_json(text) == text);
  }
  CHECK(readable_json(R"("\\\u00fc")") == R"("\\ü")");
}
