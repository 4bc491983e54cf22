// SPDX-License-Identifier: MIT
#include "runtime/base/toml_bounds.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

std::string repeat(std::string_view x, std::size_t n) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += x;
  return out;
}

/// "line:column message", or nothing.
std::string excess(const std::string& text, const toml_limits& limits = {}) {
  const auto look = look_at_toml(text, limits);
  if (!look.excess) return {};
  return std::to_string(look.excess->line) + ":" +
         std::to_string(look.excess->column) + " " + look.excess->message;
}

bool whole(const std::string& text) {
  const auto look = look_at_toml(text);
  return !look.excess && look.understood == text.size();
}

}  // namespace

TEST_CASE("levels of every kind are counted together") {
  const toml_limits four{.depth = 4};
  const auto too_deep = [&](const std::string& text) {
    return excess(text, four).find("nests deeper than 4 levels") !=
           std::string::npos;
  };
  for (const std::string text :
       {"a.b.c.d = 1", "[a.b.c]\nd = 1", "[[a.b]]\nc = 1", "a = [[[1]]]",
        "a = { b = { c = 1 } }", "a.b = { c = 1 }", "[a]\nb = [{ c = 1 }]"}) {
    CAPTURE(text);
    CHECK_FALSE(too_deep(text));
  }
  for (const std::string text :
       {"a.b.c.d.e = 1", "[a.b.c.d.e]", "[a.b.c.d]\ne = 1", "[[a.b.c]]\nd = 1",
        "a = [[[[1]]]]", "a = { b = { c = 1, d = [[ 1 ]] } }",
        "a.b = { c.d.e = 1 }", "[a]\nb = [{ c = { d = 1 } }]",
        "a = [ [], [[[2]]] ]", "a . b.\"c\" . 'd' . e = 1"}) {
    CAPTURE(text);
    CHECK(too_deep(text));
  }
}

TEST_CASE("what is too deep is named with its place") {
  CHECK(excess("# é\n\nä = 1\n" + repeat("a.", 9999) + "a = 1") ==
        "4:129 nests deeper than 64 levels");
  CHECK(excess("x = \"é\" # [[[[\né = " + repeat("[", 100000)) ==
        "2:69 nests deeper than 64 levels");
}

TEST_CASE("brackets and dots in texts and comments are no levels") {
  const auto many = repeat("a.[{", 1000);
  CHECK(whole("# " + many));
  CHECK(whole("a = \"" + many + "\""));
  CHECK(whole("a = '" + many + "'"));
  CHECK(whole("a = \"\"\"\n" + many + "\n\"\"" + many + "\\\"\"\"\"\"\""));
  CHECK(whole("a = '''\n" + many + "''" + many + "'''''"));
  CHECK(whole("a = \"\\\"" + many + "\""));
  CHECK(whole("\"" + many + "\" = 1"));
  CHECK(whole("a = [ # " + many + "\n 1, ]"));
}

TEST_CASE("keys, tables and items are counted") {
  const toml_limits few{.items = 10};
  CHECK(excess(repeat("a=1\n", 10), few).empty());
  CHECK(excess(repeat("a=1\n", 11), few) ==
        "11:1 holds more than 10 keys and items");
  CHECK(excess("a=[" + repeat("1,", 9) + "]", few).empty());
  CHECK_FALSE(excess("a=[" + repeat("1,", 10) + "]", few).empty());
  CHECK_FALSE(excess(repeat("[a]\n", 11), few).empty());
  CHECK_FALSE(excess("a={" + repeat("b=1,", 10) + "}", few).empty());
}

TEST_CASE("a text that is too long is not looked at") {
  CHECK(excess("a = 1", {.bytes = 4}) == "0:0 is larger than 4 bytes");
}

TEST_CASE("what TOML can hold is understood to its end") {
  CHECK(whole(""));
  CHECK(
      whole("\xEF\xBB\xBF"
            "a = 1\r\n[b]\r\nc = 2\r\n"));
  CHECK(whole("a = 1979-05-27 07:32:00Z\nb = 1e9 # x\nc = +inf\nd = 0xFF"));
  CHECK(
      whole("a = {}\nb = []\nc = { d = 'x', e = [1,\n2] }\n[[f]]\n[ g . h ]"));
  CHECK(whole("3.14 = 1\n\"\" = 2\n'k' = true"));
}

TEST_CASE("what is not understood is the end of what may be parsed") {
  CHECK(look_at_toml("a = 1 2 ] x.x.x = 1").understood == 9);
  CHECK(look_at_toml("a = \"x\nb.c = 1").understood == 7);
  CHECK(look_at_toml("= 1").understood == 1);
  CHECK(look_at_toml("a = [1 2]\n[x] y").understood > 13);
  CHECK(look_at_toml("a = \"\"\"x").understood == 8);
  CHECK(look_at_toml("a = \"\\").understood == 6);
  CHECK(look_at_toml("a = [").understood == 5);
}

TEST_CASE("no text makes the look run away") {
  // Every text of up to five of the signs that mean something.
  constexpr std::string_view signs = "a.\"'[]{}=,#\n\\ ";
  std::size_t looked = 0;
  for (std::size_t n = 0; n < 14 * 14 * 14 * 14 * 14; ++n) {
    std::string text;
    for (auto rest = n; rest > 0; rest /= signs.size())
      text += signs[rest % signs.size()];
    const auto look = look_at_toml(text);
    looked += look.understood <= text.size() ? 1 : 0;
  }
  CHECK(looked == 14 * 14 * 14 * 14 * 14);
}
