// SPDX-License-Identifier: MIT
#include "tests/support/json_cases.hpp"

namespace riffle::testing {

namespace {

std::string bytes(std::initializer_list<int> all) {
  std::string out;
  for (const int x : all) out.push_back(static_cast<char>(x));
  return out;
}

void add(std::vector<json_case>& to, const std::string& rule,
         std::initializer_list<std::string> texts) {
  for (const auto& x : texts) to.push_back({rule, x});
}

}  // namespace

namespace open_json {
const std::string invalid_utf8 = "\"a" + bytes({0xFF}) + "b\"";
const std::string lone_surrogate = R"("a\uD800b")";
const std::string huge_number = "1e999";
const std::string equal_keys = R"({"a":1,"a":2})";
const std::string mark = bytes({0xEF, 0xBB, 0xBF});
}  // namespace open_json

std::vector<json_case> good_json() {
  std::vector<json_case> out;
  add(out, "literals", {"null", "true", "false"});
  add(out, "numbers",
      {"0", "-0", "1", "-1", "10", "1.5", "-0.5", "1e5", "1E5", "1e+5", "1e-5",
       "0e1", "0.0e-1", "123456789", "-0.000000000000000000000000000000001",
       "1E-320", "123123123123123123123123123123"});
  add(out, "strings",
      {R"("")", R"("a")", R"(" ")", R"("\"\\\/\b\f\n\r\t")", R"("\u0041")",
       R"("\u00e9")", R"("\uD834\uDD1E")", R"("\u0000")", R"("\\u0041")",
       R"("\uDBFF\uDFFF")", R"("\uFFFF")", R"("\u2028")", R"("[{,:}]")",
       R"("//")", "\"\x7f\"", "\"\xC3\xA9\"", "\"\xF0\x9D\x84\x9E\"",
       "\"\xE2\x80\xA8\"", "\"\xEF\xBF\xBF\""});
  add(out, "arrays",
      {"[]", "[ ]", "[1]", "[1,2]", "[ 1 , 2 ]", "[[]]", "[[],[[]]]",
       "[null,1,\"a\",{}]", "[\t1\t]"});
  add(out, "objects",
      {"{}", "{ }", R"({"a":1})", R"({"a":1,"b":2})", R"({ "a" : 1 })",
       R"({"":0})", R"({"a":{"b":[]}})", R"({"\u0061":1})", R"({"a\u0000b":1})",
       R"({"\"":1})", R"({"a":[{}]})"});
  return out;
}

std::vector<json_case> bad_json() {
  std::vector<json_case> out;
  add(out, "words that are no literals",
      {"nul", "nulll", "tru", "truee", "fals", "True", "NULL", "undefined",
       "NaN", "-NaN", "Infinity", "-Infinity", "a"});
  add(out, "numbers begin and end with digits, and not with a zero",
      {"01",   "-01",   "00",    "-",           "+1",  ".5",   "1.",
       "1.e5", "-.5",   "1e",    "1e+",         "1E-", "1ee5", "1.2.3",
       "0x1",  "1_000", "1 000", "--1",         "1-2", "0.e1", "-1.",
       "1+2",  "1e5.5", "- 1",   "\xEF\xBC\x91"});
  add(out, "strings end and have known escapes",
      {R"("\x41")", R"("\a")", R"("\")", R"("\u")", R"("\u12")", R"("\u12G4")",
       R"("\U0041")", R"("\ )", R"('a')", R"("a)", R"("\)", R"("\'")",
       R"("\u 123")", "\"\\\xF0\x9F\x8C\x80\""});
  add(out, "arrays have commas between values",
      {"[", "[1", "[1,]", "[,1]", "[,]", "[1,,2]", "[1 2]", "[1;2]", "[1:2]",
       "[\"a\" \"b\"]", "[}", "[1}", "[[]", "[\"a\":1]", "[1,\n", "[*]"});
  add(out, "objects have texts as keys, a colon and a value",
      {"{",
       "{1:1}",
       "{a:1}",
       "{'a':1}",
       R"({"a"})",
       R"({"a":})",
       R"({"a",1})",
       R"({"a":1,})",
       R"({,"a":1})",
       R"({"a":1,,"b":2})",
       R"({"a" 1})",
       R"({"a"::1})",
       R"({"a":1 "b":2})",
       R"({"a":1;"b":2})",
       R"({null:1})",
       R"({"a":1)",
       R"({"a")",
       "{]",
       R"({[]:1})",
       R"({"a":1]})",
       R"({"\x":1})",
       R"({"a)"});
  add(out, "there are no comments",
      {"/**/1", "1/**/", "//\n1", "[1/**/]", "#\n1", R"({"a":/*x*/1})"});
  add(out, "white space is of four kinds",
      {bytes({'[', 0x0C, ']'}), bytes({'[', 0x0B, ']'}), "[\xC2\xA0]",
       "[\xE2\x81\xA0]", bytes({'[', '1', 0, ']'})});
  add(out, "values stand alone", {"", " ", "<html>", "*", "@", "?"});
  return out;
}

std::vector<json_case> bad_documents() {
  auto out = bad_json();
  add(out, "nothing follows the value",
      {"1 2", "{}}", "[]]", "{}x", "[]#", "{},", "1,", "{}{}", "[][]", "]", "}",
       "{}//", "\"a\"b", "true,false", ",", ":"});
  add(out, "nothing hides behind a NUL byte",
      {bytes({'1', 0}), bytes({'{', '}', 0}), bytes({'{', '}', 0, 'x'}),
       bytes({0, '1'}), bytes({0})});
  add(out, "half a byte order mark, and one alone",
      {"\xEF\xBB{}", open_json::mark, "\xFE\xFF", "{}" + open_json::mark});
  return out;
}

std::string nested_arrays(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

std::vector<std::string> depth_bombs() {
  constexpr std::size_t depth = 100'000;
  std::string objects, mixed;
  for (std::size_t i = 0; i < depth; ++i) objects += R"({"a":)";
  for (std::size_t i = 0; i < depth; ++i) mixed += R"([{"":)";
  return {std::string(depth, '['), nested_arrays(depth), objects,
          objects + "1" + std::string(depth, '}'), mixed};
}

}  // namespace riffle::testing
