// SPDX-License-Identifier: MIT
#include "tools/mcp/prompts.hpp"

#include "tests/mcp/liar_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::mcp;

namespace {

prompt with(std::vector<prompt_argument> arguments) {
  return {"review", "", std::move(arguments)};
}

}  // namespace

TEST_CASE("prompts are read, whatever a server calls a prompt") {
  const auto all = read_prompts(
      {json::parse(R"({"name":"a","title":"T","arguments":[)"
                   R"({"name":"x","description":"X","required":true},)"
                   R"({"name":"y"},{"required":true},7]})"),
       json::parse(R"({"name":"b","description":"B","title":"T"})"), json(7),
       json::parse(R"({"title":"nameless"})"),
       json::parse(R"({"name":"c","arguments":{"x":1}})")});
  REQUIRE(all.size() == 3);
  CHECK(all[0].about == "T");
  REQUIRE(all[0].arguments.size() == 2);
  CHECK(all[0].arguments[0].name == "x");
  CHECK(all[0].arguments[0].about == "X");
  CHECK(all[0].arguments[0].required);
  CHECK_FALSE(all[0].arguments[1].required);
  CHECK(all[1].about == "B");
  CHECK(all[2].arguments.empty());
}

TEST_CASE("words become arguments, the last one takes the rest") {
  const auto two = with({{"file", "a path", true}, {"topic", "", false}});
  CHECK(*prompt_arguments(two, " a.cpp  all of it \n") ==
        json({{"file", "a.cpp"}, {"topic", "all of it"}}));
  CHECK(*prompt_arguments(two, "a.cpp") == json({{"file", "a.cpp"}}));
  const auto none = prompt_arguments(two, "  ");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == errc::invalid_arguments);
  CHECK(none.error().message == "the prompt review needs file (a path)");
  CHECK(*prompt_arguments(with({}), " ") == json::object());
  CHECK_FALSE(prompt_arguments(with({}), "x"));
}

TEST_CASE("a server gives the text of its prompt") {
  for (const auto* era : {"modern", "legacy"}) {
    CAPTURE(era);
    testing::liar_world w{{era}};
    CHECK(list_prompts(*w.at)->empty());  // nobody has started it
    REQUIRE(w.at->wait_ready(std::chrono::steady_clock::now() +
                             std::chrono::seconds{20}));
    const auto all = list_prompts(*w.at);
    REQUIRE(all);
    REQUIRE(all->size() == 1);
    const auto& greet = all->front();
    CHECK(greet.name == "greet");
    CHECK(*get_prompt(*w.at, greet,
                      *prompt_arguments(greet, "Ann very warmly")) ==
          "Greet Ann very warmly.");
    CHECK(*get_prompt(*w.at, greet, *prompt_arguments(greet, "Ann")) ==
          "Greet Ann kindly.");
  }
}
