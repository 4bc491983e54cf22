// SPDX-License-Identifier: MIT
#include "tools/builtin/replace_file.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <fcntl.h>
#include <random>
#include <unistd.h>
#include <utility>

#include "tools/builtin/file_failure.hpp"
#include "tools/builtin/jail.hpp"
#include "tools/builtin/path_text.hpp"
#include "tools/builtin/workspace_file.hpp"

namespace riffle::tools {

namespace {

constexpr int most_links = 40;  ///< as the kernel
constexpr int most_names = 100;
constexpr mode_t new_file_mode = 0666;  ///< less the umask

/// The folder part and the last part of a path.
std::pair<std::string, std::string> split(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

tl::unexpected<tool_output> refused(std::string_view op, std::string message) {
  return tl::unexpected{
      file_failure(op, errc::invalid_arguments, std::move(message))};
}

/// Where the link `leaf` in `folder` leads to; nothing if it is none.
std::string link_of(int folder, const std::string& leaf) {
  std::array<char, PATH_MAX> target{};
  const auto size =
      ::readlinkat(folder, leaf.c_str(), target.data(), target.size());
  return size <= 0 ? std::string{}
                   : std::string{target.data(), static_cast<std::size_t>(size)};
}

/// Follows links of the last part. 0 or an errno; ENOENT: the folder is not
/// there (then `place` is empty).
int find_place(write_target& x) {
  auto path = x.name;
  for (int links = 0; links <= most_links; ++links) {
    std::tie(x.folder, x.leaf) = split(path);
    auto place = open_beneath(x.root.get(), x.folder, O_PATH | O_DIRECTORY);
    if (!place) return place.error();
    x.place = std::move(*place);
    const auto link = link_of(x.place.get(), x.leaf);
    if (link.empty()) return 0;
    if (link.starts_with('/')) return EXDEV;
    path = x.folder + "/" + link;
  }
  return ELOOP;
}

/// Opens the file as it is; only a regular one that may be written.
int look(write_target& x, struct stat& info) {
  auto found = open_now(x);
  if (!found) {
    if (found.error() == EISDIR)  // the caller says what it is
      ::fstatat(x.place.get(), x.leaf.c_str(), &info, AT_SYMLINK_NOFOLLOW);
    return found.error();
  }
  if (!*found) return 0;
  if (::fstat(found->get(), &info) != 0) return errno;
  if (!S_ISREG(info.st_mode)) return EISDIR;
  if (::faccessat(x.place.get(), x.leaf.c_str(), W_OK, AT_EACCESS) != 0)
    return errno;
  x.current = std::move(*found);
  x.info = info;
  return 0;
}

std::string temporary_name() {
  std::random_device random;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), ".riffle-%08x%08x.tmp", random(),
                random());
  return text.data();
}

/// A new file in a folder, gone again unless it is renamed.
class temporary {
 public:
  explicit temporary(int folder) : folder_{folder} {
    for (int i = 0; i < most_names; ++i) {
      name_ = temporary_name();
      fd_ = unique_fd{::openat(
          folder_, name_.c_str(),
          O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, new_file_mode)};
      if (fd_ || errno != EEXIST) return;
    }
  }
  ~temporary() {
    if (fd_ && !renamed_) ::unlinkat(folder_, name_.c_str(), 0);
  }
  temporary(const temporary&) = delete;
  temporary& operator=(const temporary&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }

  int rename_to(const std::string& leaf) {
    if (::renameat(folder_, name_.c_str(), folder_, leaf.c_str()) != 0)
      return errno;
    renamed_ = true;
    return 0;
  }

 private:
  int folder_;
  std::string name_;
  unique_fd fd_;
  bool renamed_ = false;
};

/// Mode and owner of the file that it replaces. A set-user-id bit goes, as it
/// does when a file is written.
int take_over(int fd, const struct stat& info) {
  struct stat own{};
  if (::fstat(fd, &own) != 0) return errno;
  if (own.st_uid != info.st_uid || own.st_gid != info.st_gid)
    (void)!::fchown(fd, info.st_uid, info.st_gid);  // as far as allowed
  return ::fchmod(fd, info.st_mode & 01777U) == 0 ? 0 : errno;
}

}  // namespace

tl::expected<unique_fd, int> open_now(const write_target& target) {
  // Looked at before it is opened: opening a pipe wakes its writer.
  const auto found =
      open_beneath(target.place.get(), target.leaf, O_PATH | O_NOFOLLOW);
  if (!found && found.error() == ENOENT) return unique_fd{};
  if (!found) return tl::unexpected{found.error()};
  struct stat info{};
  if (::fstat(found->get(), &info) != 0) return tl::unexpected{errno};
  if (!S_ISREG(info.st_mode)) return tl::unexpected{EISDIR};
  return open_beneath(target.place.get(), target.leaf,
                      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

tl::expected<write_target, tool_output> find_target(
    std::string_view op, const std::filesystem::path& workspace,
    std::string_view path) {
  const auto name = relative_path(workspace, path);
  if (!name) return refused(op, name.error().message);
  if (*name == "~" || name->starts_with("~/"))
    return refused(op, "paths are relative to the workspace, ~ means nothing");
  auto root = open_workspace(op, workspace);
  if (!root) return tl::unexpected{std::move(root).error()};
  write_target x{.root = std::move(*root), .name = *name};
  const auto last = split(*name).second;
  if (last.empty() || last == "." || last == "..")
    return refused(op, path_text(*name) + " names a folder, not a file");
  const auto number = find_place(x);
  if (number == ENOENT) {
    x.place.reset();
    return x;
  }
  struct stat info{};
  const auto problem = number != 0 ? number : look(x, info);
  if (problem == 0) return x;
  if (problem == EISDIR)
    return tl::unexpected{not_a_file(op, x.root.get(), *name, info.st_mode)};
  if (problem == EACCES || problem == EROFS || problem == EPERM)
    return tl::unexpected{file_failure(
        op, errc::tool_execution_error,
        "permission denied: the program may not write " + path_text(*name))};
  return tl::unexpected{cannot_open(op, x.root.get(), *name, problem)};
}

int make_folders(write_target& target) {
  if (target.place) return 0;
  for (std::size_t end = 0; end != std::string::npos;) {
    end = target.folder.find('/', end + 1);
    const auto path = target.folder.substr(0, end);
    const auto there =
        open_beneath(target.root.get(), path, O_PATH | O_DIRECTORY);
    if (there) continue;
    if (there.error() != ENOENT) return there.error();
    auto [above, name] = split(path);
    if (name.empty() || name == "." || name == "..") continue;
    const auto folder =
        open_beneath(target.root.get(), above, O_PATH | O_DIRECTORY);
    if (!folder) return folder.error();
    if (::mkdirat(folder->get(), name.c_str(), 0777) != 0 && errno != EEXIST)
      return errno;
  }
  return find_place(target);
}

int replace_file(const write_target& target,
                 const std::function<int(int fd)>& fill,
                 const std::function<int(int fd)>& still) {
  temporary file{target.place.get()};
  if (!file) return errno;
  if (const auto number = fill(file.fd()); number != 0) return number;
  if (target.current) {
    if (const auto number = take_over(file.fd(), target.info); number != 0)
      return number;
  }
  if (const auto number = still(file.fd()); number != 0) return number;
  return file.rename_to(target.leaf);
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace riffle::tools
