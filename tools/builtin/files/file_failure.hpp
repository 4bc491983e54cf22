// SPDX-License-Identifier: MIT
#pragma once

// What file tools say when they fail: what is there instead, and what to do.

#include <filesystem>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "tools/tool.hpp"

namespace riffle::tools {

/// The model reads the message as the tool's output, too. `op`: the tool.
tool_output file_failure(std::string_view op, errc code, std::string message);

tool_output no_workspace(std::string_view op,
                         const std::filesystem::path& workspace, int number);

/// Whether a failure says what lies beside the file that was named.
enum class neighbours { named, untold };

/// `number`: the errno of opening `name` beneath the folder `root`.
tool_output cannot_open(std::string_view op, int root, const std::string& name,
                        int number, neighbours others = neighbours::named);

/// The place that was judged is not where `name` leads now.
tool_output place_moved(std::string_view op, const std::string& name);

tool_output cannot_read(std::string_view op, const std::string& name,
                        int number);

/// For a folder (with a look into it), a pipe, a device.
tool_output not_a_file(std::string_view op, int root, const std::string& name,
                       mode_t mode, neighbours others = neighbours::named);

}  // namespace riffle::tools
