// SPDX-License-Identifier: MIT
#include "tools/builtin/files/path_confinement.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <memory>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "runtime/base/folders.hpp"
#include "runtime/base/locked_files.hpp"
#include "tools/builtin/files/path_text.hpp"
#include "tools/builtin/files/place.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

using opened = tl::expected<unique_fd, int>;

unexpected refused(std::string message) {
  return unexpected{error{.code = errc::invalid_arguments,
                          .op = "workspace",
                          .message = std::move(message)}};
}

opened to_result(int fd) {
  if (fd >= 0) return unique_fd{fd};
  return tl::unexpected{errno};
}

opened open_by_kernel(int root, const std::string& relative, int flags,
                      links through) {
  struct open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (through == links::refused) how.resolve |= RESOLVE_NO_SYMLINKS;
  // EAGAIN: something was renamed while ".." was resolved.
  for (int tries = 0; tries < 128; ++tries) {
    const auto fd =
        ::syscall(SYS_openat2, root, relative.c_str(), &how, sizeof(how));
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
      return to_result(static_cast<int>(fd));
  }
  return tl::unexpected{EAGAIN};
}

/// Resolves a path part by part. Each folder on the way stays open, so ".."
/// goes back to where we came from; links are read and followed here.
class walker {
 public:
  walker(int root, int flags, links through)
      : root_{root}, flags_{flags}, through_{through} {}

  opened run(const std::string& relative) {
    if (relative.starts_with('/')) return tl::unexpected{EXDEV};
    parts_ = reversed_parts(relative);
    while (!parts_.empty()) {
      const auto part = std::exchange(parts_.back(), {});
      parts_.pop_back();
      if (part == ".") continue;
      if (part == "..") {
        if (folders_.empty()) return tl::unexpected{EXDEV};
        folders_.pop_back();
        continue;
      }
      auto last = enter(part);
      if (!last || *last) return last;
    }
    return to_result(::openat(here(), ".", flags_ | O_CLOEXEC));
  }

 private:
  [[nodiscard]] int here() const {
    return folders_.empty() ? root_ : folders_.back().get();
  }

  /// Goes one part on; gives a descriptor if that was the last one.
  opened enter(const std::string& part) {
    auto place = to_result(
        ::openat(here(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!place) return place;
    struct stat info{};
    if (::fstat(place->get(), &info) != 0) return tl::unexpected{errno};
    const bool named = parts_.empty() && (flags_ & O_NOFOLLOW) != 0;
    if (S_ISLNK(info.st_mode) && named) return as_it_is(std::move(*place));
    if (S_ISLNK(info.st_mode)) return follow(place->get());
    if (parts_.empty())
      return to_result(
          ::openat(here(), part.c_str(), flags_ | O_NOFOLLOW | O_CLOEXEC));
    if (!S_ISDIR(info.st_mode)) return tl::unexpected{ENOTDIR};
    folders_.push_back(std::move(*place));
    return unique_fd{};
  }

  /// A link that is not to be followed, as the kernel would have it.
  [[nodiscard]] opened as_it_is(unique_fd link) const {
    if ((flags_ & O_DIRECTORY) != 0) return tl::unexpected{ENOTDIR};
    if ((flags_ & O_PATH) != 0) return link;
    return tl::unexpected{ELOOP};
  }

  opened follow(int link) {
    if (through_ == links::refused || ++links_ > 40)
      return tl::unexpected{ELOOP};
    std::array<char, PATH_MAX> target{};
    const auto size = ::readlinkat(link, "", target.data(), target.size());
    if (size < 0) return tl::unexpected{errno};
    const std::string_view text{target.data(), static_cast<std::size_t>(size)};
    if (text.starts_with('/')) return tl::unexpected{EXDEV};
    auto more = reversed_parts(text);
    parts_.insert(parts_.end(), more.begin(), more.end());
    return unique_fd{};
  }

  int root_;
  int flags_;
  links through_;
  int links_ = 0;
  std::vector<unique_fd> folders_;
  std::vector<std::string> parts_;
};

/// Nothing in it that would be taken away: no empty part, no "." and "..". A no
/// says nothing.
bool is_plain(std::string_view path) {
  return path.find("//") == path.npos && path.find("/.") == path.npos &&
         !path.starts_with('.');
}

}  // namespace

expected<std::string> relative_path(const std::filesystem::path& workspace,
                                    std::string_view path) {
  if (path.empty()) return refused("the path is empty");
  if (path.find('\0') != path.npos) return refused("the path holds a NUL byte");
  if (!path.starts_with('/')) return std::string{path};
  std::string root = workspace.lexically_normal().string();
  while (root.ends_with('/')) root.pop_back();
  if (path == root) return std::string{"."};
  if (!path.starts_with(root + "/"))
    return refused(path_text(std::string{path}) +
                   " leads out of the workspace, which is not allowed; give a "
                   "path relative to it, e.g. src/main.cpp");
  path.remove_prefix(root.size());
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  return path.empty() ? std::string{"."} : std::string{path};
}

std::string path_key(const std::filesystem::path& workspace,
                     std::string_view path) {
  // Most are plain, and a call has one.
  std::string_view root = workspace.native();
  if (root.ends_with("/.")) root.remove_suffix(1);
  if (root.starts_with('/') && is_plain(root) && is_plain(path) &&
      !path.empty() && !path.starts_with('/') && !path.ends_with('/')) {
    std::string plain{root};
    if (!root.ends_with('/')) plain += '/';
    return plain.append(path);
  }
  auto result = (workspace / std::string{path}).lexically_normal().string();
  while (result.size() > 1 && result.ends_with('/')) result.pop_back();
  return result;
}

namespace {

opened open_any(int root, const std::string& relative, int flags, resolver how,
                links through) {
  if (how == resolver::automatic) {
    auto result = open_by_kernel(root, relative, flags | O_CLOEXEC, through);
    const bool lacking =
        !result && (result.error() == ENOSYS || result.error() == EPERM);
    if (!lacking) return result;
  }
  return walker{root, flags, through}.run(relative);
}

}  // namespace

/// What is read is looked at first, by a descriptor whose end frees no lock.
opened open_beneath(int root, const std::string& relative, int flags,
                    resolver how, links through) {
  if ((flags & (O_PATH | O_DIRECTORY)) != 0)
    return open_any(root, relative, flags, how, through);
  auto place =
      open_any(root, relative, O_PATH | (flags & O_NOFOLLOW), how, through);
  if (!place) return place;
  auto fd = open_place(place->get(), flags);
  if (fd) return fd;
  if (errno != ENOENT) return tl::unexpected{errno};
  return open_any(root, relative, flags, how, through);  // without /proc
}

std::vector<std::string> names_in(int folder, std::size_t limit) {
  std::vector<std::string> result;
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return result;
  const unique_dir dir{::fdopendir(copy)};
  if (!dir) return result;
  while (const auto* entry = ::readdir(dir.get())) {
    const std::string_view raw = entry->d_name;
    if (raw == "." || raw == "..") continue;
    std::string name;
    utf8_stream utf8;
    utf8.feed(raw, name);
    utf8.finish(name);
    if (entry->d_type == DT_DIR) name += '/';
    result.push_back(std::move(name));
    if (result.size() == limit) break;
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace riffle::tools
