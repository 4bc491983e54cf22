// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/read_text.hpp"

#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "runtime/base/read_within.hpp"
#include "runtime/base/text.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t largest = 8u << 20;

unexpected mistake(std::string message) {
  return unexpected{
      error{errc::invalid_request, "run", std::move(message), false, {}}};
}

/// Without a limit of time: a person may type, a program may work.
expected<std::string> read_all(const std::string& what) {
  std::string out;
  std::array<char, 65536> piece{};
  while (out.size() <= largest) {
    const auto n = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (n == 0) break;
    if (n > 0) {
      out.append(piece.data(), static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      return mistake("standard input cannot be read: " +
                     std::generic_category().message(errno));
    }
  }
  if (out.size() > largest) {
    return mistake("the " + what +
                   " is larger than 8 MiB; put it into a file and name that "
                   "in the task");
  }
  return out;
}

}  // namespace

expected<std::string> read_stdin(const std::string& what) {
  auto out = read_all(what);
  if (out && trimmed(*out).empty())
    return mistake("standard input holds no " + what);
  return out;
}

bool stdin_is_given() {
  struct stat about{};
  return ::fstat(STDIN_FILENO, &about) == 0 &&
         (S_ISFIFO(about.st_mode) || S_ISREG(about.st_mode));
}

expected<std::string> read_given_stdin(bool& silent) {
  constexpr int timeout_ms = 2000;
  if (!stdin_is_given()) return std::string{};
  pollfd one{STDIN_FILENO, POLLIN, 0};
  silent = ::poll(&one, 1, timeout_ms) == 0;
  if (silent) return std::string{};
  return read_all("input");
}

expected<std::string> read_file(const std::filesystem::path& file,
                                const std::string& what) {
  const auto name = "\"" + file.string() + "\"";
  auto out = read_within(file, {.bytes = largest});
  if (!out) return mistake(name + " " + out.error());
  if (out->empty()) return mistake(name + " is empty");
  if (trimmed(*out).empty()) return mistake(name + " holds no " + what);
  return std::move(*out);
}

}  // namespace riffle::cli
