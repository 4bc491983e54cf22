// SPDX-License-Identifier: MIT
#include "runtime/cli/view/approval_picture.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/changed_words.hpp"
#include "runtime/cli/view/diff_lines.hpp"

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;

/// Rows around a picture that stay free: the prompt, what is typed, one line
/// of what happened before.
constexpr std::size_t other_rows = 8;
constexpr std::size_t fewest_rows = 4;

/// Whether a line shows all of it, as it is.
bool is_plain_line(const std::string& text) {
  constexpr std::size_t most = 150;  // a title has room for it
  return safe_line(text, most) == text && exact_text(text) == text;
}

/// Members that the preview of a tool of ours shows already.
bool shown_by_preview(std::string_view tool, std::string_view member) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> all) {
    return std::ranges::find(all, member) != all.end();
  };
  if (tool == "bash") return member == "command";
  if (tool == "write") return is_one_of({"path", "content"});
  return tool == "edit" &&
         is_one_of({"path", "old_string", "new_string", "replace_all"});
}

bool has_controls(const std::string& text) {
  return std::ranges::any_of(text, [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') ||
           c == 0x7f;
  });
}

/// A text of several lines as lines, each behind a mark; where a terminal would
/// not show them so, each as JSON.
std::string lines_of_text(const std::string& name, const std::string& text) {
  const bool coded = has_controls(text);
  std::string out = name + (coded ? ", each line as JSON:\n" : ":\n");
  for_each_line(text, [&](std::string_view line) {
    out.append("  ")
        .append(coded ? json(line).dump(-1, ' ', false,
                                        json::error_handler_t::replace)
                      : std::string{line})
        .append("\n");
  });
  if (text.ends_with('\n')) return out;
  return out + "  (no line end behind it)\n";
}

bool reads_as_lines(const json& x) {
  return x.is_string() &&
         x.get_ref<const std::string&>().find('\n') != std::string::npos;
}

/// A name that a stranger chose draws no member of its own.
std::string name_of(const std::string& name) {
  const bool plain =
      !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' ||
               c == '$' || c == '/';
      });
  return plain ? name
               : json(name).dump(-1, ' ', true, json::error_handler_t::replace);
}

/// A line a member, exact: strings as JSON, but for those of several lines.
std::string members_of(const events::approval_required& x, bool all) {
  const auto value = json::parse(x.arguments, nullptr, false);
  if (!value.is_object()) return all ? x.arguments : std::string{};
  std::string out;
  for (const auto& [name, member] : value.items())
    if (all || !shown_by_preview(x.tool, name) ||
        (name == "path" && member.is_string() &&
         !is_plain_line(member.get<std::string>())))
      out += reads_as_lines(member)
                 ? lines_of_text(name_of(name), member.get<std::string>())
                 : name_of(name) + ": " +
                       member.dump(-1, ' ', false,
                                   json::error_handler_t::replace) +
                       "\n";
  return out;
}

/// The names of the files stand in the sentence above.
struct diff_body {
  std::string_view lines;
  bool is_diff = false;
  bool of_new_file = false;
};

diff_body without_names(std::string_view preview) {
  if (!preview.starts_with("--- ")) return {preview};
  const auto first = preview.find('\n');
  if (first == preview.npos || !preview.substr(first + 1).starts_with("+++ "))
    return {preview};
  const auto second = preview.find('\n', first + 1);
  if (second == preview.npos) return {preview};
  const bool is_new = preview.starts_with("--- /dev/null\n");
  auto lines = preview.substr(second + 1);
  // All of a new file is new: its only hunk needs no place.
  if (is_new && lines.starts_with("@@ "))
    lines.remove_prefix(std::min(lines.find('\n'), lines.size() - 1) + 1);
  return {lines, true, is_new};
}

/// "[2/4] " in front of a title: which of several tasks it is of.
std::string_view task_of(std::string_view title) {
  const auto end = title.find("] ");
  if (!title.starts_with('[') || end == title.npos) return {};
  const auto place = title.substr(1, end - 1);
  const bool is_place = place.find('/') != place.npos &&
                        place.find_first_not_of("0123456789/") == place.npos;
  return is_place ? title.substr(0, end + 2) : std::string_view{};
}

