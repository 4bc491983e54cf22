// SPDX-License-Identifier: MIT
#include "actors/core/short_names.hpp"

#include <string>

#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

call_fragment shortened(std::string id, std::string name) {
  turn_delta x;
  x.fragments.emplace_back();
  x.fragments[0].id = std::move(id);
  x.fragments[0].name = std::move(name);
  core::shorten_names(x);
  return x.fragments[0];
}

}  // namespace

TEST_CASE("what goes of long ids and names is counted") {
  turn_delta x;
  x.fragments.resize(2);
  x.fragments[0].id = x.fragments[1].name = "short";
  CHECK(core::shorten_names(x) == 0);
  x.fragments[0].id = std::string(core::longest_id + 100, 'y');
  x.fragments[1].name = std::string(core::longest_name + 10, 'n');
  CHECK(core::shorten_names(x) == 110);
}

TEST_CASE("long ids and names of calls become short and stay distinct") {
  const std::string id(core::longest_id, 'x');
  const std::string name(core::longest_name, 'n');
  const auto kept = shortened(id, name);
  CHECK(kept.id == id);
  CHECK(kept.name == name);
  const auto long_id = std::string(2'000'000, 'y');
  const auto a = shortened(long_id + "a", name + "n");
  const auto b = shortened(long_id + "b", "read");
  CHECK(a.id.size() <= core::longest_id);
  CHECK(a.id != b.id);
  CHECK(a.id == shortened(long_id + "a", "x").id);
  CHECK(a.name.size() <= core::longest_name);
  CHECK(a.name != name);
  CHECK(b.name == "read");
}

TEST_CASE("no character of an id or name is cut in two") {
  std::string text;
  while (text.size() < 1000) text += "\xE2\x82\xAC";
  const auto x = shortened("z" + text, text);
  CHECK((x.id.size() - 18) % 3 == 0);  // z, -, and 16 digits
  CHECK((x.name.size() - 3) % 3 == 0);
}
