// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/typed_list.hpp"

#include <algorithm>

#include "runtime/cli/terminal/text_width.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/repetitions.hpp"
#include "tests/support/seed.hpp"

using namespace riffle::cli;
using came_to = typed_list::outcome;
using rows = std::vector<std::string>;

namespace {

const key letter{key_kind::text, "x"};
const key enter{key_kind::enter, {}};
const key tab{key_kind::tab, {}};
const key up{key_kind::up, {}};
const key down{key_kind::down, {}};

list_entry named(const std::string& name, const std::string& arguments,
                 bool sends) {
  return {"/" + name + arguments, "about " + name, "/" + name, true, sends};
}

typed_offer three(std::size_t replaces = 1) {
  return {.replaces = replaces,
          .entries = {named("new", "", true), named("model", " [X]", true),
                      named("save", " FILE", false)},
          .marked = true};
}

/// A list that stands below what was typed last.
struct shown_list {
  explicit shown_list(const typed_offer& x, std::string before = "/")
      : text{std::move(before)} {
    list.after(letter);
    list.offer(x, text);
    drawn = list.draw(60, 24, false);
  }
  came_to press(const key& x) {
    const auto out = list.on(x, text);
    if (out == came_to::passes) list.after(x);
    if (out != came_to::taken) drawn = list.draw(60, 24, false);
    return out;
  }

  typed_list list;
  std::string text;
  rows drawn;
};

}  // namespace

TEST_CASE("a letter opens a list, and the arrows move its mark") {
  shown_list x{three()};
  CHECK(x.drawn == rows{"  > /new        about new",
                        "    /model [X]  about model",
                        "    /save FILE  about save"});
  CHECK(x.press(up) == came_to::moved);
  CHECK(x.press(down) == came_to::moved);
  CHECK(x.drawn[1] == "  > /model [X]  about model");
  x.press(down);
  x.press(down);
  CHECK(x.drawn[2] == "  > /save FILE  about save");
  CHECK(x.list.draw(60, 24, true) ==
        rows{"    /new      \x1b[2m  about new\x1b[0m",
             "    /model [X]\x1b[2m  about model\x1b[0m",
             "\x1b[1m  > /save FILE  about save\x1b[0m"});
}

TEST_CASE("Enter takes what is marked, and sends what needs no more words") {
  shown_list x{three()};
  CHECK(x.press(enter) == came_to::taken);
  CHECK(x.list.take() == typed_list::choice{1, "/new", true});
  shown_list other{three()};
  other.press(down);
  other.press(down);
  CHECK(other.press(enter) == came_to::taken);
  CHECK(other.list.take() == typed_list::choice{1, "/save ", false});
  // Behind it there may be another list.
  CHECK(other.list.wants_offer());
}

TEST_CASE("Tab completes, and sends nothing") {
  shown_list x{three()};
  CHECK(x.press(tab) == came_to::taken);
  CHECK(x.list.take() == typed_list::choice{1, "/new ", false});
}

TEST_CASE("a folder goes on without a blank") {
  shown_list x{{.replaces = 3,
                .entries = {{"src/", "", "@src/", false, false}},
                .marked = true},
               "see @sr"};
  CHECK(x.drawn == rows{"  > src/"});
  CHECK(x.press(enter) == came_to::taken);
  CHECK(x.list.take() == typed_list::choice{3, "@src/", false});
}

TEST_CASE("where nothing is marked Enter is one of the text") {
  auto offer = three();
  offer.marked = false;
  shown_list x{offer};
  CHECK(x.drawn[0] == "    /new        about new");
  CHECK(x.list.on(enter, x.text) == came_to::passes);
  CHECK(x.press(up) == came_to::moved);
  CHECK(x.drawn.back().starts_with("  > "));  // the last one
  for (std::size_t i = 1; i < x.drawn.size(); ++i)
    CHECK(x.press(up) == came_to::moved);
  CHECK(x.drawn[0] == "  > /new        about new");
  CHECK(x.press(up) == came_to::moved);  // the text again
  CHECK(x.press(down) == came_to::moved);
  CHECK(x.drawn[0] == "  > /new        about new");
  CHECK(x.press(up) == came_to::moved);
  CHECK(x.drawn[0] == "    /new        about new");
  CHECK(x.list.on(enter, x.text) == came_to::passes);
  CHECK(x.press(tab) == came_to::taken);
  CHECK(x.list.take().by == "/new ");
}

