// SPDX-License-Identifier: MIT
#include "actors/core/tool_call_assembler.hpp"

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using riffle::call_fragment;
using riffle::finish_reason;
using riffle::core::assembled_call;
using riffle::core::assembly_step;
using riffle::core::object_tracker;
using riffle::core::tool_call_assembler;

namespace {

using index = std::optional<std::uint32_t>;
constexpr auto none = std::nullopt;

call_fragment fragment(index i, std::string id, std::string name,
                       std::string arguments) {
  call_fragment x;
  x.index = i;
  x.id = std::move(id);
  x.name = std::move(name);
  x.arguments = std::move(arguments);
  return x;
}

/// What an assembler said, as one readable line: "whole:0 closed:0 …".
struct recorder {
  tool_call_assembler calls;
  std::string said;

  void note(const std::vector<riffle::core::assembly_event>& events) {
    constexpr std::string_view names[] = {"whole", "closed", "malformed", "cut",
                                          "too_long"};
    for (const auto& x : events) {
      if (!said.empty()) said += ' ';
      said += names[static_cast<std::size_t>(x.step)];
      said += ':' + std::to_string(x.call.index);
    }
  }
  recorder& add(const call_fragment& x) {
    note(calls.on_fragment(x));
    return *this;
  }
  recorder& add(index i, std::string id, std::string name,
                std::string arguments) {
    return add(
        fragment(i, std::move(id), std::move(name), std::move(arguments)));
  }
  recorder& end(
      std::optional<finish_reason> finish = finish_reason::tool_calls) {
    note(calls.on_turn_end(finish));
    return *this;
  }
};

using call_list = std::vector<assembled_call>;

}  // namespace

TEST_CASE("a call is whole with its last brace and closed at the turn's end") {
  recorder r;
  r.add(0, "a", "read", "").add(0, "", "", R"({"path":"x)");
  CHECK(r.said.empty());
  r.add(0, "", "", "}\"}");
  CHECK(r.said == "whole:0");
  r.end();
  CHECK(r.said == "whole:0 closed:0");
  CHECK(r.calls.calls() == call_list{{0, "a", "read", R"({"path":"x}"})"}});
}

TEST_CASE("a call is closed when another begins") {
  recorder r;
  r.add(0, "a", "read", "{}").add(1, "b", "grep", "");
  CHECK(r.said == "whole:0 closed:0");
  r.add(1, "", "", "{}").end();
  CHECK(r.said == "whole:0 closed:0 whole:1 closed:1");
}

TEST_CASE("rule 1: fragments go to the call of their choice and index") {
  recorder r;
  r.add(0, "a", "read", "{\"a\":").add(1, "b", "grep", "{\"b\":");
  r.add(0, "", "", "1}");
  CHECK(r.said == "whole:0 closed:0");
  auto other = fragment(1, "", "", "3}");
  other.choice = 1;
  r.add(other);
  r.add(1, "", "", "2}").end();
  REQUIRE(r.calls.calls().size() == 3);
  CHECK(r.calls.calls()[0].arguments == "{\"a\":1}");
  CHECK(r.calls.calls()[1].arguments == "{\"b\":2}");
  CHECK(r.calls.calls()[2].arguments == "3}");
}

TEST_CASE("rule 1: a call of another choice closes nothing") {
  recorder r;
  auto other = fragment(1, "b", "grep", "");
  other.choice = 1;
  r.add(0, "a", "read", "{}").add(other);
  CHECK(r.said == "whole:0");
}

TEST_CASE("rule 2: another id on the same index is another call") {
  recorder r;
  r.add(0, "a", "read", "{}").add(0, "b", "read", "{}").end();
  CHECK(r.calls.calls() ==
        call_list{{0, "a", "read", "{}"}, {1, "b", "read", "{}"}});
  CHECK(r.said == "whole:0 closed:0 whole:1 closed:1");
}

TEST_CASE("rule 2: an empty id in a continuation begins no call") {
  recorder r;
  r.add(0, "a", "read", "{\"x\"").add(0, "", "", ":1}").end();
  CHECK(r.calls.calls() == call_list{{0, "a", "read", "{\"x\":1}"}});
}

TEST_CASE("rule 2: a known id finds its call again on a reused index") {
  recorder r;
  r.add(0, "a", "read", "{\"a\":").add(0, "b", "read", "{\"b\":");
  r.add(0, "a", "", "1}").add(0, "b", "", "2}").end();
  CHECK(r.calls.calls() == call_list{{0, "a", "read", "{\"a\":1}"},
                                     {1, "b", "read", "{\"b\":2}"}});
}

TEST_CASE(
    "rule 3: without an index an id begins a call, else the last goes on") {
  recorder r;
  r.add(none, "a", "read", "{\"a\":").add(none, "", "", "1}");
  r.add(none, "b", "grep", "").add(none, "", "", "{}").end();
  CHECK(r.calls.calls() ==
        call_list{{0, "a", "read", "{\"a\":1}"}, {1, "b", "grep", "{}"}});
}

