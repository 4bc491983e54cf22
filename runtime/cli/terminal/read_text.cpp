// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/read_text.hpp"

#include <array>
#include <cerrno>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "runtime/base/read_within.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t largest = 8u << 20;

unexpected mistake(std::string message) {
  return unexpected{
      error{errc::invalid_request, "run", std::move(message), false, {}}};
}

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

}  // namespace

/// Without a limit of time: a person may type.
expected<std::string> read_stdin(const std::string& what) {
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
  if (is_blank(out)) return mistake("standard input holds no " + what);
  return out;
}

expected<std::string> read_file(const std::filesystem::path& file,
                                const std::string& what) {
  const auto name = "\"" + file.string() + "\"";
  auto out = read_within(file, {.bytes = largest});
  if (!out) return mistake(name + " " + out.error());
  if (is_blank(*out)) return mistake(name + " holds no " + what);
  return std::move(*out);
}

}  // namespace riffle::cli
