// SPDX-License-Identifier: MIT
// Arguments of a call, as a model may write them.
#include "tests/support/catch.hpp"
#include "tests/support/json_cases.hpp"
#include "tools/arguments.hpp"
#include "tools/schema.hpp"

using namespace riffle;
using namespace riffle::testing;
using tools::parse_object;

namespace {

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

}  // namespace

TEST_CASE("arguments are JSON, or refused with a reason") {
  for (const auto& x : good_json()) {
    CAPTURE(x.rule, x.text);
    CHECK(parse_object("{\"k\":" + x.text + "}"));
    CHECK(parse_object(x.text).has_value() == x.text.starts_with('{'));
  }
  for (const auto& x : bad_documents()) {
    if (is_blank(x.text)) continue;  // no arguments at all: {}
    CAPTURE(x.rule, x.text);
    const auto parsed = parse_object(x.text);
    REQUIRE_FALSE(parsed);
    CHECK_FALSE(parsed.error().empty());
  }
  for (const auto& x : bad_json()) {
    CAPTURE(x.rule, x.text);
    CHECK_FALSE(parse_object("{\"k\":" + x.text + "}"));
  }
}

TEST_CASE("arguments leave nothing open") {
  const auto of = [](const std::string& value) {
    return parse_object("{\"k\":" + value + "}");
  };
  CHECK_FALSE(of(open_json::invalid_utf8));
  CHECK_FALSE(of(open_json::lone_surrogate));
  CHECK_FALSE(of(open_json::huge_number));
  CHECK_FALSE(parse_object(open_json::equal_keys));
  CHECK(parse_object(open_json::mark + "{}"));
  CHECK(of(nested_arrays(deepest_json - 1)));
  CHECK_FALSE(of(nested_arrays(deepest_json)));
  for (const auto& x : depth_bombs()) {
    CHECK_FALSE(parse_object(x));
    CHECK_FALSE(of(x));
    CHECK_FALSE(tools::schema::compile(x));
  }
}
