// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/new_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

#include "runtime/base/clock.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/config/trust.hpp"

namespace riffle::cli {

int write_new_file(const std::filesystem::path& file, const std::string& text,
                   bool replaces, console& io) {
  const auto name = "\"" + file.string() + "\"";
  const int how = replaces ? O_TRUNC : O_EXCL;
  const int fd =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0644);
  if (fd < 0) {
    io.complain(errno == EEXIST
                    ? name + " is there already; --force replaces it"
                    : name + " cannot be written: " +
                          std::generic_category().message(errno));
    return usage;
  }
  fd_writer out{fd};
  const bool written = out.write(text);
  if (::close(fd) == 0 && written) return completed;
  io.complain(name + " cannot be written: " + out.problem());
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
