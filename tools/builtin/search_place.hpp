// SPDX-License-Identifier: MIT
#pragma once

// What `glob` and `grep` have in common: where they look, and what they say.

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "tools/builtin/tree_walk.hpp"
#include "tools/process/unique_fd.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

struct search_place {
  unique_fd root;        ///< the workspace
  std::string folder;    ///< the argument `path`, "." by default
  std::string start;     ///< where the walk begins: in `folder`
  bool by_stem = false;  ///< `start` is deeper than `folder`

  /// A path of the workspace, as it is called inside `folder`.
  [[nodiscard]] std::string_view inside(std::string_view path) const;
};

/// Of the argument `path`. `stem`: a folder beneath it, or "".
tl::expected<search_place, tool_output> open_place(
    std::string_view op, const nlohmann::json& arguments,
    const tool_context& context, const std::string& stem);

/// What the tool says when the walk failed with `number`.
tool_output cannot_walk(std::string_view op, const search_place& place,
                        int number);

/// Lines in brackets about what was not looked at, the same in `metadata`.
std::string walk_notes(const tree_walk& walk, nlohmann::json& metadata);

/// "**/*.cpp in src": what a person reads in titles.
std::string searched(const nlohmann::json& arguments);

/// Bytes of text for matches; `notes` are kept free.
std::size_t text_cap(const tool_context& context, std::size_t notes);

}  // namespace riffle::tools
