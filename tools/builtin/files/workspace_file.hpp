// SPDX-License-Identifier: MIT
#pragma once

// Files of the workspace, opened for file tools.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "runtime/base/unique_fd.hpp"
#include "tools/builtin/files/file_failure.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

struct open_file {
  std::string name;  ///< relative to the workspace
  unique_fd fd;      ///< for reading
  std::uint64_t size = 0;
  bool sparse = false;
};

/// The workspace as a folder to resolve paths from (O_PATH).
tl::expected<unique_fd, tool_output> open_workspace(
    std::string_view op, const std::filesystem::path& workspace);

/// Opens a regular file that a model named. Never opens pipes and devices.
/// `judged`: see `tool_context::judged`; another place is none. The error is
/// what the tool `op` tells the model.
tl::expected<open_file, tool_output> open_regular(
    std::string_view op, const std::filesystem::path& workspace,
    std::string_view path, const std::optional<std::string>& judged = {},
    neighbours others = neighbours::named);

/// The same, `name` being relative to the open workspace `root`.
tl::expected<open_file, tool_output> open_regular_at(
    std::string_view op, int root, std::string name,
    const std::optional<std::string>& judged = {},
    neighbours others = neighbours::named);

/// What a file begins with, read once: at most 8 KiB, nothing if it cannot be
/// read.
class file_head {
 public:
  explicit file_head(int fd);

  [[nodiscard]] std::string_view text() const { return {bytes_.data(), size_}; }
  /// A NUL in it, as git and grep decide it.
  [[nodiscard]] bool looks_binary() const;

 private:
  std::array<char, 8u << 10> bytes_;  // only what was read is looked at
  std::size_t size_ = 0;
};

}  // namespace riffle::tools
