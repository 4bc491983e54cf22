// SPDX-License-Identifier: MIT
#pragma once

// What `write` and `edit` tell about a change, or about why there is none.

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "tools/builtin/files/line_diff.hpp"
#include "tools/builtin/files/replace_file.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

/// Of a diff in a result, which every reader of the log gets …
constexpr std::size_t longest_result_diff = 16u << 10;
/// … and in a preview: who decides about a change can look at all of it.
constexpr std::size_t longest_preview = 240u << 10;

/// "a/x" and "b/x", or "/dev/null" for a new file.
diff_format format_of(const write_target& target, std::size_t most_bytes);

/// A line that says where the target's name leads, if that is elsewhere.
std::string way_of(const write_target& target);

/// Adds `diff`, `added`, `removed`, and `diff_truncated` if lines are missing.
void add_diff(nlohmann::json& metadata, const diff_text& diff);

/// Adds `digest_before`, unless there was no file, and `digest_after`: what
/// tells later whether a file is still what the call left. Of what is too long
/// for one (content_digest.hpp): nothing.
void add_digests(nlohmann::json& metadata, const std::string& before,
                 const std::string& after);

/// Adds `place` where the target's name leads elsewhere, through a link.
void add_place(nlohmann::json& metadata, const write_target& target);

/// The diff as text, with a line that says if some of it is missing.
std::string preview_of(const diff_text& diff);

/// "+3 -1 lines".
std::string counts_of(const diff_text& diff);

/// For the errno of writing.
tool_output cannot_write(std::string_view op, const write_target& target,
                         int number);

}  // namespace riffle::tools
