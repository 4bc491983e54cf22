// SPDX-License-Identifier: MIT
#include "actors/core/placement.hpp"

#include <map>
#include <random>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using core::means_node;
using core::placement;
using core::placement_rule;

namespace {

constexpr std::int64_t second = 1'000'000;

struct world {
  std::string choose(const std::string& tool, int call,
                     const std::string& session = "s",
                     const std::string& run = "r") {
    const auto where = places.choose(tool, {run}, {session},
                                     {"c" + std::to_string(call)}, now);
    return where ? *where : "! " + where.error().message;
  }
  placement places;
  wall_time now{100 * second};
};

}  // namespace

TEST_CASE("items of nodes mean names, patterns and labels") {
  CHECK(means_node("alpha", "alpha", {}));
  CHECK_FALSE(means_node("alpha", "alpha2", {}));
  CHECK(means_node("gpu-*", "gpu-12", {}));
  CHECK(means_node("*", "x", {}));
  CHECK(means_node("a?c*", "abcde", {}));
  CHECK_FALSE(means_node("a?c", "abd", {}));
  CHECK(means_node("*-a-*b", "x-a-a-bb", {}));
  CHECK(means_node("label:gpu", "x", {"big", "gpu"}));
  CHECK_FALSE(means_node("label:gpu", "gpu", {}));
  CHECK_FALSE(means_node("local", "local", {}));
}

TEST_CASE("a tool that this process has stays here unless somebody says so") {
  world w;
  w.places.set_rule("bash", {.here = true, .places = 4});
  w.places.add("alpha", {}, "bash", 8);
  for (int i = 0; i < 10; ++i) CHECK(w.choose("bash", i).empty());
  w.places.release_run({"r"});
  w.places.set_rule("bash", {.nodes = {"*"}, .here = true, .places = 4});
  CHECK(w.choose("bash", 20) == "alpha");
  w.places.set_rule("bash", {.nodes = {"*", "local"}, .here = true});
  std::map<std::string, int> seen;
  for (int i = 30; i < 39; ++i) ++seen[w.choose("bash", i)];
  CHECK(seen.contains(""));
  CHECK(seen["alpha"] > seen[""]);
}

TEST_CASE("calls go where most room is, in shares of the places") {
  world w;
  w.places.add("small", {}, "x", 2);
  w.places.add("large", {}, "x", 6);
  std::map<std::string, int> seen;
  for (int i = 0; i < 80; ++i) ++seen[w.choose("x", i)];
  CHECK(seen["small"] == 20);
  CHECK(seen["large"] == 60);
  for (int i = 0; i < 80; ++i) w.places.release({"c" + std::to_string(i)});
  CHECK(w.places.given("small", "x") == 0);
  CHECK(w.places.given("large", "x") == 0);
  // What others run there counts, too.
  w.places.set_load("large", "x", 6);
  seen.clear();
  for (int i = 0; i < 2; ++i) ++seen[w.choose("x", 100 + i)];
  CHECK(seen["small"] == 2);
}

TEST_CASE("equal places take turns") {
  world w;
  w.places.add("a", {}, "x", 4);
  w.places.add("b", {}, "x", 4);
  std::map<std::string, int> seen;
  for (int i = 0; i < 10; ++i) {
    ++seen[w.choose("x", i)];
    w.places.release({"c" + std::to_string(i)});
  }
  CHECK(seen["a"] == 5);
  CHECK(seen["b"] == 5);
}

TEST_CASE("what a node lost goes to another one, also when it comes back") {
  world w;
  w.places.add("a", {}, "x", 4);
  w.places.add("b", {}, "x", 4);
  CHECK(w.choose("x", 1) == "a");
  w.places.remove("a", "lost", w.now);
  w.places.add("a", {}, "x", 4);
  CHECK(w.choose("x", 1) == "b");
}

TEST_CASE("only nodes that the rule means get calls") {
  world w;
  w.places.set_rule("x", {.nodes = {"label:gpu", "beta"}});
  w.places.add("alpha", {}, "x", 4);
  CHECK(w.choose("x", 1) ==
        "! no place for `x`: tools.x.nodes allows none of the nodes that have "
        "it");
  CHECK_FALSE(w.places.has("x"));
  w.places.add("gamma", {"gpu"}, "x", 4);
  CHECK(w.choose("x", 2) == "gamma");
  w.places.add("beta", {}, "x", 400);
  CHECK(w.choose("x", 3) == "beta");
}

