// SPDX-License-Identifier: MIT
#include "tools/builtin/files/line_window.hpp"

#include "tests/support/catch.hpp"

using namespace riffle::tools;

namespace {

struct result {
  std::string text;
  std::uint64_t taken = 0;
  std::optional<std::uint64_t> next;

  bool operator==(const result&) const = default;
};

std::ostream& operator<<(std::ostream& out, const result& x) {
  return out << '"' << x.text << "\", " << x.taken << ", next "
             << x.next.value_or(0);
}

result window(std::string_view bytes, line_window::limits limits,
              std::size_t piece = 1) {
  if (limits.bytes == 0) limits.bytes = 1000;
  if (limits.line_bytes == 0) limits.line_bytes = 500;
  line_window x{limits};
  bool more = true;
  for (std::size_t i = 0; more && i < bytes.size(); i += piece)
    more = x.feed(bytes.substr(i, piece));
  if (more) x.finish();
  return {x.text(), x.taken(), x.next()};
}

using limits = line_window::limits;

}  // namespace

TEST_CASE("lines are taken as they are, for any split of the bytes") {
  for (std::size_t piece = 1; piece < 12; ++piece) {
    CAPTURE(piece);
    CHECK(window("", {}, piece) == result{"", 0, {}});
    CHECK(window("a\nb", {}, piece) == result{"a\nb", 2, {}});
    CHECK(window("a\r\n\r\nb\r\n", {}, piece) ==
          result{"a\r\n\r\nb\r\n", 3, {}});
    CHECK(window("a\nb\nc\n", {.offset = 2}, piece) == result{"b\nc\n", 2, {}});
    CHECK(window("a\nb\nc\n", {.offset = 2, .lines = 1}, piece) ==
          result{"b\n", 1, 3});
    CHECK(window("a\nb\nc", {.lines = 3}, piece) == result{"a\nb\nc", 3, {}});
    CHECK(window("a\nb\nc", {.offset = 4}, piece) == result{"", 0, {}});
    CHECK(window("\u00e4\u20ac\n\xff\n", {}, piece) ==
          result{"\u00e4\u20ac\n\ufffd\n", 2, {}});
  }
}

TEST_CASE("what does not fit is told by the line that comes next") {
  CHECK(window("aaa\nbbb\nccc\n", {.bytes = 8}) == result{"aaa\nbbb\n", 2, 3});
  CHECK(window("aaa\nbbb\nccc\n", {.bytes = 11}, 64) ==
        result{"aaa\nbbb\n", 2, 3});
  CHECK(window("aaa\nbbb\nccc\n", {.bytes = 12}, 64) ==
        result{"aaa\nbbb\nccc\n", 3, {}});
}

TEST_CASE("a long line is cut, and the text says so") {
  const std::string line(100, 'x');
  CHECK(window(line + "\nb\n", {.line_bytes = 10}, 7) ==
        result{"xxxxxxxxxx [... the line goes on for 90 bytes]\nb\n", 2, {}});
  CHECK(window(line, {.line_bytes = 10}, 7) ==
        result{"xxxxxxxxxx [... the line goes on for 90 bytes]", 1, {}});
  line_window split{{.bytes = 100, .line_bytes = 4}};
  split.feed("abc\u20acd\n");
  CHECK(split.text() == "abc [... the line goes on for 3 bytes]\n");
  CHECK_FALSE(split.replaced());
}

TEST_CASE("lines that went by are counted") {
  line_window x{{.offset = 10, .bytes = 100, .line_bytes = 10}};
  x.feed("a\nb\nc");
  x.finish();
  CHECK(x.seen() == 3);
}
