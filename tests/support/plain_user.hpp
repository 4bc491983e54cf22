// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <unistd.h>

#include "tests/support/catch.hpp"

namespace riffle::testing {

/// While it lives, the process is a user whom permissions stop, and who owns
/// `folder` with all that is in it; for tests that root runs.
class plain_user {
 public:
  explicit plain_user(const std::filesystem::path& folder) {
    if (::geteuid() != 0) return;
    give(folder);
    for (const auto& x : std::filesystem::recursive_directory_iterator{folder})
      give(x.path());
    REQUIRE(::setresgid(nobody, nobody, 0) == 0);
    REQUIRE(::setresuid(nobody, nobody, 0) == 0);
    changed_ = true;
  }
  ~plain_user() {
    if (!changed_) return;
    static_cast<void>(::setresuid(0, 0, 0));
    static_cast<void>(::setresgid(0, 0, 0));
  }
  plain_user(const plain_user&) = delete;
  plain_user& operator=(const plain_user&) = delete;

 private:
  static constexpr uid_t nobody = 65534;

  static void give(const std::filesystem::path& x) {
    REQUIRE(::lchown(x.c_str(), nobody, nobody) == 0);
  }

  bool changed_ = false;
};

}  // namespace riffle::testing
