// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/path_look.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "runtime/cli/commands/chat_offers.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"

using namespace riffle::cli;
using riffle::testing::eventually;
using strings = std::vector<std::string>;

namespace {

struct tree {
  tree() {
    for (const auto* file : {"src/core/policy.cpp", "src/a b.txt", "top.txt",
                             "build/policy.o", ".cache/policy", ".hidden"})
      folder.write(file, "x");
    folder.write(".gitignore", "build/\n");
  }

  riffle::testing::temp_folder folder;
  riffle::testing::scoped_directory there{folder.path()};
};

/// What it has found when it is over.
strings found_by(const path_look& x, bool cut = false) {
  REQUIRE(eventually([&] { return x.by_now().over; }));
  CHECK(x.by_now().cut == cut);
  strings out;
  for (const auto& piece : x.by_now().pieces)
    for (const auto& one : *piece) out.push_back(one.path);
  std::ranges::sort(out);
  return out;
}

/// What the list has in the end.
typed_offer offer_of(chat_offers& x, const std::string& before) {
  std::optional<typed_offer> out;
  REQUIRE(eventually([&] {
    out = x.offer(before);
    return !out || !out->pending;
  }));
  return out.value_or(typed_offer{});
}

strings shown(const typed_offer& x) {
  strings out;
  for (const auto& one : x.entries) out.push_back(one.shown);
  return out;
}

chat_offers::sources some_sources(int* asked = nullptr) {
  return {
      [asked](std::string_view command) {
        if (asked) ++*asked;
        return command == "agent"
                   ? std::vector<named_choice>{{"default", ""}, {"reader", ""}}
                   : std::vector<named_choice>{};
      },
      [] { return std::vector<named_choice>{{"files__", "prompts", false}}; }};
}

}  // namespace

TEST_CASE("a folder is looked at as it is, all of it but what git ignores") {
  const tree there;
  CHECK(
      found_by(path_look::in_folder("", {})) ==
      strings{".cache/", ".gitignore", ".hidden", "build/", "src/", "top.txt"});
  CHECK(found_by(path_look::in_folder("src/", {})) ==
        strings{"src/a b.txt", "src/core/"});
  CHECK(found_by(path_look::in_folder("nowhere/", {})).empty());
  CHECK(found_by(path_look::in_tree(false, {})) ==
        strings{"src/", "src/a b.txt", "src/core/", "src/core/policy.cpp",
                "top.txt"});
  CHECK(found_by(path_look::in_tree(true, {})).size() == 9);
}

TEST_CASE("a look has bounds, and says that there is more") {
  const tree there;
  for (int i = 0; i < 50; ++i)
    there.folder.write("many/" + std::to_string(i), "x");
  CHECK(found_by(path_look::in_folder("many/", {.most_names = 10}), true)
            .size() == 10);
  CHECK(found_by(path_look::in_tree(false, {.most_seen = 5}), true).size() < 6);
  CHECK(found_by(path_look::in_tree(false, {.most_names = 10}), true).size() >
        10);
  found_by(path_look::in_tree(false, {.longest = {}}), true);
}

TEST_CASE("whoever hangs keeps nobody waiting, and no more than some do") {
  std::mutex mutex;
  std::condition_variable ready;
  bool over = false;
  int began = 0;
  int ended = 0;
  const auto hang = [&] {
    std::unique_lock lock{mutex};
    ++began;
    ready.wait(lock, [&] { return over; });
    ++ended;
    ready.notify_all();
  };
  int accepted = 0;
  while (accepted < 100 && do_beside(hang)) ++accepted;
  CHECK(accepted == 8);
  {
    const tree there;
    chat_offers x{some_sources()};
    // Nothing can be looked at now, and nothing waits for that.
    const auto out = x.offer("@to");
    REQUIRE(out);
    CHECK_FALSE(out->pending);
    CHECK(out->note == "not all of this folder was looked at");
    CHECK(shown(*x.offer("/mod")) == strings{"/model [NAME]"});
  }
  std::unique_lock lock{mutex};
  over = true;
  ready.notify_all();
  ready.wait(lock, [&] { return ended == accepted; });
  CHECK(began == accepted);
}

TEST_CASE("a look that is given up ends") {
  const tree there;
  // As many as it takes to have none left, if each went on.
  for (int i = 0; i < 200; ++i)
    REQUIRE(eventually([] { return do_beside([] {}); }));
  for (int i = 0; i < 50; ++i) path_look::in_tree(true, {});
  chat_offers x{some_sources()};
  CHECK(eventually([&] {
    x.offer("");
    return shown(offer_of(x, "@to")) == strings{"top.txt"};
  }));
}

TEST_CASE("paths are found for the word that is typed") {
  const tree there;
  chat_offers x{some_sources()};
  CHECK(shown(offer_of(x, "@")) == strings{"build/", "src/", "top.txt"});
  CHECK(shown(offer_of(x, "@po")) == strings{"src/core/policy.cpp"});
  // What git ignores is found where it is named.
  CHECK(shown(offer_of(x, "@build/po")) == strings{"build/policy.o"});
  CHECK(shown(offer_of(x, "@.h")) == strings{".hidden"});
  CHECK(shown(offer_of(x, "@.cache/p")) == strings{".cache/policy"});
  CHECK(shown(offer_of(x, "/diff to")) == strings{"top.txt"});
  const auto folder = there.folder.path().string();
  CHECK(shown(offer_of(x, "@" + folder + "/to")) ==
        strings{folder + "/top.txt"});
  CHECK_FALSE(x.offer("see a@b"));
  // A new word sees what has come meanwhile.
  there.folder.write("policy.new", "x");
  CHECK(shown(offer_of(x, "see @po")) ==
        strings{"policy.new", "src/core/policy.cpp"});
}

TEST_CASE("names are asked for once a word") {
  const tree there;
  int asked = 0;
  chat_offers x{some_sources(&asked)};
  CHECK(shown(offer_of(x, "/agent ")) == strings{"default", "reader"});
  CHECK(shown(offer_of(x, "/agent r")) == strings{"reader"});
  CHECK(asked == 1);
  CHECK_FALSE(x.offer("/title some"));
  CHECK_FALSE(x.offer("/title "));
  CHECK(shown(offer_of(x, "/agent d")) == strings{"default", "reader"});
  CHECK(asked == 3);
}

TEST_CASE("own commands are in the list, with what they say of themselves") {
  const tree there;
  there.folder.write(".riffle/commands/fix-it.md",
                     "---\ndescription: Mend\n---\nMend it.\n");
  chat_offers x{some_sources()};
  CHECK(
      offer_of(x, "/fi").entries ==
      std::vector{list_entry{"/fix-it", "Mend", "/fix-it", true, false},
                  list_entry{"/files__", "prompts", "/files__", false, false}});
}
