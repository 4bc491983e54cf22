// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/keys.hpp"

#include "tests/support/catch.hpp"

using namespace riffle::cli;
using keys = std::vector<key>;

namespace {

keys fed(const std::vector<std::string>& pieces) {
  key_reader reader;
  keys out;
  for (const auto& piece : pieces)
    for (auto& x : reader.feed(piece)) out.push_back(std::move(x));
  return out;
}

}  // namespace

TEST_CASE("keys are text, controls and sequences") {
  CHECK(fed({"hé\r"}) == keys{{key_kind::text, "hé"}, {key_kind::enter, ""}});
  CHECK(fed({"\n"}) == keys{{key_kind::enter, ""}});
  CHECK(fed({"\x1b[D\x1bOC\x1b[3~"}) == keys{{key_kind::left, ""},
                                             {key_kind::right, ""},
                                             {key_kind::erase, ""}});
  CHECK(fed({"\x1b\r"}) == keys{{key_kind::line, ""}});
  CHECK(fed({"\x03\x04"}) ==
        keys{{key_kind::interrupt, ""}, {key_kind::end_of_input, ""}});
  // What means nothing here is dropped, also an ESC alone.
  CHECK(fed({"\x1b[99zx"}) == keys{{key_kind::text, "x"}});
  CHECK(fed({"\x1b\x1b[A"}) == keys{{key_kind::up, ""}});
}

TEST_CASE("what is cut anywhere means the same") {
  const std::string all = "a日\x1b[1;5D\x1b[200~x\ry\x1b[A\x1b[201~b\r";
  const keys whole{{key_kind::text, "a日"},
                   {key_kind::word_left, ""},
                   {key_kind::text, "x\ry\x1b[A", true},
                   {key_kind::text, "b"},
                   {key_kind::enter, ""}};
  CHECK(fed({all}) == whole);
  for (std::size_t i = 1; i < all.size(); ++i) {
    CAPTURE(i);
    std::string text;
    std::string others;
    keys joined;
    for (const auto& x : fed({all.substr(0, i), all.substr(i)})) {
      const bool goes_on = x.what == key_kind::text && !joined.empty() &&
                           joined.back().what == key_kind::text;
      if (goes_on)
        joined.back().text += x.text;
      else
        joined.push_back(x);
    }
    keys expected;
    for (const auto& x : whole) {
      const bool goes_on = x.what == key_kind::text && !expected.empty() &&
                           expected.back().what == key_kind::text;
      if (goes_on)
        expected.back().text += x.text;
      else
        expected.push_back(x);
    }
    CHECK(joined == expected);
  }
}

