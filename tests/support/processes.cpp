// SPDX-License-Identifier: MIT
#include "tests/support/processes.hpp"

#include <fstream>
#include <iterator>
#include <unistd.h>

namespace riffle::testing {

namespace {

template <class F>
std::vector<pid_t> processes_that(F holds) {
  std::vector<pid_t> out;
  std::error_code failed;
  for (const auto& x : std::filesystem::directory_iterator{"/proc", failed}) {
    const auto name = x.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto pid = static_cast<pid_t>(std::stoi(name));
    if (pid != ::getpid() && holds(x.path())) out.push_back(pid);
  }
  return out;
}

bool file_holds(const std::filesystem::path& file, const std::string& mark) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();  // of a process that is gone: nothing
  return text.str().find(mark) != std::string::npos;
}

}  // namespace

std::vector<pid_t> processes_in(const std::filesystem::path& folder) {
  return processes_that([&](const std::filesystem::path& process) {
    std::error_code ended;
    return std::filesystem::read_symlink(process / "cwd", ended) == folder;
  });
}

std::vector<pid_t> processes_with(const std::string& mark) {
  return processes_that([&](const std::filesystem::path& process) {
    return file_holds(process / "environ", mark) ||
           file_holds(process / "cmdline", mark);
  });
}

}  // namespace riffle::testing
