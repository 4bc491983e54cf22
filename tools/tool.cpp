// SPDX-License-Identifier: MIT
#include "tools/tool.hpp"

#include <nlohmann/json.hpp>

namespace riffle::tools {

std::vector<std::string> tool::keys(
    const nlohmann::json& /*arguments*/,
    const std::filesystem::path& /*workspace*/) const {
  return {};
}

rule_subject tool::subject(const nlohmann::json& arguments,
                           const std::filesystem::path& /*workspace*/) const {
  return {.text = arguments.dump()};
}

std::string tool::preview(const nlohmann::json& /*arguments*/,
                          const std::filesystem::path& /*workspace*/) const {
  return {};
}

}  // namespace riffle::tools
