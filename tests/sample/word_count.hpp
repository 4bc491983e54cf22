// SPDX-License-Identifier: MIT
#pragma once

#include <sstream>

#include <nlohmann/json.hpp>
#include <riffle/riffle.hpp>

inline riffle::tools::tool_ptr word_count() {
  return riffle::make_tool(
      {.name = "word_count",
       .description = "Counts the words of a text.",
       .parameters = R"({"type": "object", "required": ["text"],
                         "properties": {"text": {"type": "string"}}})",
       .eff = riffle::effect::read_only},
      [](const nlohmann::json& arguments) {
        std::istringstream text{arguments.at("text").get<std::string>()};
        int words = 0;
        for (std::string word; text >> word;) ++words;
        return std::to_string(words) + " words";
      });
}
