// SPDX-License-Identifier: MIT
#pragma once

// The workspace path_confinement: file tools cannot leave it, whatever is done
// to the file system meanwhile.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "messages/call.hpp"
#include "messages/error.hpp"
#include "runtime/base/unique_fd.hpp"

namespace riffle::tools {

/// What a model wrote as a path, relative to the workspace; "." is the
/// workspace. An absolute path is taken if it begins with the workspace.
/// `invalid_arguments` for an empty path, one with a NUL byte, and an
/// absolute path to elsewhere. May still hold "..": only opening decides.
expected<std::string> relative_path(const std::filesystem::path& workspace,
                                    std::string_view path);

/// The key of a path for conflicts: absolute, "." and ".." taken away by
/// text alone (no look at the disk).
std::string path_key(const std::filesystem::path& workspace,
                     std::string_view path);

/// Who resolves paths: the kernel (openat2), or this code where the kernel
/// (before 5.6) or a sandbox does not offer it.
enum class resolver { automatic, walk };

/// What becomes of symbolic links on the way.
enum class links {
  followed,
  refused,  ///< ELOOP: the path is a place, or nothing
};

/// Opens `relative` beneath the folder `root`; the error is an errno, EXDEV
/// for a path that leaves it (through "..", an absolute symbolic link, a
/// link of /proc), also if a link is swapped while it is resolved; EBUSY for
/// a file of the journal that this process uses.
tl::expected<unique_fd, int> open_beneath(int root, const std::string& relative,
                                          int flags,
                                          resolver how = resolver::automatic,
                                          links through = links::followed);

/// Names in an open folder as valid UTF-8, sorted, folders with a "/" at their
/// end; at most `limit` are read.
std::vector<std::string> names_in(int folder, std::size_t limit);

}  // namespace riffle::tools
