// SPDX-License-Identifier: MIT
#include "actors/core/inline_proposals.hpp"

#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle::core;
using list = std::vector<std::string>;

TEST_CASE("a fenced block of the proposal's shape is found") {
  CHECK(find_inline_proposals(
            "I suggest:\n```json\n{\"proposal\": {\"summary\": \"Do A.\"}}\n"
            "```\nand\n~~~\n```json\n{\"type\": \"proposal\", \"summary\": "
            "\"Do B.\"}\n```\n") == list{"Do A.", "Do B."});
  CHECK(
      find_inline_proposals(
          "  ````json  \r\n{\"proposal\":\r\n {\"summary\":\"x\"}}\r\n`````") ==
      list{"x"});
}

TEST_CASE("what has not exactly that shape is no proposal") {
  const std::string good = R"({"proposal": {"summary": "x"}})";
  for (const auto& text : std::vector<std::string>{
           good,                                      // no fence
           "```json\n" + good,                        // never closed
           "```\n" + good + "\n```",                  // no language
           "```js\n" + good + "\n```",                // another one
           "    ```json\n" + good + "\n    ```",      // indented code
           "````\n```json\n" + good + "\n```\n````",  // quoted
           "```json\n" + good + "x\n```",             // no JSON
           "```json\n[" + good + "]\n```",            // a list
           "```json\n{\"summary\": \"x\"}\n```",
           "```json\n{\"proposal\": \"x\"}\n```",
           "```json\n{\"proposal\": {\"summary\": 1}}\n```",
           "```json\n{\"proposal\": {\"summary\": \" \"}}\n```",
           "```json\n{\"type\": 1, \"summary\": \"x\"}\n```",
           "",
       }) {
    INFO(text);
    CHECK(find_inline_proposals(text).empty());
  }
}

TEST_CASE("equal proposals count once, and there is a most") {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += "```json\n{\"proposal\":{\"summary\":\"p" + std::to_string(i / 2) +
            "\"}}\n```\n";
  const auto found = find_inline_proposals(text);
  REQUIRE(found.size() == most_inline_proposals);
  CHECK(found.front() == "p0");
  CHECK(found.back() == "p15");
}

TEST_CASE("a long summary is cut between characters") {
  std::string summary(longest_summary - 1, 'a');
  summary += "ä and more";
  const auto found = find_inline_proposals(
      "```json\n{\"proposal\":{\"summary\":\"" + summary + "\"}}\n```\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0] == std::string(longest_summary - 1, 'a'));
}

TEST_CASE("any text may be looked at") {
  const auto seed = riffle::testing::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  const list pieces{"```", "json",
                    "\n",  "{",
                    "}",   "\"proposal\"",
                    ":",   "{\"summary\":\"x\"}",
                    " ",   "`",
                    "\r",  "\xff",
                    "[",   "text"};
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto n = random() % 30; n-- > 0;)
      text += pieces[random() % pieces.size()];
    for (const auto& x : find_inline_proposals(text)) CHECK(x == "x");
  }
}

TEST_CASE("proposals are the answer of a run that says nothing") {
  CHECK(proposals_as_answer({"Do A."}) ==
        "This waits for a decision:\n- Do A.");
  CHECK(proposals_as_answer({"Do A.", "Do B."}) ==
        "These proposals wait for a decision:\n- Do A.\n- Do B.");
}
