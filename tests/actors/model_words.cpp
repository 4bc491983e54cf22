// SPDX-License-Identifier: MIT
// What a model of tests says, as a provider sends it.
#include "tests/actors/fixture.hpp"

using nlohmann::json;

namespace riffle::testing {

namespace {

std::string chunk(json delta, const json& reason = nullptr) {
  const json x{{"id", "c"},
               {"choices", json::array({{{"index", 0},
                                         {"delta", std::move(delta)},
                                         {"finish_reason", reason}}})}};
  return "data: " + x.dump() + "\n\n";
}

}  // namespace

std::string model_says(std::string_view text) {
  return chunk({{"content", std::string{text}}});
}

std::string model_calls(int index, const std::string& tool,
                        const json& arguments) {
  return chunk(
      {{"tool_calls",
        json::array({{{"index", index},
                      {"id", "id" + std::to_string(index)},
                      {"function",
                       {{"name", tool}, {"arguments", arguments.dump()}}}}})}});
}

std::string model_stops(const std::string& reason) {
  return chunk(json::object(), reason) + model_done;
}

}  // namespace riffle::testing
