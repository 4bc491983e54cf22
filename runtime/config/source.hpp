// SPDX-License-Identifier: MIT
#pragma once

// Where a configuration comes from. It is read once: what is judged is what
// is used.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/config/config.hpp"

namespace riffle::config {

struct source {
  std::filesystem::path file;  ///< empty: built-in defaults, or a given text
  std::string text;
  /// Nobody named it: it lies in the working folder, so whoever made that
  /// folder wrote it. See trust.hpp.
  bool found_in_folder = false;
};

/// Where the configuration is found: `--config`, `$RIFFLE_CONFIG`,
/// `./riffle.toml`, `$XDG_CONFIG_HOME/riffle/riffle.toml` (default
/// `~/.config`), else nothing: the built-in defaults. A `./riffle.toml` that
/// sets nothing, and is not trusted, takes nobody's place. Without its text.
tl::expected<source, mistake> find_source(const load_request& request);

/// The same without `./riffle.toml`: what the person's own one is.
tl::expected<source, mistake> find_own_source(const load_request& request);

/// Fills in the text: at most 1 MiB within 5 s.
tl::expected<source, mistake> read_source(source from);

/// What is wrong with a text by itself: it is no TOML, a key is not known, a
/// value cannot be one. Nothing that it names is looked at.
std::vector<mistake> mistakes_in_text(const load_request& request,
                                      const source& from);

/// Binds and checks what was read; `request` has the rest.
tl::expected<config, std::vector<mistake>> load(const load_request& request,
                                                const source& from);

}  // namespace riffle::config
