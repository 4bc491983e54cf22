// SPDX-License-Identifier: MIT
#include "runtime/base/media.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace std::string_view_literals;

TEST_CASE("a type is told by the first bytes, in full") {
  CHECK(media_type_of("\x89PNG\r\n\x1a\n…"sv) == "image/png");
  CHECK(media_type_of("\xff\xd8\xff\xe0"sv) == "image/jpeg");
  CHECK(media_type_of("GIF87a"sv) == "image/gif");
  CHECK(media_type_of("GIF89a"sv) == "image/gif");
  CHECK(media_type_of("RIFF\1\2\3\4WEBPVP8 "sv) == "image/webp");
  CHECK(media_type_of("%PDF-1.7"sv) == "application/pdf");
  for (const auto other :
       {""sv, "\x89PNG"sv, "\xff\xd8"sv, "GIF90a"sv, "RIFF\1\2\3\4WAVEfmt "sv,
        "RIFF\1\2\3"sv, " %PDF-1.7"sv, "<svg xmlns="sv, "BM\1\2"sv})
    CHECK(media_type_of(other).empty());
}

TEST_CASE("what is told of a file: its name, type, size and digest") {
  const auto x = describe_media("a.txt", "GIF89a");
  REQUIRE(x);
  CHECK(x->digest ==
        "610f5ae4d76e332636a17bd357fd6ce9"
        "9029316a99d320280d4d77a746bf29e8");
  CHECK(x->name == "a.txt");
  CHECK(x->type == "image/gif");
  CHECK(x->bytes == 6);
  CHECK(describe(*x) == "a.txt (image/gif, 6 B)");
  CHECK(describe({"b", "image/png", 1536, {}}) == "b (image/png, 1.5 KiB)");
  CHECK(describe({"c", "image/png", 5u << 20, {}}) == "c (image/png, 5.0 MiB)");
  CHECK_FALSE(describe_media("a.png", "no picture"));
}

TEST_CASE("base64 as RFC 4648 says, of any length, and back") {
  CHECK(to_base64("").empty());
  CHECK(to_base64("f") == "Zg==");
  CHECK(to_base64("fo") == "Zm8=");
  CHECK(to_base64("foo") == "Zm9v");
  CHECK(to_base64("\xfb\xff\xfe"sv) == "+//+");
  std::string long_one;
  for (int i = 0; i < (3 << 18) + 5; ++i)
    long_one.push_back(static_cast<char>(i * 31));
  for (std::size_t cut = 0; cut < 4; ++cut) {
    const auto part = long_one.substr(cut);
    const auto text = to_base64(part);
    CHECK(text.size() == (part.size() + 2) / 3 * 4);
    CHECK(from_base64(text) == part);
  }
  CHECK(from_base64("Zg=").empty());
  CHECK(from_base64("Zm9*").empty());
  std::string out = "before";
  append_base64(out, "foo");
  CHECK(out == "beforeZm9v");
}
