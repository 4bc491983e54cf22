// SPDX-License-Identifier: MIT
#pragma once

// What a person trusts: one small file for each configuration file, in
// $XDG_STATE_HOME/riffle/trust (default ~/.local/state). Never where a
// configuration says.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "messages/time.hpp"

namespace riffle::config {

struct trusted_file {
  std::filesystem::path file;
  std::string text;    ///< what was trusted
  std::string digest;  ///< its SHA-256
  wall_time since;
};

/// Any number of processes may use it at the same time. Entries that others
/// could have written, and damaged ones, are none.
class trust_store {
 public:
  /// Of the person who runs the program; fails if that has no home.
  static expected<trust_store> of_user();
  explicit trust_store(std::filesystem::path folder);

  /// By its `trust_name`. Fails if the store itself cannot be trusted.
  [[nodiscard]] expected<std::optional<trusted_file>> find(
      const std::filesystem::path& file) const;
  /// Replaces what was trusted before.
  [[nodiscard]] expected<void> trust(const std::filesystem::path& file,
                                     const std::string& text,
                                     wall_time now) const;
  /// False: it was not trusted.
  [[nodiscard]] expected<bool> revoke(const std::filesystem::path& file) const;
  /// Sorted by path.
  [[nodiscard]] expected<std::vector<trusted_file>> list() const;

 private:
  [[nodiscard]] std::filesystem::path entry_of(
      const std::filesystem::path& file) const;

  std::filesystem::path folder_;
};

/// How a file is called in the store: the real path of its folder, and its
/// name there. A link is not followed: what it leads to is read in this
/// folder, and its relative paths begin here.
std::filesystem::path trust_name(const std::filesystem::path& file);

}  // namespace riffle::config
