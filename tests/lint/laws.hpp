// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::lint {

/// A broken law: "path:line: what". Lines count from 1; 0 is the whole file.
struct violation {
  std::string path;
  int line = 0;
  std::string what;

  bool operator==(const violation&) const = default;
};

using violations = std::vector<violation>;

/// The place of a source file in the tree. A line of the law never includes a
/// higher one; what stands outside of it (tests) includes what it likes.
enum class layer : int {
  messages = 0,
  core_and_base = 1,
  parts = 2,  ///< tools, configuration, model, storage: know no actors
  actors = 3,
  service = 4,  ///< use cases
  shell = 5,    ///< node, http, api
  cli = 6,
  outside = 99,
};

/// `path` is relative to the root of the repository, with '/'.
[[nodiscard]] layer layer_of(std::string_view path);

/// Laws on #include lines: layers, no CAF where no actors are, actors see
/// only the ports of the parts.
[[nodiscard]] violations check_includes(std::string_view path,
                                        std::string_view text);

/// Laws on the text of one file: licence line, length, endless waits, notes
/// without a reason, paths of one machine, headers, inner parts of CAF.
[[nodiscard]] violations check_text(std::string_view path,
                                    std::string_view text);

/// A short header is the face of a file of definitions, or a rule that many
/// share; else it joins its neighbour. `all`: text by path.
[[nodiscard]] violations check_short_headers(
    const std::map<std::string, std::string>& all);

}  // namespace riffle::lint
