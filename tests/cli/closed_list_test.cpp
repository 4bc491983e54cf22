// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/typed_list.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::cli;

namespace {

const key letter{key_kind::text, "x"};

typed_list drawn(const typed_offer& x) {
  typed_list out;
  out.after(letter);
  out.offer(x, "/");
  out.draw(60, 24, false);
  return out;
}

}  // namespace

TEST_CASE("Esc closes what stands there, whatever it is") {
  auto note = drawn({.replaces = 1, .note = "still looking"});
  CHECK(note.close());
  CHECK_FALSE(note.close());
  CHECK(note.draw(60, 24, false).empty());
  // More has come, and is not drawn yet.
  auto list = drawn({.replaces = 1, .entries = {{"/a", "", "/a"}}});
  CHECK(list.offer(typed_offer{.replaces = 1, .entries = {{"/b", "", "/b"}}},
                   "/"));
  CHECK_FALSE(list.seen_for("/"));
  CHECK(list.close());
  // Without rows it is no key of the list.
  CHECK_FALSE(drawn({.replaces = 1, .pending = true}).close());
}
