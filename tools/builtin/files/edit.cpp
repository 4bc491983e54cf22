// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/builtin/files/change_report.hpp"
#include "tools/builtin/files/file_basis.hpp"
#include "tools/builtin/files/file_failure.hpp"
#include "tools/builtin/files/files.hpp"
#include "tools/builtin/files/near_text.hpp"
#include "tools/builtin/files/path_confinement.hpp"
#include "tools/builtin/files/path_text.hpp"
#include "tools/builtin/files/path_tool.hpp"
#include "tools/builtin/files/place.hpp"
#include "tools/builtin/files/replace_file.hpp"
#include "tools/builtin/files/text_places.hpp"
#include "tools/process/content_digest.hpp"
#include "tools/text.hpp"

namespace riffle::embedded {
extern const std::string_view edit_md;
}

namespace riffle::tools {

namespace {

using nlohmann::json;

constexpr std::string_view edit_op = "edit";
constexpr std::size_t longest_hinted = 1u << 20;
constexpr std::uint64_t longest_compared = 1u << 20;
constexpr std::uint64_t room_around = 16u << 10;

constexpr const char* parameters = R"({
  "type": "object",
  "properties": {
    "path": {"type": "string", "minLength": 1,
             "description": "The file, relative to the workspace"},
    "old_string": {"type": "string", "minLength": 1,
                   "description": "The text to replace"},
    "new_string": {"type": "string", "description": "What takes its place"},
    "replace_all": {"type": "boolean",
                    "description": "Replace it wherever it stands"}
  },
  "required": ["path", "old_string", "new_string"],
  "additionalProperties": false
})";

/// All that is known before anything is done.
struct planned {
  write_target target;
  text_change change;
};

using plan_or_failure = tl::expected<planned, tool_output>;

tl::unexpected<tool_output> failed(errc code, std::string message) {
  return tl::unexpected{file_failure(edit_op, code, std::move(message))};
}

/// `hidden`: the model may not read the file, so it is told nothing of it.
tl::unexpected<tool_output> not_found(const planned& x, bool hidden) {
  auto message = "old_string is not in " + path_text(x.target.name);
  if (hidden) return failed(errc::invalid_arguments, std::move(message));
  const auto begin = read_at(x.target.current.get(), 0, longest_hinted);
  const auto near = begin ? near_text(*begin, x.change.before) : std::string{};
  message +=
      near.empty() ? "; read the file to see what is there" : "; " + near;
  return failed(errc::invalid_arguments, std::move(message));
}

tl::unexpected<tool_output> not_unique(const planned& x) {
  const auto& places = x.change.places;
  if (places.offsets.size() == 1)
    return failed(errc::invalid_arguments,
                  "old_string is in " + path_text(x.target.name) +
                      " at places that overlap; give more text around it");
  std::string lines;
  for (const auto line : places.lines)
    lines += (lines.empty() ? "" : ", ") + std::to_string(line);
  if (places.lines.size() < places.offsets.size()) lines += ", \u2026";
  return failed(errc::invalid_arguments,
                "old_string is in " + path_text(x.target.name) + " " +
                    std::to_string(places.offsets.size()) + " times (lines " +
                    lines + "); give more text around it, or set replace_all");
}

/// Finds the places; in a file whose lines all end with CR LF a plain line
/// end of the arguments stands for that.
int look(planned& x, const std::stop_token& stop) {
  const auto fd = x.target.current.get();
  auto places = find_places(fd, x.change.before, stop);
  if (!places) return places.error();
  if (places->all_crlf) {
    x.change.after = with_crlf(x.change.after);
    auto before = with_crlf(x.change.before);
    if (before != x.change.before) {
      x.change.before = std::move(before);
      places = find_places(fd, x.change.before, stop);
      if (!places) return places.error();
    }
  }
  x.change.places = std::move(*places);
  return 0;
}

plan_or_failure plan_of(const json& arguments, write_target target,
                        const read_rules& rules, const std::stop_token& stop) {
  planned x{.target = std::move(target),
            .change = {.before = text_at(arguments, "old_string"),
                       .after = text_at(arguments, "new_string")}};
  if (!x.target.current)
    return tl::unexpected{cannot_open(edit_op, x.target.root.get(),
                                      x.target.name, ENOENT, x.target.others)};
  if (x.change.before == x.change.after)
    return failed(errc::invalid_arguments,
                  "old_string and new_string are equal: nothing to do");
  if (const int number = look(x, stop); number == E2BIG)
    return failed(errc::invalid_arguments,
                  "old_string is there more than a million times; give more "
                  "text, or use a program");
  else if (number != 0)
    return tl::unexpected{cannot_write(edit_op, x.target, number)};
  const bool hidden = rules.hide(x.target.where);
  if (x.change.places.offsets.empty()) return not_found(x, hidden);
  if (!arguments.value("replace_all", false) && !x.change.places.unique())
    return not_unique(x);
  return x;
}

/// The part of the file that the diff looks at: whole lines around all places.
struct part {
  std::string before;
  std::uint64_t begin = 0;  ///< offset in the file
};

