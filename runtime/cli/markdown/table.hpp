// SPDX-License-Identifier: MIT
#pragma once

// A table of Markdown, whole. Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::cli {

/// Whether a line is the one below a table's head: "|---|:--:|".
bool is_table_rule(std::string_view line);

/// Lines for a terminal, not wider than `columns`: cells are wrapped. Where
/// there is no room for columns the lines come as they are. `lines`: of the
/// source; with a head the second is a `is_table_rule`.
std::string table_text(const std::vector<std::string>& lines, bool has_head,
                       std::size_t columns, bool styled);

}  // namespace riffle::cli
