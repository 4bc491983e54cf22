// SPDX-License-Identifier: MIT
#pragma once

// What `read` says when it fails: what is there instead, and what to do.

#include <filesystem>
#include <string>
#include <sys/types.h>

#include "tools/tool.hpp"

namespace riffle::tools {

/// The model reads the message as the tool's output, too.
tool_output read_failure(errc code, std::string message);

tool_output no_workspace(const std::filesystem::path& workspace, int number);

/// `number`: the errno of opening `name` beneath the folder `root`.
tool_output cannot_open(int root, const std::string& name, int number);

tool_output cannot_read(const std::string& name, int number);

/// For a folder (with a look into it), a pipe, a device.
tool_output not_a_file(int root, const std::string& name, mode_t mode);

}  // namespace riffle::tools
