// SPDX-License-Identifier: MIT
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/builtin/files/file_failure.hpp"
#include "tools/builtin/files/path_confinement.hpp"
#include "tools/builtin/files/path_text.hpp"
#include "tools/builtin/files/path_tool.hpp"
#include "tools/builtin/files/workspace_file.hpp"
#include "tools/builtin/search/glob_set.hpp"
#include "tools/builtin/search/grep_output.hpp"
#include "tools/builtin/search/search.hpp"
#include "tools/builtin/search/search_place.hpp"

namespace riffle::embedded {
extern const std::string_view grep_md;
}

namespace riffle::tools {

namespace {

using nlohmann::json;

constexpr std::string_view grep_op = "grep";
constexpr std::uint64_t default_limit = 200;
constexpr std::size_t room_for_notes = 3072;
/// Once the text is full, so much more is searched only to count.
constexpr std::uint64_t most_counted_bytes = 256u << 20;
constexpr std::uint64_t most_counted_files = 100'000;

constexpr const char* parameters = R"({
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "minLength": 1, "maxLength": 10000,
                "description": "An RE2 regular expression"},
    "path": {"type": "string", "minLength": 1,
             "description": "Folder or file; default: the workspace"},
    "glob": {"type": "string", "minLength": 1, "maxLength": 4096,
             "description": "Only such files, e.g. *.{c,h}"},
    "literal": {"type": "boolean",
                "description": "The pattern is plain text"},
    "case_insensitive": {"type": "boolean"},
    "context": {"type": "integer", "minimum": 0, "maximum": 50,
                "description": "Lines to show around each match"},
    "output": {"enum": ["lines", "files", "count"],
               "description": "What to give back; default: lines"},
    "include_ignored": {"type": "boolean",
                        "description": "Also what .gitignore excludes"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 100000,
              "description": "Most lines or files to show; default 200"}
  },
  "required": ["pattern"],
  "additionalProperties": false
})";

grep_mode mode_of(const json& arguments) {
  const auto text = arguments.value("output", "lines");
  if (text == "files") return grep_mode::files;
  return text == "count" ? grep_mode::count : grep_mode::lines;
}

/// The argument `glob`: without a "/" it is about names.
class file_filter {
 public:
  static tl::expected<file_filter, std::string> of(const json& arguments) {
    file_filter result;
    const auto text = arguments.value("glob", std::string{});
    if (text.empty()) return result;
    auto parsed = glob_set::parse(text);
    if (!parsed) return tl::unexpected{"glob: " + parsed.error()};
    result.wanted_ = std::move(*parsed);
    result.by_name_ = text.find('/') == std::string::npos;
    return result;
  }

  [[nodiscard]] bool takes(std::string_view path) const {
    if (!wanted_) return true;
    if (by_name_) path.remove_prefix(path.rfind('/') + 1);
    return wanted_->matches(path);
  }

  [[nodiscard]] bool enters(std::string_view folder) const {
    return !wanted_ || by_name_ || wanted_->may_match_in(folder);
  }

 private:
  std::optional<glob_set> wanted_;
  bool by_name_ = false;
};

/// One search: the files one by one, and what is known afterwards.
class search {
 public:
  search(const line_matcher& pattern, grep_output::limits x,
         tool_context& context)
      : report_{context},
        output_{x, report_},
        lines_{pattern, x.context > 0 && x.mode == grep_mode::lines,
               context.stop} {}

  /// False: no more files.
  bool file(const std::string& path, int fd) {
    report_.working(files_);
    const bool was_full = output_.full();
    if (file_head{fd}.looks_binary()) {
      ++binary_;
      return true;
    }
    output_.begin_file(path);
    const auto end = lines_.run(
        fd, [&](const line_search::line& x) { return output_.add(x); },
        [&] { report_.working(files_); });
    output_.end_file();
    ++files_;
    if (end.error == ECANCELED) return false;
    if (end.error != 0) ++unreadable_;
    if (end.binary) note_binary(path, end.line);
    if (!was_full) return true;
    counted_ += end.bytes;
    given_up_ =
        counted_ > most_counted_bytes || ++counted_files_ > most_counted_files;
    return !given_up_;
  }

  void unreadable() { ++unreadable_; }
  void denied() { ++denied_; }
  void finish() { report_.flush(); }
  void tick() { report_.working(files_); }

  [[nodiscard]] tool_output result(const tree_walk* walk) const {
    json metadata = {{"matches", output_.matches()},
                     {"files", output_.files()},
                     {"searched", files_}};
    auto text = output_.text();
    if (output_.matches() == 0)
      text += "[nothing matches in " + count(files_, "file", "files") + "]\n";
    if (output_.shown() < output_.matches() && output_.full()) {
      metadata["truncated"] = true;
      metadata["shown"] = output_.shown();
      text += more();
    }
    if (given_up_) metadata["counted_all"] = false;
    text += notes(metadata);
    if (walk) text += walk_notes(*walk, metadata);
    text.pop_back();
    return {.text = std::move(text), .metadata = metadata.dump()};
  }

 private:
  static std::string count(std::uint64_t n, const char* one, const char* many) {
    return std::to_string(n) + " " + (n == 1 ? one : many);
  }

  [[nodiscard]] std::string more() const {
    const auto rest = output_.matches() - output_.shown();
    return "[... " + std::string{given_up_ ? "at least " : ""} +
           std::to_string(rest) + " more in " +
           count(output_.files(), "file", "files") +
           "; narrow the pattern, the path or glob, or raise limit]\n";
  }

