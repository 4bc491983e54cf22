// SPDX-License-Identifier: MIT
// JSON of a provider: chunks of a stream, whole answers, error bodies; and of
// scripts. The README says where we are more lenient than the RFC, and why.
#include <nlohmann/json.hpp>

#include "runtime/model/http_error.hpp"
#include "runtime/model/scripted_script.hpp"
#include "tests/model/openai_streams.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/json_cases.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

/// A chunk with the text "ok" that holds a value where nobody looks: beside
/// the choices, in a choice, in the delta, in a call.
std::vector<std::string> around(const std::string& value) {
  const std::string choice = R"("index":0,"delta":{"content":"ok"})";
  return {
      R"({"k":)" + value + R"(,"choices":[{)" + choice + "}]}",
      R"({"choices":[{)" + choice + R"(}],"k":)" + value + "}",
      R"({"choices":[{"k":)" + value + "," + choice + "}]}",
      R"({"choices":[{"index":0,"delta":{"k":)" + value +
          R"(,"content":"ok"}}]})",
      R"({"choices":[{)" + choice + R"(},{"index":1,"delta":{"k":)" + value +
          "}}]}",
      R"({"choices":[{"index":0,"delta":{"content":"ok","tool_calls":[{"index":)"
      R"(0,"k":)" +
          value + R"(,"function":{"k":)" + value + "}}]}}]}",
  };
}

/// The data of one event, whatever lines it has.
std::string data(const std::string& text) {
  std::string out = "data: ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "data: ";
  }
  return out + "\n\n";
}

bool one_line(const std::string& text) {
  return text.find('\r') == std::string::npos &&
         text.find('\0') == std::string::npos;
}

}  // namespace

TEST_CASE("a chunk is JSON also where nobody looks, or the turn fails") {
  for (const auto& x : good_json()) {
    for (const auto& chunk : around(x.text)) {
      CAPTURE(x.rule, chunk);
      const auto out = read(data(chunk) + stop + done);
      CHECK_FALSE(out.failure);
      CHECK(texts(out) == "ok");
    }
  }
  for (const auto& x : bad_json()) {
    if (!one_line(x.text)) continue;
    for (const auto& chunk : around(x.text)) {
      CAPTURE(x.rule, chunk);
      const auto out = read(data(chunk) + stop + done);
      check_failure(out, errc::stream_interrupted, true, "no JSON");
      CHECK(texts(out).empty());
      // Also behind chunks of the same template.
      const auto good = delta(R"({"content":"ok"})");
      CHECK(read(good + good + good + data(chunk) + done).failure);
    }
  }
}

TEST_CASE("an event that is no chunk need still be JSON") {
  for (const auto& x : good_json()) {
    CAPTURE(x.rule, x.text);
    CHECK_FALSE(read(data(x.text) + stop + done).failure);
  }
  for (const auto& x : bad_documents()) {
    const bool blank = x.text.find_first_not_of(" \n") == std::string::npos;
    if (blank || !one_line(x.text)) continue;
    CAPTURE(x.rule, x.text);
    check_failure(read(data(x.text) + stop + done), errc::stream_interrupted,
                  true, "no JSON");
  }
}

TEST_CASE("a whole answer is JSON, or the turn fails") {
  const auto answer = [](const std::string& value) {
    return R"({"choices":[{"index":0,"message":{"content":"ok"},)"
           R"("finish_reason":"stop"}],"k":)" +
           value + "}";
  };
  for (const auto& x : good_json()) {
    CAPTURE(x.rule, x.text);
    const auto out = read(answer(x.text), 7);
    CHECK_FALSE(out.failure);
    CHECK(texts(out) == "ok");
  }
  for (const auto& x : bad_json()) {
    CAPTURE(x.rule, x.text);
    check_failure(read(answer(x.text)), errc::stream_interrupted, true,
                  "no JSON");
  }
  for (const std::string tail : {"x", "}", "]", ",", "{}", "1"})
    CHECK(read(answer("1") + tail).failure);
  CHECK(read(answer("1") + std::string(1, '\0')).failure);
  CHECK_FALSE(read(open_json::mark + answer("1") + " \r\n").failure);
}

