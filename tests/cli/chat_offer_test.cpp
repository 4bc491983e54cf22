// SPDX-License-Identifier: MIT
#include "runtime/cli/view/chat_offer.hpp"

#include <algorithm>

#include "runtime/base/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/repetitions.hpp"
#include "tests/support/seed.hpp"

using namespace riffle::cli;
using strings = std::vector<std::string>;

namespace {

strings shown(const typed_offer& x) {
  strings out;
  for (const auto& one : x.entries) out.push_back(one.shown);
  return out;
}

path_piece piece(const strings& all) {
  std::vector<known_path> out;
  for (const auto& x : all) out.emplace_back(x);
  return std::make_shared<const std::vector<known_path>>(std::move(out));
}

typed_offer paths(const std::string& before, const strings& folder,
                  const strings& tree) {
  return offer_paths(word_before(before),
                     {.folder = {piece(folder)}, .tree = {piece(tree)}});
}

const strings some_tree{"actors/",
                        "actors/core/",
                        "actors/core/policy.cpp",
                        "actors/core/policy_test.cpp",
                        "docs/",
                        "docs/Policy.md",
                        "docs/about_policy.md",
                        "policy.txt"};
const strings some_folder{".git/",  ".hidden", "actors/",
                          "build/", "docs/",   "policy.txt"};

}  // namespace

TEST_CASE("the word before the cursor is known by what begins it") {
  using enum word_kind;
  CHECK(word_before("/mo") == begun_word{command, "", "mo"});
  CHECK(word_before("/") == begun_word{command, "", ""});
  CHECK(word_before("/model ") == begun_word{argument, "model", ""});
  CHECK(word_before("/model  a b") == begun_word{argument, "model", "a b"});
  CHECK(word_before("see @a/b") == begun_word{path, "", "a/b"});
  CHECK(word_before("see (@\"a b") == begun_word{path, "", "a b", true});
  CHECK(word_before("/title see @a") == begun_word{path, "", "a"});
  CHECK(word_before("one\nsee @a") == begun_word{path, "", "a"});
  for (const auto* none :
       {"", "text", "/usr/bin", "a@b", "see /mo", "/model\nx", "@a b"})
    CHECK(word_before(none) == begun_word{});
  CHECK(word_before("/mo").size() == 3);
  CHECK(word_before("/model a b").size() == 3);
  CHECK(word_before("see @\"a b").size() == 5);
}

TEST_CASE("commands that begin so come before those that have it inside") {
  const auto x = offer_commands(word_before("/co"), {});
  CHECK(shown(x) == strings{"/context", "/cost", "/compact"});
  CHECK(x.marked);
  CHECK(x.entries[0].sends);
  CHECK(x.replaces == 3);
  CHECK(shown(offer_commands(word_before("/o"), {})).front() == "/output [N]");
  CHECK(shown(offer_commands(word_before("/UNDO"), {})) == strings{"/undo"});
  CHECK(offer_commands(word_before("/usr"), {}).entries.empty());
  CHECK(offer_commands(word_before("/"), {}).entries.size() == 19);
  // A command that needs words is not sent without.
  CHECK_FALSE(offer_commands(word_before("/title"), {}).entries[0].sends);
  CHECK(offer_commands(word_before("/mod"), {}).entries[0].sends);
}

TEST_CASE("of a whole command nothing is marked") {
  const auto x = offer_commands(word_before("/cost"), {});
  CHECK(shown(x) == strings{"/cost"});
  CHECK_FALSE(x.marked);
}

TEST_CASE("own commands and prompts of servers are in the list, harmless") {
  const std::vector<named_choice> more{{"review", "look\n at \x1b[31mit"},
                                       {"files__", "prompts", false},
                                       {"bad\nname", ""}};
  const auto own = offer_commands(word_before("/rev"), more);
  CHECK(own.entries == std::vector{list_entry{"/review", "look at ^[[31mit",
                                              "/review", true, false}});
  const auto server = offer_commands(word_before("/fil"), more);
  CHECK(server.entries == std::vector{list_entry{"/files__", "prompts",
                                                 "/files__", false, false}});
  // It stands there: Tab asks the server.
  CHECK(offer_commands(word_before("/files__"), more).entries.empty());
  CHECK(offer_commands(word_before("/bad"), more).entries.empty());
}

TEST_CASE("what has much in common says where that ends, in whole characters") {
  alike x;
  CHECK(x.common().empty());
  x.add("日本");
  CHECK(x.common() == "日本");
  x.add("日曜");
  CHECK(x.common() == "日");
  CHECK(x.count() == 2);
  alike other;
  other.add("é");
  other.add("è");
  CHECK(other.common().empty());
}