/// Behind what says which task it is of. A file's name ends it.
std::string title_of(const events::approval_required& x, std::size_t behind) {
  constexpr std::size_t most = 200;
  const auto title = std::string_view{x.title}.substr(behind);
  const bool named = x.tool == "write" || x.tool == "edit" || x.tool == "read";
  return named ? exact_name(title, most) : exact_line(title, most);
}

std::string sentence(const events::approval_required& x, bool of_new_file,
                     bool edited, bool others) {
  const auto tool = safe_line(x.tool, 64);
  const std::string task{task_of(x.title)};
  // What its title would say stands below, or says its name once more.
  const auto plain = task + "Using " + x.tool;
  const bool runs =
      x.tool == "bash" || x.title == plain || x.title.starts_with(plain + ": ");
  auto out = task + tool;
  out += runs ? " wants to run" : ": " + title_of(x, task.size());
  const std::string_view how = !edited  ? ""
                               : others ? "as changed"
                                        : "as you changed it";
  if (of_new_file)
    out += std::string{" (a new file"} + (edited ? ", " : "") +
           std::string{how} + ")";
  else if (edited)
    out += " (" + std::string{how} + ")";
  if (x.reason != "`" + x.tool + "` changes something" && !x.reason.empty())
    out += " — " + exact_line(x.reason, 200);
  return out + (runs ? ":" : "");
}

/// Tabs would be as wide as the terminal likes.
std::string without_tabs(std::string_view line) {
  std::string out;
  for (const char c : line)
    if (c == '\t')
      out += "    ";
    else
      out += c;
  return out;
}

/// The last rows of a command that are shown, whatever is too long: what it
/// does may stand there.
constexpr std::size_t last_rows = 10;

/// Takes lines, gives rows.
class canvas {
 public:
  /// `is_command`: the end is shown, too.
  canvas(const picture_options& options, bool is_diff, bool is_command)
      : options_{options}, is_diff_{is_diff}, is_command_{is_command} {}

  void head(std::string_view text) {
    constexpr std::string_view mark = "[APPROVAL] ";
    const auto line = std::string{mark} + shown(text);
    for (auto& row : wrapped(line, width(), "", "  ")) {
      if (options_.color && rows_.empty() && row.starts_with(mark))
        row = "\x1b[1m[APPROVAL]\x1b[0m " + row.substr(mark.size());
      rows_.push_back(std::move(row));
    }
    head_ = rows_.size();
  }

  void body(std::string_view text, bool painted) {
    std::vector<std::string> lines;
    for_each_line(text, [&](std::string_view x) { lines.push_back(shown(x)); });
    const bool paints = options_.color && painted && is_diff_;
    const auto parts =
        paints ? changed_words(lines) : std::vector<changed_parts>{};
    for (std::size_t i = 0; i < lines.size(); ++i) {
      begins_.push_back(rows_.size());
      if (!put(lines[i], paints ? paint_of(lines[i]) : "",
               paints ? parts[i] : changed_parts{})) {
        begins_.pop_back();
        left_out_.insert(left_out_.end(),
                         lines.begin() + static_cast<std::ptrdiff_t>(i),
                         lines.end());
        return;
      }
      lines_.push_back(lines[i]);
    }
  }

  std::vector<std::string> finish() {
    const auto all = rows_.size() - head_;
    if (is_command_ && !options_.whole && all > room())
      leave_out_middle();
    else if (!left_out_.empty())
      rows_.push_back(hidden_text(left_out_.size()));
    return std::move(rows_);
  }

  /// Behind `finish`.
  [[nodiscard]] std::string left_out() const {
    std::string out;
    for (const auto& line : left_out_) out += line + "\n";
    return out;
  }

 private:
  /// False: there is no room for all of it.
  bool put(const std::string& line, std::string_view paint,
           const changed_parts& parts) {
    const std::string_view first = options_.ascii ? "| " : "│ ";
    const std::string_view next = options_.ascii ? ": " : "┊ ";
    std::size_t from = 0;
    for (auto& row : wrapped(line, width(), first, next)) {
      if (full() && !is_command_) return false;
      const auto mark = row.substr(0, first.size());
      const auto piece = row.substr(first.size());
      if (!paint.empty())
        row = std::string{paint} + mark + painted_piece(piece, from, parts, "");
      from += piece.size();
      rows_.push_back(std::move(row));
    }
    return true;
  }

