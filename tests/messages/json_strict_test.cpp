// SPDX-License-Identifier: MIT
#include "messages/json_strict.hpp"

#include "messages/event_check.hpp"
#include "messages/event_line.hpp"
#include "messages/json_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/json_cases.hpp"

using namespace riffle;
using namespace riffle::testing;

TEST_CASE("JSON is taken, and what is none is not") {
  for (const auto& x : good_json()) {
    CAPTURE(x.rule, x.text);
    CHECK(parse_strict(x.text));
    CHECK(parse_strict(" \t\r\n" + x.text + " \t\r\n"));
    CHECK(parse_strict("{\"k\":" + x.text + "}"));
    CHECK(is_json(x.text));
    CHECK(is_json_object(x.text) == x.text.starts_with('{'));
  }
  for (const auto& x : bad_documents()) {
    CAPTURE(x.rule, x.text);
    CHECK_FALSE(parse_strict(x.text));
    CHECK_FALSE(is_json(x.text));
    CHECK_FALSE(is_json_object(x.text));
  }
  for (const auto& x : bad_json()) {
    CAPTURE(x.rule, x.text);
    CHECK_FALSE(parse_strict("{\"k\":" + x.text + "}"));
  }
}

TEST_CASE("what the RFC leaves open is decided") {
  CHECK_FALSE(parse_strict(open_json::invalid_utf8));
  CHECK_FALSE(parse_strict(open_json::lone_surrogate));
  CHECK_FALSE(parse_strict(open_json::huge_number));
  CHECK(parse_strict(open_json::equal_keys)->at("a") == 2);
  CHECK(parse_strict(open_json::mark + "{}"));
  CHECK(parse_strict(nested_arrays(deepest_json)));
  CHECK_FALSE(parse_strict(nested_arrays(deepest_json + 1)));
  CHECK(parse_strict("[\"" + std::string(1000, '[') + "\"]"));
}

TEST_CASE("nesting without end is refused, not followed") {
  for (const auto& x : depth_bombs()) {
    CHECK_FALSE(parse_strict(x));
    CHECK_NOTHROW(is_json(x));
    CHECK_FALSE(parse_line(x));
    CHECK_FALSE(parse_line(R"({"seq":1,"data":)" + x + "}"));
    CHECK(event_checker{}.on_line(x));
  }
}

TEST_CASE("a line that is no JSON is no event") {
  for (const auto& x : bad_documents()) {
    CAPTURE(x.rule, x.text);
    CHECK_FALSE(parse_line(x.text));
  }
}

TEST_CASE("what is JSON is what the parser takes, one character changed") {
  const std::string_view plain =
      R"({"a":[1,-2,10,true,false,null,{"b":"c d"},[]],"":0,"e":{}})";
  REQUIRE(is_json(plain));
  std::size_t good = 0;
  for (std::size_t at = 0; at < plain.size(); ++at)
    for (int c = 0; c < 256; ++c) {
      for (const int how : {0, 1, 2}) {  // put in its place, added, taken out
        std::string x{plain};
        if (how == 2) x.erase(at, 1);
        if (how == 1) x.insert(at, 1, static_cast<char>(c));
        if (how == 0) x[at] = static_cast<char>(c);
        const bool expected =
            c != 0 ? nlohmann::json::accept(x)
                   : x.find('\0') == x.npos && nlohmann::json::accept(x);
        if (expected) ++good;
        if (is_json(x) != expected) FAIL(x);
      }
    }
  CHECK(good > 1000);
}

TEST_CASE("numbers and words as the parser takes them, and only those") {
  for (const std::string_view x : {"01",
                                   "-",
                                   "-0",
                                   "00",
                                   "1-",
                                   "99999999999999999",
                                   "123456789012345678",
                                   "99999999999999999999999",
                                   "1e999",
                                   "1.",
                                   ".1",
                                   "tru",
                                   "truex",
                                   "nul",
                                   "[1,]",
                                   "[,1]",
                                   "{,}",
                                   R"({"a"})",
                                   R"({"a":})",
                                   R"({"a":1,})",
                                   "[1 ]",
                                   "\"\x7f\"",
                                   "\"\xc3\xa4\"",
                                   "\"\xff\"",
                                   "",
                                   "[",
                                   "{",
                                   "\""}) {
    INFO(x);
    CHECK(is_json(x) == nlohmann::json::accept(x));
  }
}