TEST_CASE("names behind a command") {
  const std::vector<named_choice> all{{"default", "model a"}, {"reviewer", ""}};
  const auto x = offer_names(word_before("/agent re"), all, false);
  CHECK(x.entries ==
        std::vector{list_entry{"reviewer", "", "reviewer", true, true}});
  CHECK(x.marked);
  CHECK(x.replaces == 2);
  // Without a letter "/agent" means something, too.
  const auto none = offer_names(word_before("/agent "), all, false);
  CHECK(shown(none) == strings{"default", "reviewer"});
  CHECK_FALSE(none.marked);
  CHECK_FALSE(offer_names(word_before("/agent default"), all, false).marked);
  // So does what is no name of the list.
  CHECK_FALSE(offer_names(word_before("/model de"), all, true).marked);
}

TEST_CASE("of very many names some are shown, and all are counted") {
  std::vector<named_choice> all;
  for (int i = 0; i < 250; ++i) all.push_back({"n" + std::to_string(i), ""});
  const auto x = offer_names(word_before("/resume n"), all, true);
  CHECK(x.entries.size() == 100);
  CHECK(x.more == 150);
}

TEST_CASE(
    "names that begin so, then those that have it inside, near ones first") {
  const auto x = paths("see @pol", some_folder, some_tree);
  CHECK(shown(x) ==
        strings{"policy.txt", "docs/Policy.md", "actors/core/policy.cpp",
                "actors/core/policy_test.cpp", "docs/about_policy.md"});
  CHECK(x.marked);
  CHECK(x.replaces == 4);
  CHECK(x.entries[0].by == "@policy.txt");
  CHECK(x.entries[0].ends);
  CHECK_FALSE(x.entries[0].sends);
}

TEST_CASE("the best are counted, and what they have in common") {
  // Those of the folder that is named, then what begins so, then the others.
  auto x = paths("see @pol", some_folder, some_tree);
  CHECK(x.best == 1);
  CHECK(x.common == "@policy.txt");
  x = paths("@actors/core/pol",
            {"actors/core/policy.cpp", "actors/core/policy_test.cpp"},
            some_tree);
  CHECK(x.best == 2);
  CHECK(x.common == "@actors/core/policy");
  x = paths("@./policy_", {}, some_tree);
  CHECK(x.best == 1);
  CHECK(x.common == "@./actors/core/policy_test.cpp");
  x = paths("/save licy", some_folder, some_tree);
  CHECK(x.best == 5);
  CHECK(x.common.empty());
  CHECK(paths("@none", some_folder, some_tree).best == 0);
  const auto names = offer_commands(word_before("/co"), {});
  CHECK(names.best == 3);
  CHECK(names.common == "/co");
}

TEST_CASE("a name that nobody can type is not offered") {
  const strings tree{"a\nb", "a\x1b[2J", "ab"};
  CHECK(shown(paths("@a", tree, tree)) == strings{"ab"});
}

TEST_CASE("an @ alone has what is in this folder, and marks nothing") {
  const auto x = paths("@", some_folder, some_tree);
  CHECK(shown(x) == strings{"actors/", "build/", "docs/", "policy.txt"});
  CHECK_FALSE(x.marked);
  CHECK_FALSE(x.entries[0].ends);
  const auto hidden = shown(paths("@.", some_folder, some_tree));
  REQUIRE(hidden.size() > 2);
  CHECK(hidden[0] == ".git/");
  CHECK(hidden[1] == ".hidden");
  CHECK(shown(paths("@./", some_folder, some_tree)).front() == "./actors/");
  CHECK(paths("@./po", some_folder, some_tree).entries[0].by ==
        "@./policy.txt");
}

TEST_CASE("what stands before a '/' are the last folders of the path") {
  CHECK(shown(paths("@core/pol", {}, some_tree)) ==
        strings{"actors/core/policy.cpp", "actors/core/policy_test.cpp"});
  CHECK(shown(paths("@re/pol", {}, some_tree)) ==
        strings{"actors/core/policy.cpp", "actors/core/policy_test.cpp"});
  CHECK(paths("@re/licy", {}, some_tree).entries.empty());
  CHECK(shown(paths("@docs/licy", {"docs/Policy.md", "docs/about_policy.md"},
                    some_tree)) ==
        strings{"docs/Policy.md", "docs/about_policy.md"});
  // Nothing but its own entries behind it.
  CHECK(shown(paths("@actors/", {"actors/core/"}, some_tree)) ==
        strings{"actors/core/"});
}

