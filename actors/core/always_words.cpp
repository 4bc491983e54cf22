// SPDX-License-Identifier: MIT
// What a pattern covers, in words: a part of how far "always" reaches.
#include "actors/core/always_scope.hpp"
#include "actors/core/always_table.hpp"

namespace riffle::core {

std::string_view reach_of_pattern(std::string_view pattern) {
  if (const auto each = patterns_of(pattern); each.size() > 1) {
    std::string_view farthest;
    for (const auto x : each)
      if (const auto one = reach_of_pattern(x); one.size() > farthest.size())
        farthest = one;
    return farthest;
  }
  if (!pattern.ends_with(" *")) return {};
  const auto command = pattern.substr(0, pattern.find(' '));
  if (!script_of_line(pattern).empty())
    return "its words name no file outside of this folder; once the file that "
           "it runs has changed you are asked again";
  if (runs_the_folder(command))
    return "its words name no file outside of this folder, but it runs what "
           "the files here say by then, and that may do anything, anywhere";
  if (has_subcommands(command))
    return "its words name no file outside of this folder";
  return names_files(command) ? "it looks at any file, also outside of this "
                                "folder"
                              : "";
}

std::string words_of_pattern(std::string_view tool, std::string_view pattern) {
  const auto quoted = [](std::string_view x) {
    return std::string{"`"}.append(x).append("`");
  };
  if (const auto each = patterns_of(pattern); each.size() > 1) {
    std::string all;
    for (std::size_t i = 0; i < each.size(); ++i) {
      const auto x = each[i];
      if (i == 1 && x == each[0]) break;
      const auto* between = i == 0 ? "" : i + 1 < each.size() ? ", " : " and ";
      all += between + quoted(x.substr(0, x.size() - 2));
    }
    return "any " + all + " with plain words, alone or joined";
  }
  const auto head = pattern.substr(0, pattern.size() - 1);
  if (pattern.ends_with(" *"))
    return "any " + quoted(head.substr(0, head.size() - 1)) +
           " with plain words";
  if (tool == "bash") return "any " + quoted(pattern) + " alone";
  const bool all_below = pattern.ends_with("/*");
  return std::string{"any "}
      .append(tool)
      .append(all_below ? " below " : " of ")
      .append(all_below ? head : pattern);
}

}  // namespace riffle::core
