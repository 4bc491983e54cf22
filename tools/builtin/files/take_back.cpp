// SPDX-License-Identifier: MIT
#include "tools/builtin/files/take_back.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <unistd.h>
#include <utility>
#include <vector>

#include "runtime/base/digest.hpp"
#include "runtime/base/write_all.hpp"
#include "tools/builtin/files/change_report.hpp"
#include "tools/builtin/files/line_diff.hpp"
#include "tools/builtin/files/path_confinement.hpp"
#include "tools/builtin/files/path_text.hpp"
#include "tools/builtin/files/replace_file.hpp"
#include "tools/builtin/files/text_places.hpp"
#include "tools/builtin/search/tree_walk.hpp"

namespace riffle::tools {

namespace {

constexpr std::string_view undo_op = "undo";
/// As long as what has a digest.
constexpr std::size_t longest_file = 16u << 20;

using lines = std::vector<std::string_view>;

std::string digest_of(std::string_view content) {
  return "sha256 " + sha256(content);
}

/// A piece of a diff: what stands there, and what stood there.
struct hunk {
  std::size_t at = 0;  ///< lines before it, in what came of the diff
  lines now;
  lines was;
};

/// Of "@@ -1,5 +2,4 @@": the lines before the second range.
std::optional<std::size_t> place_of(std::string_view header) {
  const auto plus = header.find(" +");
  if (plus == header.npos) return std::nullopt;
  const auto* const end = header.data() + header.size();
  std::size_t line = 0;
  const auto read = std::from_chars(header.data() + plus + 2, end, line);
  if (read.ec != std::errc{}) return std::nullopt;
  // Of no lines the one before them is told.
  const std::string_view rest{read.ptr,
                              static_cast<std::size_t>(end - read.ptr)};
  const bool none = rest.starts_with(",0 ");
  if (line == 0 && !none) return std::nullopt;
  return none ? line : line - 1;
}

/// "\ No newline at end of file" is about the line before it.
void cut_line_end(hunk& x, char mark) {
  const auto cut = [](lines& all) {
    if (!all.empty()) all.back().remove_suffix(1);
  };
  if (mark != '-') cut(x.now);
  if (mark != '+') cut(x.was);
}

std::optional<std::vector<hunk>> hunks_of(std::string_view diff) {
  std::vector<hunk> all;
  char mark = ' ';
  for (const auto line : lines_of(diff)) {
    if (line.starts_with("@@ ")) {
      const auto at = place_of(line);
      if (!at) return std::nullopt;
      all.push_back({*at, {}, {}});
      continue;
    }
    if (all.empty()) continue;  // the names of the file
    auto& x = all.back();
    if (line.front() == '\\') {
      cut_line_end(x, mark);
      continue;
    }
    mark = line.front();
    if (mark != '-') x.now.push_back(line.substr(1));
    if (mark != '+') x.was.push_back(line.substr(1));
  }
  return all;
}

/// The content of an open file; nothing: it is too long, or cannot be read.
std::optional<std::string> content_of(const unique_fd& file) {
  auto text = read_at(file.get(), 0, longest_file + 1);
  if (!text || text->size() > longest_file) return std::nullopt;
  return std::move(*text);
}

/// `place`: where a link led it; a path that leads elsewhere by now is another
/// file's, which nobody has named.
tl::expected<write_target, std::string> find(
    const std::filesystem::path& workspace, const std::string& path,
    const std::string& place) {
  auto target = find_target(undo_op, workspace, path);
  if (!target) return tl::unexpected{target.error().text};
  const auto plain = path_text(without_detours(target->name));
  const auto now = path_text(target->where);
  if (now == (place.empty() ? plain : place)) return std::move(*target);
  if (!target->current && !place.empty() && now == plain)
    return tl::unexpected{path_text(path) + ", which led to " + place +
                          ", is not there any more"};
  return tl::unexpected{
      path_text(path) +
      (place.empty()
           ? " leads to " + now + " through a link now"
           : " was written at " + place + ", and leads to " + now + " now")};
}

/// Where the path of a call led, below the workspace.
std::string led_to(const std::filesystem::path& workspace,
                   const made_change& x) {
  if (!x.place.empty()) return x.place;
  const auto name = relative_path(workspace, x.path);
  return name ? path_text(without_detours(*name)) : x.path;
}

/// What `target` stands for is replaced by `text`, or goes. 0 or an errno;
/// ESTALE: it is not `now`.
int put(write_target& target, const std::optional<std::string>& now,
        const std::optional<std::string>& text) {
  const auto same = [&] {
    const auto file = open_now(target);
    if (!file) return false;
    if (!*file) return !now;
    return now && content_of(*file) == now;
  };
  if (const int made = text ? make_folders(target) : 0; made != 0) return made;
  if (!target.place || !same()) return ESTALE;
  if (!text)
    return ::unlinkat(target.place.get(), target.leaf.c_str(), 0) == 0 ? 0
                                                                       : errno;
  return replace_file(
      target, [&](int fd) { return write_all(fd, *text); },
      [&](int) { return same() ? 0 : ESTALE; });
}

tl::expected<void, std::string> put(const std::filesystem::path& workspace,
                                    const earlier_file& x,
                                    const std::optional<std::string>& now,
                                    const std::optional<std::string>& text) {
  auto target = find(workspace, x.path, x.place);
  if (!target) return tl::unexpected{target.error()};
  const int number = put(*target, now, text);
  if (number == 0) return {};
  if (number == ESTALE)
    return tl::unexpected{path_text(x.path) + " was changed by something else"};
  return tl::unexpected{path_text(x.path) +
                        " cannot be written: " + std::strerror(number)};
}

bool is_now(const std::filesystem::path& workspace, const earlier_file& x,
            const std::optional<std::string>& text) {
  const auto target = find(workspace, x.path, x.place);
  if (!target) return false;
  if (!target->current) return !text;
  return text && content_of(target->current) == text;
}

}  // namespace

std::optional<std::string> before_diff(std::string_view after,
                                       std::string_view diff) {
  const auto all = hunks_of(diff);
  if (!all) return std::nullopt;
  const auto text = lines_of(after);
  std::string out;
  std::size_t at = 0;
  for (const auto& x : *all) {
    if (x.at < at || x.at > text.size() || x.now.size() > text.size() - x.at)
      return std::nullopt;
    for (; at < x.at; ++at) out += text[at];
    for (const auto line : x.now)
      if (text[at++] != line) return std::nullopt;
    for (const auto line : x.was) out += line;
  }
  for (; at < text.size(); ++at) out += text[at];
  return out;
}

tl::expected<earlier_file, std::string> earlier(
    const std::filesystem::path& workspace, std::span<const made_change> all) {
  const auto& path = all.back().path;
  const auto& place = all.back().place;
  const auto fail = [&](const char* why) {
    return tl::unexpected{path_text(path) + " " + why};
  };
  const auto target = find(workspace, path, place);
  if (!target) return tl::unexpected{target.error()};
  const auto here = led_to(workspace, all.back());
  if (std::ranges::any_of(all, [&](const made_change& x) {
        return led_to(workspace, x) != here;
      }))
    return fail("led elsewhere between these calls");
  const auto& first = all.front().before;
  if (!target->current && first.empty())
    return earlier_file{.path = path, .done = true, .place = place};
  if (!target->current) return fail("is not there any more");
  const auto now = content_of(target->current);
  if (!now) return fail("is larger than 16 MiB, or cannot be read");
  if (!first.empty() && digest_of(*now) == first)
    return earlier_file{
        .path = path, .now = *now, .was = now, .done = true, .place = place};
  if (all.back().after.empty())
    return fail("was changed without a record of what came of it");
  if (digest_of(*now) != all.back().after) return fail("was changed since");
  std::optional<std::string> was = now;
  for (auto i = all.size(); i-- > 0;) {
    const auto& x = all[i];
    if (!was || digest_of(*was) != x.after)
      return fail("was changed by something else between these calls");
    was = x.before.empty() ? std::nullopt : before_diff(*was, x.diff);
    if (!x.before.empty() && (!was || digest_of(*was) != x.before))
      return fail(
          "cannot be restored: the log holds only a part of the change");
  }
  diff_format format{.before = path_text("a/" + path),
                     .after = was ? path_text("b/" + path) : "/dev/null",
                     .most_bytes = longest_preview};
  auto diff =
      preview_of(unified_diff(*now, was.value_or(std::string{}), format));
  return earlier_file{.path = path,
                      .now = *now,
                      .was = was,
                      .diff = std::move(diff),
                      .place = place};
}

tl::expected<void, std::string> put_back(const std::filesystem::path& workspace,
                                         std::span<const earlier_file> files) {
  std::vector<const earlier_file*> ours;
  for (const auto& x : files) {
    if (x.done) continue;
    auto done = put(workspace, x, x.now, x.was);
    if (done) {
      ours.push_back(&x);
      continue;
    }
    if (is_now(workspace, x, x.was)) continue;  // somebody else did it
    auto why = std::move(done.error());
    for (auto i = ours.rbegin(); i != ours.rend(); ++i)
      if (auto again = put(workspace, **i, (*i)->was, (*i)->now); !again)
        why += "; " + again.error() + ", which was put back before";
    return tl::unexpected{std::move(why)};
  }
  return {};
}

}  // namespace riffle::tools
