// SPDX-License-Identifier: MIT
// Recorded streams of many providers, through decoder and assemblers, whole
// and in pieces.
#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "actors/core/message_assembler.hpp"
#include "actors/core/tool_call_assembler.hpp"
#include "runtime/model/dialect.hpp"
#include "tests/model/corpus_files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle;
using nlohmann::json;

namespace {

struct reading {
  core::message_assembler message;
  core::tool_call_assembler calls;
  std::vector<core::assembly_event> steps;
  bool done = false;
  bool raw_thoughts = false;  ///< of an open model, by Responses

  void add(const turn_delta& delta) {
    message.add(delta);
    for (const auto& x : delta.fragments) note(calls.on_fragment(x));
  }
  void note(std::vector<core::assembly_event> more) {
    steps.insert(steps.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  }
  [[nodiscard]] std::size_t count(core::assembly_step step) const {
    std::size_t n = 0;
    for (const auto& x : steps) n += x.step == step ? 1 : 0;
    return n;
  }
};

/// The dialect of a file's protocol.
std::string dialect_of(std::string_view protocol) {
  if (protocol == "openai-chat") return "openai";
  if (protocol == "openai-responses") return "responses";
  return std::string{protocol};
}

reading read_stream(const std::string& dialect, std::string_view bytes,
                    std::size_t piece) {
  const auto decoder = model::make_dialect(dialect)->make_decoder();
  reading r;
  r.raw_thoughts = bytes.find("response.reasoning_text.delta") != bytes.npos;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    turn_delta delta;
    decoder->feed(bytes.substr(at, piece), delta);
    r.add(delta);
  }
  turn_delta delta;
  decoder->end(delta);
  r.add(delta);
  const bool failed = r.message.failure().has_value();
  r.note(r.calls.on_turn_end(failed ? std::nullopt : r.message.finish()));
  return r;
}

std::string text_of(const json& x, const char* key) {
  return x.contains(key) && x[key].is_string() ? x[key].get<std::string>()
                                               : std::string{};
}

void check_texts(const reading& r, const json& expected) {
  const auto refusal = text_of(expected, "refusal");
  if (expected.contains("text_length"))
    CHECK(r.message.text().size() == expected["text_length"]);
  else if (expected.contains("text"))
    CHECK(r.message.text() == text_of(expected, "text") + refusal);
  CHECK(r.message.refusal() == refusal);
  // The index leaves out what an open model thinks in its own words.
  if (r.raw_thoughts)
    CHECK_FALSE(r.message.reasoning().empty());
  else if (expected.contains("reasoning"))
    CHECK(r.message.reasoning() == text_of(expected, "reasoning"));
}

void check_usage(const reading& r, const json& expected) {
  if (!expected.contains("usage") || expected["usage"].is_null()) return;
  const auto usage = r.message.usage();
  CHECK_FALSE(usage.estimated);
  CHECK(usage.input_tokens == expected["usage"]["input"]);
  CHECK(usage.output_tokens == expected["usage"]["output"]);
}

void check_calls(const reading& r, const json& expected) {
  const auto calls = expected.value("tool_calls", json::array());
  // Of custom tools: whose input is no JSON; we refuse them, with a result.
  const std::string free_text = "free text: ";
  const auto& all = r.calls.calls();
  if (calls.empty() && all.size() == 1 &&
      all[0].arguments.starts_with(free_text)) {
    CHECK(all[0].name == "write_sql");
    CHECK(all[0].arguments == free_text + "SELECT * FROM users WHERE age > 25");
    return;
  }
  REQUIRE(r.calls.calls().size() == calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto& got = r.calls.calls()[i];
    CHECK(got.name == text_of(calls[i], "name"));
    CHECK(got.provider_id == text_of(calls[i], "id"));
    if (calls[i].contains("arguments_raw"))
      CHECK(got.arguments == text_of(calls[i], "arguments_raw"));
    const auto text = got.arguments.empty() ? "{}" : got.arguments;
    CHECK(json::parse(text, nullptr, false) == calls[i]["arguments"]);
  }
  CHECK(r.count(core::assembly_step::closed) == calls.size());
  CHECK(r.count(core::assembly_step::malformed) == 0);
}

/// Our word for a provider's.
std::string finish_of(const std::string& word, const reading& r) {
  if (word == "completed")
    return r.calls.calls().empty() ? "stop" : "tool_calls";
  if (word == "tool_use") return "tool_calls";
  if (word == "end_turn") return "stop";
  if (word == "refusal") return "content_filter";
  return word == "max_tokens" ? "length" : word;
}

// The last event came without the empty line that ends it: what came before
// says all.
void check_undispatched(const reading& r, const json& expected) {
  CHECK_FALSE(r.message.failure());
  CHECK_FALSE(r.message.done());
  check_texts(r, expected);
  REQUIRE(r.message.finish());
  CHECK(to_string(*r.message.finish()) ==
        finish_of(text_of(expected, "finish_reason"), r));
  for (const auto& x : r.calls.calls())
    CHECK_FALSE(json::accept(x.arguments));  // cut: it never runs
  const std::size_t cut = expected.contains("tool_call_cut") ? 1 : 0;
  CHECK(r.calls.calls().size() == cut);
  CHECK(r.count(core::assembly_step::cut) == cut);
  CHECK(r.count(core::assembly_step::closed) == 0);
}

void check_complete(const reading& r, const json& expected) {
  CHECK_FALSE(r.message.failure());
  check_texts(r, expected);
  check_usage(r, expected);
  check_calls(r, expected);
  REQUIRE(r.message.finish());
  if (text_of(expected, "outcome") == "incomplete_no_finish_reason")
    CHECK(r.message.finish() == finish_reason::missing);
  else if (expected.contains("finish_reason"))
    CHECK(to_string(*r.message.finish()) ==
          finish_of(text_of(expected, "finish_reason"), r));
}

/// Calls of the streams that fail, each with how it ended.
struct failed_calls {
  std::string_view file;
  std::string told;
};

const failed_calls calls_of_failures[] = {
    {"spliced-message-start", "test-tool cut, "},
    {"openai-parallel.cut_between_events",
     "get_country closed, get_product_name cut, "},
    {"openai-parallel.error_midstream",
     "get_country closed, get_product_name cut, "},
    {"anthropic-parallel.cut_in_tool_args", "add cut, "},
    {"anthropic-parallel.overloaded_midstream", "add cut, "},
};

// No call of a failed turn is complete by its end: where another one began,
// the one before was complete; each other one is cut.
void check_failed_calls(const reading& r, std::string_view file) {
  std::string told;
  for (const auto& x : r.steps) {
    if (x.step == core::assembly_step::whole) continue;
    const bool cut = x.step == core::assembly_step::cut;
    CHECK((cut || x.step == core::assembly_step::closed));
    told += x.call.name + (cut ? " cut, " : " closed, ");
  }
  std::string expected;
  for (const auto& x : calls_of_failures)
    if (file.find(x.file) != std::string_view::npos) expected = x.told;
  CHECK(told == expected);
  CHECK(r.calls.calls().size() == r.count(core::assembly_step::cut) +
                                      r.count(core::assembly_step::closed));
}

void check_failed(const reading& r, const json& expected, errc code) {
  REQUIRE(r.message.failure());
  // One begins with an event that is no JSON.
  if (!expected.contains("sdk_error") || !expected.contains("tool_calls"))
    CHECK(r.message.failure()->code == code);
  if (expected.contains("text")) check_texts(r, expected);
  if (r.message.failure()->code != code) return;
  if (const auto why = text_of(expected, "error"); !why.empty())
    CHECK(("APIError: " + r.message.failure()->message) == why);
  if (code == errc::stream_interrupted) CHECK(r.message.failure()->retryable);
}

// The four that the index leaves to the implementation.
void check_special(const reading& r, std::string_view file) {
  const auto is = [file](std::string_view name) {
    return file.find(name) != std::string_view::npos;
  };
  const std::string no_character = "\xEF\xBF\xBD";
  if (is("duplicate-message-start")) {
    CHECK(r.message.text() == "Hello, World!");
    CHECK(r.message.usage().output_tokens == 227);
    CHECK_FALSE(r.message.failure());
  } else if (is("garbage_event")) {
    CHECK(r.message.text() == "Ol\xC3\xA1!");
    REQUIRE(r.message.failure());
    CHECK(r.message.failure()->code == errc::stream_interrupted);
  } else if (is("lone_surrogates")) {
    CHECK(r.message.text() == "\xF0\x9F\x98\x80");  // halves, joined
    CHECK_FALSE(r.message.failure());
  } else if (is("invalid_utf8")) {
    CHECK(r.message.text().find(no_character) != std::string::npos);
    CHECK_FALSE(r.message.failure());
    CHECK_NOTHROW(json(r.message.text()).dump());
  } else {
    FAIL("no rule for " << file);
  }
}

void check_file(const json& entry, std::string_view bytes, std::size_t piece) {
  const auto& expected = entry.at("expected");
  const auto outcome = text_of(expected, "outcome");
  const auto r =
      read_stream(dialect_of(text_of(entry, "protocol")), bytes, piece);
  if (outcome == "incomplete" || outcome == "error")
    check_failed_calls(r, text_of(entry, "file"));
  if (outcome == "complete" || outcome == "incomplete_no_finish_reason")
    check_complete(r, expected);
  else if (outcome == "incomplete_terminal_event_undispatched")
    check_undispatched(r, expected);
  else if (outcome == "incomplete")
    check_failed(r, expected, errc::stream_interrupted);
  else if (outcome == "error")
    check_failed(r, expected, errc::model_error);
  else
    check_special(r, text_of(entry, "file"));
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

TEST_CASE("recorded streams of many providers are understood in any pieces") {
  const auto folder = testing::corpus_folder();
  if (!folder) return testing::skip("no corpus of provider streams");
  const auto index = json::parse(read_file(*folder / "index.json"));
  int passed = 0;
  for (const auto& entry : index.at("files")) {
    const auto name = text_of(entry, "file");
    const auto bytes = read_file(*folder / name);
    REQUIRE_FALSE(bytes.empty());
    for (const std::size_t piece : {1u, 2u, 3u, 7u, 64u, 1u << 30}) {
      CAPTURE(name, piece);
      check_file(entry, bytes, piece);
    }
    ++passed;
  }
  std::cout << "corpus: " << passed << " passed, " << index.at("files").size()
            << " total\n";
  CHECK(passed == static_cast<int>(index.at("files").size()));
}
