// SPDX-License-Identifier: MIT
#include "actors/core/command_calls.hpp"

#include <algorithm>

#include "actors/core/command_table.hpp"

namespace riffle::core {

bool is_input(std::string_view file) {
  const bool leaves = file.starts_with('/') || file.find("..") != file.npos;
  return leaves && matches_any("*/dev/* */proc/*", file);
}

bool opens_shell(std::string_view program, shell_words rest) {
  constexpr std::string_view flags =
      "-- -y --yes --no --no-install -q --quiet -s --silent --offline "
      "--prefer-offline";
  rest = without_targets(rest);
  if (program == "npm") {
    const auto is_exec = [](const shell_word& x) {
      return matches_any("exec exe x", x.text);
    };
    const bool first = !rest.empty() && !is_option(rest[0].text);
    auto at = std::ranges::find_if(rest, is_exec);
    if (at == rest.end() || (first && at != rest.begin())) return false;
    rest = {at + 1, rest.end()};
  } else if (program != "npx") {
    return false;
  }
  if (rest.size() == 1 && matches_any("--version -v", rest[0].text))
    return false;
  while (!rest.empty() && matches_any(flags, rest[0].text))
    rest = rest.subspan(1);
  return rest.empty() || !is_plain(rest[0]) || rest[0].text.empty() ||
         is_option(rest[0].text) ||
         matches_any("true false null", rest[0].text);
}

bool only_tells(std::string_view program, shell_words rest) {
  if (!std::ranges::all_of(rest, is_plain)) return false;
  const auto bare = without_targets(rest);
  if (bare.empty()) return false;
  if (program == "command" && (bare[0].text == "-v" || bare[0].text == "-V"))
    return true;
  if (bare.size() == 1 && is_version_option(program, bare[0].text)) return true;
  return is_question(program, bare[0].text) &&
         std::ranges::none_of(rest, &shell_word::input) &&
         std::ranges::all_of(bare, [](const shell_word& x) {
           return is_option(x.text) ? is_question_option(x.text)
                                    : !is_input(x.text);
         });
}

}  // namespace riffle::core
