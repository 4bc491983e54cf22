// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/line_editor.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

#include "runtime/cli/terminal/text_width.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::cli;

namespace {

void type(line_editor& x, const std::string& text) {
  x.on({key_kind::text, text});
}

void press(line_editor& x, key_kind what, int times = 1) {
  for (int i = 0; i < times; ++i) x.on({what, {}});
}

}  // namespace

TEST_CASE("people edit what they see as characters") {
  line_editor x;
  type(x, "a👩‍👩‍👧e\u0301日");
  press(x, key_kind::backspace);
  CHECK(x.text() == "a👩‍👩‍👧e\u0301");
  press(x, key_kind::left);
  press(x, key_kind::backspace);
  CHECK(x.text() == "ae\u0301");
  CHECK(x.cursor() == 1);
  press(x, key_kind::erase);
  CHECK(x.text() == "a");
  type(x, "b");
  CHECK(x.text() == "ab");
}

TEST_CASE("words and lines are killed, and cursors move over them") {
  line_editor x;
  type(x, "one two  three");
  press(x, key_kind::kill_word);
  CHECK(x.text() == "one two  ");
  press(x, key_kind::word_left);
  CHECK(x.cursor() == 4);
  press(x, key_kind::kill_end);
  CHECK(x.text() == "one ");
  type(x, "\nsecond");
  press(x, key_kind::home);
  CHECK(x.cursor() == 5);
  press(x, key_kind::word_right);
  CHECK(x.cursor() == x.text().size());
  press(x, key_kind::kill_start);
  CHECK(x.text() == "one \n");
  press(x, key_kind::up);
  CHECK(x.cursor() == 0);
}

TEST_CASE("a long paste is one piece") {
  std::string lines;
  for (int i = 0; i < 12; ++i) lines += "line " + std::to_string(i) + "\r";
  std::string whole = lines;
  std::ranges::replace(whole, '\r', '\n');
  auto x = line_editor::with_pieces();
  type(x, "read ");
  type(x, lines);
  type(x, "!");
  CHECK(x.shown(x.text()) == "read [pasted text, 12 lines]!");
  CHECK(x.draw("> ", 80, 24).rows ==
        std::vector<std::string>{"> read [pasted text, 12 lines]!"});
  SECTION("it goes as a whole") {
    CHECK(x.take() == "read " + whole + "!");
    CHECK(x.history().back() == "read " + whole + "!");
    press(x, key_kind::up);
    CHECK(x.shown(x.text()) == "read [pasted text, 12 lines]!");
  }
  SECTION("the cursor goes over it") {
    press(x, key_kind::left, 2);
    type(x, "it: ");
    CHECK(x.take() == "read it: " + whole + "!");
  }
  SECTION("it is taken back at once") {
    press(x, key_kind::backspace, 2);
    CHECK(x.take() == "read ");
  }
  SECTION("lines of it are no lines of the text") {
    press(x, key_kind::home);
    CHECK(x.cursor() == 0);
    press(x, key_kind::end);
    press(x, key_kind::kill_start);
    CHECK(x.text().empty());
  }
  SECTION("what was taken can be given back") {
    const auto marked = x.take_marked();
    type(x, "more");
    x.give(marked);
    CHECK(x.shown(x.text()) == "read [pasted text, 12 lines]!\nmore");
    CHECK(x.take() == "read " + whole + "!\nmore");
  }
  SECTION("it is wrapped as a whole") {
    CHECK(x.draw("> ", 28, 24).rows ==
          std::vector<std::string>{"> read ", "[pasted text, 12 lines]!"});
    CHECK(x.draw("> ", 12, 24).rows.at(1).starts_with("[pasted tex"));
  }
}

