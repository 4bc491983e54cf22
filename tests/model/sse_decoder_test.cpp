// SPDX-License-Identifier: MIT
#include "runtime/model/sse_decoder.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/model/corpus_files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/skip.hpp"

using riffle::model::sse_decoder;
using riffle::model::sse_event;

namespace {

struct heard {
  std::string type;
  std::string data;
  std::string id;

  bool operator==(const heard&) const = default;
};

std::ostream& operator<<(std::ostream& out, const heard& x) {
  return out << '{' << x.type << '|' << x.data << '|' << x.id << '}';
}

using heard_list = std::vector<heard>;

struct listener {
  explicit listener(std::size_t limit = sse_decoder::default_limit)
      : decoder{limit} {}

  bool feed(std::string_view bytes) {
    // A copy of the exact size, so that sanitizers see reads beyond it.
    const std::vector<char> read(bytes.begin(), bytes.end());
    return decoder.feed({read.data(), read.size()}, [this](const sse_event& x) {
      // Whoever reads ahead may do so.
      checksum += x.readable > 0 ? x.data.data()[x.data.size()] : 0;
      events.push_back(
          {std::string{x.type}, std::string{x.data}, decoder.last_event_id()});
    });
  }

  sse_decoder decoder;
  heard_list events;
  int checksum = 0;
};

heard_list decode(std::string_view text, std::size_t piece) {
  listener x;
  for (std::size_t at = 0; at < text.size(); at += piece)
    CHECK(x.feed(text.substr(at, piece)));
  return x.events;
}

heard_list decode(std::string_view text) {
  return decode(text, std::max<std::size_t>(text.size(), 1));
}

// All that framing has, with every kind of line end.
const std::string nasty =
    std::string{"\xEF\xBB\xBF: hi\n\ndata: a\r\ndata:b\r\r\nevent: x\n"} +
    "id: 7\ndata: {\"k\": \"\xC3\xA9\"}\n\n:c\r\rid\ndata\ndata\n\n" +
    "retry: 20\rid: n" + std::string(1, '\0') +
    "l\rdata:  two\r\n\r\nevent:lost\n\ndata: [DONE]\n\nid: 9\ndata: half";

const heard_list nasty_events{
    {"", "a\nb", ""},   {"x", "{\"k\": \"\xC3\xA9\"}", "7"},
    {"", "\n", ""},     {"", " two", ""},
    {"", "[DONE]", ""},
};

std::string decode_base64(std::string_view text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto digit = digits.find(c);
    if (digit == std::string_view::npos) break;
    bits = (bits << 6) | static_cast<unsigned>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>((bits >> count) & 0xff));
  }
  return out;
}

}  // namespace

TEST_CASE("events have a type, data lines joined, and the last id") {
  CHECK(decode(nasty) == nasty_events);
}

TEST_CASE("a split of the bytes at any one point changes nothing") {
  for (std::size_t at = 0; at <= nasty.size(); ++at) {
    listener x;
    x.feed(std::string_view{nasty}.substr(0, at));
    x.feed(std::string_view{nasty}.substr(at));
    CAPTURE(at);
    REQUIRE(x.events == nasty_events);
    REQUIRE(x.decoder.half_event());
    REQUIRE(x.decoder.retry_ms() == 20u);
  }
}

TEST_CASE("a split of the bytes at any two points changes nothing") {
  const std::string_view text{nasty};
  for (std::size_t a = 0; a <= text.size(); ++a) {
    for (std::size_t b = a; b <= text.size(); ++b) {
      listener x;
      x.feed(text.substr(0, a));
      x.feed(text.substr(a, b - a));
      x.feed(text.substr(b));
      if (x.events != nasty_events) {
        CAPTURE(a, b);
        REQUIRE(x.events == nasty_events);
      }
    }
  }
  SUCCEED();
}

TEST_CASE("random streams decode the same whole and in random pieces") {
  constexpr std::array<std::string_view, 16> parts{
      "data",  ":",    " ",    "\n",   "\r",   "\r\n", "event",  "id",
      "retry", "\n\n", "\r\r", "text", "\xC3", "\xA9", "data: ", "12"};
  const auto seed = riffle::testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  const auto upto = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>{0, n}(random);
  };
  for (int round = 0; round < 2000; ++round) {
    std::string text = upto(4) == 0 ? "\xEF\xBB\xBF" : "";
    for (auto n = upto(60); n > 0; --n) text += parts[upto(parts.size() - 1)];
    listener whole;
    whole.feed(text);
    listener pieces;
    for (std::size_t at = 0; at < text.size();) {
      const auto length = 1 + upto(6);
      pieces.feed(std::string_view{text}.substr(at, length));
      at += length;
    }
    CAPTURE(round, text);
    REQUIRE(pieces.events == whole.events);
    REQUIRE(pieces.decoder.half_event() == whole.decoder.half_event());
    REQUIRE(pieces.decoder.last_event_id() == whole.decoder.last_event_id());
    REQUIRE(pieces.decoder.retry_ms() == whole.decoder.retry_ms());
  }
}

