// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace riffle::core {

enum class operands {
  none,
  paths,
  pattern_paths,  ///< a pattern, then paths; paths alone with `-e`
  names,          ///< that lead nowhere
  formats,        ///< "+%F"
  revisions,      ///< of git, or paths: told apart by nobody
};

/// What a program that reads may be given. An option that is not here makes
/// the command none that only reads.
struct read_options {
  std::string_view name;  ///< words at the command's beginning
  operands rest = operands::paths;
  bool sweeps = false;      ///< always; else with an option of `sweeping`
  bool own_place = false;   ///< takes "." if it is given no path
  bool bundles = true;      ///< `-ab` is `-a -b`
  bool counts = false;      ///< `-5` is an option
  std::string_view flags;   ///< short options without a value
  std::string_view values;  ///< short options with one
  /// "name", "name=" (always has a value), "name?" (has one behind "=").
  std::vector<std::string_view> longs;
  std::string_view sweeping = {};             ///< flags
  std::size_t most = std::string_view::npos;  ///< of operands
  bool files_only = false;  ///< of a folder it would show what is in it
};

/// The program whose name these words begin with; null: none that is known.
const read_options* find_read_options(const std::vector<std::string_view>& of);

}  // namespace riffle::core
