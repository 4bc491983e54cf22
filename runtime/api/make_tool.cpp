// SPDX-License-Identifier: MIT
#include "runtime/api/make_tool.hpp"

#include <nlohmann/json.hpp>

namespace riffle {

namespace {

class function_tool final : public tools::tool {
 public:
  function_tool(tools::tool_spec spec, tool_function run, tool_traits traits)
      : spec_{std::move(spec)},
        run_{std::move(run)},
        traits_{std::move(traits)} {}

  const tools::tool_spec& spec() const noexcept override { return spec_; }

  std::string title(const nlohmann::json& arguments) const override {
    return traits_.title ? traits_.title(arguments) : spec_.name;
  }

  std::vector<std::string> keys(
      const nlohmann::json& arguments,
      const std::filesystem::path& /*workspace*/) const override {
    if (!traits_.keys) return {};
    return traits_.keys(arguments);
  }

  rule_subject subject(const nlohmann::json& arguments,
                       const std::filesystem::path& workspace) const override {
    if (!traits_.subject) return tool::subject(arguments, workspace);
    return traits_.subject(arguments, workspace);
  }

  tools::call_preview preview(
      const nlohmann::json& arguments,
      const std::filesystem::path& workspace) const override {
    if (!traits_.preview) return tool::preview(arguments, workspace);
    return traits_.preview(arguments, workspace);
  }

  tools::tool_output run(const nlohmann::json& arguments,
                         tools::tool_context& context) override {
    return run_(arguments, context);
  }

 private:
  const tools::tool_spec spec_;
  const tool_function run_;
  const tool_traits traits_;
};

}  // namespace

tools::tool_ptr make_function_tool(tools::tool_spec spec, tool_function run,
                                   tool_traits traits) {
  return std::make_shared<function_tool>(std::move(spec), std::move(run),
                                         std::move(traits));
}

}  // namespace riffle