TEST_CASE("who had a tool, and since when it is gone, is told") {
  world w;
  CHECK(w.choose("x", 1) ==
        "! no place for `x`: no node that has it has joined");
  w.places.add("alpha", {}, "x", 4);
  w.places.remove("alpha", "lost", w.now);
  w.now.us += 7 * second;
  CHECK(w.choose("x", 1) ==
        "! no place for `x`: nodes that had it: alpha (lost 7s ago)");
  const auto why = w.places.problem("x", w.now);
  CHECK(why.code == errc::tool_unavailable);
  w.places.add("alpha", {}, "x", 4);
  CHECK(w.choose("x", 1) == "alpha");
}

TEST_CASE(
    "a tool that a node has and that is not used is told with the reason") {
  placement x;
  x.add_unused("alpha", "look", "it changes something");
  const auto told = [&] { return x.problem("look", {}).message; };
  CHECK(told() ==
        "no place for `look`: that of node alpha is not used: it changes "
        "something");
  x.remove("alpha", "lost", {});
  CHECK(told().find("no node that has it has joined") != std::string::npos);
  x.add("beta", {}, "look", 1);  // a run keeps the tools that it began with
  CHECK(told().find("joined after this run had begun") != std::string::npos);
}

TEST_CASE("a tool whose last node is lost may be waited for at that node") {
  world w;
  for (const auto* node : {"alpha", "beta"}) w.places.add(node, {}, "look", 1);
  w.places.set_rule("note", {.nodes = {"alpha"}});
  w.places.add("alpha", {}, "note", 1);
  using tools = std::set<std::string>;
  CHECK(w.places.remove("alpha", "lost", w.now, true) == tools{"note"});
  CHECK(w.choose("look", 1) == "beta");
  CHECK(w.choose("note", 2) == "alpha");
  CHECK_FALSE(w.places.has("note"));
  CHECK(w.places.remove("beta", "lost", w.now, true) == tools{"look"});
  CHECK(w.choose("look", 3) == "beta");
  w.places.add("alpha", {}, "look", 1);  // back, and there
  CHECK(w.choose("look", 4) == "alpha");
  CHECK(w.choose("look", 5) == "alpha");
  CHECK(w.places.given("alpha", "look") == 2);
  w.places.end_hold("alpha", "look");  // it is none
  w.places.end_hold("beta", "look");
  w.places.end_hold("alpha", "note");
  CHECK(w.choose("look", 6) == "alpha");
  CHECK(w.choose("note", 7).find("alpha (lost 0s ago)") != std::string::npos);
}

TEST_CASE("of nodes that are gone the newest are told") {
  placement x;
  for (int i = 0; i < 40; ++i) {
    const auto name = "pod-" + std::to_string(100 + i);
    x.add(name, {}, "look", 1);
    x.remove(name, "lost", {i * second});
  }
  const auto told = x.problem("look", {40 * second}).message;
  CHECK(told.find("pod-139 (lost 1s ago)") != std::string::npos);
  CHECK(told.find("pod-124") != std::string::npos);
  CHECK(told.find("pod-123") == std::string::npos);
}

TEST_CASE("a sticky tool stays where the session's first call went") {
  world w;
  w.places.set_rule("x", {.nodes = {"*"}, .sticky = true});
  w.places.add("a", {}, "x", 1);
  w.places.add("b", {}, "x", 1);
  const auto first = w.choose("x", 1, "s1");
  for (int i = 2; i < 10; ++i) CHECK(w.choose("x", i, "s1") == first);
  CHECK(w.choose("x", 50, "s2") != first);
  w.places.remove(first, "lost", w.now);
  const auto other = first == "a" ? "b" : "a";
  CHECK(w.choose("x", 60, "s1") == other);
  w.places.add(first, {}, "x", 100);
  CHECK(w.choose("x", 61, "s1") == other);
}

TEST_CASE("a sticky tool stays where an earlier process had it") {
  world w;
  w.places.set_rule("x", {.nodes = {"*"}, .sticky = true});
  w.places.set_rule("y", {.nodes = {"*"}});
  for (const auto* node : {"a", "b"})
    for (const auto* tool : {"x", "y"}) w.places.add(node, {}, tool, 1);
  w.places.remember("x", {"s1"}, "b");
  w.places.remember("x", {"s1"}, "a");  // older: it is known already
  w.places.remember("x", {"s2"}, "gone");
  w.places.remember("y", {"s1"}, "b");  // is not sticky
  for (int i = 1; i < 6; ++i) CHECK(w.choose("x", i, "s1") == "b");
  CHECK(w.choose("x", 10, "s2") == "a");
  CHECK(w.choose("x", 11, "s2") == "a");
}

