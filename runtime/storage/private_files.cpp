// SPDX-License-Identifier: MIT
#include "runtime/storage/private_files.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "runtime/base/log.hpp"

namespace riffle::storage {

namespace {

namespace fs = std::filesystem;

constexpr mode_t of_others = S_IRWXG | S_IRWXO;
constexpr const char* reserve_name = "reserve";

/// Nothing if it is not there, or no file or folder.
mode_t mode_of(const fs::path& x) {
  struct stat about{};
  if (::lstat(x.c_str(), &about) != 0) return 0;
  return S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) ? about.st_mode : 0;
}

/// By name: opening and closing the database would free the locks that SQLite
/// holds on it in this process (POSIX, fcntl). Never through a link.
void make_private(const fs::path& x, mode_t mode) {
  if ((mode_of(x) & of_others) == 0) return;
  if (::fchmodat(AT_FDCWD, x.c_str(), mode, AT_SYMLINK_NOFOLLOW) != 0)
    log_warn("journal", "others may read " + x.string() +
                            ", and that cannot be changed: " +
                            std::generic_category().message(errno));
}

/// The folder last: while it is open, there may be something to do.
void make_folder_private(const fs::path& folder) {
  if ((mode_of(folder) & of_others) == 0) return;
  std::error_code failed;
  for (const auto& x : fs::directory_iterator{folder, failed})
    if (S_ISREG(mode_of(x.path()))) make_private(x.path(), 0600);
  make_private(folder, 0700);
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

std::string octal(mode_t mode) {
  std::string out;
  for (const int shift : {6, 3, 0})
    out += static_cast<char>('0' + ((mode >> shift) & 7U));
  return out;
}

}  // namespace

void make_files_private(const fs::path& data_dir) {
  for (const auto* name :
       {"riffle.db", "riffle.db-wal", "riffle.db-shm", reserve_name})
    make_private(data_dir / name, 0600);
  for (const auto* name : {"owners", "guards", "outputs", "service"})
    make_folder_private(data_dir / name);
  struct stat about{};
  if (::stat(data_dir.c_str(), &about) != 0) return;
  if (::geteuid() == 0 && about.st_uid != 0)
    log_warn("journal", "root works in " + data_dir.string() +
                            ", which is of user " +
                            std::to_string(about.st_uid) +
                            ": that user cannot go on with what is made now "
                            "(run it as that user, or set another data_dir)");
  if ((about.st_mode & of_others) == 0) return;
  log_warn("journal", "others can look into the data folder " +
                          data_dir.string() + " (mode " + octal(about.st_mode) +
                          "): chmod 700 '" + data_dir.string() +
                          "' keeps them out");
}

void keep_reserve(const fs::path& data_dir) {
  constexpr std::uintmax_t most = std::uintmax_t{8} << 20;
  constexpr std::uintmax_t plenty = std::uintmax_t{4} << 20;
  const auto file = data_dir / reserve_name;
  std::error_code unknown;
  if (fs::exists(file, unknown) || unknown) return;
  const auto disk = fs::space(data_dir, unknown);
  if (unknown || disk.available < plenty) return;
  const int fd =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return;
  const auto size = static_cast<off_t>(std::min(most, disk.available / 4));
  const bool kept = ::posix_fallocate(fd, 0, size) == 0;
  ::close(fd);
  if (!kept) ::unlink(file.c_str());
}

bool free_reserve(const fs::path& data_dir) {
  return ::unlink((data_dir / reserve_name).c_str()) == 0;
}

std::optional<error> find_wrong_kind(const fs::path& database) {
  for (const auto* end : {"", "-wal", "-shm"}) {
    const auto name = database.string() + end;
    struct stat about{};
    if (::stat(name.c_str(), &about) != 0 || S_ISREG(about.st_mode)) continue;
    return error{errc::storage_unavailable,
                 "open_journal",
                 name + " is " + kind_of(about.st_mode) +
                     ", no file: move it away, or use another data_dir",
                 false,
                 {}};
  }
  return {};
}

std::optional<error> find_lost_file(const fs::path& file) {
  constexpr std::uintmax_t header = 32;
  std::error_code none;
  const auto wal = file.string() + "-wal";
  const auto bytes = fs::file_size(wal, none);
  if (none || bytes <= header) return {};
  const auto size = fs::file_size(file, none);
  if (!none && size != 0) return {};
  return error{errc::storage_unavailable,
               "open_journal",
               wal + " has commits of a " + file.filename().string() +
                   " that is not here: put it back, or move the log away",
               false,
               {}};
}

void create_private_file(const fs::path& file) {
  // Only a file that is new is opened and closed: nobody has a lock on it.
  const int fd =
      ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
}

}  // namespace riffle::storage
