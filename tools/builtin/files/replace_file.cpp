// SPDX-License-Identifier: MIT
#include "tools/builtin/files/replace_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "tools/builtin/files/file_failure.hpp"
#include "tools/builtin/files/left_files.hpp"
#include "tools/builtin/files/path_confinement.hpp"
#include "tools/builtin/files/path_text.hpp"
#include "tools/builtin/files/place.hpp"
#include "tools/builtin/files/workspace_file.hpp"

namespace riffle::tools {

namespace {

constexpr int most_tries = 20;  ///< while links change all the time
constexpr int most_names = 100;
constexpr mode_t new_file_mode = 0666;  ///< less the umask

/// The folder part and the last part of a path.
std::pair<std::string, std::string> split(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

tl::unexpected<tool_output> refused(std::string_view op, std::string message) {
  return tl::unexpected{
      file_failure(op, errc::invalid_arguments, std::move(message))};
}

/// Opens the folder of the place. 0 or an errno; ENOENT: the folder is not
/// there (then `place` is empty); ELOOP: a link took the place of a part.
int open_folder(write_target& x) {
  auto place = open_beneath(x.root.get(), x.folder, O_PATH | O_DIRECTORY,
                            resolver::automatic, links::refused);
  if (!place) return place.error();
  x.place = std::move(*place);
  return 0;
}

/// Where it is to act; `moved` is set if that is not what was judged.
int find_place(write_target& x, const std::optional<std::string>& judged,
               bool& moved) {
  x.place.reset();
  x.where.clear();
  if (judged && !judged->empty()) {
    x.where = *judged;
  } else {
    auto found = place_beneath(x.root.get(), x.name);
    if (!found) return found.error();
    x.where = std::move(*found);
    moved = judged.has_value();  // nobody knew that it leads here
    if (moved) return ELOOP;
  }
  if (x.where == ".") return EISDIR;
  std::tie(x.folder, x.leaf) = split(x.where);
  const int number = open_folder(x);
  moved = number == ELOOP;
  return number;
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

/// A new file in a folder, gone again unless it is renamed.
class temporary {
 public:
  explicit temporary(int folder) : folder_{folder} {
    for (int i = 0; i < most_names; ++i) {
      name_ = temporary_name();
      fd_ = unique_fd{::openat(
          folder_, name_.c_str(),
          O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, new_file_mode)};
      if (fd_ || errno != EEXIST) break;
    }
    if (fd_) mark_used(fd_.get());
  }
  ~temporary() {
    if (fd_ && !renamed_) ::unlinkat(folder_, name_.c_str(), 0);
  }
  temporary(const temporary&) = delete;
  temporary& operator=(const temporary&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }

  /// `over`: it replaces what has that name. Else there is nothing, or ESTALE.
  int rename_to(const std::string& leaf, bool over) {
    const unsigned how = over ? 0U : RENAME_NOREPLACE;
    int done = ::renameat2(folder_, name_.c_str(), folder_, leaf.c_str(), how);
    if (done != 0 && !over && errno == EINVAL)  // not by this file system
      done = ::renameat(folder_, name_.c_str(), folder_, leaf.c_str());
    if (done != 0) return errno == EEXIST ? ESTALE : errno;
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
    std::string_view path, const std::optional<std::string>& judged,
    neighbours others) {
  const auto name = relative_path(workspace, path);
  if (!name) return refused(op, name.error().message);
  if (*name == "~" || name->starts_with("~/"))
    return refused(op, "paths are relative to the workspace, ~ means nothing");
  auto root = open_workspace(op, workspace);
  if (!root) return tl::unexpected{std::move(root).error()};
  write_target x{.root = std::move(*root), .name = *name, .others = others};
  const auto last = name->substr(name->rfind('/') + 1);
  if (last.empty() || last == "." || last == "..")
    return refused(op, path_text(*name) + " names a folder, not a file");
  struct stat info{.st_mode = S_IFDIR};
  bool moved = true;
  int problem = ELOOP;
  for (int tries = 0; moved && tries < most_tries; ++tries) {
    moved = false;
    problem = find_place(x, judged, moved);
    if (problem == ENOENT && !x.where.empty()) return x;
    if (problem == 0) {
      problem = look(x, info);
      moved = problem == ELOOP || (problem == EISDIR && S_ISLNK(info.st_mode));
    }
    if (moved && judged) return tl::unexpected{place_moved(op, *name)};
  }
  if (problem == 0) return x;
  if (problem == EISDIR)
    return tl::unexpected{
        not_a_file(op, x.root.get(), *name, info.st_mode, others)};
  if (problem == EACCES || problem == EROFS || problem == EPERM)
    return tl::unexpected{file_failure(
        op, errc::tool_execution_error,
        "permission denied: the program may not write " + path_text(*name))};
  return tl::unexpected{cannot_open(op, x.root.get(), *name, problem, others)};
}

int make_folders(write_target& target) {
  if (target.place) return 0;
  auto parts = reversed_parts(target.folder);
  unique_fd here;
  while (!parts.empty()) {
    const auto name = std::exchange(parts.back(), {});
    parts.pop_back();
    const int above = here ? here.get() : target.root.get();
    if (::mkdirat(above, name.c_str(), 0777) != 0 && errno != EEXIST)
      return errno;
    auto next = open_beneath(above, name, O_PATH | O_DIRECTORY,
                             resolver::automatic, links::refused);
    if (!next) return next.error();
    here = std::move(*next);
  }
  target.place = std::move(here);
  return 0;
}

int replace_file(const write_target& target,
                 const std::function<int(int fd)>& fill,
                 const std::function<int(int fd)>& still) {
  remove_left_files(target.place.get());
  temporary file{target.place.get()};
  if (!file) return errno;
  if (const auto number = fill(file.fd()); number != 0) return number;
  if (target.current) {
    if (const auto number = take_over(file.fd(), target.info); number != 0)
      return number;
  }
  if (const auto number = still(file.fd()); number != 0) return number;
  return file.rename_to(target.leaf, static_cast<bool>(target.current));
}

}  // namespace riffle::tools