TEST_CASE("who has no node is not told of nodes that a rule excludes") {
  world w;
  w.places.set_rule("x", {.nodes = {"gpu-*"}, .here = true});
  CHECK(w.choose("x", 1).find("no node that has it has joined") !=
        std::string::npos);
  w.places.add("cpu-1", {}, "x", 1);
  CHECK(w.choose("x", 1).find("allows none of the nodes") != std::string::npos);
}

TEST_CASE("a node that refuses a call comes behind all others for a while") {
  world w;
  w.places.add("a", {}, "x", 100);
  w.places.add("b", {}, "x", 1);
  REQUIRE(w.choose("x", 1) == "a");
  w.places.on_refused({"c1"}, w.now);
  for (int i = 1; i < 6; ++i) CHECK(w.choose("x", i) == "b");
  w.now.us += 9 * second;
  CHECK(w.choose("x", 6) == "b");
  w.now.us += 2 * second;
  CHECK(w.choose("x", 7) == "a");
  SECTION("but before none at all") {
    w.places.remove("b", "lost", w.now);
    REQUIRE(w.choose("x", 8) == "a");
    w.places.on_refused({"c8"}, w.now);
    CHECK(w.choose("x", 8) == "a");
  }
  SECTION("and for other tools it is as good as ever") {
    w.places.add("a", {}, "y", 100);
    w.places.add("b", {}, "y", 1);
    w.places.on_refused({"c7"}, w.now);
    CHECK(w.choose("y", 9) == "a");
    CHECK(w.choose("x", 10) == "b");
  }
  SECTION("and a node that joins anew owes nothing") {
    w.places.on_refused({"c7"}, w.now);
    w.places.remove("a", "lost", w.now);
    w.places.add("a", {}, "x", 100);
    w.places.on_refused({"c7"}, w.now);
    w.choose("x", 11);
    CHECK(w.choose("x", 12) == "a");
  }
  w.places.on_refused({"nobody"}, w.now);
}

TEST_CASE("whether another place may take a call that one refused is known") {
  world w;
  w.places.add("a", {}, "x", 100);
  REQUIRE(w.choose("x", 1) == "a");
  CHECK_FALSE(w.places.on_refused({"c1"}, w.now));
  w.places.add("b", {}, "x", 1);
  REQUIRE(w.choose("x", 2) == "b");
  CHECK_FALSE(w.places.on_refused({"c2"}, w.now));  // both rest
  w.now.us += 11 * second;
  REQUIRE(w.choose("x", 3) == "a");
  CHECK(w.places.on_refused({"c3"}, w.now));
  w.now.us += 11 * second;
  REQUIRE(w.choose("x", 4) == "a");
  w.places.remove("b", "lost", w.now);  // it may come back, and takes none now
  CHECK_FALSE(w.places.on_refused({"c4"}, w.now));
}

TEST_CASE("the places of a run are free when it is forgotten") {
  world w;
  w.places.add("a", {}, "x", 4);
  for (int i = 0; i < 10; ++i) w.choose("x", i, "s", i % 2 ? "r1" : "r2");
  w.places.release_run({"r1"});
  CHECK(w.places.given("a", "x") == 5);
  w.places.release_run({"r2"});
  w.places.release_run({"r2"});
  CHECK(w.places.given("a", "x") == 0);
}

TEST_CASE("whatever comes and goes, counts stay true", "[property]") {
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937_64 random{seed};
  world w;
  std::map<int, std::string> given;
  std::map<std::string, bool> up;
  for (int n = 0; n < 10000; ++n) {
    const std::string node(1, static_cast<char>('a' + random() % 5));
    const int call = static_cast<int>(random() % 40);
    switch (random() % 5) {
      case 0:
        w.places.add(node, {}, "x", 1 + random() % 4);
        up[node] = true;
        break;
      case 1:
        w.places.remove(node, "lost", w.now);
        up[node] = false;
        std::erase_if(given, [&](const auto& x) { return x.second == node; });
        break;
      case 2:
        w.places.release({"c" + std::to_string(call)});
        given.erase(call);
        break;
      default: {
        given.erase(call);
        const auto where = w.choose("x", call);
        if (where.starts_with("!")) {
          for (const auto& [name, is] : up) REQUIRE_FALSE(is);
        } else {
          REQUIRE(up[where]);
          given[call] = where;
        }
      }
    }
    std::map<std::string, std::uint32_t> counts;
    for (const auto& [id, where] : given) ++counts[where];
    for (const auto& [name, is] : up)
      if (is) REQUIRE(w.places.given(name, "x") == counts[name]);
  }
}
