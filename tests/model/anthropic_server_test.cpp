// SPDX-License-Identifier: MIT
// Anthropic's own tools, which its servers call: never called here, and what
// they did goes back as it came.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "actors/core/message_assembler.hpp"
#include "actors/core/tool_call_assembler.hpp"
#include "tests/model/dialect_reading.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

std::string server_event(std::string_view type, const std::string& more) {
  return "event: " + std::string{type} + "\ndata: {\"type\":\"" +
         std::string{type} + "\"" + more + "}\n\n";
}

std::string server_block(int index, const std::string& begin,
                         const std::vector<std::string>& deltas = {}) {
  const auto at = ",\"index\":" + std::to_string(index);
  auto out =
      server_event("content_block_start", at + ",\"content_block\":" + begin);
  for (const auto& x : deltas)
    out += server_event("content_block_delta", at + ",\"delta\":" + x);
  return out + server_event("content_block_stop", at);
}

const std::string search_begin =
    R"({"type":"server_tool_use","id":"srvtoolu_1","name":"web_search",)"
    R"("input":{},"caller":{"type":"direct"}})";

const std::string search_result =
    R"({"type":"web_search_tool_result","tool_use_id":"srvtoolu_1",)"
    R"("content":[{"type":"web_search_result","title":"Bells & \"more\"",)"
    R"("url":"https://example.org/a","encrypted_content":"EqgfC+/==",)"
    R"("page_age":null}],"later":{"z":1,"a":[2.5,true]}})";

const std::string first_citation =
    R"({"type":"web_search_result_location","cited_text":"née",)"
    R"("url":"https://example.org/a","title":"Bells",)"
    R"("encrypted_index":"Eo8B/+="})";

const std::string second_citation =
    R"({"type":"page_location","cited_text":"b","document_index":0,)"
    R"("document_title":null,"start_page_number":1,"end_page_number":2})";

const std::string our_call =
    server_block(4,
                 R"({"type":"tool_use","id":"toolu_1","name":"now",)"
                 R"("input":{}})",
                 {R"({"type":"input_json_delta","partial_json":"{\"a\":1}"})"});

/// Its own search, what it found, words with citations, and a call of ours, if
/// there is one.
std::string searching(const std::string& why, const std::string& ours) {
  return server_event("message_start",
                      R"(,"message":{"id":"m","usage":{"input_tokens":1}})") +
         server_block(0, R"({"type":"text","text":""})",
                      {R"({"type":"text_delta","text":"I look."})"}) +
         server_block(
             1, search_begin,
             {R"({"type":"input_json_delta","partial_json":""})",
              R"({"type":"input_json_delta","partial_json":"{\"query\":"})",
              R"({"type":"input_json_delta","partial_json":" \"bel"})",
              R"({"type":"input_json_delta","partial_json":"ls\", \"b\": 1}"})"}) +
         server_block(2, search_result) +
         server_block(
             3, R"({"type":"text","text":"","citations":[]})",
             {R"({"type":"citations_delta","citation":)" + first_citation + "}",
              R"({"type":"text_delta","text":"Cast "})",
              R"({"type":"text_delta","text":"once."})",
              R"({"type":"citations_delta","citation":)" + second_citation +
                  "}"}) +
         ours +
         server_event("message_delta",
                      R"(,"delta":{"stop_reason":")" + why +
                          R"("},"usage":{"output_tokens":9})") +
         server_event("message_stop", "");
}

/// What goes back of it.
const std::string told_search =
    R"({"role":"assistant","content":[{"type":"text","text":"I look."},)"
    R"({"type":"server_tool_use","id":"srvtoolu_1","name":"web_search",)"
    R"("input":{"query":"bells","b":1},"caller":{"type":"direct"}},)" +
    search_result + R"(,{"type":"text","text":"Cast once.","citations":[)" +
    first_citation + "," + second_citation + "]}";

const std::string told_call =
    R"(,{"type":"tool_use","id":"toolu_1","name":"now","input":{"a":1}})";

struct searched {
  core::message_assembler message;
  core::tool_call_assembler calls;
};

searched read_search(const std::string& body, std::size_t piece) {
  const auto decoder = model::make_anthropic_dialect()->make_decoder();
  searched out;
  const auto add = [&](const turn_delta& x) {
    out.message.add(x);
    for (const auto& one : x.fragments) out.calls.on_fragment(one);
  };
  for (std::size_t at = 0; at < body.size(); at += piece) {
    turn_delta delta;
    decoder->feed(std::string_view{body}.substr(at, piece), delta);
    add(delta);
  }
  turn_delta delta;
  decoder->end(delta);
  add(delta);
  out.calls.on_turn_end(out.message.finish());
  return out;
}

std::string told_back(const model::told_turn& x) {
  return model::make_anthropic_dialect()->assistant_message(x);
}

model::told_turn told_turn_of(const searched& x) {
  model::told_turn out{
      x.message.text(), x.message.reasoning(), {}, x.message.state(), true};
  for (const auto& call : x.calls.calls())
    out.calls.push_back({call.provider_id, call.name, call.arguments});
  return out;
}

}  // namespace

TEST_CASE("anthropic: what its own tools did goes back as it came") {
  const auto body = searching("tool_use", our_call);
  for (const std::size_t piece : {1u, 2u, 3u, 7u, 64u, 1u << 20}) {
    CAPTURE(piece);
    const auto x = read_search(body, piece);
    REQUIRE_FALSE(x.message.failure());
    CHECK(x.message.text() == "I look.Cast once.");
    REQUIRE(x.calls.calls().size() == 1);  // of its own none is called here
    CHECK(x.calls.calls()[0].name == "now");
    CHECK(x.calls.calls()[0].arguments == "{\"a\":1}");
    auto turn = told_turn_of(x);
    CHECK(told_back(turn) == (told_search + told_call + "]}"));
    turn.own = false;  // another model gets the words and the call
    CHECK(told_back(turn) == (R"({"role":"assistant","content":[)"
                              R"({"type":"text","text":"I look.Cast once."})" +
                              told_call + "]}"));
  }
}

TEST_CASE("anthropic: its own tools alone end a turn, and go back as well") {
  const auto x = read_search(searching("end_turn", {}), 7);
  REQUIRE_FALSE(x.message.failure());
  CHECK(x.calls.calls().empty());
  CHECK(x.message.finish() == finish_reason::stop);
  CHECK(told_back(told_turn_of(x)) == (told_search + "]}"));
}

TEST_CASE("anthropic: a turn that pauses in its own tool goes back as it is") {
  const auto body =
      server_event("message_start", R"(,"message":{"id":"m"})") +
      server_block(
          0, search_begin,
          {R"({"type":"input_json_delta","partial_json":"{\"query\":"})",
           R"({"type":"input_json_delta","partial_json":"\"x\"}"})"}) +
      server_event("message_delta",
                   R"(,"delta":{"stop_reason":"pause_turn"})") +
      server_event("message_stop", "");
  const auto x = read_search(body, 3);
  CHECK(x.message.finish() == finish_reason::paused);
  CHECK(x.calls.calls().empty());
  CHECK(told_back(told_turn_of(x)) ==
        (R"({"role":"assistant","content":[{"type":"server_tool_use",)"
         R"("id":"srvtoolu_1","name":"web_search","input":{"query":"x"},)"
         R"("caller":{"type":"direct"}}]})"));
}
