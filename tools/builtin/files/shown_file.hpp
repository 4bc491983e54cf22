// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "tools/builtin/files/workspace_file.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

/// The result that shows the model a picture or a PDF, if the file is one, by
/// its bytes, and the model takes such. Nothing: it is to be read as text.
/// `head`: what it begins with.
std::optional<tool_output> show_file(std::string_view op, const open_file& file,
                                     std::string_view head,
                                     const tool_context& context);

}  // namespace riffle::tools
