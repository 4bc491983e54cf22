// SPDX-License-Identifier: MIT
#include "tools/process/content_digest.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "runtime/base/digest.hpp"
#include "runtime/base/locked_files.hpp"
#include "runtime/base/unique_fd.hpp"

namespace riffle::tools {

namespace {

constexpr off_t longest_read = off_t{16} << 20;
constexpr std::size_t piece_size = 64u << 10;

std::string time_text(const struct timespec& x) {
  return std::to_string(x.tv_sec) + "." + std::to_string(x.tv_nsec);
}

std::string identity_of(const struct stat& x) {
  return "file " + std::to_string(x.st_dev) + " " + std::to_string(x.st_ino) +
         " " + std::to_string(x.st_size) + " " + time_text(x.st_mtim) + " " +
         time_text(x.st_ctim);
}

}  // namespace

std::string content_digest(int fd) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return "unknown";
  if (info.st_size > longest_read) return identity_of(info);
  sha256_stream hash;
  std::vector<char> piece(piece_size);
  for (off_t at = 0;;) {
    const auto count = ::pread(fd, piece.data(), piece.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 || at > longest_read) return identity_of(info);
    if (count == 0) break;
    hash.add({piece.data(), static_cast<std::size_t>(count)});
    at += count;
  }
  return "sha256 " + hash.finish();
}

std::string content_digest(const std::filesystem::path& file) {
  const auto fd =
      open_unlocked(file.string(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return content_digest(fd.get());
}

std::string file_identity(const std::filesystem::path& file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return identity_of(info);
}

}  // namespace riffle::tools
