// SPDX-License-Identifier: MIT
#include "tools/builtin/web/charset.hpp"

#include "tests/support/catch.hpp"

using namespace riffle::tools;
using namespace std::string_view_literals;

namespace {

std::string text(std::string_view bytes, std::string_view header,
                 bool complete = true) {
  return to_utf8(bytes, parse_content_type(header), complete);
}

const std::string e_acute = "\xC3\xA9";
const std::string no_character = "\xEF\xBF\xBD";

}  // namespace

TEST_CASE("content types are read as servers write them") {
  const auto same = [](std::string_view header, std::string_view type,
                       std::string_view charset) {
    const auto x = parse_content_type(header);
    CAPTURE(header);
    CHECK(x.type == type);
    CHECK(x.charset == charset);
  };
  same("text/html", "text/html", "");
  same("Text/HTML; Charset=\"UTF-8\"", "text/html", "utf-8");
  same(" text/plain ;format=flowed; charset = iso-8859-1 ; x", "text/plain",
       "iso-8859-1");
  same("text/html;charset=a;charset=b", "text/html", "a");
  same("", "", "");
  same(";;;=", "", "");
}

TEST_CASE("the server's charset is obeyed") {
  CHECK(text("caf\xE9", "text/plain; charset=iso-8859-1") == "caf" + e_acute);
  CHECK(text("\x80", "text/plain; charset=latin1") == "\xE2\x82\xAC");
  CHECK(text("\xE1", "text/plain; charset=iso-8859-2") == "\xC3\xA1");
  CHECK(text("\xD0", "text/plain; charset=koi8-r") == "\xD0\xBF");
  CHECK(text("\x83\x65", "text/plain; charset=Shift_JIS") == "\xE3\x83\x86");
  CHECK(text("\xC4\xE3", "text/plain; charset=gb2312") == "\xE4\xBD\xA0");
  CHECK(text("a\0b\0"sv, "text/plain; charset=utf-16") == "ab");
  CHECK(text("\0a\0b"sv, "text/plain; charset=utf-16be") == "ab");
  CHECK(text("\xE9", "text/plain; charset=windows-1252") == e_acute);
  CHECK(text("\xE9", "text/plain; charset=utf-8") == no_character);
}

TEST_CASE("a byte order mark decides before the server") {
  CHECK(text("\xEF\xBB\xBF" + e_acute, "text/plain; charset=latin1") ==
        e_acute);
  CHECK(text("\xFF\xFE\xE9\0"sv, "text/plain; charset=utf-8") == e_acute);
  CHECK(text("\xFE\xFF\0\xE9"sv, "") == e_acute);
}

TEST_CASE("a page's own charset is found") {
  CHECK(text("<meta charset=iso-8859-2>\xE1", "text/html") ==
        "<meta charset=iso-8859-2>\xC3\xA1");
  const std::string old =
      "<META http-equiv='Content-Type' content='text/html; "
      "charset=windows-1251'>";
  CHECK(text(old + "\xE9", "text/html") == old + "\xD0\xB9");
  // Of HTML only, and only in the beginning.
  CHECK(text(old + "\xE9", "text/plain") == old + e_acute);
  CHECK(text(std::string(2000, ' ') + old + "\xE9", "text/html") ==
        std::string(2000, ' ') + old + e_acute);
  CHECK(text("<meta charset=utf-16>" + e_acute, "text/html") ==
        "<meta charset=utf-16>" + e_acute);
}

TEST_CASE("without a charset it is UTF-8 if it can be") {
  CHECK(text(e_acute, "text/plain") == e_acute);
  CHECK(text("\xE9", "text/plain") == e_acute);
  CHECK(text("\xE9", "text/plain; charset=no-such") == e_acute);
  CHECK(text("\xE9", "text/plain; charset=utf-8//translit") == e_acute);
  CHECK(text("\xE9", "text/plain; charset=iso-2022-cn-ext") == e_acute);
}

TEST_CASE("a character that the limit cut is left out") {
  CHECK(text("a\xE2\x82", "text/plain", false) == "a");
  CHECK(text("a\xE2\x82", "text/plain; charset=utf-8") == "a" + no_character);
  CHECK(text("a\x83", "text/plain; charset=sjis", false) == "a");
  CHECK(text("a\x83", "text/plain; charset=sjis") == "a" + no_character);
}

TEST_CASE("types are text, binary, or to be looked at") {
  for (const auto* x :
       {"text/html", "text/plain", "text/x-anything", "application/json",
        "application/ld+json", "image/svg+xml", "application/xml"})
    CHECK(kind_of(x) == text_kind::text);
  for (const auto* x : {"image/png", "application/pdf", "application/zip",
                        "video/mp4", "font/woff2", "application/wasm"})
    CHECK(kind_of(x) == text_kind::binary);
  for (const auto* x :
       {"", "nonsense", "application/octet-stream", "binary/octet-stream"})
    CHECK(kind_of(x) == text_kind::unknown);
}

TEST_CASE("bytes that are no text are noticed") {
  CHECK(
      looks_binary("\x7f"
                   "ELF\0\1"sv));
  CHECK(looks_binary("\x89PNG\r\n\x1a\n\0"sv));
  CHECK_FALSE(looks_binary("plain text\n\twith \x1b[1mcolour\x1b[0m"));
  CHECK_FALSE(looks_binary("caf\xE9"));
  CHECK_FALSE(
      looks_binary("\xFF\xFE"
                   "a\0b\0"sv));
  CHECK_FALSE(looks_binary(""));
}
