// SPDX-License-Identifier: MIT
// Recorded provider streams through real sockets and the whole runtime.
#include <cstdio>
#include <map>

#include "tests/e2e/program.hpp"
#include "tests/e2e/stream_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using nlohmann::json;
namespace rt = riffle::testing;

namespace {

struct recorded {
  std::string file;
  std::string dialect;
  json expected;
};

std::string text_at(const json& x, const char* key) {
  return x.contains(key) && x[key].is_string() ? x[key].get<std::string>()
                                               : std::string{};
}

/// Those that are small and say what they mean; empty: they are not there.
std::vector<recorded> all_recorded() {
  const auto text = rt::content_of(rt::recorded_streams() / "index.json");
  std::vector<recorded> out;
  if (text.empty()) return out;
  const auto index = json::parse(text);
  for (const auto& x : index.at("files")) {
    const auto& expected = x.at("expected");
    if (expected.is_null() || x.at("bytes") > 30'000 ||
        text_at(expected, "outcome") == "implementation_defined")
      continue;
    out.push_back({text_at(x, "file"),
                   rt::dialect_of_protocol(text_at(x, "protocol")), expected});
  }
  return out;
}

rt::understood play(const recorded& x, std::size_t piece) {
  const auto body = rt::content_of(rt::recorded_streams() / x.file);
  REQUIRE_FALSE(body.empty());
  const auto type =
      x.dialect == "ollama" ? "application/x-ndjson" : "text/event-stream";
  return rt::understand(x.dialect, rt::streamed(body, piece, type));
}

std::vector<std::pair<std::string, json>> calls_in(const recorded& x) {
  std::vector<std::pair<std::string, json>> out;
  // A custom tool's: of its free text no object is made.
  if (x.file.find("custom-tool") != std::string::npos)
    return {{"write_sql", "free text: SELECT * FROM users WHERE age > 25"}};
  for (const auto& c : x.expected.value("tool_calls", json::array())) {
    const auto raw = c.contains("arguments_raw") ? text_at(c, "arguments_raw")
                                                 : c.at("arguments").dump();
    const auto object = json::parse(raw.empty() ? "{}" : raw, nullptr, false);
    out.emplace_back(c.at("name"), object.is_object() ? object : json(raw));
  }
  return out;
}

void check_complete(const recorded& x, const rt::understood& got) {
  const auto& want = x.expected;
  if (want.contains("text_length"))
    CHECK(got.text.size() == want["text_length"]);
  else
    CHECK(got.text == text_at(want, "text") + text_at(want, "refusal"));
  // The index leaves out what an open model thinks in its own words.
  if (rt::content_of(rt::recorded_streams() / x.file)
          .find("response.reasoning_text.delta") != std::string::npos)
    CHECK_FALSE(got.reasoning.empty());
  else
    CHECK(got.reasoning == text_at(want, "reasoning"));
  CHECK(got.calls == calls_in(x));
  CHECK(got.failure.empty());
  if (want.contains("usage") && want["usage"].is_object()) {
    CHECK(got.usage.at("input_tokens") == want["usage"].at("input"));
    CHECK(got.usage.at("output_tokens") == want["usage"].at("output"));
  }
}

/// Calls of the streams that fail, each with how it ended.
const std::map<std::string, std::string> calls_of_failures{
    {"spliced-message-start", "test-tool truncated, "},
    {"openai-parallel.cut_between_events",
     "get_country tool_not_found, get_product_name truncated, "},
    {"openai-parallel.error_midstream",
     "get_country tool_not_found, get_product_name truncated, "},
    {"anthropic-parallel.cut_in_tool_args", "add truncated, "},
    {"anthropic-parallel.overloaded_midstream", "add truncated, "},
};

// It says what came before, runs nothing that was cut, and is not taken for
// an answer.
void check_failed(const recorded& x, const rt::understood& got) {
  const bool broken = text_at(x.expected, "outcome") == "incomplete" ||
                      x.file.find("tool-call-wrapper") != std::string::npos;
  CHECK(got.failure == (broken ? "stream_interrupted" : "model_error"));
  CHECK(got.requests == 1);
  if (x.expected.contains("text"))
    CHECK(got.text == text_at(x.expected, "text"));
  if (x.expected.contains("reasoning"))
    CHECK(got.reasoning == text_at(x.expected, "reasoning"));
  std::string results;
  for (const auto& [file, told] : calls_of_failures)
    if (x.file.find(file) != std::string::npos) results = told;
  CHECK(got.results == results);
}

// Without its last event: what came before says all, but a call that was cut.
// (A refusal without a word is no answer.)
void check_unended(const recorded& x, const rt::understood& got) {
  const bool refused = text_at(x.expected, "finish_reason") == "refusal";
  CHECK(got.failure == (refused ? "model_error" : ""));
  CHECK(got.text == text_at(x.expected, "text"));
  const bool cut = x.expected.contains("tool_call_cut");
  CHECK(got.calls.size() == (cut ? 1 : 0));
  CHECK((got.results.find(" truncated, ") != std::string::npos) == cut);
}

}  // namespace

TEST_CASE("recorded streams are understood through real sockets") {
  const auto all = all_recorded();
  if (all.empty()) return rt::skip("the corpus is not there");
  std::map<std::string, int> played;
  for (const auto& x : all) {
    const auto outcome = text_at(x.expected, "outcome");
    const bool fails = outcome == "incomplete" || outcome == "error";
    for (const std::size_t piece : {0, 1, 7, 64}) {
      INFO(x.file << " in pieces of " << piece);
      const auto got = play(x, piece);
      if (fails)
        check_failed(x, got);
      else if (outcome == "incomplete_terminal_event_undispatched")
        check_unended(x, got);
      else
        check_complete(x, got);
      ++played[fails ? "failing" : x.dialect];
    }
  }
  for (const auto& [kind, n] : played)
    std::printf("corpus over sockets: %s: %d passed\n", kind.c_str(), n);
  CHECK(played["openai"] > 100);
  CHECK(played["anthropic"] > 40);
  CHECK(played["responses"] > 40);
  CHECK(played["ollama"] == 4);
  CHECK(played["failing"] > 30);
}
