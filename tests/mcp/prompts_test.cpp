// SPDX-License-Identifier: MIT
#include "tools/mcp/prompts.hpp"

#include <atomic>
#include <thread>

#include "tests/mcp/liar_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"

using namespace riffle;
using namespace riffle::mcp;

namespace {

prompt with(std::vector<prompt_argument> arguments) {
  return {"review", "", std::move(arguments)};
}

/// It has prompts, and never tells them.
class silent_link final : public mcp::link {
 public:
  explicit silent_link(std::shared_ptr<std::atomic<bool>> asked)
      : asked_{std::move(asked)} {}
  reply ask(const request& x) override {
    if (x.method == "server/discover")
      return json{{"supportedVersions", {"2026-07-28"}},
                  {"capabilities", {{"prompts", json::object()}}}};
    *asked_ = true;
    while (!x.stop.stop_requested()) std::this_thread::yield();
    return given_up{};
  }
  void notify(std::string_view, const json&) override {}
  void set_version(std::string_view) override {}
  void close() override {}

 private:
  const std::shared_ptr<std::atomic<bool>> asked_;
};

}  // namespace

TEST_CASE("who waits for prompts can stop that") {
  const auto asked = std::make_shared<std::atomic<bool>>(false);
  server_options how;
  how.name = "silent";
  how.known_era = era::modern;
  how.connect = [asked](const link_events&) {
    return std::make_shared<silent_link>(asked);
  };
  server at{std::move(how)};
  REQUIRE(at.wait_ready(std::chrono::steady_clock::now() +
                        std::chrono::minutes{1}));
  for (const bool lists : {true, false}) {
    CAPTURE(lists);
    *asked = false;
    std::stop_source stop;
    std::optional<error> why;
    std::jthread waits{[&] {
      if (lists)
        why = list_prompts(at, stop.get_token()).error();
      else
        why = get_prompt(at, with({}), {}, stop.get_token()).error();
    }};
    REQUIRE(testing::eventually([&] { return asked->load(); }));
    stop.request_stop();
    waits.join();
    CHECK(why);
  }
}

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
