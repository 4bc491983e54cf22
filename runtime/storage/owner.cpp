// SPDX-License-Identifier: MIT
#include "runtime/storage/owner.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "runtime/base/file_lock.hpp"
#include "runtime/base/id_source.hpp"

namespace riffle::storage {

namespace {

namespace fs = std::filesystem;

unexpected cannot(std::string_view what, const fs::path& file, int number) {
  return unexpected{error{errc::storage_unavailable,
                          "open_journal",
                          std::string{"cannot "}.append(what) + " " +
                              file.string() + ": " +
                              std::generic_category().message(number),
                          number == ENOSPC || number == EDQUOT,
                          {}}};
}

int open_file(const fs::path& file, int flags) {
  int fd = -1;
  do {
    fd = ::open(file.c_str(), flags | O_CLOEXEC, 0600);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

void write_pid(const unique_fd& fd) {
  const auto text = std::to_string(::getpid()) + "\n";
  // For people only: a failure costs nothing.
  [[maybe_unused]] const auto n = ::write(fd.get(), text.data(), text.size());
}

}  // namespace

owner_lock::owner_lock(fs::path file, std::string id, unique_fd fd)
    : file_{std::move(file)}, id_{std::move(id)}, fd_{std::move(fd)} {}

expected<owner_lock> owner_lock::create(const fs::path& folder) {
  if (auto made = make_private_folder(folder); !made)
    return unexpected{made.error()};
  id_source ids;
  for (int tries = 0; tries < 100; ++tries) {
    auto id = ids.make("own_");
    auto file = folder / id;
    unique_fd fd{open_file(file, O_RDWR | O_CREAT | O_EXCL)};
    if (!fd) return cannot("create", file, errno);
    if (!try_lock(fd, lock_kind::exclusive) || !leads_to(file, fd)) continue;
    write_pid(fd);
    return owner_lock{std::move(file), std::move(id), std::move(fd)};
  }
  return cannot("lock a file in", folder, EAGAIN);
}

owner_lock::~owner_lock() {
  // A missing mark means the same as a free one.
  if (fd_) ::unlink(file_.c_str());
}

bool owner_lives(const fs::path& folder, std::string_view id) {
  if (id.empty() || id.find('/') != std::string_view::npos) return false;
  const unique_fd fd{open_file(folder / id, O_RDONLY)};
  if (!fd) return errno != ENOENT;
  // A shared lock, so that two processes that ask do not see each other.
  return !try_lock(fd, lock_kind::shared);
}

std::string describe_owner(const fs::path& folder, std::string_view id) {
  std::array<char, 32> text{};
  const unique_fd fd{open_file(folder / id, O_RDONLY)};
  ssize_t n = 0;
  if (fd) n = ::read(fd.get(), text.data(), text.size());
  std::string_view pid{text.data(), n > 0 ? static_cast<std::size_t>(n) : 0};
  pid = pid.substr(0, pid.find('\n'));
  return pid.empty() ? "a process that is gone" : "process " + std::string{pid};
}

bool sweep_owners(const fs::path& folder, std::string_view self) {
  bool others = false;
  int removed = 0;
  std::error_code problem;
  for (fs::directory_iterator i{folder, problem}, end; !problem && i != end;
       i.increment(problem)) {
    const auto id = i->path().filename().string();
    if (id == self) continue;
    if (owner_lives(folder, id)) {
      others = true;
    } else if (removed < 256) {
      ::unlink(i->path().c_str());
      ++removed;
    }
  }
  return others;
}

expected<void> make_private_folder(const fs::path& folder) {
  std::error_code problem;
  if (folder.has_parent_path())
    fs::create_directories(folder.parent_path(), problem);
  if (problem) return cannot("create", folder, problem.value());
  if (::mkdir(folder.c_str(), 0700) == 0) return {};
  const int number = errno;
  if (number == EEXIST && fs::is_directory(folder, problem)) return {};
  return cannot("create", folder, number == EEXIST ? ENOTDIR : number);
}

expected<unique_fd> lock_folder(const fs::path& folder,
                                std::chrono::milliseconds timeout) {
  unique_fd fd{open_file(folder, O_RDONLY | O_DIRECTORY)};
  if (!fd) return cannot("open", folder, errno);
  if (lock_until(fd, lock_kind::exclusive,
                 std::chrono::steady_clock::now() + timeout))
    return fd;
  return cannot("lock", folder, errno);
}

}  // namespace riffle::storage