TEST_CASE("a piece goes with the last text that refers to it") {
  auto x = line_editor::with_pieces();
  const std::string part(2000, 'x');
  type(x, part);
  const auto marked = x.text();
  REQUIRE(marked.size() == pasted_texts::mark_size);
  const auto is_kept = [&] {
    x.release_pieces({});
    return x.whole(marked) == part;
  };
  SECTION("of the line") {
    CHECK(is_kept());
    x.clear();
    CHECK_FALSE(is_kept());
  }
  SECTION("of what can come back") {
    press(x, key_kind::kill_start);
    CHECK(is_kept());
    press(x, key_kind::undo);
    CHECK(x.take() == part);
    press(x, key_kind::yank);
    CHECK(x.take() == part);
  }
  SECTION("of the history, and of what was taken") {
    x.take();
    for (char c = 'a'; c < 'e'; ++c) {
      CHECK(is_kept());
      x.remember(std::string(line_editor::most_kept / 4, c));
    }
    REQUIRE(x.history().front().front() != 'x');
    x.release_pieces(std::vector{&marked});
    CHECK(x.whole(marked) == part);
    CHECK_FALSE(is_kept());
  }
}

TEST_CASE("where pieces went others have room, and no mark is another's") {
  pasted_texts x;
  const auto first = x.keep("first");
  std::set<std::string> seen{first};
  for (std::size_t i = 1; i < pasted_texts::most; ++i) seen.insert(x.keep("y"));
  CHECK(x.keep("z").empty());
  std::set<std::uint32_t> marks;
  pasted_texts::add_marks("a" + first + "b", marks);
  CHECK(marks.size() == 1);
  x.release_all_but(marks);
  CHECK(x.whole(first) == "first");
  const auto last = x.keep("last");
  CHECK_FALSE(seen.contains(last));
  CHECK(x.whole(first + last) == "firstlast");
  // Behind all that there are the first ones come again.
  for (int i = 0; i < 0x10'000; ++i) {
    x.release_all_but(marks);
    const auto mark = x.keep("more");
    REQUIRE(mark != first);
    REQUIRE(x.whole(mark) == "more");
  }
  CHECK(x.whole(first) == "first");
}

