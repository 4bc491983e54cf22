// SPDX-License-Identifier: MIT
#include "tools/builtin/files/workspace_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "runtime/base/locked_files.hpp"
#include "tools/builtin/files/file_failure.hpp"
#include "tools/builtin/files/path_confinement.hpp"
#include "tools/builtin/files/place.hpp"

namespace riffle::tools {

namespace {

/// What was looked at, not what stands in its place by now. Where only a name
/// leads there (without /proc) `info` is of what that led to.
tl::expected<unique_fd, int> open_seen(int root, const std::string& where,
                                       int place, struct stat& info,
                                       links through) {
  constexpr int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
  if (auto fd = open_place(place, info, flags)) return fd;
  if (errno != ENOENT) return tl::unexpected{errno};
  auto fd = open_beneath(root, where, flags, resolver::automatic, through);
  if (fd && ::fstat(fd->get(), &info) != 0) return tl::unexpected{errno};
  return fd;
}

}  // namespace

tl::expected<unique_fd, tool_output> open_workspace(
    std::string_view op, const std::filesystem::path& workspace) {
  unique_fd root{::open(workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!root) return tl::unexpected{no_workspace(op, workspace, errno)};
  return root;
}

tl::expected<open_file, tool_output> open_regular(
    std::string_view op, const std::filesystem::path& workspace,
    std::string_view path, const std::optional<std::string>& judged,
    neighbours others) {
  auto name = relative_path(workspace, path);
  if (!name)
    return tl::unexpected{
        file_failure(op, name.error().code, name.error().message)};
  const auto root = open_workspace(op, workspace);
  if (!root) return tl::unexpected{root.error()};
  return open_regular_at(op, root->get(), std::move(*name), judged, others);
}

tl::expected<open_file, tool_output> open_regular_at(
    std::string_view op, int root, std::string name,
    const std::optional<std::string>& judged, neighbours others) {
  const auto through = judged ? links::refused : links::followed;
  auto where = tl::expected<std::string, int>{name};
  if (judged && judged->empty()) {  // nobody knew that it leads anywhere
    where = place_beneath(root, name);
    if (where) return tl::unexpected{place_moved(op, name)};
  } else if (judged) {
    where = *judged;
  }
  const auto failed = [&](int number) {
    return tl::unexpected{judged && number == ELOOP
                              ? place_moved(op, name)
                              : cannot_open(op, root, name, number, others)};
  };
  if (!where)
    return tl::unexpected{cannot_open(op, root, name, where.error(), others)};
  // Looked at before it is opened: opening a pipe wakes its writer.
  const auto place =
      open_beneath(root, *where, O_PATH, resolver::automatic, through);
  if (!place) return failed(place.error());
  struct stat info{};
  if (::fstat(place->get(), &info) != 0 || !S_ISREG(info.st_mode))
    return tl::unexpected{not_a_file(op, root, name, info.st_mode, others)};
  auto fd = open_seen(root, *where, place->get(), info, through);
  if (!fd) return failed(fd.error());
  if (!S_ISREG(info.st_mode))
    return tl::unexpected{not_a_file(op, root, name, info.st_mode, others)};
  return open_file{std::move(name), std::move(*fd),
                   static_cast<std::uint64_t>(info.st_size),
                   info.st_blocks * 512 < info.st_size};
}

file_head::file_head(int fd) {
  const auto count = ::pread(fd, bytes_.data(), bytes_.size(), 0);
  size_ = count > 0 ? static_cast<std::size_t>(count) : 0;
}

bool file_head::looks_binary() const {
  return text().find('\0') != std::string_view::npos;
}

}  // namespace riffle::tools
