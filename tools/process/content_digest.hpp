// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace riffle::tools {

/// What an open file holds, as text: the SHA-256 of its bytes. Of more than 16
/// MiB, or if it cannot be read, its identity, size and times instead, which
/// change with the content. Blocks; the descriptor's position stays.
std::string content_digest(int fd);

/// The same of a regular file; empty: it is none, or cannot be opened.
std::string content_digest(const std::filesystem::path& file);

/// Its identity, size and times alone; empty: it is no regular file.
std::string file_identity(const std::filesystem::path& file);

}  // namespace riffle::tools
