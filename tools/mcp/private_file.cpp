// SPDX-License-Identifier: MIT
#include "tools/mcp/private_file.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/unique_fd.hpp"

namespace riffle::mcp {

namespace {

unexpected failure(const std::filesystem::path& file) {
  return unexpected{error{.code = errc::storage_unavailable,
                          .op = "mcp",
                          .message = "cannot write " + file.string(),
                          .cause = std::strerror(errno)}};
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

void make_private_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  // The folder of all data, if it is the first in it, is nobody else's either.
  std::filesystem::create_directories(folder.parent_path().parent_path(),
                                      ignored);
  ::mkdir(folder.parent_path().c_str(), S_IRWXU);
  ::mkdir(folder.c_str(), S_IRWXU);
  ::chmod(folder.c_str(), S_IRWXU);
}

expected<void> write_private_file(const std::filesystem::path& file,
                                  std::string_view text) {
  static std::atomic<unsigned> count{0};
  const auto fresh = file.string() + "." + std::to_string(::getpid()) + "." +
                     std::to_string(++count);
  {
    ::unlink(fresh.c_str());  // of a process that had the number before
    const unique_fd fd{::open(fresh.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                              S_IRUSR | S_IWUSR)};
    if (!fd || !write_all(fd.get(), text)) return failure(fresh);
  }
  if (::rename(fresh.c_str(), file.c_str()) != 0) return failure(file);
  return {};
}

}  // namespace riffle::mcp
