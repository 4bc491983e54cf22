// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace riffle::tools {

/// A path as one line of UTF-8. As git does it (core.quotePath): one with
/// control characters, bytes that are not UTF-8, or a quote at its begin is
/// put in quotes, with \n, \t, \" and \\, and \ooo for such bytes.
std::string path_text(std::string_view path);

}  // namespace riffle::tools
