// SPDX-License-Identifier: MIT
#include "tools/remote_tool.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "tools/key_pointers.hpp"
#include "tools/registry.hpp"
#include "tools/subject_text.hpp"

namespace riffle::tools {

namespace {

using json = nlohmann::json;

class remote_tool final : public tool {
 public:
  explicit remote_tool(cluster::tool_offer offer)
      : spec_{.name = offer.name,
              .description = offer.description,
              .parameters = offer.parameters,
              .eff = offer.eff,
              .idempotent = offer.idempotent,
              .always_asks = offer.needs_approval},
        keys_{std::move(offer.keys)},
        definition_{std::move(offer.definition)} {}

  [[nodiscard]] const tool_spec& spec() const noexcept override {
    return spec_;
  }

  [[nodiscard]] std::string title(const json& arguments) const override {
    return title_with_subject("Using " + spec_.name, arguments);
  }

  [[nodiscard]] std::vector<std::string> keys(
      const json& arguments,
      const std::filesystem::path& /*workspace*/) const override {
    return texts_at(keys_, arguments);
  }

  [[nodiscard]] std::string definition() const override {
    return tool::definition() + definition_;
  }

  tool_output run(const json& /*arguments*/, tool_context& /*c*/) override {
    tool_output out;
    out.err = error{errc::tool_unavailable, "remote_tool",
                    "`" + spec_.name + "` runs on nodes only"};
    return out;
  }

 private:
  const tool_spec spec_;
  const std::vector<std::string> keys_;
  const std::string definition_;
};

}  // namespace

tool_ptr make_remote_tool(cluster::tool_offer offer) {
  return std::make_shared<remote_tool>(std::move(offer));
}

std::optional<std::string> problem_of(const cluster::tool_offer& offer) {
  for (const auto& key : offer.keys)
    if (!key.starts_with('/')) return "its key " + key + " is no JSON pointer";
  // Each request of a run that may use it has both.
  constexpr std::size_t most_text = std::size_t{64} << 10;
  if (offer.description.size() > most_text ||
      offer.parameters.size() > most_text)
    return "its description or its parameters have more than 64 KiB";
  registry trial;
  if (auto added = trial.add(make_remote_tool(offer)); !added)
    return added.error().message;
  return {};
}

}  // namespace riffle::tools
