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

call_preview tool::preview(const nlohmann::json& /*arguments*/,
                           const std::filesystem::path& /*workspace*/) const {
  return {};
}

std::optional<read_claim> tool::only_reads(
    const nlohmann::json& /*arguments*/,
    const std::filesystem::path& /*workspace*/) const {
  return {};
}

std::string tool::definition() const {
  const auto& x = spec();
  return nlohmann::json{{"name", x.name},
                        {"description", x.description},
                        {"parameters", x.parameters},
                        {"effect", to_string(x.eff)},
                        {"idempotent", x.idempotent}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace riffle::tools