TEST_CASE("what the RFC leaves open is decided for the text of a model") {
  const std::string no_character = "\xEF\xBF\xBD";
  const auto said = [](const std::string& value) {
    return read(event(R"({"choices":[{"index":0,"delta":{"content":)" + value +
                      "}}]}") +
                stop + done);
  };
  CHECK(texts(said(open_json::invalid_utf8)) == "a" + no_character + "b");
  CHECK(texts(said(open_json::lone_surrogate)) == "a" + no_character + "b");
  CHECK(texts(said("\"a\tb\"")) == "a\tb");  // as some servers write it
  for (const auto& chunk : around(open_json::huge_number))
    check_failure(read(event(chunk) + stop), errc::stream_interrupted, true);
  for (const auto& chunk : around(open_json::equal_keys))
    CHECK_FALSE(read(event(chunk) + stop + done).failure);
  const auto twice = read(
      event(
          R"({"choices":[{"index":0,"delta":{"content":"a","content":"b"}}]})") +
      stop + done);
  CHECK(texts(twice) == "b");
  for (const auto& chunk : around(nested_arrays(200)))
    CHECK_FALSE(read(event(chunk) + stop + done).failure);
  for (const auto& chunk : around(nested_arrays(257)))
    check_failure(read(event(chunk) + stop), errc::stream_interrupted, true);
}

TEST_CASE("nesting without end costs a model's server its answer only") {
  for (const auto& x : depth_bombs()) {
    for (const auto& chunk : around(x))
      CHECK(read(event(chunk) + stop + done).failure);
    CHECK(read(event(x) + stop + done).failure);
    CHECK(read(x).failure);
    CHECK(read(R"({"error":)" + x).failure);
    CHECK(read("event: error\ndata: " + x + "\n\n").failure);
    CHECK_FALSE(model::read_server_words(x).insufficient_quota);
    CHECK_FALSE(
        model::read_server_words(R"({"error":)" + x + "}").message.empty());
  }
}

TEST_CASE("an error body that is no JSON is told as it stands") {
  for (const auto& x : bad_json()) {
    const auto body = R"({"error":{"message":"words","k":)" + x.text + "}}";
    CAPTURE(x.rule, body);
    const auto words = model::read_server_words(body);
    CHECK(words.message.starts_with(R"({"error":{"message":"words")"));
  }
  for (const auto& x : good_json()) {
    CAPTURE(x.rule, x.text);
    CHECK(model::read_server_words(R"({"error":{"message":"words","k":)" +
                                   x.text + "}}")
              .message == "words");
  }
  CHECK(
      model::read_server_words(open_json::mark + R"({"detail":"d"})").message ==
      "d");
}

TEST_CASE("a script is JSON, or refused with a reason") {
  using model::parse_script;
  using model::script_format;
  for (const auto& x : bad_documents()) {
    CAPTURE(x.rule, x.text);
    CHECK_FALSE(parse_script(x.text, script_format::json, "s.json"));
  }
  const auto with = [](const std::string& value) {
    return R"({"steps":[{"calls":[{"tool":"t","arguments":{"k":)" + value +
           "}}]}]}";
  };
  for (const auto& x : good_json()) {
    CAPTURE(x.rule, x.text);
    CHECK(parse_script(with(x.text), script_format::json, "s.json"));
  }
  for (const auto& x : bad_json()) {
    CAPTURE(x.rule, x.text);
    const auto script = parse_script(with(x.text), script_format::json, "s");
    REQUIRE_FALSE(script);
    CHECK(script.error().message.starts_with("s: "));
  }
  for (const auto& value : {open_json::invalid_utf8, open_json::lone_surrogate,
                            open_json::huge_number})
    CHECK_FALSE(parse_script(with(value), script_format::json, "s.json"));
  for (const auto& x : depth_bombs()) {
    CHECK_FALSE(parse_script(x, script_format::json, "s.json"));
    CHECK_FALSE(parse_script(with(x), script_format::json, "s.json"));
  }
}
