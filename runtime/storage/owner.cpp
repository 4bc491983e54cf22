// SPDX-License-Identifier: MIT
#include "runtime/storage/owner.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <sstream>
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
    // Whatever stands there, opening it waits for nobody.
    fd = ::open(file.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0600);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

void write_pid(const unique_fd& fd) {
  const auto text = std::to_string(::getpid()) + "\n";
  // For people only: a failure costs nothing.
  [[maybe_unused]] const auto n = ::write(fd.get(), text.data(), text.size());
}

/// Who holds the lock of what is open, as far as the system tells.
std::optional<int> holder_of(const unique_fd& fd) {
  struct stat about{};
  if (::fstat(fd.get(), &about) != 0) return {};
  const auto inode = ":" + std::to_string(about.st_ino);
  std::ifstream all{"/proc/locks"};
  std::string line;
  while (std::getline(all, line)) {
    std::istringstream words{line};
    std::string number, kind, how, access, file;
    int pid = 0;
    if (words >> number >> kind >> how >> access >> pid >> file &&
        kind == "FLOCK" && pid > 0 && file.ends_with(inode))
      return pid;
  }
  return {};
}

error held_up(const fs::path& folder, const unique_fd& fd) {
  const auto pid = holder_of(fd);
  const auto who =
      pid ? "process " + std::to_string(*pid) : std::string{"another process"};
  return {errc::storage_unavailable,
          "open_journal",
          who + " is opening " + folder.string() +
              " and does not come to an end: it was stopped" +
              (pid ? " (kill -CONT " + std::to_string(*pid) + " lets it go on)"
                   : std::string{}) +
              ", or its disk is slow",
          true,
          {}};
}

/// Of an owner that cannot be asked whether it lives.
std::string describe_unasked(const fs::path& file, int number) {
  const auto why =
      file.string() + ": " + std::generic_category().message(number);
  struct stat about{};
  if (number != EACCES || ::lstat(file.c_str(), &about) != 0)
    return "a process that cannot be asked (" + why + ")";
  const auto user = about.st_uid == 0 ? std::string{"root"}
                                      : "user " + std::to_string(about.st_uid);
  return "a process of " + user + " (whether it lives, only " + user +
         " can say: " + why + ")";
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
  const bool is_mark = !id.empty() && id.find('/') == std::string_view::npos;
  const unique_fd fd{is_mark ? open_file(folder / id, O_RDONLY) : -1};
  if (is_mark && !fd && errno != ENOENT)
    return describe_unasked(folder / id, errno);
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
  const int number = errno;
  if (number == EWOULDBLOCK) return unexpected{held_up(folder, fd)};
  return cannot("lock", folder, number);
}

}  // namespace riffle::storage
