// SPDX-License-Identifier: MIT
#include "runtime/cli/view/run_output.hpp"

#include <cstdlib>
#include <memory>
#include <utility>

#include "messages/event_line.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/cli/terminal/terminal_kind.hpp"
#include "runtime/cli/terminal/terminal_mode.hpp"
#include "runtime/cli/view/diff_lines.hpp"
#include "runtime/cli/view/results.hpp"

namespace riffle::cli {

namespace {

verbosity trace_level(const common_options& options) {
  // The lines on standard output say it all.
  const bool lines = options.output == output_kind::jsonl;
  return lines && options.level == verbosity::normal ? verbosity::quiet
                                                     : options.level;
}

/// Its type stands in front of what a model wrote.
std::string_view type_of(std::string_view line) {
  constexpr std::string_view key = R"("event_type":")";
  const auto at = line.find(key);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + key.size());
  return line.substr(0, line.find('"'));
}

/// Text events are most of a stream, and without a terminal nobody wants them.
bool is_text(std::string_view type) { return type.starts_with("llm_"); }

/// There may be thousands of them.
bool is_of_calls(std::string_view type) {
  return type.starts_with("tool_") || type == "status";
}

}  // namespace

bool can_erase() {
  const char* term = std::getenv("TERM");
  return term && *term != '\0' && std::string_view{term} != "dumb";
}

bool use_color(const common_options& options, const fd_writer& err) {
  if (options.color_always) return true;
  const char* no_color = std::getenv("NO_COLOR");
  const bool refused = no_color && *no_color != '\0';
  return options.color && !refused && err.is_terminal() && can_erase();
}

view_options view_of(const common_options& options, show_options show,
                     const fd_writer& out, const fd_writer& err) {
  view_options x;
  x.level = trace_level(options);
  x.color = use_color(options, err);
  const bool loud = x.level != verbosity::quiet;
  const bool lines = options.output == output_kind::jsonl;
  x.out_terminal = options.output == output_kind::text && out.is_terminal();
  const bool streams = show.stream && options.output == output_kind::text;
  x.live_text = (x.out_terminal && loud) || streams;
  x.rendered = x.out_terminal && !show.raw && can_erase();
  x.styled = x.rendered && use_color(options, out);
  // A pipe may end at the same terminal, with text that is cut anywhere.
  const bool piped = streams && !x.out_terminal;
  x.status = loud && !lines && !piped && err.is_terminal() && can_erase();
  x.reasoning = show.reasoning && !lines;
  x.stats = show.stats;
  x.ascii = err.is_terminal() && locale_lacks_utf8();
  x.asks = show.asks;
  x.since = system_wall_time();
  return x;
}

run_output::run_output(const common_options& options, show_options show,
                       fd_writer& out, fd_writer& err)
    : work_output{std::make_unique<live_view>(view_of(options, show, out, err)),
                  out, err},
      options_{options},
      tool_trace_{show.tool_trace},
      view_{static_cast<live_view&>(view())},
      wants_calls_{tool_trace_ || options.output == output_kind::json ||
                   view_.wants_calls()} {}

void run_output::on_lines(std::string_view lines, time_point now) {
  if (options_.output == output_kind::jsonl) out_.write(lines);
  for_each_line(lines, [&](std::string_view line) { on_line(line, now); });
}

void run_output::on_line(std::string_view line, time_point now) {
  const auto type = type_of(line);
  if (is_text(type) && !view_.wants_text()) return;
  if (is_of_calls(type) && !wants_calls_) return;
  auto x = parse_line(line);
  if (!x) {
    err_.write("riffle: " + x.error().message + "\n");
    return;
  }
  if (const auto* end = std::get_if<events::tool_result>(&x->body);
      end && tool_trace_)
    interject(tool_trace(x->run, *end, report_.title_of(end->id)));
  report_.on(*x);
  complete(*x);
  announce(*x);
  write(view_.on(*x, now, columns()));
  tell(*x);
}

void run_output::finish() {
  const auto& end = report_.finished();
  const bool has_answer = end && end->status == events::run_status::completed;
  std::optional<std::string> answer;
  if (options_.output == output_kind::json) {
    answer = results_json({{report_.task(), {}, report_}}, {});
  } else if (options_.output == output_kind::text && has_answer) {
    answer = report_.answer();
  }
  write(view_.finish(answer));
}

}  // namespace riffle::cli