TEST_CASE("of a whole path nothing is marked") {
  CHECK_FALSE(paths("@policy.txt", some_folder, some_tree).marked);
  CHECK_FALSE(paths("@docs", some_folder, some_tree).marked);
  CHECK(paths("@doc", some_folder, some_tree).marked);
  // Behind a command what is typed may be meant.
  CHECK_FALSE(paths("/save pol", some_folder, some_tree).marked);
  CHECK(paths("/save pol", some_folder, some_tree).entries[0] ==
        list_entry{"policy.txt", "", "policy.txt", true, false});
}

TEST_CASE("a path with blanks stands in quotation marks") {
  const strings tree{"a b.txt", "c d/"};
  CHECK(paths("@a", tree, tree).entries[0].by == "@\"a b.txt\"");
  CHECK(paths("@c", tree, tree).entries[0].by == "@\"c d/");
  const auto x = paths("see @\"a ", tree, tree);
  CHECK(x.entries[0].by == "@\"a b.txt\"");
  CHECK(x.replaces == 4);
  // With both signs there is no way to write it.
  const strings odd{"a\"b", "a \"b", "a \"c/", "\"a"};
  const auto some = paths("@a", odd, {});
  CHECK(shown(some) == strings{"a\"b"});
  CHECK(some.best == 1);
  CHECK(paths("/save a", odd, {}).entries.size() == 4);
}

TEST_CASE("what was not looked at, and that it takes a while, is said") {
  paths_by_now x{.folder = {piece(some_folder)}, .tree = {piece(some_tree)}};
  x.tree_cut = true;
  CHECK(offer_paths(word_before("@p"), x).note ==
        "not all of this folder was looked at");
  CHECK(offer_paths(word_before("@"), x).note.empty());
  x.pending = true;
  CHECK(offer_paths(word_before("@p"), x).note.empty());
  CHECK(offer_paths(word_before("@p"), x).pending);
  x.slow = true;
  CHECK(offer_paths(word_before("@p"), x).note == "still looking");
}

TEST_CASE("whatever there is, what is offered fits, in one order, each once") {
  const auto seed = riffle::testing::fresh_seed();
  riffle::testing::random_values random{seed};
  const strings parts{"a", "ab", "b.c", ".d", "Ab", "日"};
  int offered = 0;
  for (int n = riffle::testing::repetitions(300, 3000, 30000); n > 0; --n) {
    CAPTURE(seed, n);
    strings tree;
    for (auto i = random.below(40); i > 0; --i) {
      std::string path;
      for (auto k = random.below(3); k > 0; --k)
        path += random.one_of(parts) + "/";
      path += random.one_of(parts) + (random.chance(0.3) ? "/" : "");
      tree.push_back(path);
    }
    std::ranges::sort(tree);
    const auto same = std::ranges::unique(tree);
    tree.erase(same.begin(), same.end());
    strings folder;
    for (const auto& x : tree)
      if (x.find('/') == x.npos || x.find('/') + 1 == x.size())
        folder.push_back(x);
    const auto wanted = random.one_of(parts);
    const auto all = shown(paths("@" + wanted, folder, tree));
    const auto name = [](std::string x) {
      if (x.ends_with('/')) x.pop_back();
      return riffle::lower(x.substr(x.rfind('/') + 1));
    };
    const auto begins = [&](const std::string& x) {
      return name(x).starts_with(riffle::lower(wanted));
    };
    // All that fits, and nothing else.
    const auto fits = std::ranges::count_if(tree, [&](const auto& x) {
      return name(x).find(riffle::lower(wanted)) != std::string::npos &&
             (!name(x).starts_with('.') || wanted.starts_with('.'));
    });
    CHECK(static_cast<std::size_t>(fits) == all.size());
    CHECK(std::ranges::is_partitioned(all, begins));
    auto sorted = all;
    std::ranges::sort(sorted);
    CHECK(std::ranges::adjacent_find(sorted) == sorted.end());
    offered += all.empty() ? 0 : 1;
  }
  CHECK(offered > 20);
}

TEST_CASE("long names have what short words beside them leave") {
  const std::string title(40, 'n');
  typed_list list;
  list.after(key{key_kind::text, "x"});
  list.offer(typed_offer{.entries = {{title, "3 min ago", title}}}, "x");
  CHECK(list.draw(60, 24, false) == strings{"    " + title + "  3 min ago"});
  CHECK(list.draw(50, 24, false) ==
        strings{"    " + std::string(34, 'n') + "…  3 min ago"});
}
