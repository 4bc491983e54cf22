// SPDX-License-Identifier: MIT
#include "actors/core/context_window.hpp"

#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle::core;

TEST_CASE("nothing is removed before three quarters of the window are full") {
  const std::vector<told_output> old{{100, 10}, {100, 10}};
  CHECK(outputs_to_trim(1000, 750, old) == 0);
  CHECK(outputs_to_trim(1000, 751, old) > 0);
  CHECK(outputs_to_trim(0, 1u << 30, old) == 0);
  CHECK(outputs_to_trim(1000, 900, {}) == 0);
}

TEST_CASE("the oldest go, until half of the window is free") {
  const std::vector<told_output> old{{100, 10}, {10, 10}, {200, 10}, {100, 10}};
  CHECK(outputs_to_trim(1000, 760, old) == 3);
  CHECK(outputs_to_trim(1000, 790, old) == 4);
  CHECK(outputs_to_trim(1000, 999, {{10, 20}, {10, 10}}) == 0);
}

TEST_CASE("after trimming there is room, or nothing old is left") {
  const auto seed = riffle::testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  for (int round = 0; round < 500; ++round) {
    std::vector<told_output> old(random() % 20);
    std::uint64_t used = random() % 500;
    for (auto& x : old) {
      x = {random() % 200, 1 + random() % 30};
      used += x.tokens;
    }
    const std::uint64_t window = 1 + random() % 2000;
    auto count = outputs_to_trim(window, used, old);
    CAPTURE(round, window, used, count);
    REQUIRE(count <= old.size());
    if (used <= window - window / 4) CHECK(count == 0);
    if (count == 0) continue;
    for (std::size_t i = 0; i < count; ++i)
      if (old[i].tokens > old[i].note_tokens)
        used -= old[i].tokens - old[i].note_tokens;
    std::uint64_t more = 0;
    for (std::size_t i = count; i < old.size(); ++i)
      more += old[i].tokens > old[i].note_tokens ? 1 : 0;
    CHECK((used <= window / 2 || more == 0));
  }
}

TEST_CASE("of a long text its beginning and its end stay") {
  std::string text = "It begins. ";
  while (text.size() < 5000) text += "ä日";
  text += " It ends.";
  const auto less = shortened(text);
  CHECK(less.size() < 1200);
  CHECK(less.starts_with("It begins. "));
  CHECK(less.ends_with(" It ends."));
  CHECK(less.find(" bytes were left out here to make room …]\n") !=
        std::string::npos);
  // Cut between characters, on either side.
  const std::string mark = " make room …]\n";
  const auto behind = less.substr(less.find(mark) + mark.size());
  CHECK((behind.front() & 0xC0) != 0x80);
  for (const auto* cut : {"ä\n[… ", "日\n[… "})
    if (less.find(cut) != std::string::npos) return;
  FAIL(less);
}

TEST_CASE("what was done to make room is told in words") {
  CHECK(room_text({2, 0, 0}) == "2 old tool outputs left out");
  CHECK(room_text({1, 1, 1}) ==
        "1 old tool output left out, 1 long text of earlier tasks shortened, "
        "1 earlier task left out");
  CHECK_FALSE(is_forgetting("made room: " + room_text({2, 0, 0})));
  CHECK(is_forgetting("made room: " + room_text({2, 1, 0})));
  CHECK(is_forgetting("made room: " + room_text({0, 0, 2})));
}

TEST_CASE("a note names the call and how much there was") {
  CHECK(trim_note("read", R"({"path":"a"})", 1234) ==
        "[The output of read {\"path\":\"a\"} was removed to make room: 1234 "
        "bytes. Make the call again if you need it.]");
  std::string wide = "x";
  for (int i = 0; i < 100; ++i) wide += "ä";
  const auto note = trim_note("t", wide, 1);
  CHECK(note.find("ä…") != std::string::npos);
  CHECK(note.size() < 250);
}

TEST_CASE("tokens are estimated from bytes") {
  CHECK(estimate_tokens("") == 0);
  CHECK(estimate_tokens("1234") == 1);
  CHECK(estimate_tokens("12345") == 2);
  CHECK(estimate_tokens("日本") == 3);  // six bytes
}
