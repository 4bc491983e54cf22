// SPDX-License-Identifier: MIT
#include "tests/model/dialect_reading.hpp"

#include <string_view>

namespace riffle::testing {

using nlohmann::json;

json request_of(const std::string& name, const model::request_options& options,
                const std::vector<std::string>& messages) {
  const auto dialect = model::make_dialect(name);
  auto text = dialect->request_head(options);
  bool first = true;
  for (const auto& x : messages) {
    if (x.empty()) continue;
    if (!first) text += ',';
    first = false;
    text += x;
  }
  return json::parse(text + dialect->request_tail(options));
}

model::request_options all_options() {
  model::request_options x;
  x.model = "m";
  x.system = "be good";
  x.tools = {{"now", "time", R"({"type":"object","properties":{"a":{}}})"},
             {"look", "", ""}};
  x.temperature = 0.5;
  x.top_p = 0.25;
  x.max_output_tokens = 7;
  x.extra = R"({"more":1})";
  return x;
}

core::message_assembler read_answer(const std::string& name,
                                    const std::string& body,
                                    std::size_t piece) {
  const auto decoder = model::make_dialect(name)->make_decoder();
  core::message_assembler message;
  for (std::size_t at = 0; at < body.size(); at += piece) {
    turn_delta delta;
    decoder->feed(std::string_view{body}.substr(at, piece), delta);
    message.add(delta);
  }
  turn_delta delta;
  decoder->end(delta);
  message.add(delta);
  return message;
}

std::string typed_event(const json& x) {
  return "event: " + x.value("type", "message") + "\ndata: " + x.dump() +
         "\n\n";
}

}  // namespace riffle::testing
