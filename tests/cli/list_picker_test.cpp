// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/list_picker.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"

using namespace riffle::cli;
using came_to = list_picker::outcome;

namespace {

list_picker three() { return {"Which?", {"one", "two", "three"}}; }

}  // namespace

TEST_CASE("a list is chosen from with the arrows") {
  auto x = three();
  CHECK(x.draw(80, 24, false) ==
        std::vector<std::string>{"Which?", "> one", "  two", "  three",
                                 "Up, Down, Enter; Esc: none"});
  CHECK(x.on({key_kind::up, {}}) == came_to::goes_on);
  CHECK(x.at() == 0);
  x.on({key_kind::down, {}});
  CHECK(x.draw(80, 24, true)[2] == "\x1b[1m> two\x1b[0m");
  x.on({key_kind::end, {}});
  x.on({key_kind::down, {}});
  CHECK(x.at() == 2);
  CHECK(x.on({key_kind::enter, {}}) == came_to::chosen);
  CHECK(x.on({key_kind::interrupt, {}}) == came_to::left);
  CHECK(x.on({key_kind::end_of_input, {}}) == came_to::left);
}

TEST_CASE("what is typed narrows a list") {
  auto x = three();
  x.on({key_kind::text, "T"});
  CHECK(x.at() == 1);
  x.on({key_kind::text, "hr"});
  CHECK(x.at() == 2);
  CHECK(x.draw(80, 24, false).back() == "\"Thr\": Up, Down, Enter; Esc: none");
  x.on({key_kind::text, "x"});
  CHECK_FALSE(x.at());
  CHECK(x.on({key_kind::enter, {}}) == came_to::goes_on);
  x.on({key_kind::kill_start, {}});
  CHECK(x.at() == 0);
}

TEST_CASE("a row that leads to more stands behind whatever is found") {
  auto x =
      list_picker{"Which?", {"one", "two", "… more of them"}}.with_way_on();
  x.on({key_kind::text, "t"});
  CHECK(x.at() == 1);
  CHECK(x.draw(80, 24, false) ==
        std::vector<std::string>{"Which?", "> two", "  … more of them",
                                 "\"t\": Up, Down, Enter; Esc: none"});
  x.on({key_kind::text, "zz"});
  CHECK(x.at() == 2);
  CHECK(x.draw(80, 24, false)[1] == "> … more of them");
  CHECK(x.on({key_kind::enter, {}}) == came_to::chosen);
  x.on({key_kind::kill_start, {}});
  x.on({key_kind::text, "more"});
  CHECK(x.draw(80, 24, false).size() == 3);  // it is found, and stands once
}

TEST_CASE("a row that leads to more has its number where a list is cut") {
  std::vector<std::string> rows;
  for (int i = 0; i < 400; ++i) rows.push_back("row " + std::to_string(i));
  const auto plain = list_picker{"Which?", rows}.numbered();
  CHECK(plain.find("  400  row 399\n") == std::string::npos);
  const auto x = list_picker{"Which?", rows}.with_way_on();
  CHECK(x.numbered().find("… 99 more\n  400  row 399\nIts number") !=
        std::string::npos);
  CHECK(x.numbered_at("400") == 399);
}

TEST_CASE("a list is narrowed by several words") {
  list_picker x{"Which?", {"one two", "onetwo", "one three"}};
  for (const auto* key : {"o", "n", "e", " ", "t", "h"})
    x.on({key_kind::text, key});
  CHECK(x.at() == 2);
  CHECK(x.draw(80, 24, false).back().starts_with("\"one th\": "));
}

TEST_CASE("a row is found by words that it has no room for, too") {
  list_picker x{"Which?", {"one…", "two…"}, {"one and all", "two of a kind"}};
  for (const auto* key : {"k", "i", "n", "d", " ", "t", "w", "o"})
    x.on({key_kind::text, key});
  CHECK(x.at() == 1);
  CHECK(x.draw(80, 24, false)[1] == "> two…");
}

TEST_CASE("of ten thousand rows each is found, and a screen of them is drawn") {
  std::vector<std::string> rows;
  for (int i = 0; i < 10'000; ++i) rows.push_back("row " + std::to_string(i));
  list_picker x{"Which?", rows};
  CHECK(x.draw(80, 24, false).size() == 23);
  for (const auto* key : {"9", "9", "9", "9"}) x.on({key_kind::text, key});
  CHECK(x.at() == 9'999);
  CHECK(std::ranges::count(x.numbered(), '\n') == 303);
  CHECK(x.numbered().find("… 9700 more\n") != std::string::npos);
}

TEST_CASE("of a long list the part around the chosen one is shown") {
  std::vector<std::string> rows;
  for (int i = 0; i < 100; ++i) rows.push_back("row " + std::to_string(i));
  list_picker x{"Which?", rows};
  for (int i = 0; i < 50; ++i) x.on({key_kind::down, {}});
  const auto drawn = x.draw(20, 10, false);
  CHECK(drawn.size() == 9);
  CHECK(drawn[4] == "> row 50");
  CHECK(drawn.back().starts_with("51 of 100. Up"));
  for (const auto& row : drawn) CHECK(row.size() < 22);  // with a "…"
}

TEST_CASE("where nothing can be drawn over a list has numbers") {
  const auto x = three();
  CHECK(x.numbered() ==
        "Which?\n  1  one\n  2  two\n  3  three\n"
        "Its number and Enter; Enter alone: none\n");
  CHECK(x.numbered_at(" 2 ") == 1);
  for (const auto* line : {"", "0", "4", "two", "1 2", "-1"})
    CHECK_FALSE(x.numbered_at(line));
}
