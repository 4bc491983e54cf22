// SPDX-License-Identifier: MIT
#include "runtime/cli/view/plan_output.hpp"

#include <memory>
#include <utility>

#include "runtime/cli/view/run_output.hpp"

namespace riffle::cli {

plan_output::plan_output(run_id plan, const common_options& options,
                         show_options show, fd_writer& out, fd_writer& err)
    : work_output{std::make_unique<plan_view>(view_of(options, show, out, err)),
                  out, err, unread::all},
      plan_{std::move(plan)},
      options_{options},
      show_{show},
      view_{static_cast<plan_view&>(view())} {}

void plan_output::on(const event_batch& batch, time_point now) {
  if (options_.output == output_kind::jsonl) out_.write(batch.lines());
  batch.for_each([&](const event_view& x) { on(x, now); });
}

void plan_output::on(const event_view& x, time_point now) {
  if (x.type().starts_with("llm_") && !view_.wants_text()) return;
  auto e = x.parse();
  if (!e) return interject("riffle: " + e.error().message + "\n");
  if (const auto* end = std::get_if<events::tool_result>(&e->body);
      end && show_.tool_trace)
    interject(tool_trace(e->run, *end, runs_.title_of(end->id)));
  runs_.on(*e);
  if (e->run == plan_) report_.on(*e);
  report_.count(*e);
  complete(*e);
  announce(*e);
  write(view_.on(*e, now, size()));
  if (e->run == plan_) tell_end_of_output(*e);
  if (auto* asked = std::get_if<events::approval_required>(&e->body))
    asked->title.insert(0, view_.place_of_step());
  tell(*e);
}

/// Below the line of a step whose call failed: why it did often stands at the
/// end of its output, which -v has shown.
void plan_output::tell_end_of_output(const event& x) {
  if (std::holds_alternative<events::plan_step_started>(x.body)) call_ = {};
  if (const auto* call = std::get_if<events::tool_call>(&x.body))
    call_ = call->id;
  const auto* end = std::get_if<events::plan_step_finished>(&x.body);
  if (!end || end->status != events::run_status::failed || !end->err ||
      call_.empty() || !reads_outputs() || options_.level == verbosity::quiet ||
      show_.tool_trace || options_.level == verbosity::verbose)
    return;
  interject(view_.last_lines(end_of_output(call_), end->err->message));
}

void plan_output::finish(std::uint32_t unasked) {
  write(view_.hide_status());
  const auto& end = report_.finished();
  if (!end) return;
  if (show_.stats) interject(report_.stats_text());
  if (options_.output == output_kind::json)
    out_.write(report_.to_json(runs_.session(), unasked) + "\n");
  if (options_.output != output_kind::text || !end->answer) return;
  auto text = view_.whole_answer(*end->answer, columns());
  if (!text.ends_with('\n')) text += '\n';
  write(view_.answer(text));
}

}  // namespace riffle::cli
