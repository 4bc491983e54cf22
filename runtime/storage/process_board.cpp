// SPDX-License-Identifier: MIT
#include "runtime/storage/process_board.hpp"

#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "runtime/base/file_lock.hpp"

namespace riffle::storage {

namespace {

namespace fs = std::filesystem;

unexpected cannot_write(const fs::path& file) {
  return unexpected{
      error{errc::storage_unavailable, "process_board",
            file.string() + ": " + std::generic_category().message(errno)}};
}

std::string whole_text(int fd) {
  std::string out(process_board::largest, '\0');
  const auto n = ::pread(fd, out.data(), out.size(), 0);
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

/// Of those whose process lives; the files of others are removed.
template <class F>
void for_each_board(const fs::path& folder, F f) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator{folder, failed}) {
    if (entry.path().filename().string().starts_with('.')) continue;
    const unique_fd fd{
        ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    if (!fd) continue;
    const bool dead = try_lock(fd, lock_kind::shared);
    std::error_code ignored;
    if (dead)
      fs::remove(entry.path(), ignored);
    else
      f(fd.get());
  }
}

}  // namespace

process_board::process_board(fs::path folder) : folder_{std::move(folder)} {}

process_board::~process_board() {
  std::error_code ignored;
  if (fd_) fs::remove(file_, ignored);
}

/// Also takes away what dead processes left: maybe nobody ever reads here. The
/// next write makes another one if this fails: in a file that has not its
/// name and lock, nobody would read it.
expected<void> process_board::make_file() {
  if (auto made = make_private_folder(folder_); !made) return made;
  for_each_board(folder_, [](int) {});
  // Readers pass over the name until the file is locked.
  auto name = (folder_ / ".board-XXXXXX").string();
  unique_fd made{::mkostemp(name.data(), O_CLOEXEC)};
  const auto file = folder_ / fs::path{name}.filename().string().substr(1);
  const bool good = made && try_lock(made, lock_kind::exclusive) &&
                    ::rename(name.c_str(), file.c_str()) == 0;
  if (!good) {
    auto failed = cannot_write(name);
    if (made) ::unlink(name.c_str());
    return failed;
  }
  fd_ = std::move(made);
  file_ = file;
  return {};
}

expected<void> process_board::write(const std::string& text) {
  if (!fd_)
    if (auto made = make_file(); !made) return made;
  const bool good = ::ftruncate(fd_.get(), 0) == 0 &&
                    ::pwrite(fd_.get(), text.data(), text.size(), 0) ==
                        static_cast<ssize_t>(text.size());
  if (!good) return cannot_write(file_);
  return {};
}

std::vector<std::string> read_boards(const fs::path& folder) {
  std::vector<std::string> out;
  for_each_board(folder, [&](int fd) { out.push_back(whole_text(fd)); });
  return out;
}

}  // namespace riffle::storage
