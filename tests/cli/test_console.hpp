// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include "runtime/cli/commands/commands.hpp"

namespace riffle::testing {

/// A file without a name.
class scratch_file {
 public:
  scratch_file() {
    std::array<char, 32> name{"/tmp/riffle-XXXXXX"};
    fd_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd_ >= 0) ::unlink(name.data());
  }
  ~scratch_file() { ::close(fd_); }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;

  [[nodiscard]] int fd() const { return fd_; }

  /// All that was written so far.
  [[nodiscard]] std::string text() const {
    std::string out;
    std::array<char, 4096> piece{};
    while (true) {
      const auto n = ::pread(fd_, piece.data(), piece.size(),
                             static_cast<off_t>(out.size()));
      if (n <= 0) return out;
      out.append(piece.data(), static_cast<std::size_t>(n));
    }
  }

 private:
  int fd_ = -1;
};

/// A console whose texts can be looked at.
struct test_console {
  scratch_file out;
  scratch_file err;
  cli::console io{cli::fd_writer{out.fd()}, cli::fd_writer{err.fd()}};
};

}  // namespace riffle::testing
