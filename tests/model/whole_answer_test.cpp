// SPDX-License-Identifier: MIT
// The same answer, streamed and in one document, means the same.
#include <fstream>
#include <iostream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "actors/core/message_assembler.hpp"
#include "actors/core/tool_call_assembler.hpp"
#include "tests/model/corpus_files.hpp"
#include "tests/model/openai_streams.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle;
using nlohmann::json;

namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// What a turn said, however it came.
struct message {
  std::string text;
  std::string reasoning;
  std::string refusal;
  std::vector<std::array<std::string, 3>> calls;  ///< id, name, arguments
  std::optional<finish_reason> finish;
  token_usage usage;

  bool operator==(const message&) const = default;
};

/// Nothing for a turn that failed.
std::optional<message> read_message(std::string_view bytes, std::size_t piece) {
  const auto delta = testing::read(bytes, piece);
  if (delta.failure) return std::nullopt;
  core::message_assembler all;
  core::tool_call_assembler calls;
  all.add(delta);
  for (const auto& x : delta.fragments) calls.on_fragment(x);
  calls.on_turn_end(all.finish());
  message out{.text = testing::texts(delta),
              .reasoning = all.reasoning(),
              .refusal = all.refusal(),
              .calls = {},
              .finish = all.finish(),
              .usage = all.usage()};
  for (const auto& x : calls.calls())
    out.calls.push_back({x.provider_id, x.name, x.arguments});
  return out;
}

json usage_of(const token_usage& x) {
  json out{{"prompt_tokens", x.input_tokens},
           {"completion_tokens", x.output_tokens}};
  if (x.cached_tokens)
    out["prompt_tokens_details"]["cached_tokens"] = *x.cached_tokens;
  if (x.reasoning_tokens)
    out["completion_tokens_details"]["reasoning_tokens"] = *x.reasoning_tokens;
  if (x.cost_usd) out["cost"] = *x.cost_usd;
  return out;
}

/// What a server that does not stream would have sent.
std::string folded(const message& x) {
  json said{{"role", "assistant"}, {"content", nullptr}};
  if (!x.text.empty()) said["content"] = x.text;
  if (!x.reasoning.empty()) said["reasoning_content"] = x.reasoning;
  if (!x.refusal.empty()) said["refusal"] = x.refusal;
  for (const auto& [id, name, arguments] : x.calls)
    said["tool_calls"].push_back(
        {{"id", id},
         {"type", "function"},
         {"function", {{"name", name}, {"arguments", arguments}}}});
  json choice{{"index", 0}, {"message", said}, {"finish_reason", nullptr}};
  if (x.finish && x.finish != finish_reason::missing)
    choice["finish_reason"] = to_string(*x.finish);
  json out{{"id", "x"}, {"object", "chat.completion"}, {"choices", {choice}}};
  if (!x.usage.estimated) out["usage"] = usage_of(x.usage);
  return out.dump();
}

}  // namespace

TEST_CASE("recorded streams, folded into one document, mean the same") {
  const auto folder = testing::corpus_folder();
  if (!folder) return testing::skip("no corpus of provider streams");
  const auto index = json::parse(read_file(*folder / "index.json"));
  int compared = 0;
  for (const auto& entry : index.at("files")) {
    if (entry.at("protocol") != "openai-chat") continue;
    const auto name = entry.at("file").get<std::string>();
    const auto streamed = read_message(read_file(*folder / name), 1u << 20);
    if (!streamed) continue;
    CAPTURE(name);
    const auto document = folded(*streamed);
    for (const std::size_t piece : {1u, 1000u, 1u << 30}) {
      const auto whole = read_message(document, piece);
      REQUIRE(whole);
      CHECK(whole->text == streamed->text);
      CHECK(whole->reasoning == streamed->reasoning);
      CHECK(whole->refusal == streamed->refusal);
      CHECK(whole->calls == streamed->calls);
      CHECK(whole->finish == streamed->finish);
      CHECK(whole->usage == streamed->usage);
    }
    ++compared;
  }
  std::cout << "folded streams: " << compared << " compared\n";
  CHECK(compared > 20);
}
