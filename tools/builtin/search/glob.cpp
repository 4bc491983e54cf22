// SPDX-License-Identifier: MIT
#include <cerrno>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/builtin/files/file_failure.hpp"
#include "tools/builtin/files/path_confinement.hpp"
#include "tools/builtin/files/path_text.hpp"
#include "tools/builtin/files/path_tool.hpp"
#include "tools/builtin/files/place.hpp"
#include "tools/builtin/search/glob_set.hpp"
#include "tools/builtin/search/match_report.hpp"
#include "tools/builtin/search/search.hpp"
#include "tools/builtin/search/search_place.hpp"
#include "tools/builtin/search/tree_walk.hpp"
#include "tools/text.hpp"

namespace riffle::embedded {
extern const std::string_view glob_md;
}

namespace riffle::tools {

namespace {

using nlohmann::json;

constexpr std::string_view glob_op = "glob";
constexpr std::size_t default_limit = 1000;
constexpr std::size_t room_for_notes = 2048;

constexpr const char* parameters = R"({
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "minLength": 1, "maxLength": 4096,
                "description": "e.g. **/*.cpp or src/*.{h,hpp}"},
    "path": {"type": "string", "minLength": 1,
             "description": "The folder to look in; default: the workspace"},
    "include_ignored": {"type": "boolean",
                        "description": "Also what .gitignore excludes"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 100000,
              "description": "Most paths to list; default 1000"}
  },
  "required": ["pattern"],
  "additionalProperties": false
})";

/// The paths found so far, as far as they are shown.
struct findings {
  std::size_t limit = default_limit;
  std::size_t cap = 0;  ///< most bytes of text
  std::string text;
  std::uint64_t matches = 0;
  std::uint64_t shown = 0;
  std::uint64_t denied = 0;  ///< for `read`, so not told

  /// Whether it is shown.
  bool add(const std::string& line) {
    ++matches;
    if (shown + 1 < matches) return false;  // one before it was left out
    if (shown == limit || text.size() + line.size() + 1 > cap) return false;
    text += line + '\n';
    ++shown;
    return true;
  }
};

tool_output result_of(findings x, const tree_walk& walk) {
  json metadata = {{"matches", x.matches}};
  if (x.matches == 0) x.text = "[nothing matches]\n";
  if (x.shown < x.matches) {
    metadata["truncated"] = true;
    metadata["shown"] = x.shown;
    x.text += "[... " + std::to_string(x.matches - x.shown) +
              " more; narrow the pattern or the path, or raise limit]\n";
  }
  x.text += denied_note(x.denied, metadata);
  x.text += walk_notes(walk, metadata);
  x.text.pop_back();
  return {.text = std::move(x.text), .metadata = metadata.dump()};
}

/// The pattern without "/" at its end, and the folder that it begins in.
tl::expected<glob_set, std::string> wanted_of(const json& arguments) {
  auto pattern = arguments.at("pattern").get<std::string>();
  while (pattern.size() > 1 && pattern.ends_with('/')) pattern.pop_back();
  return glob_set::parse(pattern);
}

class glob final : public path_tool {
 public:
  explicit glob(read_rules rules)
      : path_tool{"Finding ",
                  {.name = "glob",
                   .description = std::string{embedded::glob_md},
                   .parameters = parameters,
                   .eff = effect::read_only,
                   .idempotent = true,
                   .guarded = false}},
        rules_{std::move(rules)} {}

  [[nodiscard]] rule_subject subject(
      const json& arguments,
      const std::filesystem::path& workspace) const override {
    const auto wanted = wanted_of(arguments);
    return search_subject(workspace, arguments,
                          wanted ? wanted->stem() : std::string{});
  }

  tool_output run(const json& arguments, tool_context& context) override {
    const bool folders =
        arguments.at("pattern").get_ref<const std::string&>().ends_with('/');
    const auto wanted = wanted_of(arguments);
    if (!wanted)
      return file_failure(glob_op, errc::invalid_arguments, wanted.error());
    const auto place =
        open_place(glob_op, arguments, context, wanted->stem(), rules_);
    if (!place) return place.error();
    findings found{.limit = arguments.value("limit", default_limit),
                   .cap = text_cap(context, room_for_notes)};
    match_report report{context};
    tree_walk walk{
        place->root.get(),
        {.include_ignored = arguments.value("include_ignored", false)},
        context.stop};
    const auto number = walk.run(
        place->where,
        {.enter =
             [&](const std::string& folder) {
               report.tick();
               return wanted->may_match_in(place->inside(place->shown(folder)));
             },
         .visit =
             [&](const std::string& found_at, entry_kind kind) {
               const bool folder = kind == entry_kind::folder;
               const auto path = place->shown(found_at);
               if (folder != folders || !wanted->matches(place->inside(path)))
                 return true;
               if (rules_.hide(found_at) || (kind == entry_kind::link &&
                                             hides_target(*place, found_at))) {
                 ++found.denied;
                 return true;
               }
               auto line = path_text(folder ? path + '/' : path);
               if (found.add(line)) report.add(line);
               return true;
             }});
    report.flush();
    const bool gone = number == ENOENT || number == ENOTDIR ||
                      (number == ELOOP && !place->judged);
    if (place->by_stem && gone) return result_of(std::move(found), walk);
    if (number != 0) return cannot_walk(glob_op, *place, number);
    return result_of(std::move(found), walk);
  }

 private:
  /// A link is what it leads to.
  [[nodiscard]] bool hides_target(const search_place& place,
                                  const std::string& link) const {
    const auto target = place_beneath(place.root.get(), link);
    return target && rules_.hide(*target);
  }

  [[nodiscard]] std::string about(const json& arguments) const override {
    return searched(arguments);
  }

  const read_rules rules_;
};

}  // namespace

tool_ptr make_glob(read_rules rules) {
  return std::make_shared<glob>(std::move(rules));
}

}  // namespace riffle::tools
