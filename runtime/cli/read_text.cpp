// SPDX-License-Identifier: MIT
#include "runtime/cli/read_text.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace riffle::cli {

namespace {

constexpr std::size_t largest = 8u << 20;

unexpected mistake(std::string message) {
  return unexpected{
      error{errc::invalid_request, "run", std::move(message), false, {}}};
}

expected<std::string> read_all(int fd, const std::string& name,
                               const std::string& what) {
  std::string out;
  std::array<char, 65536> piece{};
  while (out.size() <= largest) {
    const auto n = ::read(fd, piece.data(), piece.size());
    if (n == 0) break;
    if (n > 0) {
      out.append(piece.data(), static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      return mistake(
          name + " cannot be read: " + std::generic_category().message(errno));
    }
  }
  if (out.size() > largest) {
    return mistake("the " + what +
                   " is larger than 8 MiB; put it into a file and name that "
                   "in the task");
  }
  if (out.find_first_not_of(" \t\r\n") == std::string::npos) {
    return mistake(name + " holds no " + what);
  }
  return out;
}

}  // namespace

expected<std::string> read_stdin(const std::string& what) {
  return read_all(STDIN_FILENO, "standard input", what);
}

expected<std::string> read_file(const std::filesystem::path& file,
                                const std::string& what) {
  const auto name = "\"" + file.string() + "\"";
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return mistake(
        name + " cannot be read: " + std::generic_category().message(errno));
  }
  auto out = read_all(fd, name, what);
  ::close(fd);
  return out;
}

}  // namespace riffle::cli
