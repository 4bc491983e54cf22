// SPDX-License-Identifier: MIT
// What a call wrote and changed, below the line of its end: a part of the trace
// writer.
#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/cli/terminal/program_output.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/changed_words.hpp"
#include "runtime/cli/view/diff_lines.hpp"
#include "runtime/cli/view/people_text.hpp"
#include "runtime/cli/view/trace_writer.hpp"

namespace riffle::cli {

namespace {

/// Lines of output that are remembered, to be shown once; of each so much.
constexpr std::size_t most_told = 64;
constexpr std::size_t longest_shown = 200;

/// What is shown of a call that went well, for who wants all.
constexpr std::size_t most_of_output = 10;

/// Of a beginning that was cut, unless it has none.
std::string_view whole_lines(std::string_view text) {
  const auto end = text.rfind('\n');
  return end == text.npos ? text : text.substr(0, end + 1);
}

/// How a text is shown in part.
struct part {
  bool cut = false;         ///< there was more of it
  bool end = false;         ///< it is the end of something, else its beginning
  std::size_t most = 24;    ///< lines that a screen has
  std::uint64_t lines = 0;  ///< of all of it; 0: nobody knows
  std::size_t room = 0;     ///< columns of a line; 0: any
};

std::string mark_of(std::uint64_t hidden, const part& x) {
  std::string out{trace_bar};
  out += "…";
  if (hidden > 0)
    out += " " + std::to_string(hidden) + (x.end ? "" : " more") +
           (hidden == 1 ? " line" : " lines") + (x.end ? " before" : "");
  return out + "\n";
}

/// Each line of a text indented, so that it cannot pass for a trace.
std::string indented(std::string_view text, const part& x) {
  std::vector<std::string> lines;
  const auto safe = safe_text(text);
  for_each_line(safe, [&](std::string_view line) {
    lines.push_back(std::string{trace_bar} +
                    (x.room == 0 ? std::string{line} : fit(line, x.room)));
  });
  // The one that was cut goes on.
  const bool goes_on = x.cut && !x.end && !text.ends_with('\n');
  if (goes_on && !lines.empty() && !lines.back().ends_with("…"))
    lines.back() += "…";
  const auto shown = std::min(lines.size(), x.most);
  auto hidden = static_cast<std::uint64_t>(lines.size() - shown);
  // Of an end that was cut the first is a part of one.
  const auto known =
      x.cut && x.end ? shown - std::min<std::size_t>(shown, 1) : shown;
  if (x.lines > 0 && (x.cut || hidden > 0))
    hidden = std::max<std::uint64_t>(x.lines, lines.size()) - known;
  const auto first = x.end ? lines.size() - shown : 0;
  std::string all;
  for (std::size_t i = first; i < first + shown; ++i) all += lines[i] + "\n";
  const bool marked = (x.cut && !goes_on) || hidden > 0;
  const auto mark = marked ? mark_of(hidden, x) : std::string{};
  return x.end ? mark + all : all + mark;
}

/// What a shell says of itself behind the output of a command, and the line of
/// its call before it.
std::string_view without_status(std::string_view text) {
  const auto end = text.find_last_not_of('\n');
  const auto last = end == text.npos ? text.npos : text.rfind('\n', end);
  const auto from = last == text.npos ? 0 : last + 1;
  return text.substr(from).starts_with("exit status ") ? text.substr(0, from)
                                                       : text;
}

/// Of all that it wrote.
std::uint64_t lines_of(std::string_view metadata) {
  const auto about = nlohmann::json::parse(metadata, nullptr, false);
  const auto found = about.is_object() ? about.find("lines") : about.end();
  return found != about.end() && found->is_number_unsigned()
             ? found->get<std::uint64_t>()
             : 0;
}

}  // namespace

void trace_writer::remember(open_call& call, std::string_view line) {
  call.told.push_back(safe_line(line, longest_shown));
  if (call.told.size() > most_told) call.told.pop_front();
}

std::string trace_writer::written(const open_call& call,
                                  const events::tool_result& x) const {
  const auto diff = result_diff(x.metadata);
  if (diff.empty()) return output_text(call, x);
  return call.seen ? std::string{}
                   : painted(indented(with_line_ends(diff), {}));
}

/// Below the end of a command, without being asked: why it failed, and what it
/// came to where it did something.
std::string trace_writer::last_words(const open_call& call,
                                     const events::tool_result& x) const {
  const bool exited = x.how == outcome::failed && has_exit_code(x.metadata);
  const bool done = x.how == outcome::ok && call.acts && !x.truncated;
  std::size_t most = 0;
  if (exited && options_.tails) most = 5;
  if (done && options_.last_lines) most = 1;
  std::string rows;
  if (most == 0) return rows;
  for (const auto& row : last_rows(x.output, x.truncated, line_room(), most))
    rows += faint(std::string{trace_bar} + row) + "\n";
  return rows;
}

/// Columns behind the bar; the last one stays free.
std::size_t trace_writer::line_room() const {
  constexpr std::size_t without_terminal = 200;
  constexpr std::size_t least = 20;
  const auto all = columns_ == 0 ? without_terminal : columns_;
  return std::max(all, least) - trace_bar.size() - 1;
}

/// What has stood there as progress, or as the reason, stands there.
std::string trace_writer::output_text(const open_call& call,
                                      const events::tool_result& x) const {
  const std::string_view why = x.err ? x.err->message : std::string_view{};
  if (why.starts_with(x.output)) return {};
  const bool good = x.how == outcome::ok;
  // Of what failed each line may say why; of the rest an event has the
  // beginning, where its end could not be read.
  std::string_view all = x.output;
  if (has_exit_code(x.metadata)) all = without_status(all);
  if (good && x.truncated) all = whole_lines(all);
  const auto settled = settled_lines(all);
  all = settled;
  part how{x.truncated, !good || !x.truncated};
  how.most = good ? most_of_output : all.size() + 1;
  how.room = good ? line_room() : 0;
  if (call.told.empty()) how.lines = lines_of(x.metadata);
  if (call.told.empty() && why.empty()) return indented(all, how);
  std::string rest;
  auto before = call.told;  // each stands for one line
  if (!why.empty()) before.push_back(safe_line(why, longest_shown));
  for_each_line(all, [&](std::string_view line) {
    const auto shown = safe_line(line, longest_shown);
    // The last one may have been cut.
    const bool is_part =
        x.truncated && !shown.empty() && line.end() == all.end();
    const auto told = std::ranges::find_if(before, [&](const auto& y) {
      return y == shown || (is_part && y.starts_with(shown));
    });
    if (told != before.end())
      before.erase(told);
    else
      rest.append(line).append("\n");
  });
  return rest.empty() ? rest : indented(rest, how);
}

/// All of it: nobody has seen it.
std::string trace_writer::left_out_text(std::string_view lines) const {
  if (lines.empty()) return {};
  return std::string{trace_bar} + "… what the question had no room for:\n" +
         painted(indented(lines, {.most = lines.size() + 1}));
}

std::string trace_writer::painted(std::string_view lines) const {
  if (!options_.color) return std::string{lines};
  std::string out;
  for_each_line(lines, [&](std::string_view line) {
    const auto paint =
        paint_of(line.substr(std::min(trace_bar.size(), line.size())));
    out.append(paint).append(line).append(paint.empty() ? "\n" : "\x1b[0m\n");
  });
  return out;
}

}  // namespace riffle::cli
