// SPDX-License-Identifier: MIT
#pragma once

// A TOML document as a plain tree whose values know where they stand. Hides
// the TOML library from everything else.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "runtime/config/config.hpp"

namespace riffle::config {

/// Where a key or a value stands.
struct place {
  bool set = false;  ///< in a `--set`, else in the file
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

enum class kind : std::uint8_t {
  boolean,
  integer,
  real,
  text,
  time,  ///< any of TOML's dates and times; `text` holds it
  list,
  table,
};

/// "a whole number", "a list", … for messages.
std::string_view describe(kind x) noexcept;

struct value {
  kind type = kind::table;
  bool flag = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<value> items;  ///< of a list, or of a table in any order
  std::string key;           ///< of an item of a table
  place at;
  place key_at;
  /// What stood behind '=' in a `--set`, so that `model=7` can be a text.
  std::optional<std::string> raw;

  [[nodiscard]] const value* find(std::string_view name) const noexcept;
};

/// `file` names it in the mistake.
tl::expected<value, mistake> parse_toml(std::string_view text,
                                        const std::string& file);

/// "a.b.c=value" as tables in tables. The value is read as TOML; what is not
/// TOML is a text.
tl::expected<value, mistake> parse_set(std::string_view argument);

/// Puts `over` on `base`: tables are merged, all else is replaced.
void overlay(value& base, value over);

/// The item that a path of keys leads to, or null.
const value* find_path(const value& root,
                       const std::vector<std::string>& path) noexcept;

}  // namespace riffle::config
