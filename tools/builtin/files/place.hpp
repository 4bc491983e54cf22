// SPDX-License-Identifier: MIT
#pragma once

// The place that a path stands for: what rules judge, and where tools act.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "messages/call.hpp"

namespace riffle::tools {

/// Where `relative` leads beneath the folder `root`: the same place without
/// symbolic links, "." and "..", each link read as it is at that moment. The
/// last parts need not exist: a link that leads nowhere yet stands for what
/// would be made there. "." is the folder itself. The error is an errno: EXDEV
/// for what leaves it, ELOOP, ENOTDIR, ENOENT for a link on the way that leads
/// nowhere. Whoever acts opens the place with `links::refused`: then it is
/// this one or nothing.
tl::expected<std::string, int> place_beneath(int root,
                                             const std::string& relative);

/// What rules of the configuration see of a path that a model wrote: its
/// place. Not known if it leads outside, nowhere that can be told, or to a
/// name that is no UTF-8.
rule_subject path_subject(const std::filesystem::path& workspace,
                          std::string_view path);

/// The parts of a path, the first one last.
std::vector<std::string> reversed_parts(std::string_view path);

}  // namespace riffle::tools
