// SPDX-License-Identifier: MIT
#include "tools/builtin/search/search_place.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/builtin/files/file_failure.hpp"
#include "tools/builtin/files/path_confinement.hpp"
#include "tools/builtin/files/path_text.hpp"
#include "tools/builtin/files/place.hpp"
#include "tools/builtin/files/workspace_file.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

using nlohmann::json;

namespace {

std::string beneath(const std::string& folder, const std::string& stem) {
  if (stem.empty()) return folder;
  return folder == "." ? stem : folder + "/" + stem;
}

bool has_detours(const std::string& path) {
  return std::ranges::any_of(reversed_parts(path),
                             [](const auto& part) { return part == ".."; });
}

}  // namespace

std::string search_place::shown(const std::string& found) const {
  if (start == where) return found;
  const auto rest =
      where == "." ? found
                   : found.substr(std::min(found.size(), where.size() + 1));
  if (rest.empty()) return start;
  return start == "." ? rest : start + "/" + rest;
}

std::string_view search_place::inside(std::string_view shown) const {
  if (folder != ".")
    shown.remove_prefix(std::min(shown.size(), folder.size() + 1));
  return shown;
}

rule_subject search_subject(const std::filesystem::path& workspace,
                            const json& arguments, const std::string& stem) {
  return path_subject(workspace,
                      beneath(arguments.value("path", std::string{"."}), stem));
}

tl::expected<search_place, tool_output> open_place(std::string_view op,
                                                   const json& arguments,
                                                   const tool_context& context,
                                                   const std::string& stem,
                                                   const read_rules& rules) {
  auto name = relative_path(context.workspace,
                            arguments.value("path", std::string{"."}));
  if (!name)
    return tl::unexpected{
        file_failure(op, name.error().code, name.error().message)};
  auto root = open_workspace(op, context.workspace);
  if (!root) return tl::unexpected{std::move(root).error()};
  search_place result{.root = std::move(*root),
                      .folder = without_detours(*name)};
  result.others = rules.others();
  const int at = result.root.get();
  const auto folder = place_beneath(at, *name);
  const auto place = folder ? open_beneath(at, *folder, O_PATH)
                            : tl::unexpected{folder.error()};
  if (!place)
    return tl::unexpected{
        cannot_open(op, at, *name, place.error(), result.others)};
  // What ".." leads to is not what the text alone says, behind a link.
  if (has_detours(*name)) result.folder = *folder;
  result.start = without_detours(beneath(result.folder, stem));
  result.by_stem = !stem.empty();
  result.judged = context.judged.has_value();
  if (result.judged && !context.judged->empty()) {
    result.where = *context.judged;
    return result;
  }
  auto where = place_beneath(at, beneath(*folder, stem));
  if (!where && result.by_stem &&
      (where.error() == ENOENT || where.error() == ENOTDIR))
    where = result.start;  // the walk will find nothing there
  if (!where)
    return tl::unexpected{
        cannot_open(op, at, result.start, where.error(), result.others)};
  if (result.judged) return tl::unexpected{place_moved(op, result.start)};
  result.where = std::move(*where);
  return result;
}

tool_output cannot_walk(std::string_view op, const search_place& place,
                        int number) {
  if (number == ECANCELED)
    return file_failure(op, errc::cancelled, "cancelled");
  if (number == ELOOP && place.judged) return place_moved(op, place.start);
  if (number == ENOTDIR)
    return file_failure(op, errc::invalid_arguments,
                        path_text(place.start) +
                            " is no folder; give the folder that it is in");
  return cannot_open(op, place.root.get(), place.start, number, place.others);
}

std::string denied_note(std::uint64_t count, json& metadata) {
  if (count == 0) return {};
  metadata["denied_files"] = count;
  return "[left out, as reading is not allowed: " + std::to_string(count) +
         (count == 1 ? " file]\n" : " files]\n");
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
  auto result = with_dots(pattern, 80);
  if (const auto path = arguments.find("path"); path != arguments.end())
    result += " in " + with_dots(path->get_ref<const std::string&>(), 200);
  return result;
}

std::size_t text_cap(const tool_context& context, std::size_t notes) {
  return context.output_cap > 2 * notes ? context.output_cap - notes
                                        : context.output_cap / 2;
}

}  // namespace riffle::tools
