// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace riffle::tools {

/// What a program's standard output says.
struct command_result {
  std::string text;
  std::optional<std::string> failure;  ///< it says that it failed, and why
  nlohmann::json metadata = nlohmann::json::object();
};

/// One JSON object with the key `output` or `error` and no other key but
/// `metadata` is an envelope; all else is the text itself, also other JSON.
///
///     {"output": "…", "metadata": {…}}      {"error": "no such ticket"}
///
/// An `output` that is no text is given as JSON. An envelope with a wrong type
/// inside is no envelope. Longer texts than 1 MiB are never one.
command_result read_result(std::string text);

}  // namespace riffle::tools
