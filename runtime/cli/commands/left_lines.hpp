// SPDX-License-Identifier: MIT
#pragma once

// Lines that wait for the end of a run, on record for the next start of their
// session: whoever kills a program does not know what stood behind its back.

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace riffle::cli {

class left_lines {
 public:
  /// `own`: who writes it; lines of processes that live are nobody else's.
  left_lines(std::filesystem::path file, pid_t own);

  /// What waits here now; empty: nothing does. Where the file cannot be written
  /// nobody is told of it later; the history has the lines all the same.
  void waiting(const std::string& session, std::vector<std::string> texts);

  /// What waited in a session when its process ended, oldest first. Told once.
  [[nodiscard]] std::vector<std::string> take(const std::string& session) const;

 private:
  struct entry {
    std::string session;
    pid_t process = 0;
    std::string text;
  };
  [[nodiscard]] std::vector<entry> read() const;
  static std::size_t first_kept(const std::vector<entry>& entries);
  void write(const std::vector<entry>& entries) const;

  std::filesystem::path file_;
  pid_t own_;
  std::vector<std::string> last_;  ///< as it was written
};

/// "2 lines were waiting when it ended: Up brings them back."
std::string left_text(std::size_t lines);

}  // namespace riffle::cli
