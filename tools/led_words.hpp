// SPDX-License-Identifier: MIT
#pragma once

// Where the words of a command line lead by links, as the file system is now.

#include <filesystem>
#include <string_view>

#include "actors/core/led_words.hpp"

namespace riffle::tools {

/// The words that a link on their way, or links one behind another, lead to
/// another place: with d a link to /usr/bin, "d/*" comes to "/usr/bin/*". From
/// the workspace and where a `cd` of the line leads. What the shell makes of a
/// word is not known but for `~/`; of a pattern the folders before it are
/// followed, and the links that it takes in are told (`taken_in`). Behind a
/// step that is no plain word not all is known (`all`). Blocks, for a bounded
/// number of looks.
core::led_words find_led_words(std::string_view line,
                               const std::filesystem::path& workspace);

}  // namespace riffle::tools
