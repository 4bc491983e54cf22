// SPDX-License-Identifier: MIT
#include "runtime/storage/private_files.hpp"

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

std::string octal(mode_t mode) {
  std::string out;
  for (const int shift : {6, 3, 0})
    out += static_cast<char>('0' + ((mode >> shift) & 7U));
  return out;
}

}  // namespace

void make_files_private(const fs::path& data_dir) {
  for (const auto* name : {"riffle.db", "riffle.db-wal", "riffle.db-shm"})
    make_private(data_dir / name, 0600);
  for (const auto* name : {"owners", "guards", "outputs", "service"})
    make_folder_private(data_dir / name);
  struct stat about{};
  if (::stat(data_dir.c_str(), &about) != 0 || (about.st_mode & of_others) == 0)
    return;
  log_warn("journal", "others can look into the data folder " +
                          data_dir.string() + " (mode " + octal(about.st_mode) +
                          "): chmod 700 '" + data_dir.string() +
                          "' keeps them out");
}

void create_private_file(const fs::path& file) {
  // Only a file that is new is opened and closed: nobody has a lock on it.
  const int fd =
      ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
}

}  // namespace riffle::storage
