// SPDX-License-Identifier: MIT
#include "actors/core/text_batcher.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/t0.hpp"
#include "tests/support/catch.hpp"

using riffle::duration;
using riffle::piece_kind;
using riffle::piece_list;
using riffle::time_point;
using riffle::core::batching;
using riffle::core::longest_sentence;
using riffle::core::sentence_cut;
using riffle::core::text_batcher;
using namespace std::chrono_literals;
using riffle::testing::t0;

namespace {

using batches = std::vector<std::pair<bool, std::string>>;

piece_list pieces(
    std::initializer_list<std::pair<piece_kind, std::string_view>> list) {
  piece_list x;
  for (const auto& [kind, text] : list) x.add(kind, text);
  return x;
}

piece_list text(std::string_view content) {
  return pieces({{piece_kind::text, content}});
}

struct fixture {
  text_batcher batcher;
  batches seen{};

  auto emit() {
    return [this](bool reasoning, std::string_view content) {
      seen.emplace_back(reasoning, std::string{content});
    };
  }
  batches add(const piece_list& x, duration at) {
    seen.clear();
    batcher.add(x, t0 + at, emit());
    return seen;
  }
  batches flush(duration) {
    seen.clear();
    batcher.flush(emit());
    return seen;
  }
};

std::size_t cut_of(std::string_view text) {
  std::size_t from = 0;
  return sentence_cut(text, from);
}

}  // namespace

TEST_CASE("a sentence ends at its mark, once a blank follows") {
  CHECK(cut_of("One. Two") == 5);
  CHECK(cut_of("One! Two? Three") == 10);
  CHECK(cut_of("Wait… what") == 8);
  CHECK(cut_of("One.") == 0);
  CHECK(cut_of("version 1.2 of") == 0);
  CHECK(cut_of("a.b!c?d") == 0);
  CHECK(cut_of("Really?! Yes") == 9);
  CHECK(cut_of("no end here") == 0);
  CHECK(cut_of("") == 0);
}

TEST_CASE("a line break and a full-width mark end a sentence alone") {
  CHECK(cut_of("a title\nmore") == 8);
  CHECK(cut_of("One.\r\nTwo") == 6);
  CHECK(cut_of("是。否") == 6);
  CHECK(cut_of("是！否") == 6);
  CHECK(cut_of("是？否") == 6);
}

TEST_CASE("closing quotes and brackets belong to the sentence") {
  CHECK(cut_of("He said \"go.\" Then") == 14);
  CHECK(cut_of("(So it is.) Then") == 12);
  CHECK(cut_of("“Go.” Then") == 10);
  CHECK(cut_of("f(x.) no") == 6);
}

TEST_CASE("the search goes on where it stopped, for every split") {
  const std::string whole = "One. Two… “Go!” 是。 a.b\nmore?! x";
  for (std::size_t split = 0; split <= whole.size(); ++split) {
    CAPTURE(split);
    std::size_t from = 0;
    const auto first =
        sentence_cut(std::string_view{whole}.substr(0, split), from);
    CHECK(from <= split);
    const auto second = sentence_cut(whole, from);
    CHECK(std::max(first, second) == cut_of(whole));
  }
}

TEST_CASE("batching by token emits every piece as it is, at once") {
  fixture x{{batching::token, 100ms}};
  CHECK(x.add(pieces({{piece_kind::text, "a"},
                      {piece_kind::text, ""},
                      {piece_kind::reasoning, "b"},
                      {piece_kind::refusal, "c"}}),
              0ms) == batches{{false, "a"}, {true, "b"}, {false, "c"}});
  CHECK_FALSE(x.batcher.due());
}

TEST_CASE("batching by token does not copy") {
  text_batcher batcher{batching::token, 100ms};
  const auto list = text("a text that is longer than any small buffer");
  batcher.add(list, t0, [&](bool, std::string_view content) {
    CHECK(content.data() == list.bytes.data());
  });
}

TEST_CASE("batching by sentence emits up to the last sentence end") {
  fixture x{{batching::sentence, 100ms}};
  CHECK(x.add(text("One. Two"), 0ms) == batches{{false, "One. "}});
  CHECK(x.batcher.held() == 3);
  CHECK(x.add(text("."), 1ms).empty());
  CHECK(x.add(text(" Three"), 2ms) == batches{{false, "Two. "}});
}

TEST_CASE("what no sentence end releases leaves by timer") {
  fixture x{{batching::sentence, 100ms}};
  CHECK_FALSE(x.batcher.due());
  CHECK(x.add(text("One. Two"), 0ms).size() == 1);
  CHECK(x.batcher.due() == t0 + 100ms);
  CHECK(x.add(text(" and"), 60ms).empty());
  CHECK(x.batcher.due() == t0 + 100ms);
  SECTION("when the caller flushes") {
    CHECK(x.flush(100ms) == batches{{false, "Two and"}});
  }
  SECTION("or with the next piece, should the timer be late") {
    CHECK(x.add(text(" more"), 130ms) == batches{{false, "Two and more"}});
  }
  CHECK_FALSE(x.batcher.due());
  CHECK(x.flush(200ms).empty());
}

TEST_CASE("kinds are never mixed in one event") {
  fixture x{{batching::sentence, 100ms}};
  CHECK(x.add(pieces({{piece_kind::reasoning, "hm"},
                      {piece_kind::reasoning, "m"},
                      {piece_kind::text, "so"},
                      {piece_kind::refusal, " no"}}),
              0ms) == batches{{true, "hmm"}});
  CHECK(x.flush(1ms) == batches{{false, "so no"}});
}

