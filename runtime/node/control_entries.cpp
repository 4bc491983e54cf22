// SPDX-License-Identifier: MIT
#include "runtime/node/control_entries.hpp"

#include <nlohmann/json.hpp>

#include "actors/core/control_tools.hpp"

namespace riffle {

namespace {

class control_entry final : public tools::tool {
 public:
  explicit control_entry(const core::control_tool& about) {
    spec_.name = about.name;
    spec_.description = about.description;
    spec_.parameters = about.parameters;
    spec_.eff = effect::mutating;  // nothing of it may start early
    spec_.idempotent = true;
  }

  const tools::tool_spec& spec() const noexcept override { return spec_; }

  std::string title(const nlohmann::json&) const override {
    if (spec_.name == "complete") return "Completing the task";
    if (spec_.name == "manage_plan") return "Updating the plan";
    if (spec_.name == "set_phase") return "Entering another phase";
    return "Asking for approval";
  }

  tools::tool_output run(const nlohmann::json&, tools::tool_context&) override {
    return {{},
            error{errc::internal, spec_.name, "a control tool has no worker"},
            {}};
  }

 private:
  tools::tool_spec spec_;
};

}  // namespace

std::vector<tools::tool_ptr> control_entries() {
  std::vector<tools::tool_ptr> all;
  for (const auto& about : core::control_tools())
    all.push_back(std::make_shared<control_entry>(about));
  return all;
}

}  // namespace riffle