TEST_CASE("rule 3: without an index a repeated id goes on with its call") {
  recorder r;
  r.add(none, "a", "read", "{\"a\":").add(none, "b", "grep", "{");
  r.add(none, "a", "read", "1}").add(none, "b", "", "}").end();
  CHECK(r.calls.calls() ==
        call_list{{0, "a", "read", "{\"a\":1}"}, {1, "b", "grep", "{}"}});
}

TEST_CASE("rule 4: a name and arguments after a whole object begin a call") {
  recorder r;
  r.add(0, "", "read", "{\"a\":1}").add(0, "", "read", "{\"a\":2}").end();
  CHECK(r.calls.calls() ==
        call_list{{0, "", "read", "{\"a\":1}"}, {1, "", "read", "{\"a\":2}"}});
}

TEST_CASE("rule 4: a name with blank arguments after a whole object does not") {
  recorder r;
  r.add(0, "a", "read", "{\"a\":1}").add(0, "a", "read", " ").end();
  CHECK(r.calls.calls().size() == 1);
  CHECK(r.said == "whole:0 closed:0");
}

TEST_CASE("rule 5: a repeated name is ignored, not appended") {
  recorder r;
  r.add(0, "a", "read", "{")
      .add(0, "a", "read", "\"x\":")
      .add(0, "a", "read", "1}");
  r.end();
  CHECK(r.calls.calls() == call_list{{0, "a", "read", "{\"x\":1}"}});
}

TEST_CASE("another name without an id is another call") {
  recorder r;
  r.add(none, "", "read", "").add(none, "", "grep", "").end();
  CHECK(r.calls.calls() == call_list{{0, "", "read", ""}, {1, "", "grep", ""}});
}

TEST_CASE("rule 6: a call without an id keeps an empty one") {
  recorder r;
  r.add(0, "", "read", "{}").end();
  CHECK(r.calls.calls() == call_list{{0, "", "read", "{}"}});
}

TEST_CASE("rule 7: arguments that came as an object are whole at once") {
  recorder r;
  auto x = fragment(0, "", "read", R"({"path":"x"})");
  x.arguments_whole = true;
  r.add(x);
  CHECK(r.said == "whole:0");
}

TEST_CASE("rule 8: several whole calls in a row are taken in order") {
  recorder r;
  r.add(none, "a", "read", "{\"a\":1}").add(none, "b", "read", "{\"b\":2}");
  r.add(none, "c", "read", "{\"c\":3}").end();
  CHECK(r.said == "whole:0 closed:0 whole:1 closed:1 whole:2 closed:2");
}

TEST_CASE("rule 9: indices with holes count by first appearance") {
  recorder r;
  r.add(7, "a", "read", "{}").add(1, "b", "grep", "{}").end();
  CHECK(r.calls.calls() ==
        call_list{{0, "a", "read", "{}"}, {1, "b", "grep", "{}"}});
}

TEST_CASE("rule 10: a fragment with nothing in it makes no call") {
  recorder r;
  r.add(0, "", "", "").add(none, "", "", " ").end();
  CHECK(r.calls.calls().empty());
  CHECK(r.said.empty());
}

TEST_CASE("the same event twice makes one call") {
  recorder r;
  r.add(0, "a", "read", "{\"x\":1}").add(0, "a", "read", "{\"x\":1}").end();
  CHECK(r.said == "whole:0 closed:0");
  recorder without_index;
  without_index.add(none, "a", "read", "{}").add(none, "a", "read", "{}").end();
  CHECK(without_index.calls.calls().size() == 1);
}

TEST_CASE("text after a whole object spoils the call, white space does not") {
  recorder r;
  r.add(0, "a", "read", "{}").add(0, "", "", " \n").add(0, "", "", "{\"x\":1}");
  CHECK(r.said == "whole:0 malformed:0");
  r.add(0, "", "", "more").end();
  CHECK(r.said == "whole:0 malformed:0");
}

TEST_CASE("text in the same fragment after the object means it is not whole") {
  recorder r;
  r.add(0, "a", "read", "{}{}").end();
  CHECK(r.said == "closed:0");
}

TEST_CASE("a call is malformed also after it was closed") {
  recorder r;
  r.add(0, "a", "read", "{}").add(1, "b", "grep", "{}").add(0, "", "", "x");
  CHECK(r.said == "whole:0 closed:0 whole:1 malformed:0");
}

TEST_CASE("the dialect's end mark closes a call, blank or not") {
  recorder r;
  auto x = fragment(0, "a", "read", "");
  x.closes = true;
  r.add(x).end();
  CHECK(r.said == "closed:0");
}

TEST_CASE("a call whose name comes last is whole then") {
  recorder r;
  r.add(0, "a", "", "{}");
  CHECK(r.said.empty());
  r.add(0, "a", "read", "");
  CHECK(r.said == "whole:0");
}

