// SPDX-License-Identifier: MIT
#pragma once

// What a model is told of the folder that a run works in: where it is, the
// system, the day, the branch and whether all is committed, and what the
// project's own files say (AGENTS.md, https://agents.md). Nothing that the
// project names is executed for it, and nothing outside of the project is read.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace riffle::service {

/// A file whose text the model is told.
struct told_file {
  std::filesystem::path path;  ///< relative to the project's root
  std::uint64_t size = 0;      ///< bytes of the file
  bool cut = false;            ///< the model is told its beginning only

  bool operator==(const told_file&) const = default;
};

struct surroundings {
  std::string text;                     ///< for the model
  std::vector<told_file> files{};       ///< the outermost first
  std::vector<std::string> left_out{};  ///< "AGENTS.md: is another user's"
};

/// Most of one file, and of all, in bytes.
inline constexpr std::size_t most_of_a_file = 32u << 10;
inline constexpr std::size_t most_of_files = 64u << 10;

/// What is told of git: asked for now, or as it was said last.
enum class git_answer { asked, known };

/// Looks for files of these names in `folder` and its parents up to the
/// project's root (where `.git` is; without one in `folder` alone). Only
/// regular files of this user within the project count, however a link leads
/// to them. `today`: "2026-11-24". Never fails: what cannot be read is left
/// out, and said. Blocks, also on git (git_state.hpp) if that is asked.
surroundings look_around(const std::filesystem::path& folder,
                         const std::vector<std::string>& names,
                         const std::string& today,
                         git_answer how = git_answer::asked);

/// What becomes of such a text while a session lasts.
struct told_parts {
  std::string lasting;  ///< all but …
  std::string state;    ///< … the lines of the day, and of git

  bool operator==(const told_parts&) const = default;
};
told_parts parts_of(const std::string& text);

/// Today, where this process is.
std::string today_here();

}  // namespace riffle::service
