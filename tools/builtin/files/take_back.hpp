// SPDX-License-Identifier: MIT
#pragma once

// Changes that `write` and `edit` have made are taken back, from what their
// results tell: exactly, or not at all.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace riffle::tools {

/// The text that a unified diff was made of, from what came of it. Nothing: the
/// diff is of another text.
std::optional<std::string> before_diff(std::string_view after,
                                       std::string_view diff);

/// One call, as its result tells it.
struct made_change {
  std::string path{};    ///< as the model wrote it
  std::string diff{};    ///< may be cut
  std::string before{};  ///< digest of the content; empty: there was no file
  std::string after{};   ///< the same behind it; empty: not on record
  std::string place{};   ///< where a link led it; empty: nowhere else
};

/// A file as it is, and as it was.
struct earlier_file {
  std::string path{};
  std::string now{};
  std::optional<std::string> was{};  ///< nothing: it was not there
  std::string diff{};                ///< from now to then
  bool done = false;                 ///< it is that already
  std::string place{};               ///< see `made_change`
};

/// What a file was before all these changes of it, in their order. The error
/// says why nobody can tell, for a person: it is not what the last of them
/// left, something else came between them, its path leads elsewhere by now, or
/// the log holds too little.
tl::expected<earlier_file, std::string> earlier(
    const std::filesystem::path& workspace, std::span<const made_change> all);

/// Puts them back, all or none: where one cannot be written, or is neither
/// `now` nor what it was any more, those before it are as they were found. Who
/// is killed within it does the same again. The error is for a person.
tl::expected<void, std::string> put_back(const std::filesystem::path& workspace,
                                         std::span<const earlier_file> files);

}  // namespace riffle::tools