TEST_CASE("an event that ends with a lone CR does not wait for the next byte") {
  CHECK(decode("data: a\r\r", 1) == heard_list{{"", "a", ""}});
}

TEST_CASE("one byte order mark is dropped, at the start only") {
  CHECK(decode("\xEF\xBB\xBF"
               "data:1\n\n\xEF\xBB\xBF"
               "data:2\n\ndata:3\n\n") ==
        heard_list{{"", "1", ""}, {"", "3", ""}});
  CHECK(decode("\xEF\xBB"
               "data:1\n\ndata:2\n\n",
               1) == heard_list{{"", "2", ""}});
}

TEST_CASE("ids with NUL, and retries that are no number, are ignored") {
  const std::string text = std::string{"id: a"} + '\0' +
                           "b\nretry: 1x\nretry\nretry: 99999999999999999999"
                           "\ndata: x\n\n";
  listener x;
  x.feed(text);
  CHECK(x.events == heard_list{{"", "x", ""}});
  CHECK_FALSE(x.decoder.retry_ms());
}

TEST_CASE("a half event at the end is dropped, told, and leaves no id") {
  const auto is_half = [](std::string_view text) {
    listener x;
    x.feed(text);
    CHECK(x.events.empty());
    CHECK(x.decoder.last_event_id().empty());
    return x.decoder.half_event();
  };
  CHECK(is_half("id: 4\ndata: x\n"));
  CHECK(is_half("data: x"));
  CHECK(is_half("da"));
  CHECK_FALSE(is_half(": comment"));
  CHECK_FALSE(is_half("\n"));
  CHECK_FALSE(is_half(""));
}

TEST_CASE(
    "an event or a line beyond the limit ends the stream, however split") {
  const std::string fits = "data: " + std::string(94, 'x') + "\n\n";
  const std::string line = "data: " + std::string(95, 'x') + "\n\n";
  const std::string lines = "data: " + std::string(60, 'x') +
                            "\ndata: " + std::string(60, 'x') + "\n\n";
  for (const std::size_t piece : {1u, 7u, 1000u}) {
    const auto run = [&](const std::string& text) {
      listener x{100};
      bool good = x.feed("data: 1\n\n");
      for (std::size_t at = 0; at < text.size(); at += piece)
        good = x.feed(std::string_view{text}.substr(at, piece));
      return std::pair{good, x.events.size()};
    };
    CHECK(run(fits) == std::pair{true, std::size_t{2}});
    CHECK(run(line) == std::pair{false, std::size_t{1}});
    CHECK(run(lines) == std::pair{false, std::size_t{1}});
  }
}

TEST_CASE(
    "an event inside one read is not copied, and tells what lies behind") {
  const std::string text = "data: abc\n\ndata: defg\n\n";
  sse_decoder decoder;
  std::vector<std::size_t> offsets;
  std::vector<std::size_t> behind;
  decoder.feed(text, [&](const sse_event& x) {
    offsets.push_back(static_cast<std::size_t>(x.data.data() - text.data()));
    behind.push_back(x.readable);
  });
  CHECK(offsets == std::vector<std::size_t>{6, 17});
  CHECK(behind == std::vector<std::size_t>{14, 2});
}

TEST_CASE("the known framing cases decode as they should") {
  const auto folder = riffle::testing::corpus_folder();
  if (!folder) return riffle::testing::skip("no corpus of provider streams");
  std::ifstream file{*folder / "sse_cases.json"};
  const auto cases = nlohmann::json::parse(file).at("cases");
  for (const auto& x : cases) {
    const auto text = decode_base64(x.at("input_base64").get<std::string>());
    heard_list expected;
    for (const auto& e : x.at("expected")) {
      auto type = e.at("event").get<std::string>();
      if (type == "message") type.clear();
      expected.push_back({type, e.at("data"), e.at("id")});
    }
    CAPTURE(x.at("name").get<std::string>());
    for (const std::size_t piece : {1u, 2u, 3u, 7u, 1u << 20})
      CHECK(decode(text, piece) == expected);
  }
}
