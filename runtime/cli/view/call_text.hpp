// SPDX-License-Identifier: MIT
#pragma once

// What a call is about, and what came of it, in a few words.

#include <string>
#include <string_view>

#include "messages/call.hpp"
#include "messages/event.hpp"

namespace riffle::cli {

/// The tool and the argument that says most, the title if there is none; of a
/// server's tool its title: "Using files to read text file" and "README.md".
/// Harmless for a terminal, one line.
struct call_words {
  std::string name{};
  std::string about{};  ///< may be empty

  /// "read: README.md", on a node "read@gpu-1: README.md".
  [[nodiscard]] std::string on(std::string_view node) const;
};
call_words words_of(const events::tool_call& x);

/// The same of a call on record, where its title says what went on then.
call_words words_of(const riffle::tool_call& x);

/// "read README.md": the same before a colon, of a call that is asked about.
std::string call_name(const events::approval_required& x);

/// The same in a row about what goes on; of a command that alone: "rm -r x".
/// Its title ("Running: rm -r x") would say that it has begun.
std::string waiting_name(const events::approval_required& x);
std::string waiting_name(const events::tool_call& x);

/// " (42 lines, 1.3 KB)", " (exit 2, 14 lines)", " (3 items, 1.3 KB)", " → 45
/// matches", or nothing, from a result's metadata.
std::string result_detail(std::string_view metadata);

/// The node that did the work, from a result's metadata; empty: none is named.
std::string result_node(std::string_view metadata);

/// Whether a program ended with a status that is not 0: `result_detail` says
/// it.
bool has_exit_code(std::string_view metadata);

/// Whether a command ends with a search, whose status says that it found
/// nothing: `cat a | grep b`.
bool is_search(std::string_view tool, std::string_view arguments);

/// The same of how such a one ended.
bool found_nothing(std::string_view metadata);

/// What a call changed, as a unified diff; empty if the metadata has none.
std::string result_diff(std::string_view metadata);

/// "3/10: linking": a report in a few words, harmless for a terminal.
std::string progress_text(const tool_progress_report& x);

}  // namespace riffle::cli