TEST_CASE("nobody means a list that he has not seen") {
  typed_list x;
  x.after(letter);
  x.offer(three(), "/");
  for (const auto& one : {enter, tab, up, down})
    CHECK(x.on(one, "/") == came_to::passes);
  CHECK_FALSE(x.close());
  CHECK(x.draw(60, 0, false).empty());  // there was no room
  CHECK(x.draw(7, 24, false).empty());
  CHECK(x.on(enter, "/") == came_to::passes);
  CHECK(x.draw(60, 1, false) == rows{"  > /new        about new"});
  // For another text than the one that stands there.
  CHECK(x.on(enter, "/x") == came_to::passes);
  CHECK(x.on(enter, "/") == came_to::taken);
  // It was there, and is not any more.
  CHECK(x.draw(60, 0, false).empty());
  CHECK(x.on(enter, "/") == came_to::passes);
}

TEST_CASE("only what is typed opens a list") {
  const auto opens = [](const key& x) {
    typed_list list;
    list.after(x);
    return list.wants_offer();
  };
  CHECK(opens(letter));
  CHECK_FALSE(opens({key_kind::text, "/usr/bin", true}));
  CHECK_FALSE(opens({key_kind::text, std::string(41, 'x')}));
  for (const auto what :
       {key_kind::up, key_kind::down, key_kind::left, key_kind::home,
        key_kind::yank, key_kind::undo, key_kind::backspace, key_kind::tab,
        key_kind::enter, key_kind::search, key_kind::line})
    CHECK_FALSE(opens({what, {}}));
}

TEST_CASE("what takes letters away leaves a list open, all else closes it") {
  const auto stays = [](key_kind what) {
    shown_list x{three()};
    x.list.after({what, {}});
    return x.list.wants_offer();
  };
  CHECK(stays(key_kind::backspace));
  CHECK(stays(key_kind::kill_word));
  CHECK(stays(key_kind::tab));
  for (const auto what :
       {key_kind::left, key_kind::right, key_kind::home, key_kind::end,
        key_kind::up, key_kind::enter, key_kind::interrupt, key_kind::yank,
        key_kind::kill_start, key_kind::search, key_kind::line})
    CHECK_FALSE(stays(what));
  CHECK_FALSE([] {
    shown_list x{three()};
    x.list.after({key_kind::text, "pasted", true});
    return x.list.wants_offer();
  }());
}

TEST_CASE("Esc closes a list for this word") {
  shown_list x{three()};
  CHECK(x.list.close());
  CHECK_FALSE(x.list.close());
  CHECK(x.list.draw(60, 24, false).empty());
  const auto offered = [&](std::size_t replaces, const std::string& before) {
    x.list.after(letter);
    x.list.offer(three(replaces), before);
    return !x.list.draw(60, 24, false).empty();
  };
  CHECK_FALSE(offered(2, "/n"));
  // Nothing is known, so nothing is known of another text.
  CHECK(x.list.is_for("/n"));
  CHECK_FALSE(offered(3, "/ne"));
  SECTION("the next word has one") { CHECK(offered(2, "/new @x")); }
  SECTION("so has the same place once the line was empty") {
    x.list.after({key_kind::backspace, {}});
    x.list.offer(std::nullopt, "");
    CHECK(offered(1, "/"));
  }
  SECTION("also where the next word came in one burst with that") {
    x.list.after({key_kind::kill_start, {}});
    CHECK(offered(1, "/"));
  }
  SECTION("or the word was left") {
    x.list.after(letter);
    x.list.offer(std::nullopt, "/ne/");
    CHECK(offered(3, "/ne"));
  }
  SECTION("or the text was sent") {
    x.list.hide();
    CHECK(offered(1, "/"));
  }
}

