// SPDX-License-Identifier: MIT
#include "runtime/base/encoding.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;

TEST_CASE("every byte has two digits, also those above ASCII") {
  CHECK(hex_text({"\x00\x0f\xa0\xff", 4}) == "000fa0ff");
  CHECK(hex_text("").empty());
}

TEST_CASE("what would end or split a part of a URL is escaped") {
  CHECK(percent_encoded("aZ09-._~") == "aZ09-._~");
  CHECK(percent_encoded("a/b?c#d e%\"&+=") ==
        "a%2Fb%3Fc%23d%20e%25%22%26%2B%3D");
  CHECK(percent_encoded("\xc3\xa9\xff") == "%C3%A9%FF");
  CHECK(percent_encoded("a-b*", "*", "0123456789abcdef") == "a%2db*");
}