TEST_CASE("blank and invalid arguments are closed by any finish or end mark") {
  for (const auto finish : {finish_reason::stop, finish_reason::tool_calls,
                            finish_reason::missing}) {
    recorder r;
    r.add(0, "a", "read", "").add(1, "b", "grep", "{\"x").end(finish);
    CHECK(r.said == "closed:0 closed:1");
  }
}

TEST_CASE("at a limit or filter what is not whole is cut, the last call too") {
  for (const auto finish :
       {finish_reason::length, finish_reason::content_filter}) {
    recorder r;
    r.add(0, "a", "read", "{}").add(1, "b", "grep", "").add(2, "c", "x", "{\"");
    r.end(finish);
    CHECK(r.said == "whole:0 closed:0 cut:1 cut:2");
    recorder last;
    last.add(0, "a", "read", "{}").end(finish);
    CHECK(last.said == "whole:0 closed:0");
  }
}

TEST_CASE("at a cut turn every call that is not closed is cut") {
  recorder r;
  r.add(0, "a", "read", "{}").add(1, "b", "grep", "{}").add(2, "c", "x", "{");
  r.end(std::nullopt);
  CHECK(r.said == "whole:0 closed:0 whole:1 closed:1 cut:2");
  recorder last;
  last.add(0, "a", "read", "{}").end(std::nullopt);
  CHECK(last.said == "whole:0 cut:0");
}

TEST_CASE("nothing comes after the turn's end") {
  recorder r;
  r.add(0, "a", "read", "{}").end().end().add(0, "", "", "x");
  CHECK(r.said == "whole:0 closed:0");
  CHECK(r.calls.calls()[0].arguments == "{}");
}

TEST_CASE("a broken server cannot make calls without end") {
  const std::size_t limit = 100;
  tool_call_assembler calls{{.most_calls = limit}};
  for (std::uint32_t i = 0; i < limit + 10; ++i) {
    CHECK((calls.dropped() > 0) == (i > limit));
    calls.on_fragment({0, i, "", "read", "{"});
  }
  CHECK(calls.calls().size() == limit);
}

TEST_CASE("the tracker knows one whole object") {
  const std::pair<std::string_view, bool> cases[] = {
      {"{}", true},
      {" {\"a\":[{\"b\":\"}]\"}]} \n", true},
      {R"({"a":"\\"})", true},
      {R"({"a":"\"})", false},
      {"{\"a\":{}", false},
      {"[]", false},
      {"\"{}\"", false},
      {"{}x", false},
      {"", false},
  };
  for (const auto& [text, whole] : cases) {
    object_tracker tracker;
    tracker.feed(text);
    CAPTURE(std::string{text});
    CHECK(tracker.whole() == whole);
  }
}

TEST_CASE("any split of the arguments gives the same call and steps") {
  const std::string text =
      R"( {"path":"a\\\"}{","deep":[{"x":[1,2]}],"e":{}} )";
  const auto seed = riffle::testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  for (int round = 0; round < 200; ++round) {
    recorder r;
    r.add(0, "a", "read", "");
    for (std::size_t at = 0; at < text.size();) {
      const auto length =
          std::uniform_int_distribution<std::size_t>{1, 9}(random);
      r.add(0, "", "", text.substr(at, length));
      at += length;
    }
    r.end();
    REQUIRE(r.said == "whole:0 closed:0");
    REQUIRE(r.calls.calls()[0].arguments == text);
  }
}

TEST_CASE("arguments beyond the limit end their call, and are not kept") {
  recorder r;
  r.calls = tool_call_assembler{{.max_arguments = 1000}};
  r.add(0, "a", "write", "{\"x\":\"");
  for (int i = 0; i < 1000; ++i) {
    r.add(0, "", "", std::string(100, 'x'));
    REQUIRE(r.calls.calls()[0].arguments.size() <= 1000);
  }
  r.add(1, "b", "read", "{}");
  r.end();
  CHECK(r.said == "too_long:0 whole:1 closed:1");
  CHECK(r.calls.calls()[0].arguments.size() == tool_call_assembler::kept_head);
  CHECK(r.calls.calls()[0].arguments.starts_with("{\"x\":\"xxx"));
}

TEST_CASE("white space counts for the limit, one large fragment as well") {
  recorder r;
  r.calls = tool_call_assembler{{.max_arguments = 100}};
  r.add(0, "a", "read", "{}");
  r.add(0, "", "", std::string(200, ' '));
  r.add(1, "b", "read", "{" + std::string(200, ' ') + "}");
  r.end();
  CHECK(r.said == "whole:0 too_long:0 too_long:1");
  // Cut between characters.
  recorder wide;
  wide.calls = tool_call_assembler{{.max_arguments = 100}};
  std::string text;
  for (int i = 0; i < 200; ++i) text += "\xE2\x82\xAC";
  wide.add(0, "a", "read", text);
  CHECK(wide.calls.calls()[0].arguments.size() == 198);
}
