// SPDX-License-Identifier: MIT
#pragma once

// The configuration as text: what is in effect and why, and a file to start
// from. Pure.

#include <string>
#include <vector>

#include "runtime/config/config.hpp"

namespace riffle::cli {

/// A key in effect and where its value comes from: "default", "--set",
/// "/path/riffle.toml:7". Passwords inside of URLs are left out.
struct sourced_setting {
  config::setting setting;
  std::string source;

  bool operator==(const sourced_setting&) const = default;
};

std::vector<sourced_setting> sourced_settings(const config::config& x);

/// TOML; the source of what is no default stands behind it as a comment.
std::string to_toml(const std::vector<sourced_setting>& all);

/// {"models.default.model": {"value": "\"gpt-4.1-mini\"", "source": …}, …};
/// values as TOML.
std::string to_json(const std::vector<sourced_setting>& all);

/// {"key": …, "value": …, "source": …}, a line each.
std::string to_json_lines(const std::vector<sourced_setting>& all);

/// configs/default.toml with every key behind a "#": it changes nothing.
std::string commented_defaults();

}  // namespace riffle::cli
