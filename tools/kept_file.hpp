// SPDX-License-Identifier: MIT
#pragma once

// The whole output of a call on disk, when it is too long for memory: one
// file for each call, in a folder that the runtime names.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "messages/ids.hpp"

namespace riffle::tools {

/// The file of a call; nothing for an id that is no plain word (it may come
/// from outside).
std::optional<std::filesystem::path> kept_file(
    const std::filesystem::path& folder, const call_id& call);

/// Of one call no more is kept: a command that writes without end must not
/// fill the disk.
inline constexpr std::uint64_t most_kept_bytes = std::uint64_t{1} << 30;

/// Whether there is room for more where an open file is, beside what is left
/// for the journal, which is on the same disk: a run whose events cannot be
/// stored stands still, and its calls are cut. Where it is not known, the
/// writing tells it.
bool has_room(int fd, std::uint64_t bytes);

/// A file that is made by the first bytes; readable by its owner only. A
/// failure (a full disk, more than `most` bytes) is remembered and the file
/// removed: what cannot be kept whole is not kept.
class kept_file_writer {
 public:
  /// Empty: nothing is written.
  explicit kept_file_writer(std::filesystem::path file,
                            std::uint64_t most = most_kept_bytes);
  ~kept_file_writer();
  kept_file_writer(const kept_file_writer&) = delete;
  kept_file_writer& operator=(const kept_file_writer&) = delete;

  void write(std::string_view bytes);

  /// Whether all that was written is in the file.
  [[nodiscard]] bool good() const noexcept;
  /// Why not, for people; empty if nothing failed.
  [[nodiscard]] std::string problem() const;

 private:
  void open();
  void fail(int why);

  std::filesystem::path file_;
  std::uint64_t left_;
  int fd_ = -1;
  int error_ = 0;
};

}  // namespace riffle::tools