TEST_CASE("a buffer that is full leaves before its time") {
  fixture x{{batching::sentence, 1h}};
  const std::string chunk(1000, 'x');
  std::size_t emitted = 0;
  for (int i = 0; i < 200; ++i) {
    for (const auto& [reasoning, content] : x.add(text(chunk), 1ms * i))
      emitted += content.size();
    REQUIRE(x.batcher.held() < text_batcher::buffer_limit);
  }
  CHECK(emitted + x.batcher.held() == 200 * chunk.size());
}

TEST_CASE("a delay of nothing holds nothing") {
  fixture x{{batching::sentence, 0ms}};
  CHECK(x.add(text("no end"), 0ms) == batches{{false, "no end"}});
  CHECK(x.batcher.held() == 0);
}

TEST_CASE("adaptive batching passes slow text at once and gathers fast text") {
  fixture x{{batching::adaptive, 100ms}};
  CHECK(x.add(text("a"), 0ms) == batches{{false, "a"}});
  CHECK(x.add(text("b"), 100ms) == batches{{false, "b"}});
  CHECK(x.add(text("c"), 120ms).empty());  // gaps of 100, 20: 60 on average
  CHECK(x.batcher.due() == t0 + 160ms);
  CHECK(x.add(text("d"), 140ms).empty());  // 40
  CHECK(x.batcher.due() == t0 + 180ms);
  CHECK(x.add(text("e"), 180ms) == batches{{false, "cde"}});
}

TEST_CASE("the faster text comes, the longer adaptive batching gathers it") {
  std::size_t before = 0;
  for (const auto gap : {200ms, 90ms, 50ms, 10ms, 1ms}) {
    fixture x{{batching::adaptive, 100ms}};
    std::size_t most = 0;
    for (int i = 0; i < 1000; ++i) {
      for (const auto& [reasoning, content] : x.add(text("x"), gap * i))
        most = std::max(most, content.size());
    }
    CAPTURE(gap.count(), most);
    CHECK(most >= before);
    before = most;
    if (gap == 200ms) CHECK(most == 1);
  }
  CHECK(before >= 90);
}

TEST_CASE("text behind a long silence is not taken for slow for long") {
  fixture x{{batching::adaptive, 100ms}};
  for (int i = 0; i < 50; ++i) x.add(text("x"), 1ms * i);
  x.flush(1h);
  CHECK(x.add(text("a"), 1h) == batches{{false, "a"}});
  CHECK(x.add(text("b"), 1h + 1ms).size() <= 1);
  x.flush(1h + 1ms);
  CHECK(x.add(text("c"), 1h + 2ms).empty());
}

TEST_CASE("a sentence without an end is cut behind a word") {
  fixture x{{batching::sentence, 1h}};
  std::string words;
  while (words.size() < longest_sentence) words += "word ";
  CHECK(x.add(text(words + "an"), 0ms) == batches{{false, words}});
  CHECK(x.batcher.held() == 2);
  const std::string one(longest_sentence, 'x');
  CHECK(x.add(text(one), 1ms) == batches{{false, "an" + one}});
  CHECK(x.add(text("An end. " + one), 2ms) == batches{{false, "An end. "}});
}

TEST_CASE("any split of any text comes out whole, in order and in time") {
  constexpr std::string_view glyphs[] = {"a", "b",  ".", "!",  " ", "\n",
                                         "…", "。", "é", "😀", "\""};
  for (unsigned seed = 1; seed <= 1500; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    const auto mode = static_cast<batching>(random() % 3);
    const auto delay = std::chrono::milliseconds{random() % 50};
    text_batcher x{mode, delay};
    batches in;  // neighbours of one kind joined
    batches out;
    const auto join = [](batches& to, bool reasoning, std::string_view s) {
      if (to.empty() || to.back().first != reasoning)
        to.emplace_back(reasoning, "");
      to.back().second.append(s);
    };
    const auto emit = [&](bool reasoning, std::string_view s) {
      REQUIRE_FALSE(s.empty());
      // Never inside a character: no event begins with a continuation byte.
      REQUIRE((static_cast<unsigned char>(s.front()) & 0xC0) != 0x80);
      join(out, reasoning, s);
    };
    auto now = t0;
    for (int i = 0; i < 40; ++i) {
      now += std::chrono::milliseconds{random() % 30};
      if (const auto due = x.due(); due && *due <= now) x.flush(emit);
      if (random() % 10 == 0) x.flush(emit);
      piece_list list;
      for (unsigned n = random() % 4; n > 0; --n) {
        const auto kind = static_cast<piece_kind>(random() % 3);
        std::string s;
        for (unsigned k = random() % 5; k > 0; --k)
          s += glyphs[random() % std::size(glyphs)];
        if (!s.empty()) join(in, kind == piece_kind::reasoning, s);
        list.add(kind, s);
      }
      x.add(list, now, emit);
      const auto due = x.due();
      REQUIRE(due.has_value() == (x.held() > 0));
      if (due) REQUIRE((*due > now && *due <= now + delay));
    }
    x.flush(emit);
    REQUIRE(in == out);
  }
}

TEST_CASE("the last text of a turn leaves in one piece, at once") {
  for (const auto mode :
       {batching::token, batching::sentence, batching::adaptive}) {
    text_batcher x{mode, 100ms};
    batches seen;
    x.add(
        text("One. Two. Thr"), t0,
        [&](bool reasoning, std::string_view s) {
          seen.emplace_back(reasoning, s);
        },
        true);
    CHECK(seen == batches{{false, "One. Two. Thr"}});
    CHECK(x.held() == 0);
  }
}
