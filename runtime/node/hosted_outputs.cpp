// SPDX-License-Identifier: MIT
#include "runtime/node/hosted_outputs.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include "runtime/base/file_lock.hpp"
#include "runtime/base/id_source.hpp"
#include "runtime/storage/owner.hpp"

namespace riffle {

namespace {

namespace fs = std::filesystem;

unique_fd open_folder(const fs::path& x) {
  return unique_fd{
      ::open(x.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

constexpr const char* own_kind = "node_";

/// A file that cannot be removed stays, for the next one that starts; so does
/// what no node made.
void remove_those_of_the_dead(const fs::path& all) {
  std::error_code ignored;
  for (fs::directory_iterator i{all, ignored}, end; i != end;
       i.increment(ignored)) {
    if (ignored) return;
    if (!i->path().filename().string().starts_with(own_kind)) continue;
    const auto fd = open_folder(i->path());
    if (!fd || !try_lock(fd, lock_kind::exclusive)) continue;
    std::error_code kept;
    fs::remove_all(i->path(), kept);
  }
}

}  // namespace

expected<std::unique_ptr<hosted_outputs>> hosted_outputs::open(
    const fs::path& all) {
  if (auto made = storage::make_private_folder(all); !made)
    return unexpected{std::move(made.error())};
  remove_those_of_the_dead(all);
  id_source ids;
  constexpr int most_tries = 100;
  for (int tries = 0; tries < most_tries; ++tries) {
    auto folder = all / ids.make(own_kind);
    if (::mkdir(folder.c_str(), 0700) != 0) break;
    auto lock = open_folder(folder);
    // Between the two somebody who starts may have taken it for a dead one's.
    if (lock && try_lock(lock, lock_kind::exclusive) && leads_to(folder, lock))
      return std::make_unique<hosted_outputs>(std::move(folder),
                                              std::move(lock));
  }
  return unexpected{error{errc::storage_unavailable, "node",
                          "cannot make a folder for outputs in " +
                              all.string() + ": " +
                              std::generic_category().message(errno)}};
}

hosted_outputs::hosted_outputs(fs::path folder, unique_fd lock)
    : folder_{std::move(folder)}, lock_{std::move(lock)} {}

hosted_outputs::~hosted_outputs() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace riffle
