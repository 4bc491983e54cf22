// SPDX-License-Identifier: MIT
#include <cerrno>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/digest.hpp"
#include "runtime/base/write_all.hpp"
#include "tools/builtin/files/change_report.hpp"
#include "tools/builtin/files/file_basis.hpp"
#include "tools/builtin/files/file_failure.hpp"
#include "tools/builtin/files/files.hpp"
#include "tools/builtin/files/path_confinement.hpp"
#include "tools/builtin/files/path_text.hpp"
#include "tools/builtin/files/path_tool.hpp"
#include "tools/builtin/files/place.hpp"
#include "tools/builtin/files/replace_file.hpp"
#include "tools/builtin/files/text_places.hpp"
#include "tools/process/content_digest.hpp"
#include "tools/text.hpp"

namespace riffle::embedded {
extern const std::string_view write_md;
}

namespace riffle::tools {

namespace {

using nlohmann::json;

constexpr std::string_view write_op = "write";
constexpr std::size_t longest_compared = 1u << 20;

constexpr const char* parameters = R"({
  "type": "object",
  "properties": {
    "path": {"type": "string", "minLength": 1,
             "description": "The file, relative to the workspace"},
    "content": {"type": "string", "description": "The whole new content"}
  },
  "required": ["path", "content"],
  "additionalProperties": false
})";

/// Nothing where it would cost too much, or means nothing.
std::optional<diff_text> diff_of(const write_target& target,
                                 std::string_view content,
                                 std::size_t most_bytes) {
  std::string before;
  if (target.current) {
    auto old = read_at(target.current.get(), 0, longest_compared + 1);
    if (!old) return std::nullopt;
    before = std::move(*old);
  }
  if (before.size() > longest_compared || content.size() > longest_compared ||
      before.find('\0') != std::string::npos ||
      content.find('\0') != std::string::npos)
    return std::nullopt;
  return unified_diff(before, content, format_of(target, most_bytes));
}

bool holds_already(const write_target& target, std::string_view content) {
  return target.current && basis_of(target) == basis_of(target, content);
}

std::string already_text(const write_target& target) {
  return path_text(target.name) + " holds exactly this already";
}

std::string size_of(std::string_view content) {
  const auto lines = lines_of(content).size();
  return std::to_string(lines) + (lines == 1 ? " line, " : " lines, ") +
         size_text(content.size());
}

class write final : public path_tool {
 public:
  explicit write(read_rules rules)
      : path_tool{"Writing ",
                  {.name = "write",
                   .description = std::string{embedded::write_md},
                   .parameters = parameters,
                   .eff = effect::mutating,
                   .idempotent = true,
                   .guarded = false}},
        others_{rules.others()},
        rules_{std::move(rules)} {}

  [[nodiscard]] call_preview preview(
      const json& arguments,
      const std::filesystem::path& workspace) const override {
    const auto target = find_target(write_op, workspace,
                                    text_at(arguments, "path"), {}, others_);
    if (!target)
      return cannot_preview(target.error(), others_ == neighbours::named);
    // Before and after it is read: what is shown is of one content.
    auto basis = basis_of(*target);
    const auto& content = text_at(arguments, "content");
    auto text = way_of(*target) + shown(*target, content);
    const bool already = holds_already(*target, content);
    if (basis != basis_of(*target)) return {};
    call_preview out{std::move(text), std::move(basis)};
    // Of a file that may not be read each guess is a question to a person.
    if (already &&
        (others_ == neighbours::named || !rules_.hide(target->where)))
      out.impossible = file_failure(write_op, errc::invalid_arguments,
                                    already_text(*target) + ": nothing to do")
                           .err;
    return out;
  }

  tool_output run(const json& arguments, tool_context& context) override {
    auto target =
        find_target(write_op, context.workspace, text_at(arguments, "path"),
                    context.judged, others_);
    if (!target) return std::move(target).error();
    const auto& content = text_at(arguments, "content");
    const auto diff = diff_of(*target, content, longest_result_diff);
    const auto before =
        target->current ? content_digest(target->current.get()) : std::string{};
    const auto basis = basis_for(*target, content, context);
    if (const int number = check_basis(*target, basis); number != 0)
      return cannot_write(write_op, *target, number);
    if (context.attempt == 1 && holds_already(*target, content)) {
      auto out = result_of(*target, content, diff, before);
      out.text = already_text(*target) + ": it was left as it is";
      return out;
    }
    const int made = make_folders(*target);
    if (made == ELOOP && context.judged)
      return place_moved(write_op, target->name);
    if (made != 0) return cannot_write(write_op, *target, made);
    const int number = replace_file(
        *target, [&](int fd) { return write_all(fd, content); },
        [&](int) {
          if (context.stop.stop_requested()) return ECANCELED;
          return check_basis_now(*target, basis);
        });
    if (number != 0) return cannot_write(write_op, *target, number);
    return result_of(*target, content, diff, before);
  }

 private:
  /// An attempt before this one may have written it already.
  static std::string basis_for(const write_target& target,
                               const std::string& content,
                               const tool_context& context) {
    const bool done =
        context.attempt > 1 && basis_of(target) == basis_of(target, content);
    return done ? std::string{} : context.basis;
  }

  static std::string shown(const write_target& target,
                           std::string_view content) {
    const auto diff = diff_of(target, content, longest_preview);
    if (!diff)
      return "Replaces " + path_text(target.name) + " by " + size_of(content);
    if (diff->text.empty())
      return target.current ? "Leaves the file as it is"
                            : "Makes an empty file";
    return preview_of(*diff);
  }

  static tool_output result_of(const write_target& target,
                               std::string_view content,
                               const std::optional<diff_text>& diff,
                               const std::string& before) {
    json metadata = {{"path", path_text(target.name)},
                     {"lines", lines_of(content).size()},
                     {"bytes", content.size()},
                     {"created", !target.current}};
    auto text = (target.current ? "Replaced " : "Made ") +
                path_text(target.name) + " (" + size_of(content);
    if (diff && target.current) text += "; " + counts_of(*diff);
    if (diff) add_diff(metadata, *diff);
    add_digests(metadata, before, "sha256 " + sha256(content));
    add_place(metadata, target);
    return {.text = text + ")", .metadata = metadata.dump()};
  }

  const neighbours others_;
  const read_rules rules_;
};

}  // namespace

tool_ptr make_write(read_rules rules) {
  return std::make_shared<write>(std::move(rules));
}

}  // namespace riffle::tools
