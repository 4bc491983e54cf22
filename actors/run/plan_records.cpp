// SPDX-License-Identifier: MIT
#include "actors/run/plan_records.hpp"

#include <map>
#include <utility>

#include "actors/tools/call_check.hpp"
#include "actors/tools/call_records.hpp"
#include "messages/event_line.hpp"

namespace riffle {

namespace {

constexpr const char* plan_op = "plan";
constexpr std::size_t page_bytes = 256u << 10;

/// Whether the error's code says more than that the tool failed.
bool is_of_step(errc code) {
  switch (code) {
    case errc::interrupted:
    case errc::approval_denied:
    case errc::approval_expired:
    case errc::timeout:
    case errc::cancelled:
    case errc::tool_execution_error: return true;
    default: return false;
  }
}

error with_code(errc code, const error& why) {
  return {code, plan_op,
          why.code == code
              ? why.message
              : std::string{to_string(why.code)} + ": " + why.message};
}

struct run_end {
  std::optional<std::string> answer;
  std::optional<events::run_finished> finished;
  std::uint64_t before = 0;  ///< the events of the end stand behind this one
};

void note(std::string_view line, std::uint64_t seq, run_end& end) {
  // The type stands in front of what a model wrote.
  const auto head = line.substr(0, line.find(R"(,"data":)"));
  const bool answers = head.find(R"("final_answer")") != head.npos;
  const bool ends = head.find(R"("run_finished")") != head.npos;
  if (!answers && !ends) return;
  auto x = parse_line(line);
  if (!x) return;
  if (auto* answer = std::get_if<events::final_answer>(&x->body)) {
    end.answer = std::move(answer->content);
    end.before = seq - 1;
  } else if (auto* last = std::get_if<events::run_finished>(&x->body)) {
    end.finished = std::move(*last);
    if (!end.answer) end.before = seq - 1;
  }
}

/// A page at a time: a log may be long.
expected<run_end> read_end(storage::journal& journal, const run_id& run,
                           std::uint64_t after) {
  run_end out;
  for (;;) {
    const auto page = journal.read_events(run, after, page_bytes);
    if (!page) return unexpected{page.error()};
    for (const auto& block : page->blocks) {
      auto seq = block.first_seq;
      std::string_view rest = *block.lines;
      while (!rest.empty()) {
        const auto end = rest.find('\n');
        note(rest.substr(0, end), seq++, out);
        rest.remove_prefix(end + 1);
      }
      after = block.last_seq;
    }
    if (page->end || page->blocks.empty()) return out;
  }
}

events::run_status to_status(storage::run_state x) {
  switch (x) {
    case storage::run_state::completed: return events::run_status::completed;
    case storage::run_state::cancelled: return events::run_status::cancelled;
    default: return events::run_status::failed;
  }
}

core::step_end end_of_run(const storage::run_record& record, run_end found,
                          std::size_t limit) {
  core::step_end out;
  out.status = to_status(record.state);
  out.output = cut_text(found.answer.value_or(""), limit, out.truncated);
  if (out.status == events::run_status::completed) return out;
  const auto why =
      found.finished && found.finished->err
          ? *found.finished->err
          : error{errc::internal, plan_op, "the log of its run has no end"};
  auto code = errc::step_execution_error;
  if (why.code == errc::timeout || why.code == errc::cancelled) code = why.code;
  out.why = with_code(code, why);
  return out;
}

}  // namespace

// -- records ------------------------------------------------------------------

storage::message_record begun_record(const run_spec& spec,
                                     const core::plan_progress& p,
                                     const step_source& source) {
  const auto& step = spec.plan->document.steps[p.step - 1];
  storage::message_record out{
      spec.session, spec.run,         p.step, storage::message_role::user,
      {},           source.run.value, {}};
  out.text = step.tool.empty() ? step.instruction : "Call " + step.tool;
  if (!source.call.empty()) out.calls.push_back(source.call);
  return out;
}

storage::message_record ended_record(const run_spec& spec,
                                     const events::plan_step_finished& x) {
  const bool completed = x.status == events::run_status::completed;
  return {spec.session,
          spec.run,
          x.step,
          storage::message_role::assistant,
          x.output,
          completed ? std::string{} : std::string{to_string(x.status)},
          {}};
}

plan_resumption resume_plan(const storage::run_snapshot& snapshot) {
  plan_resumption out;
  const auto& run = snapshot.run;
  out.progress = {run.step, run.step_attempt, run.turn_safe,
                  run.turn_committed};
  for (const auto& m : snapshot.session.messages) {
    if (m.run != run.id || m.step == 0) continue;
    if (m.role == storage::message_role::user) {
      out.sources.resize(m.step);
      auto& source = out.sources[m.step - 1];
      source = {run_id{m.reasoning}, 0, {}};
      if (!m.calls.empty()) source.call = m.calls.front();
    } else {
      out.ended.push_back(events::parse_run_status(m.reasoning)
                              .value_or(events::run_status::completed));
    }
  }
  return out;
}

core::step_end end_of_call(const storage::call_record& x, std::size_t limit) {
  core::step_end out;
  out.output = cut_text(told_output(x), limit, out.truncated);
  if (x.how == outcome::ok) return out;
  out.status = x.how == outcome::cancelled ? events::run_status::cancelled
                                           : events::run_status::failed;
  const auto why = x.err.value_or(error{errc::tool_execution_error, plan_op,
                                        std::string{to_string(x.how)}});
  out.why = with_code(
      is_of_step(why.code) ? why.code : errc::tool_execution_error, why);
  return out;
}

// -- what blocks --------------------------------------------------------------

expected<step_run_look> look_at_run(const run_spec& plan, const run_id& run,
                                    std::uint64_t after_seq) {
  step_run_look out;
  const auto record = plan.journal->load_run(run);
  if (!record && record.error().code == errc::not_found) return out;
  if (!record) return unexpected{record.error()};
  if (record->state == storage::run_state::active) {
    out.at = step_run_look::state::active;
    auto spec = plan.plan->make_step(run, record->task);
    if (!spec) return unexpected{std::move(spec.error())};
    out.spec = std::move(*spec);
    return out;
  }
  auto end = read_end(*plan.journal, run, after_seq);
  if (!end) return unexpected{std::move(end.error())};
  out.at = step_run_look::state::ended;
  out.seq = end->before;
  out.end = end_of_run(*record, std::move(*end), plan.publish.output_limit);
  return out;
}

expected<std::string> whole_output(const run_spec& plan,
                                   const step_source& source) {
  if (!source.call.empty()) {
    auto text = plan.plan->output(source.call);
    if (!text && text.error().code == errc::not_found) return "";
    return text;
  }
  if (source.run.empty()) return "";
  auto end = read_end(*plan.journal, source.run, source.seq);
  if (end) return std::move(end->answer).value_or("");
  if (end.error().code == errc::not_found) return "";
  return unexpected{std::move(end.error())};
}

namespace {

/// It is on record that this step of the plan before put out something.
bool has_said(const run_spec& plan, std::size_t place) {
  const auto& kept = plan.plan->kept;
  return place < kept.size() && !kept[place].end.output.empty();
}

/// As if a model's turn had asked for it.
tool_call call_of_step(const run_spec& plan, std::size_t place,
                       std::uint32_t number, const call_id& id,
                       const std::string& arguments) {
  tool_call call;
  call.id = id;
  call.provider_id = call.id.value;
  call.tool = call.title = plan.plan->document.steps[place].tool;
  call.step = number;
  call.rejection = check_call(plan, call, arguments);
  return call;
}

}  // namespace

expected<prepared_step> prepare_step(const run_spec& plan, std::size_t place,
                                     std::uint32_t number,
                                     const std::vector<step_source>& sources) {
  const auto& document = plan.plan->document;
  const auto& step = document.steps[place];
  std::map<std::size_t, std::string> outputs;
  for (const auto other : step.refers_to) {
    auto text = whole_output(plan, sources[other]);
    if (!text) return unexpected{std::move(text.error())};
    if (text->empty() && has_said(plan, other))
      return unexpected{error{errc::not_found, plan_op,
                              "what step \"" + document.steps[other].id +
                                  "\" said has been deleted since"}};
    outputs.emplace(other, std::move(*text));
  }
  const auto find = [&](std::size_t other) -> const std::string& {
    return outputs.at(other);
  };
  const bool calls = !step.tool.empty();
  auto text = calls ? core::fill_in_arguments(document, place, find)
                    : core::fill_in_instruction(document, place, find);
  if (!text)
    return unexpected{error{errc::step_execution_error, plan_op, text.error()}};
  prepared_step out;
  if (calls) {
    out.call = call_of_step(plan, place, number, sources[place].call, *text);
    return out;
  }
  auto run = plan.plan->make_step(sources[place].run, *text);
  if (!run) return unexpected{std::move(run.error())};
  out.run = std::move(*run);
  return out;
}

}  // namespace riffle
