// SPDX-License-Identifier: MIT
#include "runtime/config/home.hpp"

#include <cstdlib>
#include <system_error>
#include <utility>

#include "runtime/config/assign.hpp"

namespace riffle::config {

namespace {

unexpected problem(std::string message) {
  return unexpected{
      error{errc::invalid_config, "config", std::move(message), false, {}}};
}

/// An absolute path from the environment, or nothing.
std::filesystem::path folder_in(const char* variable) {
  const char* x = std::getenv(variable);
  return x != nullptr && *x == '/' ? std::filesystem::path{x}
                                   : std::filesystem::path{};
}

}  // namespace

expected<std::filesystem::path> resolve_home(const std::string& path) {
  if (!path.starts_with('~')) return std::filesystem::path{path};
  if (path.size() > 1 && path[1] != '/')
    return problem("\"" + path +
                   "\": homes of other users are not looked up; write the "
                   "whole path, or ./" +
                   path + " for what is really named so");
  const auto home = folder_in("HOME");
  if (home.empty())
    return problem("\"" + path +
                   "\": there is no home directory, since $HOME is no "
                   "absolute path; set it, or write the whole path");
  return path.size() <= 2 ? home : home / path.substr(2);
}

expected<std::filesystem::path> user_folder(const char* variable,
                                            const std::string& fallback) {
  if (auto x = folder_in(variable); !x.empty()) return x;
  if (auto x = resolve_home(fallback)) return x;
  return problem("there is no folder for it: neither $HOME nor $" +
                 std::string{variable} +
                 " is an absolute path; set one of them");
}

expected<std::filesystem::path> data_folder(const runtime_config& x) {
  auto folder = resolve_home(x.data_dir);
  if (folder) return folder;
  return problem("runtime.data_dir is " + folder.error().message +
                 " (as with --set runtime.data_dir=/var/lib/riffle)");
}

expected<std::filesystem::path> named_path(const config& x,
                                           const std::string& name) {
  auto path = resolve_home(name);
  return path ? x.base_dir / *path : path;
}

std::string no_plain_file(const std::filesystem::path& file,
                          const std::string& name) {
  std::error_code ignored;
  const auto what = std::filesystem::status(file, ignored);
  if (std::filesystem::is_regular_file(what)) return {};
  if (!std::filesystem::exists(what))
    return "there is no file " + in_quotes(name);
  return in_quotes(name) + (std::filesystem::is_directory(what)
                                ? " is a folder, not a file"
                                : " is no plain file, but a device or a pipe");
}

}  // namespace riffle::config
