// SPDX-License-Identifier: MIT
#include "runtime/base/digest.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;

TEST_CASE("SHA-256 gives the values of FIPS 180-4") {
  CHECK(sha256("abc") ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("") ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("the digest of a proposal is of its tool and its arguments") {
  const auto digest = proposal_digest("bash", R"({"a":1,"b":[2]})");
  SECTION("however they are written") {
    CHECK(proposal_digest("bash", "{ \"b\": [2],\n \"a\": 1 }") == digest);
  }
  SECTION("and of nothing else") {
    CHECK(proposal_digest("bash", R"({"a":1,"b":[3]})") != digest);
    CHECK(proposal_digest("bash2", R"({"a":1,"b":[2]})") != digest);
    CHECK(proposal_digest("bash", R"({"a":1,"b":[2]}x)") != digest);
    CHECK(proposal_digest("bash", R"({"a":1,"b":"2"})") != digest);
  }
}
