// SPDX-License-Identifier: MIT
#include "tools/process/small_guard.hpp"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/base/unique_fd.hpp"

namespace riffle::embedded {
std::string_view guard_program();
}

namespace riffle::tools {

namespace {

#ifdef MFD_EXEC
constexpr unsigned executable = MFD_EXEC;
#else
constexpr unsigned executable = 0x10;  // Linux 6.3
#endif

/// Beyond those that a guard gets, see guard.hpp.
constexpr int first_free_fd = 16;

std::atomic<bool> given_up{false};

bool write_all(const unique_fd& to, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(to.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Sealed: what is started is what was built, whoever can open it.
int in_memory(std::string_view program) {
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  constexpr int seals =
      F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (program.empty()) return -1;
  unique_fd fd{::memfd_create("riffle-guard", flags | executable)};
  if (!fd && errno == EINVAL)
    fd = unique_fd{::memfd_create("riffle-guard", flags)};
  if (!fd || !write_all(fd, program)) return -1;
  if (::fcntl(fd.get(), F_ADD_SEALS, seals) != 0) return -1;
  return ::fcntl(fd.get(), F_DUPFD_CLOEXEC, first_free_fd);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (auto& x : texts) out.push_back(x.data());
  out.push_back(nullptr);
  return out;
}

/// What has nothing to do with the program that is started.
bool is_no_fault_of_it(int number) {
  return number == 0 || number == E2BIG || number == EAGAIN ||
         number == ENOMEM || number == EMFILE || number == ENFILE;
}

/// Where it is started from; empty: there is none, or not any more. It is made
/// once.
std::string small_guard() {
  static const int fd = in_memory(embedded::guard_program());
  if (fd < 0 || given_up) return {};
  return "/proc/self/fd/" + std::to_string(fd);
}

}  // namespace

bool stands_in_for(const std::string& program) {
  return program == this_program && !small_guard().empty();
}

void give_up_small_guard() {
  if (!given_up.exchange(true))
    log_info("process.guard",
             "the small guard cannot be started here: this program is its own");
}

int spawn_guard(pid_t& pid, guard_start how) {
  const auto arguments = pointers_to(how.arguments);
  const auto environment = pointers_to(how.environment);
  const auto start = [&](const std::string& program) {
    return ::posix_spawn(&pid, program.c_str(), how.actions, how.attributes,
                         arguments.data(), environment.data());
  };
  if (!how.itself && stands_in_for(how.program)) {
    const auto number = start(small_guard());
    if (is_no_fault_of_it(number)) return number;
    give_up_small_guard();
  }
  return start(how.program);
}

}  // namespace riffle::tools
