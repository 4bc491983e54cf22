// SPDX-License-Identifier: MIT
#pragma once

// What file tools and searches have in common: a spec, and a path as argument.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/builtin/files/place.hpp"
#include "tools/text.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

/// The text of an argument that the schema requires.
inline const std::string& text_at(const nlohmann::json& arguments,
                                  const char* key) {
  return arguments.at(key).get_ref<const std::string&>();
}

/// The base of a tool that acts on its argument `path`, which is its place and
/// its key; "." where it is left out.
class path_tool : public tool {
 public:
  [[nodiscard]] const tool_spec& spec() const noexcept final { return spec_; }

  [[nodiscard]] std::string title(const nlohmann::json& arguments) const final {
    return std::string{doing_} + about(arguments);
  }

  [[nodiscard]] std::vector<std::string> keys(
      const nlohmann::json& arguments,
      const std::filesystem::path& workspace) const final {
    return {path_key(workspace, arguments.value("path", "."))};
  }

  [[nodiscard]] rule_subject subject(
      const nlohmann::json& arguments,
      const std::filesystem::path& workspace) const override {
    return path_subject(workspace, text_at(arguments, "path"));
  }

 protected:
  /// `doing`: how its title begins, with a blank at its end; lives as long as
  /// the program.
  path_tool(std::string_view doing, tool_spec spec)
      : doing_{doing}, spec_{std::move(spec)} {}

 private:
  /// What a title goes on with.
  [[nodiscard]] virtual std::string about(
      const nlohmann::json& arguments) const {
    return with_dots(text_at(arguments, "path"), 200);
  }

  const std::string_view doing_;
  const tool_spec spec_;
};

}  // namespace riffle::tools
