// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/browser.hpp"

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>
#include <vector>

#include "runtime/base/secrets.hpp"

namespace riffle::cli {

namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

std::string browser() {
  if (is_set("BROWSER")) return std::getenv("BROWSER");
  return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") ? "xdg-open" : "";
}

}  // namespace

bool open_in_browser(const std::string& url) {
  auto program = browser();
  if (program.empty()) return false;
  auto variables = environment_without_keys();
  std::vector<char*> environment;
  for (auto& x : variables) environment.push_back(x.data());
  environment.push_back(nullptr);
  auto page = url;
  std::array<char*, 3> words{program.data(), page.data(), nullptr};
  posix_spawnattr_t how{};
  posix_spawn_file_actions_t actions{};
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID);
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, program.c_str(), &actions, &how,
                                    words.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&how);
  return failed == 0;
}

}  // namespace riffle::cli
