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
/// inside is no envelope. Of a text of more than 1 MiB only a failure counts
/// that it begins with; the text stays as it is.
command_result read_result(std::string text);

/// The error of an envelope of which only the begin is there, or the begin of
/// that error: what failed does not pass for a success because it is long.
std::optional<std::string> failure_in_begin(std::string_view text);

}  // namespace riffle::tools
