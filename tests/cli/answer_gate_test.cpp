// SPDX-License-Identifier: MIT
// No letter of a sentence decides anything.
#include "runtime/cli/terminal/answer_gate.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace std::chrono_literals;

namespace {

const key letter_y{key_kind::text, "y"};
const key tab{key_kind::tab, {}};
const time_point start{100s};

}  // namespace

TEST_CASE("a key answers where nobody is typing") {
  answer_gate x;
  x.open(start, false);
  CHECK(x.answers());
  CHECK(x.on(letter_y, true, start + 300ms) == key_goal::answer);
  // A further one: the question may still stand there.
  CHECK(x.on(letter_y, true, start + 301ms) == key_goal::answer);
}

TEST_CASE("who was typing goes to the question first") {
  answer_gate x;
  SECTION("something stands in the input line") { x.open(start, true); }
  SECTION("a key came just before") {
    x.typed(start - 499ms);
    x.open(start, false);
  }
  SECTION("a key came before it could be read") {
    x.open(start, false);
    CHECK(x.on(letter_y, true, start + 299ms) == key_goal::text);
  }
  SECTION("several came at once") {
    x.open(start, false);
    CHECK(x.on(letter_y, false, start + 10s) == key_goal::text);
  }
  SECTION("a key was no answer") {
    x.open(start, false);
    CHECK(x.on({key_kind::text, "k"}, true, start + 10s) == key_goal::answer);
    x.not_an_answer();
  }
  CHECK_FALSE(x.answers());
  CHECK(x.on(letter_y, true, start + 20s) == key_goal::text);
  CHECK(x.on(tab, false, start + 21s) == key_goal::text);  // of a paste
  CHECK(x.on(tab, true, start + 22s) == key_goal::moved);
  CHECK(x.on(letter_y, true, start + 22s + 50ms) == key_goal::answer);
  CHECK(x.on(tab, true, start + 23s) == key_goal::moved);
  CHECK(x.on(letter_y, true, start + 24s) == key_goal::text);
  // The next question comes while the person types on.
  x.open(start + 24s + 400ms, false);
  CHECK_FALSE(x.answers());
  x.open(start + 24s + 500ms, false);
  CHECK(x.answers());
}

TEST_CASE("a Tab in a paste that nothing marks does not go to the question") {
  answer_gate x;
  x.open(start, true);
  CHECK(x.on(letter_y, true, start + 10s) == key_goal::text);
  CHECK(x.on(tab, true, start + 10s + 49ms) == key_goal::text);
  CHECK(x.on(tab, true, start + 10s + 99ms) == key_goal::moved);
  CHECK(x.on(letter_y, true, start + 10s + 148ms) == key_goal::text);
  CHECK_FALSE(x.answers());
}
