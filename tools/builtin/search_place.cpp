// SPDX-License-Identifier: MIT
#include "tools/builtin/search_place.hpp"

#include <cerrno>
#include <fcntl.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/builtin/file_failure.hpp"
#include "tools/builtin/jail.hpp"
#include "tools/builtin/path_text.hpp"
#include "tools/builtin/workspace_file.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

using nlohmann::json;

std::string_view search_place::inside(std::string_view path) const {
  if (folder != ".") path.remove_prefix(folder.size() + 1);
  return path;
}

tl::expected<search_place, tool_output> open_place(std::string_view op,
                                                   const json& arguments,
                                                   const tool_context& context,
                                                   const std::string& stem) {
  auto name = relative_path(context.workspace,
                            arguments.value("path", std::string{"."}));
  if (!name)
    return tl::unexpected{
        file_failure(op, name.error().code, name.error().message)};
  auto root = open_workspace(op, context.workspace);
  if (!root) return tl::unexpected{std::move(root).error()};
  search_place result{.root = std::move(*root),
                      .folder = without_detours(*name)};
  // Opened as it was written, too: text alone does not see links.
  const auto place = open_beneath(result.root.get(), *name, O_PATH);
  if (!place)
    return tl::unexpected{
        cannot_open(op, result.root.get(), *name, place.error())};
  result.start = result.folder;
  if (!stem.empty()) {
    result.start = result.folder == "." ? stem : result.folder + "/" + stem;
    result.start = without_detours(result.start);
    result.by_stem = true;
  }
  return result;
}

tool_output cannot_walk(std::string_view op, const search_place& place,
                        int number) {
  if (number == ECANCELED)
    return file_failure(op, errc::cancelled, "cancelled");
  if (number == ENOTDIR)
    return file_failure(op, errc::invalid_arguments,
                        path_text(place.start) +
                            " is no folder; give the folder that it is in");
  return cannot_open(op, place.root.get(), place.start, number);
}

std::string walk_notes(const tree_walk& walk, json& metadata) {
  std::string result;
  if (walk.unreadable_count() > 0) {
    metadata["unreadable_folders"] = walk.unreadable_count();
    std::string names;
    for (const auto& name : walk.unreadable())
      names += (names.empty() ? "" : ", ") + path_text(name);
    result += "[not readable, so not looked into: " +
              std::to_string(walk.unreadable_count()) +
              (walk.unreadable_count() == 1 ? " folder: " : " folders: ") +
              std::string{cut_utf8(names, 1024)} + "]\n";
  }
  if (walk.cut_folders() > 0) {
    metadata["cut_folders"] = walk.cut_folders();
    result += "[" + std::to_string(walk.cut_folders()) +
              " folders hold more names than are read]\n";
  }
  return result;
}

std::string searched(const json& arguments) {
  const auto& pattern = arguments.at("pattern").get_ref<const std::string&>();
  std::string result{cut_utf8(pattern, 80)};
  if (const auto path = arguments.find("path"); path != arguments.end())
    result += " in " +
              std::string{cut_utf8(path->get_ref<const std::string&>(), 200)};
  return result;
}

std::size_t text_cap(const tool_context& context, std::size_t notes) {
  return context.output_cap > 2 * notes ? context.output_cap - notes
                                        : context.output_cap / 2;
}

}  // namespace riffle::tools
