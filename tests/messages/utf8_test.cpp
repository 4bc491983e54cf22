// SPDX-License-Identifier: MIT
#include "messages/utf8.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto x = first_character(text);
    if (!x.valid) return false;
    text.remove_prefix(x.size);
  }
  return true;
}

}  // namespace

TEST_CASE("a cut never splits a character") {
  const std::string text = "a\u00e4\u20ac\U0001F600z";
  for (std::size_t limit = 0; limit <= text.size(); ++limit) {
    const auto head = cut_utf8(text, limit);
    const auto tail = tail_utf8(text, limit);
    CAPTURE(limit, head, tail);
    CHECK(head.size() <= limit);
    CHECK(tail.size() <= limit);
    CHECK(text.starts_with(head));
    CHECK(text.ends_with(tail));
    CHECK(is_utf8(head));
    CHECK(is_utf8(tail));
  }
  CHECK(cut_utf8(text, 3) == "a\u00e4");
  CHECK(tail_utf8(text, 4) == "z");
  CHECK(first_characters(text, 3) == "a\u00e4\u20ac");
  CHECK(first_characters(text, 9) == text);
  CHECK(first_characters(text, 0).empty());
  CHECK(count_characters(text) == 5);
}

TEST_CASE("every character is written and read back, and nothing else is one") {
  std::size_t valid = 0;
  for (char32_t code = 0; code < 0x110000; ++code) {
    std::string text;
    append_utf8(text, code);
    const auto x = first_character(text + "\x80");
    if (code >= 0xD800 && code < 0xE000) {
      if (x.valid) FAIL("a surrogate is a character");
      continue;
    }
    if (x.valid && x.code == code && x.size == text.size()) ++valid;
  }
  CHECK(valid == 0x110000 - 0x800);
}

TEST_CASE("what is no character is as long as one U+FFFD replaces") {
  const auto size = [](std::string_view text) {
    const auto x = first_character(text);
    CHECK_FALSE(x.valid);
    return x.size;
  };
  CHECK(size("\xff") == 1);
  CHECK(size("\x80z") == 1);
  CHECK(size("\xe2\x82z") == 2);
  CHECK(size("\xf0\x9f\x98") == 3);
  CHECK(size("\xc0\xaf") == 1);
  CHECK(size("\xed\xa0\x80") == 1);
  CHECK(size("\xf4\x90\x80\x80") == 1);
}
