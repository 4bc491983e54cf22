// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

#include "tests/support/terminals.hpp"

namespace riffle::testing {

/// The built program (or another one) in a folder, with all three standard
/// descriptors on a pseudo-terminal. Killed by the destructor.
class terminal_program {
 public:
  terminal_program(const std::filesystem::path& folder,
                   const std::vector<std::string>& arguments,
                   unsigned short columns, const std::string& term = "xterm",
                   const std::string& locale = "",
                   const std::filesystem::path& program = built());
  static std::filesystem::path built();
  ~terminal_program();
  terminal_program(const terminal_program&) = delete;
  terminal_program& operator=(const terminal_program&) = delete;

  /// Reads until `text` came or the program ended; false then, or after a
  /// time limit.
  bool read_until(const std::string& text);
  /// The same, for a text behind the one that this found before.
  bool read_next(const std::string& text);
  /// Reads to the end; the exit status, -1 if it did not come in time.
  int finish();
  /// The same of one that ends although nobody reads what it writes.
  int end_unread() { return wait_for_end(); }
  /// Closes the window; then as `finish`.
  int hang_up();
  /// Types on the keyboard.
  void type(const std::string& keys) const;
  /// The same, as somebody who has read what stands there: no key answers a
  /// question that came in the moment before it.
  void answer(const std::string& keys) const;
  void resize(unsigned short columns) const;
  void signal(int number) const;
  /// As Ctrl-Z and `fg` of a shell, which leaves the terminal in its own mode;
  /// `typed`: behind that, at once.
  void stop_and_go_on(const std::string& typed = {}) const;

  /// Bytes that it has written so far, read or not, and to files, too.
  [[nodiscard]] std::size_t bytes_written() const;
  /// All that was written so far.
  [[nodiscard]] const std::string& written() const { return written_; }

 private:
  bool read_some();
  int wait_for_end();

  std::filesystem::path folder_;
  int terminal_ = -1;
  pid_t pid_ = -1;
  std::string written_;
  std::size_t seen_ = 0;  ///< of it, by `read_next`
};

}  // namespace riffle::testing
