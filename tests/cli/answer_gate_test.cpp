// SPDX-License-Identifier: MIT
// No letter of a sentence decides anything, if its letters come within 0.3 s.
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
  CHECK(x.on(letter_y, true, start + 300ms, false) == key_goal::answer);
  // A further one: the question may still stand there.
  CHECK(x.on(letter_y, true, start + 301ms, false) == key_goal::answer);
}

TEST_CASE("who has a text in the input line goes to the question first") {
  answer_gate x;
  SECTION("something stands in the input line") { x.open(start, true); }
  SECTION("a key was no answer") {
    x.open(start, false);
    CHECK(x.on({key_kind::text, "k"}, true, start + 10s, false) ==
          key_goal::answer);
    x.not_an_answer(start + 10s);
  }
  SECTION("several came at once") {
    x.open(start, false);
    CHECK(x.on(letter_y, false, start + 10s, false) == key_goal::text);
  }
  CHECK_FALSE(x.answers());
  CHECK_FALSE(x.look(start + 20s, true));
  CHECK(x.on(letter_y, true, start + 20s, true) == key_goal::text);
  CHECK(x.on(tab, false, start + 21s, true) == key_goal::text);  // of a paste
  CHECK(x.on(tab, true, start + 22s, true) == key_goal::moved);
  CHECK(x.on(letter_y, true, start + 22s + 50ms, true) == key_goal::answer);
  CHECK(x.on(tab, true, start + 23s, true) == key_goal::moved);
  CHECK(x.on(letter_y, true, start + 24s, true) == key_goal::text);
  // The next question comes while the person types on.
  x.open(start + 24s + 400ms, false);
  CHECK_FALSE(x.answers());
  x.open(start + 24s + 500ms, false);
  CHECK(x.answers());
}

TEST_CASE("beside an empty line half a second of silence is enough") {
  const bool looked = GENERATE(true, false);
  answer_gate x;
  time_point last = start;
  SECTION("a key came just before") {
    x.typed(start);
    x.open(start + 499ms, false);
  }
  SECTION("keys came before it could be read") {
    x.open(start - 299ms, false);
    CHECK(x.on(letter_y, true, start, false) == key_goal::text);
  }
  SECTION("several came at once") {
    x.open(start - 10s, false);
    CHECK(x.on(letter_y, false, start, false) == key_goal::text);
  }
  SECTION("nobody looked at what was typed before") {
    x.open(start - 10s, false);
    x.open(start, true);
  }
  SECTION("a stray key") {
    x.open(start - 10s, false);
    CHECK(x.on({key_kind::up, {}}, true, start, false) == key_goal::answer);
    x.not_an_answer(start);
  }
  SECTION("a text that was deleted") {
    x.open(start - 10s, true);
    CHECK(x.on({key_kind::backspace, {}}, true, start, true) == key_goal::text);
  }
  SECTION("and each key before that begins it anew") {
    x.open(start - 10s, false);
    CHECK(x.on(letter_y, false, start, false) == key_goal::text);
    last = start + 499ms;
    CHECK(x.on(letter_y, true, last, false) == key_goal::text);
  }
  CHECK_FALSE(x.answers());
  CHECK_FALSE(x.look(last + 499ms, false));
  CHECK_FALSE(x.look(last + 500ms, true));
  if (looked) {
    CHECK(x.look(last + 500ms, false));
    CHECK_FALSE(x.look(last + 501ms, false));  // it was said
  }
  CHECK(x.on(letter_y, true, last + 800ms, false) == key_goal::answer);
}

TEST_CASE("a question that comes under somebody's fingers waits for Tab") {
  answer_gate x;
  x.open_away(start);
  CHECK_FALSE(x.look(start + 100s, false));
  CHECK(x.on(letter_y, true, start + 100s, false) == key_goal::text);
  CHECK(x.on(tab, true, start + 101s, false) == key_goal::moved);
  CHECK(x.on(letter_y, true, start + 102s, false) == key_goal::answer);
}

