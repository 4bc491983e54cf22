// SPDX-License-Identifier: MIT
// What decoders keep of an answer to send it back: it is counted, and costs
// what comes.
#include <algorithm>
#include <ctime>
#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "runtime/model/dialect.hpp"
#include "runtime/model/wire_text.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using nlohmann::json;

namespace {

constexpr std::size_t few = 500;
constexpr std::size_t factor = 8;

using unit_maker = std::function<std::string(std::size_t)>;

std::string kept_line(const json& x) { return "data: " + x.dump() + "\n\n"; }

std::string kept_openai(const json& delta, const json& reason = nullptr) {
  return kept_line(
      {{"choices",
        {{{"index", 0}, {"delta", delta}, {"finish_reason", reason}}}}});
}

struct kept_reading {
  double seconds = 0;
  std::uint64_t kept = 0;
};

kept_reading read_units(const char* name, const std::string& begin,
                        const unit_maker& unit, std::size_t count) {
  const auto decoder = model::make_dialect(name)->make_decoder();
  turn_delta out;
  decoder->feed(begin, out);
  kept_reading x;
  const auto start = std::clock();
  for (std::size_t i = 0; i < count; ++i) decoder->feed(unit(i), out);
  x.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  REQUIRE_FALSE(out.failure);
  x.kept = decoder->kept();
  return x;
}

/// Eight times as many cost about eight times as much, and are counted.
void costs_what_comes(const char* name, const std::string& begin,
                      const unit_maker& unit) {
  kept_reading less;
  kept_reading more;
  for (int round = 0; round < 5; ++round) {
    const auto a = read_units(name, begin, unit, few);
    const auto b = read_units(name, begin, unit, few * factor);
    if (round == 0 || a.seconds < less.seconds) less = a;
    if (round == 0 || b.seconds < more.seconds) more = b;
  }
  CHECK(more.seconds <= (less.seconds + 0.001) * factor * 3);
  CHECK(more.kept >= less.kept * (factor - 1));
  CHECK(more.kept <= less.kept * (factor + 1));
}

const std::string page(2000, 'x');

}  // namespace

TEST_CASE("openai: what is kept costs what comes") {
  SECTION("one detail") {
    costs_what_comes("openai", "", [](std::size_t) {
      return kept_openai(
          {{"reasoning_details",
            {{{"type", "reasoning.text"}, {"index", 0}, {"text", page}}}}});
    });
  }
  SECTION("fields of many calls") {
    costs_what_comes("openai", "", [](std::size_t i) {
      return kept_openai(
          {{"tool_calls",
            {{{"index", i}, {"id", std::to_string(i)}, {"x", 1}}}}});
    });
  }
  SECTION("an end again and again") {
    costs_what_comes("openai", "", [](std::size_t i) {
      return kept_openai(
          {{"reasoning_details",
            {{{"type", "reasoning.text"}, {"index", i}, {"text", "word"}}}}},
          "stop");
    });
  }
}

TEST_CASE(
    "members that are new each time are counted, and kept up to a bound") {
  const std::string long_key(1000, 'k');
  const auto with_key = [&](std::size_t i) {
    return json{{long_key + std::to_string(i), 1}};
  };
  const auto detail = [&](std::size_t i) {
    auto x = with_key(i);
    x.update({{"type", "reasoning.text"}, {"index", 0}});
    return kept_openai({{"reasoning_details", {x}}});
  };
  const auto call = [&](std::size_t i) {
    auto x = with_key(i);
    x.update({{"index", 0}, {"id", "a"}});
    return kept_openai({{"tool_calls", {x}}});
  };
  const auto item = [&](std::size_t i) {
    auto x = with_key(i);
    x.update({{"type", "function_call"}, {"name", "n"}, {"call_id", "c"}});
    return kept_line({{"type", "response.output_item.done"},
                      {"output_index", 0},
                      {"item", x}});
  };
  const auto holds = [&](const char* dialect, const unit_maker& unit) {
    INFO(dialect);
    const auto some = read_units(dialect, "", unit, 200);
    CHECK(some.kept > 200 * long_key.size());
    // As many again and again: no more of them, nor of the time for one.
    const auto many = read_units(dialect, "", unit, 4000);
    CHECK(many.kept < 4000 * long_key.size());
    CHECK(many.seconds < (some.seconds + 0.01) * 20 * 5);
  };
  holds("openai", detail);
  holds("openai", call);
  holds("responses", item);
}

TEST_CASE("anthropic: what is kept costs what comes") {
  const auto begin =
      kept_line({{"type", "message_start"}, {"message", {{"id", "m"}}}});
  const auto block = [](std::size_t i, const json& x) {
    return kept_line({{"type", "content_block_start"},
                      {"index", i},
                      {"content_block", x}}) +
           kept_line({{"type", "content_block_stop"}, {"index", i}});
  };
  const auto end = kept_line(
      {{"type", "message_delta"}, {"delta", {{"stop_reason", "end_turn"}}}});
  SECTION("an end again and again") {
    costs_what_comes("anthropic", begin, [&](std::size_t i) {
      return block(i, {{"type", "redacted_thinking"}, {"data", "word"}}) + end;
    });
  }
  SECTION("tools at the provider, each with its result") {
    costs_what_comes("anthropic", begin, [&](std::size_t i) {
      const auto id = std::to_string(i);
      auto all = block(2 * i, {{"type", "server_tool_use"}, {"id", id}}) +
                 block(2 * i + 1, {{"type", "web_search_tool_result"},
                                   {"tool_use_id", id}});
      return i % few == few - 1 ? all + end : all;
    });
  }
}

TEST_CASE("anthropic: an answer whose end is told often has its state") {
  const auto decoder = model::make_anthropic_dialect()->make_decoder();
  turn_delta out;
  const auto feed = [&](const json& x) { decoder->feed(kept_line(x), out); };
  feed({{"type", "message_start"}, {"message", {{"id", "m"}}}});
  for (int i = 0; i < 20; ++i) {
    feed({{"type", "content_block_start"},
          {"index", i},
          {"content_block", {{"type", "text"}, {"text", std::to_string(i)}}}});
    feed({{"type", "content_block_stop"}, {"index", i}});
    feed({{"type", "message_delta"}, {"delta", {{"stop_reason", "end_turn"}}}});
  }
  feed({{"type", "message_stop"}});
  CHECK(out.done);
  CHECK(json::parse(out.state).size() == 20);
}

TEST_CASE("a weight is about the memory that a value takes") {
  using model::wire::weight_of;
  const nlohmann::ordered_json numbers(std::vector<int>(1000, 0));
  CHECK(weight_of(numbers) >= 16'000);
  CHECK(weight_of(numbers) <= 32'000);
  CHECK(weight_of({{"a", std::string(5000, 'x')}}) >= 5000);
  CHECK(weight_of({{"a", std::string(5000, 'x')}}) <= 5500);
  CHECK(weight_of(nullptr) > 0);
}
