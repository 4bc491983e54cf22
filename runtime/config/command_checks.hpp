// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "runtime/config/config.hpp"
#include "runtime/config/document.hpp"

namespace riffle::config {

/// Gets the key of a tool's table ("" for the table itself) and what is wrong.
using tool_mistake =
    std::function<void(const std::string& key, const std::string& message)>;

/// What is wrong with a tool of `type = "command"`, or with its keys on a
/// tool that is none. `table` is the tool's, or null; `file_folder` is where
/// it runs without `cwd`.
void check_command(const std::string& name, const tool_config& x,
                   const value* table, const std::filesystem::path& file_folder,
                   const tool_mistake& report);

}  // namespace riffle::config
