// SPDX-License-Identifier: MIT
#include "tools/builtin/workspace_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "tools/builtin/file_failure.hpp"
#include "tools/builtin/jail.hpp"

namespace riffle::tools {

namespace {

constexpr std::size_t probe_size = 8u << 10;

}  // namespace

tl::expected<unique_fd, tool_output> open_workspace(
    std::string_view op, const std::filesystem::path& workspace) {
  unique_fd root{::open(workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!root) return tl::unexpected{no_workspace(op, workspace, errno)};
  return root;
}

tl::expected<open_file, tool_output> open_regular(
    std::string_view op, const std::filesystem::path& workspace,
    std::string_view path) {
  auto name = relative_path(workspace, path);
  if (!name)
    return tl::unexpected{
        file_failure(op, name.error().code, name.error().message)};
  const auto root = open_workspace(op, workspace);
  if (!root) return tl::unexpected{root.error()};
  return open_regular_at(op, root->get(), std::move(*name));
}

tl::expected<open_file, tool_output> open_regular_at(std::string_view op,
                                                     int root,
                                                     std::string name) {
  // Looked at before it is opened: opening a pipe wakes its writer.
  const auto place = open_beneath(root, name, O_PATH);
  if (!place) return tl::unexpected{cannot_open(op, root, name, place.error())};
  struct stat info{};
  if (::fstat(place->get(), &info) != 0 || !S_ISREG(info.st_mode))
    return tl::unexpected{not_a_file(op, root, name, info.st_mode)};
  auto fd = open_beneath(root, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd) return tl::unexpected{cannot_open(op, root, name, fd.error())};
  if (::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode))
    return tl::unexpected{not_a_file(op, root, name, info.st_mode)};
  return open_file{std::move(name), std::move(*fd),
                   static_cast<std::uint64_t>(info.st_size),
                   info.st_blocks * 512 < info.st_size};
}

bool looks_binary(int fd) {
  std::string probe(probe_size, ' ');
  const auto count = ::pread(fd, probe.data(), probe.size(), 0);
  return count > 0 && probe.find('\0') < static_cast<std::size_t>(count);
}

}  // namespace riffle::tools