TEST_CASE("no key of a paste sends it, and it has a bound") {
  std::string lines;
  for (int i = 0; i < 10'000; ++i) lines += "line\r";
  const auto all = fed({"\x1b[200~", lines, "\x1b[201~"});
  REQUIRE(all.size() == 1);
  CHECK(all[0] == key{key_kind::text, lines, true});
  const auto most =
      fed({"\x1b[200~", std::string(key_reader::longest_paste + 5, 'x'),
           "\x1b[201~y"});
  REQUIRE(most.size() == 2);
  CHECK(most[0].text.size() == key_reader::longest_paste);
  CHECK(most[0].left_out == 5);
  CHECK(most[1].text == "y");
}

TEST_CASE("what is no UTF-8 does not stop the keys behind it") {
  const auto all = fed({"\xff\x80z\r"});
  REQUIRE(all.size() == 2);
  CHECK(all[0].text.ends_with("z"));
  CHECK(all[1].what == key_kind::enter);
}

TEST_CASE("keys of the editor, one of them of two keys") {
  const auto all = fed({"\x18", "\x05", "\x18z\x19\x1f\x07"});
  REQUIRE(all.size() == 5);
  CHECK(all[0].what == key_kind::editor);
  CHECK(all[1] == key{key_kind::text, "z"});
  CHECK(all[2].what == key_kind::yank);
  CHECK(all[3].what == key_kind::undo);
  CHECK(all[4].what == key_kind::editor);
}

TEST_CASE("an ESC that nothing follows is known, and one of a key is not") {
  key_reader x;
  CHECK(x.feed("\x1b").empty());
  CHECK(x.has_escape());
  CHECK(x.feed("[A") == std::vector{key{key_kind::up}});
  CHECK_FALSE(x.has_escape());
  x.feed("\x1b");
  x.drop_escape();
  CHECK(x.feed("[") == std::vector{key{key_kind::text, "["}});
}

TEST_CASE("an ESC and a key long behind it are two keys") {
  using namespace std::chrono_literals;
  key_reader x;
  CHECK_FALSE(x.drop_escape_before("y", 1s));
  x.feed("\x1b");
  CHECK_FALSE(x.drop_escape_before("[A", 1s));
  CHECK_FALSE(x.drop_escape_before("OA", 1s));
  CHECK_FALSE(x.drop_escape_before("", 1s));
  CHECK_FALSE(x.drop_escape_before("y", key_gap - 1ms));
  CHECK(x.has_escape());
  CHECK(x.drop_escape_before("y", key_gap));
  CHECK_FALSE(x.has_escape());
  CHECK(x.feed("y") == std::vector{key{key_kind::text, "y"}});
}

TEST_CASE("an answer of the terminal is no key, wherever it is cut") {
  const std::string answer =
      GENERATE("\x1b]0;x\x07", "\x1b]11;rgb:0000/0000/0000\x1b\\",
               "\x1bP>|a terminal 1.0\x1b\\", "\x1b_Gi=1;OK\x1b\\",
               "\x1b^é\x1b\\", "\x1bXsos\x1b\\");
  const auto all = "a" + answer + "b";
  const keys whole{{key_kind::text, "a"}, {key_kind::text, "b"}};
  CHECK(fed({all}) == whole);
  for (std::size_t i = 1; i < all.size(); ++i)
    CHECK(fed({all.substr(0, i), all.substr(i)}) == whole);
}

TEST_CASE("an answer without an end swallows no key") {
  using namespace std::chrono_literals;
  key_reader x;
  const key_reader::time_point began{};
  CHECK(x.feed("\x1bPq", began).empty());
  SECTION("of another kind") {
    CHECK(x.feed("\x03", began) == keys{{key_kind::interrupt}});
    CHECK(x.feed("y", began) == keys{{key_kind::text, "y"}});
  }
  SECTION("that is a sequence") {
    CHECK(x.feed("\x1b[A", began) == keys{{key_kind::up}});
  }
  SECTION("behind a silence") {
    CHECK(x.feed("y", began + key_reader::longest_answer) ==
          keys{{key_kind::text, "y"}});
  }
  SECTION("nor an ESC, that it may have ended with") {
    CHECK(x.feed("\x1b", began).empty());
    CHECK_FALSE(x.has_escape());
    CHECK(x.feed("\\", began + key_reader::longest_answer) ==
          keys{{key_kind::text, "\\"}});
  }
}

TEST_CASE("who types on behind Alt-P loses the first letters only") {
  using namespace std::chrono_literals;
  key_reader x;
  const key_reader::time_point began{};
  const std::string alt = GENERATE("\x1bP", "\x1b]", "\x1b_", "\x1b^", "\x1bX");
  CHECK(x.feed(alt, began).empty());
  SECTION("one by one") {
    std::string typed;
    for (int i = 1; i < 10; ++i)
      for (const auto& one :
           x.feed(std::string{static_cast<char>('0' + i)}, began + i * 100ms))
        typed += one.text;
    CHECK(typed == "3456789");
  }
  SECTION("at once, too") {
    const std::string many(2 * key_reader::largest_answer, 'x');
    const auto typed = x.feed(many, began);
    REQUIRE(typed.size() == 1);
    CHECK(typed[0].text.size() == key_reader::largest_answer);
  }
  SECTION("and begins a new answer with a new key") {
    CHECK(x.feed("\x07" + alt + "y", began + 200ms).empty());
    CHECK(x.feed("y", began + 400ms).empty());
    CHECK(x.feed("y", began + 450ms) == keys{{key_kind::text, "y"}});
  }
}

TEST_CASE("a paste whose end is lost ends, and one that is slow goes on") {
  using namespace std::chrono_literals;
  key_reader x;
  const key_reader::time_point began{};
  CHECK(x.feed("\x1b[200~one\rtwo", began).empty());
  const key pasted{key_kind::text, "one\rtwo", true};
  SECTION("by a key behind a silence") {
    CHECK(x.feed("y", began + key_reader::longest_pause) ==
          keys{pasted, {key_kind::text, "y"}});
  }
  SECTION("by Ctrl-C at once") {
    CHECK(x.feed("\x03", began) == keys{pasted, {key_kind::interrupt}});
  }
  SECTION("not by the keys before that") {
    CHECK(x.feed("y", began + key_reader::longest_pause - 1ms).empty());
  }
  SECTION("not by more of it") {
    const std::string more(100, 'x');
    CHECK(x.feed(more, began + 1min).empty());
    CHECK(x.feed("!\x1b[201~", began + 2min) ==
          keys{{key_kind::text, "one\rtwo" + more + "!", true}});
  }
  SECTION("not by an end that is cut") {
    CHECK(x.feed("!\x1b[201", began).empty());
    CHECK(x.feed("~z", began + 1min) ==
          keys{{key_kind::text, "one\rtwo!", true}, {key_kind::text, "z"}});
  }
}
