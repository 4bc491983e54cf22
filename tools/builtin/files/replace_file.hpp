// SPDX-License-Identifier: MIT
#pragma once

// Files of the workspace, replaced in one step.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>

#include <tl/expected.hpp>

#include "runtime/base/unique_fd.hpp"
#include "tools/builtin/files/file_failure.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

/// The place of a file that is written: its folder and its name in it, no
/// symbolic links (place.hpp).
struct write_target {
  unique_fd root;
  std::string name;    ///< as the model wrote it, relative to the workspace
  std::string where;   ///< its place
  std::string folder;  ///< of the place; "." is the workspace
  std::string leaf;    ///< name in the folder
  unique_fd place;     ///< the open folder; none: it does not exist yet
  unique_fd current;   ///< the file as it is, open for reading; none: new
  struct stat info{};  ///< of `current`
  neighbours others = neighbours::named;  ///< of failures
};

/// Finds out what a path stands for; creates nothing. `judged`: see
/// `tool_context::judged`; another place is none. The error is what the tool
/// `op` tells the model: out of the workspace, a folder, a pipe, not writable,
/// or moved.
tl::expected<write_target, tool_output> find_target(
    std::string_view op, const std::filesystem::path& workspace,
    std::string_view path, const std::optional<std::string>& judged = {},
    neighbours others = neighbours::named);

/// Makes the folders on the way, none of them through a link; 0 or an errno,
/// ELOOP: something else is there now.
int make_folders(write_target& target);

/// Replaces the file, or makes it: what `fill` writes to a temporary file
/// beside it is renamed to it, so that every reader sees the old or the new
/// content, whole. What is new by now is not replaced (ESTALE). An existing
/// file keeps its mode and, as far as allowed, its owner; other hard links keep
/// the old content. `still` is asked last, with the new file, whether to go on;
/// 0, or an errno (of `still`, too). There is no fsync: the content survives
/// the process, not a power loss. What a process that was killed within it left
/// in the folder goes, once a minute (left_files.hpp).
int replace_file(const write_target& target,
                 const std::function<int(int fd)>& fill,
                 const std::function<int(int fd)>& still);

/// Opens what the target's name stands for now; -1 in the result: nothing.
tl::expected<unique_fd, int> open_now(const write_target& target);

}  // namespace riffle::tools