std::optional<part> part_around(const planned& x) {
  const auto& places = x.change.places;
  const auto first = places.offsets.front();
  const auto last = places.offsets.back() + x.change.before.size();
  if (last - first > longest_compared) return std::nullopt;
  part result{.begin = first > room_around ? first - room_around : 0};
  const auto end = std::min(places.size, last + room_around);
  auto text = read_at(x.target.current.get(), result.begin,
                      static_cast<std::size_t>(end - result.begin));
  if (!text || text->size() < last - result.begin) return std::nullopt;
  if (end < places.size) {  // ends with a whole line
    const auto cut = text->rfind('\n') + 1;
    if (cut < last - result.begin) return std::nullopt;
    text->resize(cut);
  }
  if (result.begin > 0) {
    const auto cut = text->find('\n') + 1;
    if (cut == 0 || result.begin + cut > first) return std::nullopt;
    text->erase(0, cut);
    result.begin += cut;
  }
  result.before = std::move(*text);
  return result;
}

std::optional<diff_text> diff_of(const planned& x, std::size_t most_bytes) {
  const auto part = part_around(x);
  if (!part || part->before.find('\0') != std::string::npos)
    return std::nullopt;
  std::string after;
  std::size_t at = 0;
  for (const auto offset : x.change.places.offsets) {
    const auto place = static_cast<std::size_t>(offset - part->begin);
    after.append(part->before, at, place - at);
    after += x.change.after;
    if (after.size() > 4 * longest_compared) return std::nullopt;
    at = place + x.change.before.size();
  }
  after.append(part->before, at);
  auto format = format_of(x.target, most_bytes);
  const auto first = static_cast<std::ptrdiff_t>(
      x.change.places.offsets.front() - part->begin);
  format.first_line = static_cast<std::size_t>(
      x.change.places.lines.front() - 1 -
      static_cast<std::uint64_t>(std::count(
          part->before.begin(), part->before.begin() + first, '\n')));
  return unified_diff(part->before, after, format);
}

class edit final : public path_tool {
 public:
  explicit edit(read_rules rules)
      : path_tool{"Editing ",
                  {.name = "edit",
                   .description = std::string{embedded::edit_md},
                   .parameters = parameters,
                   .eff = effect::mutating,
                   .idempotent = false,
                   .guarded = false}},
        rules_{std::move(rules)} {}

  [[nodiscard]] call_preview preview(
      const json& arguments,
      const std::filesystem::path& workspace) const override {
    auto target = target_of(arguments, workspace, {});
    if (!target)
      return cannot_preview(target.error(),
                            rules_.others() == neighbours::named);
    // The file that is looked into, whatever the path leads to by now.
    const bool tells = rules_.others() == neighbours::named ||
                       (target->current && !rules_.hide(target->where));
    const auto x = plan_of(arguments, std::move(*target), rules_, {});
    if (!x) return cannot_preview(x.error(), tells);
    auto basis = basis_of(x->target);
    auto text = way_of(x->target) + shown(*x);
    // What was planned and is shown is of one content.
    auto target_now = target_of(arguments, workspace, {});
    if (!target_now) return {};
    const auto again = plan_of(arguments, std::move(*target_now), rules_, {});
    const bool same =
        again && again->change.places.offsets == x->change.places.offsets &&
        basis_of(again->target) == basis;
    if (!same) return {};
    return {std::move(text), std::move(basis)};
  }

  tool_output run(const json& arguments, tool_context& context) override {
    auto target = target_of(arguments, context.workspace, context.judged);
    if (!target) return std::move(target).error();
    const auto x = plan_of(arguments, std::move(*target), rules_, context.stop);
    if (!x) return x.error();
    if (const int number = check_basis(x->target, context.basis); number != 0)
      return cannot_write(edit_op, x->target, number);
    const auto diff = diff_of(*x, longest_result_diff);
    const auto before = content_digest(x->target.current.get());
    std::string after;
    const int number = replace_file(
        x->target,
        [&](int fd) {
          return write_changed(x->target.current.get(), fd, x->change,
                               context.stop);
        },
        [&](int fd) {
          const auto now = open_now(x->target);
          if (!now || !*now) return ESTALE;
          after = content_digest(fd);
          return compare_unchanged(now->get(), fd, x->change, context.stop);
        });
    if (number != 0) return cannot_write(edit_op, x->target, number);
    auto metadata = told_of(*x, diff);
    add_digests(metadata, before, after);
    add_place(metadata, x->target);
    return {.text = text_of(*x, diff), .metadata = metadata.dump()};
  }

 private:
  [[nodiscard]] tl::expected<write_target, tool_output> target_of(
      const json& arguments, const std::filesystem::path& workspace,
      const std::optional<std::string>& judged) const {
    return find_target(edit_op, workspace, text_at(arguments, "path"), judged,
                       rules_.others());
  }

  static std::string shown(const planned& x) {
    if (const auto diff = diff_of(x, longest_preview)) return preview_of(*diff);
    return "Changes " + std::to_string(x.change.places.offsets.size()) +
           " places in " + path_text(x.target.name);
  }

  static json told_of(const planned& x, const std::optional<diff_text>& diff) {
    json out = {{"path", path_text(x.target.name)},
                {"replacements", x.change.places.offsets.size()}};
    if (diff) add_diff(out, *diff);
    return out;
  }

  static std::string text_of(const planned& x,
                             const std::optional<diff_text>& diff) {
    const auto count = x.change.places.offsets.size();
    auto text = "Edited " + path_text(x.target.name) + " (" +
                std::to_string(count) +
                (count == 1 ? " replacement" : " replacements");
    if (diff) text += ", " + counts_of(*diff);
    return text + ")";
  }

  const read_rules rules_;
};

}  // namespace

tool_ptr make_edit(read_rules rules) {
  return std::make_shared<edit>(std::move(rules));
}

}  // namespace riffle::tools
