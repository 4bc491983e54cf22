// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/new_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/base/file_lock.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/base/write_all.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/config/trust.hpp"

namespace riffle::cli {

namespace {

unique_fd open_to_write(const std::filesystem::path& file, int how) {
  return unique_fd{
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0644)};
}

/// 0 or an errno; what was `made` for it and is not whole goes again.
int fill(const std::filesystem::path& file, unique_fd fd, std::string_view text,
         bool made) {
  int problem = write_all(fd.get(), text);
  if (problem != 0 && made && leads_to(file, fd)) ::unlink(file.c_str());
  if (::close(fd.release()) != 0 && problem == 0) problem = errno;
  return problem;
}

}  // namespace

int make_file(const std::filesystem::path& file, std::string_view text) {
  auto fd = open_to_write(file, O_EXCL);
  return fd ? fill(file, std::move(fd), text, true) : errno;
}

int write_new_file(const std::filesystem::path& file, const std::string& text,
                   bool replaces, console& io) {
  const auto name = "\"" + file.string() + "\"";
  const auto why = [&](int problem) {
    return name +
           " cannot be written: " + std::generic_category().message(problem);
  };
  auto fd = open_to_write(file, replaces ? O_TRUNC : O_EXCL);
  if (!fd) {
    io.complain(errno == EEXIST
                    ? name + " is there already; --force replaces it"
                    : why(errno));
    return usage;
  }
  const int problem = fill(file, std::move(fd), text, !replaces);
  if (problem == 0) return completed;
  io.complain(why(problem));
  return failed;
}

void trust_what_is_written(const std::filesystem::path& file,
                           const std::string& text) {
  const auto store = config::trust_store::of_user();
  if (store)
    static_cast<void>(
        store->trust(config::trust_name(file), text, system_wall_time()));
}

}  // namespace riffle::cli
