// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace riffle::tools {

/// The argument that says most about a call, for titles and traces: a pattern,
/// a path, a command and the like; empty: it has none. As the model wrote it.
std::string subject_text(const nlohmann::json& arguments);

/// Of a tool that nobody here knows: the same, else its first short text, or
/// the number that is all of it.
std::string any_subject_text(const nlohmann::json& arguments);

/// "Using files to read text file: README.md", "Using lookup: 4711": the title
/// of a call of such a tool, one line, by which two of them can be told apart.
std::string title_with_subject(std::string title,
                               const nlohmann::json& arguments);

}  // namespace riffle::tools