TEST_CASE("what comes later does not move the mark from what it stood on") {
  auto offer = three();
  offer.pending = true;
  shown_list x{offer};
  CHECK(x.list.pending());
  CHECK_FALSE(x.list.offer(offer, x.text));
  // That no more comes is no reason to draw it again.
  auto all = offer;
  all.pending = false;
  CHECK_FALSE(x.list.offer(all, x.text));
  CHECK_FALSE(x.list.pending());
  CHECK(x.list.seen_for(x.text));
  auto more = offer;
  more.entries.insert(more.entries.begin(), named("a", "", true));
  CHECK(x.list.offer(more, x.text));
  CHECK(x.list.draw(60, 24, false)[1].starts_with("  > /new "));
  // A letter begins anew.
  x.list.after(letter);
  CHECK(x.list.offer(more, "/n"));
  CHECK(x.list.draw(60, 24, false)[0].starts_with("  > /a "));
}

TEST_CASE("the first that comes is marked") {
  shown_list x{{.replaces = 1, .marked = true, .pending = true}};
  CHECK(x.drawn.empty());
  CHECK(x.list.on(enter, x.text) == came_to::passes);
  x.list.offer(three(), x.text);
  CHECK(x.list.draw(60, 24, false)[0].starts_with("  > /new "));
  CHECK_FALSE(x.list.pending());
}

TEST_CASE("of many the part around the mark is shown, and how many there are") {
  typed_offer many{.replaces = 1, .more = 70, .marked = true};
  for (int i = 0; i < 30; ++i)
    many.entries.push_back({"f" + std::to_string(i), "", "f", true, false});
  shown_list x{many};
  CHECK(x.drawn.size() == typed_list::most_rows);
  CHECK(x.drawn.front() == "  > f0");
  CHECK(x.drawn.back() == "    1 of 100");
  for (int i = 0; i < 20; ++i) x.press(down);
  CHECK(x.drawn[3] == "  > f20");
  CHECK(x.drawn.back() == "    21 of 100");
  CHECK(x.list.draw(60, 3, false) ==
        rows{"    f19", "  > f20", "    21 of 100"});
  CHECK(x.list.draw(60, 1, false) == rows{"  > f20"});
}

TEST_CASE("what was not looked at is said") {
  auto offer = three();
  offer.note = "not all was looked at";
  shown_list x{offer};
  CHECK(x.drawn.back() == "    not all was looked at");
  offer.more = 4;
  x.list.offer(offer, x.text);
  CHECK(x.list.draw(60, 24, false).back() ==
        "    1 of 7; not all was looked at");
  // Alone it takes no keys.
  shown_list none{{.replaces = 1, .note = "still looking"}};
  CHECK(none.drawn == rows{"    still looking"});
  CHECK(none.list.on(tab, none.text) == came_to::passes);
}

TEST_CASE("of a path without room its end is shown, of others the beginning") {
  typed_offer x{.replaces = 1,
                .entries = {{"some/where/日本/file.cpp", "", "f"}}};
  shown_list list{x};
  CHECK(list.list.draw(20, 8, false) == rows{"    …e/日本/file.cpp"});
  CHECK(list.list.draw(19, 8, false) == rows{"    …/日本/file.cpp"});
  CHECK(list.list.draw(7, 8, false).empty());
  list.list.offer(three(), "/");
  CHECK(list.list.draw(20, 8, false)[1] == "    /model [X]  abo…");
  CHECK(list.list.draw(10, 8, false)[1] == "    /mode…");
}

