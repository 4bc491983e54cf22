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
