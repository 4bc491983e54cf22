// SPDX-License-Identifier: MIT
// What requests share: turns, permits, cookies that were logged out.
#include <deque>
#include <random>

#include "runtime/base/digest.hpp"
#include "runtime/http/ended_cookies.hpp"
#include "runtime/http/permits.hpp"
#include "runtime/http/turns.hpp"
#include "runtime/http/wire.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::http;

namespace {

caller_ptr someone(const std::string& name, const std::string& hash = "h") {
  auto out = std::make_shared<caller>();
  out->name = name;
  out->hash = hash;
  return out;
}

}  // namespace

TEST_CASE("no two hold a name, everybody gets a turn, in order of each name") {
  std::mt19937 random{testing::fresh_seed()};
  turns x;
  std::map<std::string, int> held;
  std::deque<std::pair<int, turns::names>> acting;
  std::map<std::string, int> last;
  int began = 0;
  constexpr int all = 2000;
  for (int i = 0; i < all || !acting.empty();) {
    if (i < all && random() % 2 == 0) {
      turns::names names;
      for (auto n = random() % 4; n > 0; --n)
        names.insert(std::string(1, static_cast<char>('a' + random() % 6)));
      x.take(names, [&, names, i] {
        ++began;
        for (const auto& name : names) {
          CHECK(held[name]++ == 0);
          CHECK(last[name] <= i);
          last[name] = i;
        }
        acting.emplace_back(i, names);
      });
      ++i;
    } else if (!acting.empty()) {
      const auto at = acting.begin() +
                      static_cast<std::ptrdiff_t>(random() % acting.size());
      const auto names = at->second;
      acting.erase(at);
      for (const auto& name : names) --held[name];
      x.end(names);
    }
  }
  CHECK(began == all);
}

TEST_CASE("a token has so many streams, and all together so many") {
  permits x{3, 2};
  auto a = x.give(someone("ann"));
  auto b = x.give(someone("ann"));
  CHECK(a);
  CHECK(b);
  CHECK_FALSE(x.give(someone("ann")));
  auto c = x.give(someone("bob"));
  CHECK(c);
  CHECK_FALSE(x.give(someone("eve")));
  b.reset();
  CHECK(x.give(someone("eve")));
  b = x.give(someone("ann"));
  CHECK(b);
}

TEST_CASE("streams of a token that is gone are withdrawn, others are not") {
  auto x = std::make_unique<permits>(10u, 10u);
  const auto a = x->give(someone("ann"));
  const auto b = x->give(someone("bob"));
  x->withdraw_unless([](const caller& who) { return who.name == "bob"; });
  CHECK(a->withdrawn);
  CHECK_FALSE(b->withdrawn);
  x.reset();  // permits outlive the list
}

TEST_CASE("whoever was recognised stays so with the same token and rights") {
  const auto make = [](std::vector<std::string> roles, std::string hash) {
    config::token_config x;
    x.hash = std::move(hash);
    x.roles = std::move(roles);
    return token_book{"main", {{"ann", x}}, "key"};
  };
  const auto before = make({"read"}, sha256("t"));
  const auto ann = before.find("t");
  REQUIRE(ann);
  CHECK(make({"read"}, sha256("t")).has(*ann));
  CHECK_FALSE(make({"run"}, sha256("t")).has(*ann));
  CHECK_FALSE(make({"read"}, sha256("other")).has(*ann));
  CHECK(before.has(*before.find("main")));
}

TEST_CASE("a cookie that was logged out is kept as such until its end") {
  const std::shared_ptr<storage::journal> journal =
      storage::make_memory_journal();
  {
    ended_cookies x{journal};
    CHECK_FALSE(x.contains("a"));
    REQUIRE(x.add("a", wall_time{100}, wall_time{1}));
    REQUIRE(x.add("b", wall_time{50}, wall_time{1}));
    CHECK(x.contains("a"));
  }
  ended_cookies again{journal};
  CHECK(again.contains("a"));
  CHECK(again.contains("b"));
  REQUIRE(again.add("c", wall_time{200}, wall_time{60}));
  const ended_cookies later{journal};
  CHECK(later.contains("a"));
  CHECK_FALSE(later.contains("b"));  // it had run out, and is not kept for ever
  CHECK(later.contains("c"));
}

TEST_CASE("the end of a cookie stands in it") {
  const token_book x{"main", {}, "key"};
  const auto value = x.cookie_for(*x.find("main"), wall_time{77});
  CHECK(end_of_cookie(value) == wall_time{77});
  CHECK(x.find_cookie(value, wall_time{77}));
  CHECK_FALSE(x.find_cookie(value, wall_time{78}));
  for (const auto* bad : {"", ".", "..", "a.b.c", "12", "12.x", "1x.a.b"})
    CHECK_FALSE(end_of_cookie(bad));
}

TEST_CASE("what nobody understands of a header is refused, by its status") {
  const auto status = [](std::vector<field> fields, const char* target,
                         unsigned version = 11) {
    request x;
    x.fields = std::move(fields);
    const auto refused = read_head(x, target, version);
    return refused ? refused->status : 200;
  };
  CHECK(status({{"host", "a"}}, "/") == 200);
  CHECK(status({{"host", "a"}, {"expect", "100-Continue"}}, "/") == 200);
  CHECK(status({{"host", "a"}, {"expect", "200-ok"}}, "/") == 417);
  CHECK(status({{"host", "a"}, {"host", "b"}}, "/") == 400);
  CHECK(status({{"host", "a"}}, "nothing") == 400);
  CHECK(status({{"transfer-encoding", "chunked"}}, "/", 10) == 400);
  CHECK(status({{"transfer-encoding", "gzip"}}, "/") == 400);
  CHECK(status({{"content-length", "1"}, {"content-length", "1"}}, "/") == 400);
}