namespace {

/// Whatever happens, in any order.
class random_list {
 public:
  explicit random_list(unsigned seed) : random_{seed} {}

  void step() {
    switch (random_.below(8)) {
      case 0:
      case 1: draw(); break;
      case 2: offer(); break;
      case 3: list_.close() ? marked_.reset() : void(); break;
      case 4: type(); break;
      default: press(); break;
    }
  }
  int taken = 0;
  int moved = 0;

 private:
  void type() {
    key x{key_kind::text, "x", random_.chance(0.2)};
    if (random_.chance(0.3)) x.what = key_kind::backspace;
    text_ += x.what == key_kind::text ? "x" : "";
    if (x.what == key_kind::backspace && !text_.empty()) text_.pop_back();
    list_.after(x);
    is_drawn_ = false;
  }
  void offer() {
    std::optional<typed_offer> x;
    if (random_.chance(0.9)) {
      x = typed_offer{.replaces = random_.below(text_.size() + 1),
                      .more = random_.below(3),
                      .marked = random_.chance(0.7),
                      .pending = random_.chance(0.3)};
      if (random_.chance(0.2)) x->note = "not all";
      for (auto n = random_.below(14); n-- > 0;) {
        const auto name = "日本-" + std::to_string(random_.below(40));
        x->entries.push_back({name, random_.chance(0.5) ? "about it" : "", name,
                              random_.chance(0.5), random_.chance(0.5)});
      }
      std::ranges::sort(x->entries, {}, &list_entry::by);
      const auto same = std::ranges::unique(x->entries, {}, &list_entry::by);
      x->entries.erase(same.begin(), same.end());
    }
    if (list_.offer(std::move(x), text_)) is_drawn_ = false;
  }
  void draw() {
    const auto columns = random_.below(40);
    const auto most = random_.below(12);
    const auto drawn = list_.draw(columns, most, false);
    CHECK(drawn.size() <= std::min(most, typed_list::most_rows));
    marked_.reset();
    for (const auto& row : drawn) {
      CHECK(columns_of(row) <= columns);
      if (!row.starts_with("  > ")) continue;
      CHECK_FALSE(marked_);
      marked_ = row.substr(4);
    }
    is_drawn_ = !drawn.empty();
    drawn_for_ = text_;
    wide_ = columns >= 30;
  }
  void press() {
    const auto x = random_.one_of(std::vector{enter, tab, up, down});
    const auto what = list_.on(x, text_);
    if (what == came_to::passes) return;
    // Only what was seen, and for this text.
    CHECK(is_drawn_);
    CHECK(drawn_for_ == text_);
    if (what == came_to::moved) {
      ++moved;
      return draw();
    }
    ++taken;
    const auto one = list_.take();
    CHECK(one.replaces <= text_.size());
    if (x.what == key_kind::enter) CHECK(marked_);
    if (x.what == key_kind::tab) CHECK_FALSE(one.sends);
    // It is what stood behind the mark, in the last drawing.
    if (marked_ && wide_) CHECK(marked_->starts_with(one.by.substr(0, 8)));
    is_drawn_ = false;
  }

  riffle::testing::random_values random_;
  typed_list list_;
  std::string text_;
  std::string drawn_for_;
  std::optional<std::string> marked_;
  bool is_drawn_ = false;
  bool wide_ = false;
};

}  // namespace

TEST_CASE("what a key takes is what the mark stood on when it was drawn last") {
  const auto seed = riffle::testing::fresh_seed();
  int taken = 0;
  int moved = 0;
  const auto lists = riffle::testing::repetitions(300, 3000, 30000);
  for (unsigned i = 0; i < static_cast<unsigned>(lists); ++i) {
    CAPTURE(seed, i);
    random_list x{seed + i};
    for (int n = 0; n < 60; ++n) x.step();
    taken += x.taken;
    moved += x.moved;
  }
  CHECK(taken > lists / 10);
  CHECK(moved > lists / 10);
}