TEST_CASE("what has no room is told of, and nothing is lost unseen") {
  constexpr auto most = line_editor::longest_text;
  auto x = line_editor::with_pieces();
  const std::string part(most - 100, 'x');
  x.on({key_kind::text, part, true, 900'000});
  CHECK(x.shown(x.text()) ==
        "[pasted text, 4.0 MB of 4.9 MB: the rest was left out]");
  SECTION("of a second paste") {
    type(x, std::string(5000, 'y'));
    CHECK(x.shown(x.text()).ends_with(
        "[pasted text, 100 B of 4.9 KB: the rest was left out]"));
    CHECK(x.on({key_kind::text, std::string(5000, 'z')}) == editor_event::full);
    CHECK(x.take().size() == most);
  }
  SECTION("of a key") {
    CHECK(x.on({key_kind::text, std::string(100, 'y')}) == editor_event::none);
    CHECK(x.on({key_kind::text, "é"}) == editor_event::full);
    // Nothing of that size is printed.
    CHECK((x.take() == part + std::string(100, 'y')));
  }
  SECTION("where there are no pieces") {
    line_editor plain;
    CHECK(plain.on({key_kind::text, part, true, 1}) == editor_event::full);
    CHECK(plain.text().empty());
  }
}

TEST_CASE("what was typed before is searched") {
  line_editor x;
  for (const auto* text : {"make test", "git status", "make all"})
    x.remember(text);
  type(x, "draft");
  press(x, key_kind::search);
  CHECK(x.draw("> ", 80, 24).rows ==
        std::vector<std::string>{"search : draft"});
  type(x, "ma");
  CHECK(x.draw("> ", 80, 24).rows ==
        std::vector<std::string>{"search ma: make all"});
  SECTION("further back") {
    press(x, key_kind::search);
    CHECK(x.text() == "make test");
    press(x, key_kind::search);  // there is none
    CHECK(x.text() == "make test");
    CHECK(x.on({key_kind::enter, {}}) == editor_event::submitted);
    CHECK(x.take() == "make test");
  }
  SECTION("in other words") {
    press(x, key_kind::backspace, 2);
    type(x, "git");
    CHECK(x.text() == "git status");
    press(x, key_kind::end);
    type(x, "!");
    CHECK(x.draw("> ", 80, 24).rows ==
          std::vector<std::string>{"> git status!"});
  }
  SECTION("for what nobody has typed") {
    type(x, "zz");
    CHECK(x.draw("> ", 80, 24).rows[0] == "no match for mazz: make all");
  }
  SECTION("not at all") {
    const auto how = GENERATE(key_kind::interrupt, key_kind::editor);  // Ctrl-G
    CHECK(x.on({how, {}}) == editor_event::none);
    CHECK(x.text() == "draft");
    CHECK(x.draw("> ", 80, 24).rows == std::vector<std::string>{"> draft"});
  }
}

TEST_CASE("a long line is told by its size, and nobody can type a piece") {
  auto x = line_editor::with_pieces();
  type(x, std::string(4200, 'x'));
  CHECK(x.shown(x.text()) == "[pasted text, 4.1 KB]");
  x.clear();
  type(x, "a\xF4\x80\x80\x80z");  // what stands for the first one
  CHECK(x.take() == "a\xEF\xBF\xBDz");
  line_editor plain;
  type(plain, std::string(4200, 'x'));
  CHECK(plain.text().size() == 4200);
}

TEST_CASE("a backslash at the end goes on in a new line") {
  line_editor x;
  type(x, "first\\");
  CHECK(x.on({key_kind::enter, {}}) == editor_event::none);
  type(x, "second");
  CHECK(x.on({key_kind::enter, {}}) == editor_event::submitted);
  CHECK(x.take() == "first\nsecond");
  CHECK(x.text().empty());
  type(x, "a");
  press(x, key_kind::line);
  type(x, "b");
  CHECK(x.take() == "a\nb");
}

TEST_CASE("a long text is in the history, however long it is") {
  auto x = line_editor::with_pieces();
  const std::string lines(17'000, 'a');
  type(x, lines);
  type(x, " why?");
  CHECK(x.take() == lines + " why?");
  CHECK(x.history() == std::deque<std::string>{lines + " why?"});
  SECTION("of a conversation before, too, where it is one piece") {
    auto later = line_editor::with_pieces();
    later.remember(lines + " why?");
    press(later, key_kind::up);
    CHECK(later.shown(later.text()) == "[pasted text, 17 KB]");
    CHECK(later.take() == lines + " why?");
    CHECK(later.history().size() == 1);
  }
  SECTION("where all of it is too much the oldest go") {
    x.remember("short");
    for (char c = 'a'; c < 'e'; ++c) x.remember(std::string(3u << 20, c));
    REQUIRE(x.history().size() == 2);
    CHECK(x.history().back() == std::string(3u << 20, 'd'));
  }
}

TEST_CASE("the history comes and goes, and what was begun stays") {
  line_editor x;
  for (const auto* text : {"one", "two", "two", " "}) {
    type(x, text);
    x.take();
  }
  CHECK(x.history() == std::deque<std::string>{"one", "two"});
  type(x, "draft");
  press(x, key_kind::up);
  CHECK(x.text() == "two");
  press(x, key_kind::up, 3);
  CHECK(x.text() == "one");
  press(x, key_kind::down, 2);
  CHECK(x.text() == "draft");
  for (int i = 0; i < 10'000; ++i) x.remember(std::to_string(i));
  CHECK(x.history().size() == line_editor::most_entries);
  CHECK(x.history().back() == "9999");
}

TEST_CASE("Ctrl-C and Ctrl-D are told, Ctrl-D in a text erases") {
  line_editor x;
  CHECK(x.on({key_kind::end_of_input, {}}) == editor_event::end_of_input);
  type(x, "ab");
  press(x, key_kind::home);
  CHECK(x.on({key_kind::end_of_input, {}}) == editor_event::none);
  CHECK(x.text() == "b");
  CHECK(x.on({key_kind::interrupt, {}}) == editor_event::interrupted);
}

TEST_CASE("what is pasted cannot control the terminal") {
  line_editor x;
  type(x, "a\x1b[2J\r\nb\rc\u202e");
  CHECK(x.text() == "a^[[2J\nb\nc\\u{202e}");
}

TEST_CASE("what no terminal draws is named where it stands") {
  line_editor x;
  x.insert("a\u200Bb 日\u3000本 \u2764\uFE0F");
  CHECK(x.draw("> ", 80, 5).rows.at(0) ==
        "> a\\u{200b}b 日\u3000本 \u2764\uFE0F");
}

TEST_CASE("the picture wraps at any width and knows the cursor") {
  line_editor x;
  type(x, "abcdefgh日本\nz");
  const auto wide = x.draw("> ", 80, 20);
  CHECK(wide.rows == std::vector<std::string>{"> abcdefgh日本", "  z"});
  CHECK(wide.cursor_row == 1);
  CHECK(wide.before_cursor == "  z");
  const auto narrow = x.draw("> ", 11, 20);
  CHECK(narrow.rows == std::vector<std::string>{"> abcdefgh", "日本", "  z"});
  press(x, key_kind::up);
  press(x, key_kind::end);
  CHECK(x.draw("> ", 11, 20).before_cursor == "日本");
  // A full row: the cursor stands in the next.
  x.clear();
  type(x, "abcdefghi");
  const auto full = x.draw("> ", 11, 20);
  CHECK(full.cursor_row == 1);
  CHECK(full.before_cursor.empty());
  for (std::size_t columns = 8; columns < 60; ++columns)
    for (const auto& row : x.draw("> ", columns, 20).rows)
      CHECK(columns_of(row) <= columns);
}

TEST_CASE("a paste of 10,000 lines shows what fits, around the cursor") {
  line_editor x;
  std::string lines;
  for (int i = 0; i < 10'000; ++i) lines += "line " + std::to_string(i) + "\r";
  const auto before = std::chrono::steady_clock::now();
  type(x, lines);
  const auto end = x.draw("> ", 80, 10);
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds{5});
  REQUIRE(end.rows.size() == 10);
  CHECK(end.cursor_row == 9);
  CHECK(end.rows[8] == "  line 9999");
  press(x, key_kind::up, 100);
  const auto above = x.draw("> ", 80, 10);
  CHECK(above.rows[above.cursor_row] == "  line 9900");
  CHECK(x.text().size() == lines.size());
}

TEST_CASE("what was cut out comes back where the cursor is") {
  line_editor x;
  type(x, "one two");
  press(x, key_kind::kill_word);
  press(x, key_kind::home);
  press(x, key_kind::yank);
  CHECK(x.text() == "twoone ");
  press(x, key_kind::kill_end);
  press(x, key_kind::kill_end);  // cuts nothing, and forgets nothing
  press(x, key_kind::yank, 2);
  CHECK(x.text() == "twoone one ");
}

TEST_CASE("changes are taken back, one after the other") {
  line_editor x;
  for (const char c : std::string{"ab cd"}) type(x, std::string{c});
  press(x, key_kind::kill_start);
  CHECK(x.text().empty());
  press(x, key_kind::undo);
  CHECK(x.text() == "ab cd");
  CHECK(x.cursor() == 5);
  press(x, key_kind::undo);
  CHECK(x.text() == "ab ");
  press(x, key_kind::undo, 3);
  CHECK(x.text().empty());
  press(x, key_kind::undo);
  CHECK(x.text().empty());
  // Nothing of a text that was sent comes back.
  for (const char c : std::string{"sent it"}) type(x, std::string{c});
  CHECK(x.take() == "sent it");
  press(x, key_kind::undo);
  CHECK(x.text().empty());
}
