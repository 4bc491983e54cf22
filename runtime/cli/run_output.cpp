// SPDX-License-Identifier: MIT
#include "runtime/cli/run_output.hpp"

#include <cstdlib>

#include "messages/event_line.hpp"
#include "runtime/cli/safe_text.hpp"

namespace riffle::cli {

namespace {

verbosity trace_level(const common_options& options) {
  // The lines on standard output say it all.
  const bool lines = options.output == output_kind::jsonl;
  return lines && options.level == verbosity::normal ? verbosity::quiet
                                                     : options.level;
}

/// Text events are most of a stream, and neither traces nor the report want
/// them. The type stands in front of what a model wrote.
bool is_text(std::string_view line) {
  const auto data = line.find(R"(,"data":)");
  const auto head = line.substr(0, data);
  return head.find(R"("event_type":"llm_)") != std::string_view::npos;
}

}  // namespace

bool use_color(const common_options& options, const fd_writer& err) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool refused = no_color && *no_color != '\0';
  return options.color && !refused && err.is_terminal();
}

run_output::run_output(const common_options& options, fd_writer& out,
                       fd_writer& err)
    : options_{options},
      out_{out},
      err_{err},
      traces_{{trace_level(options), use_color(options, err)}} {}

void run_output::on_lines(std::string_view lines) {
  if (options_.output == output_kind::jsonl) out_.write(lines);
  while (!lines.empty()) {
    const auto end = lines.find('\n');
    on_line(lines.substr(0, end));
    if (end == std::string_view::npos) return;
    lines.remove_prefix(end + 1);
  }
}

void run_output::on_line(std::string_view line) {
  if (is_text(line)) return;
  const auto x = parse_line(line);
  if (!x) {
    err_.write("riffle: " + x.error().message + "\n");
    return;
  }
  report_.on(*x, line);
  if (!out_.good()) return;  // nobody reads: the run ends without a word
  if (const auto text = traces_.on(*x); !text.empty()) err_.write(text);
}

void run_output::finish() {
  if (options_.output == output_kind::json) {
    out_.write(report_.to_json() + "\n");
  }
  const auto& end = report_.finished();
  const bool has_answer = end && end->status == events::run_status::completed;
  if (options_.output != output_kind::text || !has_answer) return;
  auto answer =
      out_.is_terminal() ? safe_text(report_.answer()) : report_.answer();
  if (!answer.ends_with('\n')) answer += '\n';
  out_.write(answer);
}

}  // namespace riffle::cli
