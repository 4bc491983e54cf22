// SPDX-License-Identifier: MIT
#include "tools/kept_file.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace riffle::tools {

bool has_room(int fd, std::uint64_t bytes) {
  constexpr std::uint64_t left_free = std::uint64_t{16} << 20;
  struct statvfs disk{};
  if (::fstatvfs(fd, &disk) != 0) return true;
  return std::uint64_t{disk.f_bavail} * disk.f_frsize >= left_free + bytes;
}

std::optional<std::filesystem::path> kept_file(
    const std::filesystem::path& folder, const call_id& call) {
  const auto& name = call.value;
  const bool plain =
      !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-';
      });
  if (!plain || folder.empty()) return std::nullopt;
  return folder / name;
}

kept_file_writer::kept_file_writer(std::filesystem::path file,
                                   std::uint64_t most)
    : file_{std::move(file)}, left_{most} {}

kept_file_writer::~kept_file_writer() {
  if (fd_ >= 0) ::close(fd_);
}

void kept_file_writer::open() {
  // A new file: an attempt that was given up may still hold the old one.
  ::unlink(file_.c_str());
  fd_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd_ < 0) error_ = errno;
}

void kept_file_writer::fail(int why) {
  error_ = why;
  ::close(std::exchange(fd_, -1));
  ::unlink(file_.c_str());
}

void kept_file_writer::write(std::string_view bytes) {
  if (file_.empty() || error_ != 0) return;
  if (fd_ < 0) open();
  if (fd_ >= 0 && bytes.size() > left_) return fail(EFBIG);
  if (fd_ >= 0 && !has_room(fd_, bytes.size())) return fail(ENOSPC);
  left_ -= bytes.size();
  while (fd_ >= 0 && !bytes.empty()) {
    const auto n = ::write(fd_, bytes.data(), bytes.size());
    if (n >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(n));
    else if (errno != EINTR)
      fail(errno);
  }
}

bool kept_file_writer::good() const noexcept { return fd_ >= 0; }

std::string kept_file_writer::problem() const {
  if (error_ == EFBIG) return "there is more than is kept of one call (1 GiB)";
  if (error_ == ENOSPC)
    return "there is no room for it: 16 MiB of the disk are left free for what "
           "runs store";
  return error_ == 0 ? "" : std::generic_category().message(error_);
}

}  // namespace riffle::tools