TEST_CASE("behind a question that went by itself the next one waits") {
  answer_gate x;
  x.open(start, false);
  x.not_before(start + answer_gate::quiet_behind_another);
  CHECK(x.on(letter_y, true, start + 700ms, false) == key_goal::text);
  CHECK_FALSE(x.look(start + 1000ms, false));
  CHECK(x.look(start + 1600ms, false));
  CHECK(x.on(letter_y, true, start + 1600ms, false) == key_goal::answer);
}

TEST_CASE("who takes away the words of a torn answer may answer again") {
  answer_gate x;
  x.open_away(start);
  CHECK_FALSE(x.look(start + 10s, true));   // the words stand there
  CHECK_FALSE(x.look(start + 20s, false));  // they are gone, just now
  CHECK(x.on(letter_y, true, start + 20s, false) == key_goal::text);
  CHECK_FALSE(x.look(start + 20s, true));
  CHECK(x.look(start + 30s, false));
  CHECK(x.on(letter_y, true, start + 30s, false) == key_goal::answer);
}

TEST_CASE("who went to the input line by Tab stays there, however silent") {
  answer_gate x;
  x.open(start, false);
  CHECK(x.on(tab, true, start + 1s, false) == key_goal::moved);
  CHECK(x.away());
  CHECK_FALSE(x.look(start + 100s, false));
  CHECK(x.on(letter_y, true, start + 100s, false) == key_goal::text);
  CHECK(x.on(tab, true, start + 101s, true) == key_goal::moved);
  CHECK_FALSE(x.away());
  CHECK(x.on(letter_y, true, start + 102s, true) == key_goal::answer);
}

TEST_CASE(
    "behind fg the same question stands there, and nothing is forgotten") {
  answer_gate x;
  x.open(start, false);
  SECTION("who may answer may so, once it can be read again") {
    x.went_on(start + 10s, false);
    CHECK(x.answers());
    CHECK(x.on(letter_y, true, start + 10s + 299ms, false) == key_goal::text);
    x.went_on(start + 20s, false);
    CHECK(x.look(start + 20s, false));
    CHECK(x.on(letter_y, true, start + 20s + 300ms, false) == key_goal::answer);
  }
  SECTION("who went to the input line by Tab is still there") {
    CHECK(x.on(tab, true, start + 1s, false) == key_goal::moved);
    x.went_on(start + 10s, false);
    CHECK(x.away());
    CHECK_FALSE(x.look(start + 20s, false));
    CHECK(x.on(letter_y, true, start + 20s, false) == key_goal::text);
  }
  SECTION("a torn answer waits for Tab") {
    x.open_away(start);
    x.went_on(start + 10s, false);
    CHECK_FALSE(x.look(start + 20s, false));
    CHECK(x.on(letter_y, true, start + 20s, false) == key_goal::text);
  }
  SECTION("behind a question that went by itself the wait goes on") {
    x.not_before(start + answer_gate::quiet_behind_another);
    x.went_on(start + 100ms, false);
    CHECK(x.on(letter_y, true, start + 700ms, false) == key_goal::text);
  }
  SECTION("who has a text in the input line goes to the question first") {
    CHECK(x.on(tab, true, start + 1s, true) == key_goal::moved);
    CHECK(x.on(tab, true, start + 2s, true) == key_goal::moved);
    REQUIRE(x.answers());
    x.went_on(start + 10s, true);
    CHECK_FALSE(x.answers());
    CHECK(x.on(letter_y, true, start + 20s, true) == key_goal::text);
  }
}

TEST_CASE("a Tab in a paste that nothing marks does not go to the question") {
  answer_gate x;
  x.open(start, true);
  CHECK(x.on(letter_y, true, start + 10s, true) == key_goal::text);
  CHECK(x.on(tab, true, start + 10s + 49ms, true) == key_goal::text);
  CHECK(x.on(tab, true, start + 10s + 99ms, true) == key_goal::moved);
  CHECK(x.on(letter_y, true, start + 10s + 148ms, true) == key_goal::text);
  CHECK_FALSE(x.answers());
}
