// SPDX-License-Identifier: MIT
#pragma once

// A `./riffle.toml` that nobody named was written by whoever made the folder,
// often a stranger. What it sets counts only after the person trusted it, but
// for a short table of harmless keys.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"
#include "runtime/config/source.hpp"
#include "runtime/config/trust_store.hpp"

namespace riffle::config {

/// A key that any folder's file may set, within bounds. "*" stands for a name
/// that users choose.
struct harmless_key {
  std::string_view pattern;
  double least = 0;  ///< of numbers
  double most = 0;
};

/// See README.md for what a key must not be able to do to stand here.
std::span<const harmless_key> harmless_keys();

struct set_key {
  std::string key;
  std::string value;  ///< as TOML
  std::uint32_t line = 0;

  bool operator==(const set_key&) const = default;
};

/// What a text sets and only a trusted file may, in the order of its lines.
/// Of a text that is no TOML nothing.
std::vector<set_key> keys_that_need_trust(const std::string& text);

struct trust_state {
  bool trusted = false;                ///< it may be used
  std::filesystem::path file;          ///< as trust is kept: see trust_store
  std::string text;                    ///< what was judged
  std::vector<set_key> keys;           ///< why it needs trust
  std::filesystem::path displaces;     ///< the person's own file, which would
                                       ///< count without this one
  std::optional<trusted_file> before;  ///< what was trusted, if it changed
};

/// Whether a configuration may be used. Fails if what the person trusts cannot
/// be read.
expected<trust_state> judge_trust(const source& from);

/// "is not trusted, and …: what to do", behind the file's name.
std::string trust_problem(const trust_state& x);

}  // namespace riffle::config