  void leave_out_middle() {
    const auto end = std::min(last_rows, room() / 2);
    const auto from = head_ + room() - end;
    const auto to = rows_.size() - end;
    const auto first = std::ranges::upper_bound(begins_, from) - 1;
    const auto past = std::ranges::lower_bound(begins_, to);
    rows_[from] = hidden_text(static_cast<std::size_t>(past - first));
    left_out_.assign(lines_.begin() + (first - begins_.begin()),
                     lines_.begin() + (past - begins_.begin()));
    const auto at = rows_.begin();
    rows_.erase(at + static_cast<std::ptrdiff_t>(from) + 1,
                at + static_cast<std::ptrdiff_t>(to));
  }
  [[nodiscard]] std::string hidden_text(std::size_t lines) const {
    return shown("  … " + std::to_string(lines) +
                 (lines == 1 ? " more line" : " more lines") +
                 " ([v]iew shows all)");
  }
  [[nodiscard]] std::size_t room() const {
    return std::max(options_.rows - std::min(options_.rows, other_rows),
                    fewest_rows);
  }
  [[nodiscard]] std::size_t width() const {
    return std::max<std::size_t>(options_.columns, 9) - 1;
  }
  [[nodiscard]] bool full() const {
    return !options_.whole && rows_.size() - head_ >= room();
  }
  [[nodiscard]] std::string shown(std::string_view text) const {
    auto out = without_tabs(text);
    return options_.ascii ? ascii_text(out) : out;
  }

  const picture_options& options_;
  bool is_diff_;
  bool is_command_;
  std::vector<std::size_t> begins_;  // the first row of each line
  std::vector<std::string> lines_;   // of these
  std::vector<std::string> left_out_;
  std::vector<std::string> rows_;
  std::size_t head_ = 0;
};

}  // namespace

std::string ascii_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto size =
        std::max<std::size_t>(first_characters(text, 1).size(), 1);
    const auto one = text.substr(0, size);
    text.remove_prefix(size);
    if (size == 1) {
      out += one;
    } else if (one == "…") {
      out += "...";
    } else if (one == "—") {
      out += "-";
    } else {
      std::uint32_t code = static_cast<unsigned char>(one[0]) & (0x7Fu >> size);
      for (const char c : one.substr(1))
        code = code << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
      std::array<char, 16> name{};
      std::snprintf(name.data(), name.size(), "\\u{%x}", code);
      out += name.data();
    }
  }
  return out;
}

namespace {

/// Its rows, and the lines that have none.
struct drawn_picture {
  std::vector<std::string> rows;
  std::string left_out;
};

/// Or nothing.
std::string line_ends_row(std::string_view preview,
                          const picture_options& options) {
  constexpr std::string_view arrow = "→";
  auto ends = changed_line_ends(preview);
  if (const auto at = ends.find(arrow); options.ascii && at != ends.npos)
    ends.replace(at, arrow.size(), "->");
  return ends.empty() ? ends : "line ends: " + ends;
}

drawn_picture draw(const events::approval_required& x, bool edited,
                   const picture_options& options) {
  const auto preview = exact_text(with_line_ends(x.preview));
  const auto body = without_names(preview);
  canvas out{options, body.is_diff, x.tool == "bash"};
  out.head(sentence(x, body.of_new_file, edited, options.others));
  out.body(exact_text(members_of(x, preview.empty())), false);
  if (const auto ends = line_ends_row(x.preview, options); !ends.empty())
    out.body(ends, false);
  out.body(body.lines, true);
  auto rows = out.finish();
  return {std::move(rows), out.left_out()};
}

}  // namespace

std::vector<std::string> approval_picture(const events::approval_required& x,
                                          bool edited,
                                          const picture_options& options) {
  return draw(x, edited, options).rows;
}

std::string left_out_of_picture(const events::approval_required& x, bool edited,
                                const picture_options& options) {
  return draw(x, edited, options).left_out;
}

}  // namespace riffle::cli
