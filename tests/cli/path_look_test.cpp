// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/path_look.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>

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
  for (const auto& piece : x.by_now().all)
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

/// Looks that were given up take a moment to end.
void wait_for_room() {
  REQUIRE(eventually([] { return at_work_beside() == 0; }));
}

/// Work that does not come back before this is gone, which waits for it.
class hanging {
 public:
  ~hanging() {
    let_go();
    eventually([&] { return ended() == begun(); });
  }
  [[nodiscard]] std::function<void()> work() const {
    return [of = of_] {
      std::unique_lock lock{of->mutex};
      ++of->begun;
      of->ready.wait(lock, [&] { return of->over; });
      ++of->ended;
    };
  }
  void let_go() const {
    const std::lock_guard lock{of_->mutex};
    of_->over = true;
    of_->ready.notify_all();
  }
  [[nodiscard]] int begun() const { return count(&state::begun); }
  [[nodiscard]] int ended() const { return count(&state::ended); }

 private:
  /// The threads have it, too.
  struct state {
    std::mutex mutex;
    std::condition_variable ready;
    bool over = false;
    int begun = 0;
    int ended = 0;
  };
  [[nodiscard]] int count(int state::* of) const {
    const std::lock_guard lock{of_->mutex};
    return (*of_).*of;
  }
  std::shared_ptr<state> of_ = std::make_shared<state>();
};

}  // namespace

TEST_CASE("a folder is looked at as it is, all of it but what git ignores") {
  const tree there;
  CHECK(found_by(look_in_folder("", {})) == strings{".cache/", ".gitignore",
                                                    ".hidden", "build/", "src/",
                                                    "top.txt"});
  CHECK(found_by(look_in_folder("src/", {})) ==
        strings{"src/a b.txt", "src/core/"});
  CHECK(found_by(look_in_folder("nowhere/", {})).empty());
  CHECK(found_by(look_in_tree(false, {})) ==
        strings{"src/", "src/a b.txt", "src/core/", "src/core/policy.cpp",
                "top.txt"});
  CHECK(found_by(look_in_tree(true, {})).size() == 9);
}

TEST_CASE("a look has bounds, and says that there is more") {
  const tree there;
  for (int i = 0; i < 50; ++i)
    there.folder.write("many/" + std::to_string(i), "x");
  CHECK(found_by(look_in_folder("many/", {.most_names = 10}), true).size() ==
        10);
  CHECK(found_by(look_in_tree(false, {.most_seen = 5}), true).size() < 6);
  CHECK(found_by(look_in_tree(false, {.most_names = 10}), true).size() > 10);
  found_by(look_in_tree(false, {.longest = {}}), true);
}

TEST_CASE("whoever hangs keeps nobody waiting, and no more than some do") {
  wait_for_room();
  const hanging all;
  int accepted = 0;
  while (accepted < 100 && do_beside(all.work())) ++accepted;
  CHECK(accepted == 8);
  REQUIRE(eventually([&] { return all.begun() == accepted; }));
  const tree there;
  chat_offers x{some_sources()};
  // Nothing can be looked at now, and nothing waits for that.
  const auto out = x.offer("@to");
  REQUIRE(out);
  CHECK_FALSE(out->pending);
  CHECK(out->note == "not all of this folder was looked at");
  const auto commands = x.offer("/mod");
  REQUIRE(commands);
  CHECK(shown(*commands) == strings{"/model [NAME]"});
  CHECK(commands->note == "not all of your own commands were looked at");
}

TEST_CASE("a look that hangs is over when its time is") {
  wait_for_room();
  const hanging all;
  const auto work = all.work();
  const path_look x{std::chrono::milliseconds{50}, [work](const auto& to) {
                      to.add([](auto& pieces) { pieces.emplace_back(); });
                      work();
                      to.add([](auto& pieces) { pieces.clear(); });
                      return false;
                    }};
  CHECK(eventually([&] { return x.by_now().over; }));
  CHECK(x.by_now().cut);
  const auto found = x.by_now().all.size();
  all.let_go();
  REQUIRE(eventually([&] { return all.ended() == 1; }));
  // What comes later changes nothing of what was read.
  CHECK(x.by_now().all.size() == found);
  CHECK(x.by_now().cut);
}

TEST_CASE("a look that fails is over, too") {
  wait_for_room();
  const name_look x{std::chrono::hours{1}, [](const auto& to) -> bool {
                      to.add([](auto& all) { all.push_back({"a", ""}); });
                      throw std::runtime_error{"gone"};
                    }};
  CHECK(eventually([&] { return x.by_now().over; }));
  CHECK(x.by_now().cut);
  CHECK(x.by_now().all == std::vector<named_choice>{{"a", ""}});
}

TEST_CASE("names that have to be looked for keep nobody waiting") {
  wait_for_room();
  const hanging all;
  auto from = some_sources();
  from.look = [&](std::string_view command) -> name_finder {
    if (command != "resume") return {};
    return [work = all.work()](const auto& to) {
      to.add([](auto& names) { names.push_back({"Of tea", ""}); });
      work();
      return false;
    };
  };
  chat_offers x{from, {.longest = std::chrono::milliseconds{400}}};
  const auto first = x.offer("/resume ");
  REQUIRE(first);
  CHECK(first->pending);
  const auto waited = x.offer_within("/resume t", std::chrono::milliseconds{1});
  REQUIRE(waited);
  CHECK(waited->pending);
  const auto out = offer_of(x, "/resume t");
  CHECK(shown(out) == strings{"Of tea"});
  CHECK(out.note == "not all of them were looked at");
  CHECK(shown(offer_of(x, "/agent ")) == strings{"default", "reader"});
}

TEST_CASE("paths are put in order when there are others, or another word") {
  const tree there;
  chat_offers x{some_sources()};
  CHECK(shown(offer_of(x, "@to")) == strings{"top.txt"});
  const auto times = x.times_ranked();
  for (int i = 0; i < 10; ++i) x.offer("@to");
  CHECK(x.times_ranked() == times);
  CHECK(shown(offer_of(x, "@top")) == strings{"top.txt"});
  CHECK(x.times_ranked() == times + 1);
}

TEST_CASE("with the end of a line nothing stays known") {
  const tree there;
  chat_offers x{some_sources()};
  CHECK(shown(offer_of(x, "@new")).empty());
  there.folder.write("new.txt", "x");
  CHECK(shown(offer_of(x, "@new")).empty());
  x.offer("");
  CHECK(shown(offer_of(x, "@new")) == strings{"new.txt"});
}

TEST_CASE("a look that is given up ends, though it has all the time") {
  const tree there;
  wait_for_room();
  std::optional<path_look> x;
  const auto seen = std::make_shared<std::atomic<bool>>(false);
  x.emplace(std::chrono::hours{1}, [seen](const auto& to) {
    *seen = true;
    return eventually([&] { return !to.goes_on(); });
  });
  REQUIRE(eventually([&] { return seen->load(); }));
  CHECK_FALSE(x->by_now().over);
  x.reset();
  wait_for_room();
  for (int i = 0; i < 50; ++i) look_in_tree(true, {});
  wait_for_room();
  chat_offers other{some_sources()};
  CHECK(shown(offer_of(other, "@to")) == strings{"top.txt"});
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
  CHECK(shown(offer_of(x, "/save to")) == strings{"top.txt"});
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
