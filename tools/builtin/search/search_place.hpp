// SPDX-License-Identifier: MIT
#pragma once

// What `glob` and `grep` have in common: where they look, and what they say.

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "runtime/base/unique_fd.hpp"
#include "tools/builtin/files/file_failure.hpp"
#include "tools/builtin/files/read_rules.hpp"
#include "tools/builtin/search/tree_walk.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

struct search_place {
  unique_fd root;        ///< the workspace
  std::string folder;    ///< the argument `path`, "." by default
  std::string start;     ///< where the walk begins: in `folder`
  std::string where;     ///< the place of `start`: what is walked
  bool by_stem = false;  ///< `start` is deeper than `folder`
  bool judged = false;   ///< `where` was judged
  neighbours others = neighbours::named;  ///< in failures

  /// What the walk found, as the model calls it.
  [[nodiscard]] std::string shown(const std::string& found) const;
  /// The same, as it is called inside `folder`.
  [[nodiscard]] std::string_view inside(std::string_view shown) const;
};

/// What rules see of a search: the place where it begins.
rule_subject search_subject(const std::filesystem::path& workspace,
                            const nlohmann::json& arguments,
                            const std::string& stem);

/// Of the argument `path`. `stem`: a folder beneath it, or "".
tl::expected<search_place, tool_output> open_place(
    std::string_view op, const nlohmann::json& arguments,
    const tool_context& context, const std::string& stem,
    const read_rules& rules);

/// What the tool says when the walk failed with `number`.
tool_output cannot_walk(std::string_view op, const search_place& place,
                        int number);

/// A line in brackets about what `read` is denied, the same in `metadata`.
std::string denied_note(std::uint64_t count, nlohmann::json& metadata);

/// Lines in brackets about what was not looked at, the same in `metadata`.
std::string walk_notes(const tree_walk& walk, nlohmann::json& metadata);

/// "**/*.cpp in src": what a person reads in titles.
std::string searched(const nlohmann::json& arguments);

/// Bytes of text for matches; `notes` are kept free.
std::size_t text_cap(const tool_context& context, std::size_t notes);

}  // namespace riffle::tools
