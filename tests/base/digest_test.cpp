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

TEST_CASE("SHA-256 of pieces is that of the whole") {
  sha256_stream x;
  for (const auto* piece : {"a", "", "bc"}) x.add(piece);
  CHECK(x.finish() == sha256("abc"));
}

TEST_CASE("the digest of a proposal is of all that was shown") {
  const auto of = [](const std::string& tool, const std::string& arguments,
                     const std::string& definition = "d",
                     const std::string& basis = "b") {
    return proposal_digest(tool, arguments, definition, basis);
  };
  const auto digest = of("bash", R"({"a":1,"b":[2]})");
  SECTION("however the arguments are written") {
    CHECK(of("bash", "{ \"b\": [2],\n \"a\": 1 }") == digest);
  }
  SECTION("and of nothing else") {
    CHECK(of("bash", R"({"a":1,"b":[3]})") != digest);
    CHECK(of("bash2", R"({"a":1,"b":[2]})") != digest);
    CHECK(of("bash", R"({"a":1,"b":[2]}x)") != digest);
    CHECK(of("bash", R"({"a":1,"b":"2"})") != digest);
    CHECK(of("bash", R"({"a":1,"b":[2]})", "e") != digest);
    CHECK(of("bash", R"({"a":1,"b":[2]})", "d", "") != digest);
  }
  SECTION("and no part passes for another") {
    CHECK(of("a", "b", "cd", "") != of("a", "b", "c", "d"));
    CHECK(of("a", "1:b", "", "") != of("a1:b", "", "", ""));
  }
}
