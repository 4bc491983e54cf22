// SPDX-License-Identifier: MIT
#include "tools/text.hpp"

#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle::tools;

namespace {

std::string valid(std::string_view bytes, std::size_t piece) {
  utf8_stream utf8;
  std::string result;
  for (std::size_t i = 0; i < bytes.size(); i += piece)
    utf8.feed(bytes.substr(i, piece), result);
  utf8.finish(result);
  return result;
}

}  // namespace

TEST_CASE("what is not UTF-8 becomes U+FFFD, however the bytes are split") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"plain", "plain"},
      {"\u00e4\u20ac\U0001F600", "\u00e4\u20ac\U0001F600"},
      {"a\xffz", "a\ufffdz"},
      {"\xc3", "\ufffd"},
      {"\xe2\x82z", "\ufffdz"},
      {"\xe2\x82\xe2\x82\xac", "\ufffd\u20ac"},
      {"\xc0\xaf", "\ufffd\ufffd"},
      {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
      {"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
      {std::string("\0\x1b[m", 4), std::string("\0\x1b[m", 4)},
  };
  for (const auto& [bytes, text] : cases)
    for (std::size_t piece = 1; piece <= 4; ++piece) {
      CAPTURE(text, piece);
      CHECK(valid(bytes, piece) == text);
    }
}

TEST_CASE("random bytes give the same valid text for any split") {
  const auto seed = riffle::testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  std::string bytes(2000, '\0');
  for (auto& c : bytes) c = static_cast<char>(random());
  const auto whole = valid(bytes, bytes.size());
  CHECK(valid(whole, 5) == whole);
  for (std::size_t piece = 1; piece < 9; ++piece)
    CHECK(valid(bytes, piece) == whole);
}

TEST_CASE("close names are found and far ones are not") {
  const std::vector<std::string> names = {"README.md", "bash", "glob", "read"};
  CHECK(close_names("raed", names) == std::vector<std::string>{});
  CHECK(close_names("reads", names) == std::vector<std::string>{"read"});
  CHECK(close_names("REDME.md", names) ==
        std::vector<std::string>{"README.md"});
  CHECK(close_names("Bash", names) == std::vector<std::string>{"bash"});
  CHECK(close_names("x", names).empty());
}
