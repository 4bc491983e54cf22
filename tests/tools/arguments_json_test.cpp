// SPDX-License-Identifier: MIT
// Arguments of a call, as a model may write them.
#include <ctime>
#include <string>

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

TEST_CASE("a key that stands twice is found, and named") {
  const auto found = [](const std::string& text) {
    return tools::repeated_key(text, nlohmann::json::parse(text));
  };
  CHECK(found(R"({"a":1,"b":{"c":[{"d":1,"e":2,"d":3}]}})") == "d");
  CHECK(found(R"({"a":1,"\u0061":1})") == "a");
  CHECK(found(R"({"":1,"":1})") == "");
  CHECK_FALSE(found(R"({"a":{"a":1},"b":[{"a":1},{"a":":\":{"}]})"));
  CHECK_FALSE(found(R"(["a:b",":",{}])"));
  std::string many = "{\"0\":0";
  for (int i = 1; i < 100'000; ++i) many += ",\"" + std::to_string(i) + "\":0";
  CHECK_FALSE(found(many + "}"));
  CHECK(found(many + ",\"77\":0}") == "77");
}

TEST_CASE("arguments of very many parts cost what they are long") {
  const auto seconds_for = [](std::size_t n, const std::string& part) {
    std::string text = "{\"path\":[" + part;
    for (std::size_t i = 1; i < n; ++i) text += "," + part;
    const auto begin = std::clock();
    REQUIRE(parse_object(text + "]}"));
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  for (const auto* part : {"{}", "[]", "{\"a\":1}"}) {
    CAPTURE(part);
    // Of the square of the parts it was half a minute.
    CHECK(seconds_for(150'000, part) < 3);
  }
}
