// SPDX-License-Identifier: MIT
#include "tools/shared_schema.hpp"

#include "tests/support/catch.hpp"

using namespace riffle::tools;
using nlohmann::json;

namespace {

std::string with_number(const std::string& name) {
  return R"({"type":"object","properties":{")" + name +
         R"(":{"type":"integer"}},"required":[")" + name + R"("]})";
}

}  // namespace

TEST_CASE("who has the same schema at one time shares it") {
  const auto text = with_number("shared");
  auto one = shared_schema::of(text);
  const auto other = shared_schema::of(text);
  REQUIRE(one);
  REQUIRE(other);
  CHECK(*one == *other);
  const auto apart = shared_schema::of(with_number("apart"));
  REQUIRE(apart);
  CHECK(*one != *apart);
  const std::weak_ptr<const shared_schema> gone{*apart};
  CHECK_FALSE(gone.expired());
}

TEST_CASE("a schema that was tried is as good when it is first needed") {
  const auto text = with_number("tried");
  REQUIRE(shared_schema::try_out(text));
  REQUIRE(shared_schema::try_out(text));
  const auto made = shared_schema::of(text);
  REQUIRE(made);
  for (int i = 0; i < 2; ++i) {
    CHECK((*made)->check({{"tried", 1}}).empty());
    REQUIRE((*made)->check({{"tried", "x"}}).size() == 1);
    CHECK((*made)->check({{"tried", "x"}})[0].pointer == "/tried");
  }
}

TEST_CASE("what is no schema is refused, however often it is tried") {
  const std::string text = R"({"type":"object","properties":{"a":{"type":7}}})";
  for (int i = 0; i < 2; ++i) {
    const auto tried = shared_schema::try_out(text);
    REQUIRE_FALSE(tried);
    CHECK_FALSE(tried.error().empty());
    CHECK_FALSE(shared_schema::of(text));
  }
}

TEST_CASE("schemas that nobody has any more make room") {
  for (int i = 0; i < 1000; ++i) {
    const auto made = shared_schema::of(with_number("n" + std::to_string(i)));
    REQUIRE(made);
    REQUIRE((*made)->check(json::object()).size() == 1);
  }
}