  void note_binary(const std::string& path, std::uint64_t line) {
    ++cut_;
    if (cut_ <= 5)
      cut_notes_ += "[" + path_text(path) + " is searched up to line " +
                    std::to_string(line) + " only: binary data follows]\n";
  }

  [[nodiscard]] std::string notes(json& metadata) const {
    auto result = cut_notes_;
    if (binary_ > 0) {
      metadata["binary_files"] = binary_;
      result +=
          "[skipped: " + count(binary_, "binary file", "binary files") + "]\n";
    }
    if (unreadable_ > 0) {
      metadata["unreadable_files"] = unreadable_;
      result += "[not readable: " + count(unreadable_, "file", "files") + "]\n";
    }
    return result + denied_note(denied_, metadata);
  }

  match_report report_;
  grep_output output_;
  line_search lines_;
  std::uint64_t files_ = 0;
  std::uint64_t binary_ = 0;
  std::uint64_t unreadable_ = 0;
  std::uint64_t denied_ = 0;
  std::uint64_t cut_ = 0;
  std::string cut_notes_;
  std::uint64_t counted_ = 0;
  std::uint64_t counted_files_ = 0;
  bool given_up_ = false;
};

bool is_folder(const search_place& place) {
  const auto fd = open_beneath(place.root.get(), place.where, O_PATH,
                               resolver::automatic, links::refused);
  struct stat info{};
  return fd && ::fstat(fd->get(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// A file found by the walk; not what it was replaced by meanwhile.
std::optional<unique_fd> open_found(int root, const std::string& path) {
  auto fd = open_beneath(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY,
                         resolver::automatic, links::refused);
  struct stat info{};
  if (!fd || ::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode))
    return std::nullopt;
  return std::move(*fd);
}

tool_output search_file(const search_place& place, const read_rules& rules,
                        search& found) {
  if (rules.hide(place.where)) {
    found.denied();
    return found.result(nullptr);
  }
  auto file = open_regular_at(grep_op, place.root.get(), place.folder,
                              place.where, place.others);
  if (!file) return std::move(file).error();
  found.file(file->name, file->fd.get());
  found.finish();
  return found.result(nullptr);
}

tool_output search_folder(const search_place& place, const file_filter& filter,
                          const read_rules& rules, bool include_ignored,
                          search& found, const std::stop_token& stop) {
  tree_walk walk{place.root.get(), {.include_ignored = include_ignored}, stop};
  const auto number =
      walk.run(place.where,
               {.enter =
                    [&](const std::string& folder) {
                      found.tick();
                      return filter.enters(place.inside(place.shown(folder)));
                    },
                .visit =
                    [&](const std::string& found_at, entry_kind kind) {
                      if (kind != entry_kind::file) return true;
                      const auto path = place.shown(found_at);
                      if (!filter.takes(place.inside(path))) return true;
                      if (rules.hide(found_at)) {
                        found.denied();
                        return true;
                      }
                      const auto fd = open_found(place.root.get(), found_at);
                      if (!fd) found.unreadable();
                      return !fd || found.file(path, fd->get());
                    }});
  found.finish();
  if (number != 0) return cannot_walk(grep_op, place, number);
  return found.result(&walk);
}

class grep final : public path_tool {
 public:
  explicit grep(read_rules rules)
      : path_tool{"Searching for ",
                  {.name = "grep",
                   .description = std::string{embedded::grep_md},
                   .parameters = parameters,
                   .eff = effect::read_only,
                   .idempotent = true,
                   .guarded = false}},
        rules_{std::move(rules)} {}

  [[nodiscard]] rule_subject subject(
      const json& arguments,
      const std::filesystem::path& workspace) const override {
    return search_subject(workspace, arguments, {});
  }

  tool_output run(const json& arguments, tool_context& context) override {
    const auto pattern = line_matcher::make(
        arguments.at("pattern").get_ref<const std::string&>(),
        {.case_insensitive = arguments.value("case_insensitive", false),
         .literal = arguments.value("literal", false)});
    if (!pattern)
      return file_failure(grep_op, errc::invalid_arguments, pattern.error());
    const auto filter = file_filter::of(arguments);
    if (!filter)
      return file_failure(grep_op, errc::invalid_arguments, filter.error());
    const auto place = open_place(grep_op, arguments, context, {}, rules_);
    if (!place) return place.error();
    search found{*pattern,
                 {.mode = mode_of(arguments),
                  .context = arguments.value("context", std::uint64_t{0}),
                  .shown = arguments.value("limit", default_limit),
                  .bytes = text_cap(context, room_for_notes)},
                 context};
    auto result = is_folder(*place)
                      ? search_folder(*place, *filter, rules_,
                                      arguments.value("include_ignored", false),
                                      found, context.stop)
                      : search_file(*place, rules_, found);
    if (context.stop.stop_requested())
      return file_failure(grep_op, errc::cancelled, "cancelled");
    return result;
  }

 private:
  [[nodiscard]] std::string about(const json& arguments) const override {
    return searched(arguments);
  }

  const read_rules rules_;
};

}  // namespace

tool_ptr make_grep(read_rules rules) {
  return std::make_shared<grep>(std::move(rules));
}

}  // namespace riffle::tools
