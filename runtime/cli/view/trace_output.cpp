// SPDX-License-Identifier: MIT
// What a call wrote and changed, below the line of its end: a part of the trace
// writer.
#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/diff_lines.hpp"
#include "runtime/cli/view/trace_writer.hpp"

namespace riffle::cli {

namespace {

/// Lines of output that are remembered, to be shown once; of each so much.
constexpr std::size_t most_told = 64;
constexpr std::size_t longest_shown = 200;

/// Without the part of a word at its end, where that is short.
std::string_view whole_words(std::string_view text) {
  constexpr std::size_t longest_word = 40;
  const auto end = text.find_last_of(" \t\n");
  return end == text.npos || text.size() - end > longest_word
             ? text
             : text.substr(0, end);
}

/// Each line of a text indented, so that it cannot pass for a trace; not more
/// than `most`. `cut`: there was more of it. `end`: it is the end of something,
/// else its beginning.
std::string indented(std::string_view text, bool cut, bool end,
                     std::size_t most) {
  if (cut && !end) text = whole_words(text);
  std::vector<std::string> lines;
  const auto safe = safe_text(text);
  for_each_line(safe, [&](std::string_view line) {
    lines.push_back(std::string{trace_bar}.append(line) + "\n");
  });
  const auto more = lines.size() - std::min(lines.size(), most);
  const auto first = lines.begin() + static_cast<std::ptrdiff_t>(more);
  std::string mark{trace_bar};
  mark += more == 0 ? "…\n"
                    : "… " + std::to_string(more) +
                          (end ? " lines before\n" : " more lines\n");
  if (more == 0 && !cut) mark.clear();
  if (end) return std::accumulate(first, lines.end(), mark);
  lines.resize(lines.size() - more);
  return std::accumulate(lines.begin(), lines.end(), std::string{}) + mark;
}

/// Not more lines than a screen has.
std::string screenful(std::string_view text, bool cut = false) {
  constexpr std::size_t most = 24;
  return indented(text, cut, false, most);
}

/// All of it: of what failed each line may say why.
std::string failed_text(std::string_view text, bool cut) {
  return indented(text, cut, true, text.size() + 1);
}

}  // namespace

void trace_writer::remember(open_call& call, std::string_view line) {
  call.told.push_back(safe_line(line, longest_shown));
  if (call.told.size() > most_told) call.told.pop_front();
}

/// What has stood there as progress stands there.
std::string trace_writer::output_text(const open_call& call,
                                      const events::tool_result& x) const {
  const bool good = x.how == outcome::ok;
  if (call.told.empty())
    return good ? screenful(x.output, x.truncated)
                : failed_text(x.output, x.truncated);
  std::string rest;
  std::string_view last;
  auto before = call.told;  // each stands for one line
  const std::string_view all = x.output;
  for_each_line(all, [&](std::string_view line) {
    const auto shown = safe_line(line, longest_shown);
    if (!shown.empty()) last = line;
    // The last one may have been cut.
    const bool part = x.truncated && !shown.empty() && line.end() == all.end();
    const auto told = std::ranges::find_if(before, [&](const auto& y) {
      return y == shown || (part && y.starts_with(shown));
    });
    if (told != before.end())
      before.erase(told);
    else
      rest.append(line).append("\n");
  });
  // Whatever was shown before, a failure shows its end.
  if (rest.empty()) return good ? std::string{} : failed_text(last, false);
  return good ? screenful(rest, x.truncated) : failed_text(rest, x.truncated);
}

std::string trace_writer::diff_text(std::string_view diff) const {
  const auto text = screenful(diff);
  if (!options_.color) return text;
  std::string out;
  for_each_line(text, [&](std::string_view line) {
    const auto paint =
        paint_of(line.substr(std::min(trace_bar.size(), line.size())));
    out.append(paint).append(line).append(paint.empty() ? "\n" : "\x1b[0m\n");
  });
  return out;
}

}  // namespace riffle::cli
