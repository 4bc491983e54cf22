// SPDX-License-Identifier: MIT
#include "messages/event_line.hpp"

#include <concepts>

#include "messages/json_members.hpp"

namespace riffle {

namespace {

void put_usage(json_members& m, const token_usage& x) {
  m.number("input_tokens", x.input_tokens);
  m.number("output_tokens", x.output_tokens);
  m.number("cached_tokens", x.cached_tokens);
  m.number("reasoning_tokens", x.reasoning_tokens);
  m.number("cost_usd", x.cost_usd);
  if (x.estimated) m.flag("estimated", true);
}

void put_attachments(json_members& m, const std::vector<attachment>& all) {
  if (all.empty()) return;
  m.objects("attachments", all, [](json_members& inner, const attachment& x) {
    inner.text("name", x.name);
    inner.text("type", x.type);
    inner.number("bytes", x.bytes);
    inner.text("digest", x.digest);
  });
}

// `data` of each type, keys in the contract's order.

void put(json_members& m, const events::run_started& x) {
  m.text("session_id", x.session.value);
  m.text("agent", x.agent);
  m.text("model", x.model);
  m.text("task", x.task);
  m.number("max_steps", x.max_steps);
  if (x.cause)
    m.object("cause", [&](json_members& inner) {
      inner.text("proposal_id", x.cause->value);
    });
  put_attachments(m, x.attachments);
}

void put(json_members& m, const events::step_start& x) {
  m.number("step", x.step);
  m.number("max_steps", x.max_steps);
}

void put(json_members& m, const events::step_restarted& x) {
  m.number("step", x.step);
  m.number("attempt", x.attempt);
  m.text("reason", x.reason);
  m.object("withdraws", [&](json_members& inner) {
    inner.number("first_seq", x.first_seq);
    inner.number("last_seq", x.last_seq);
  });
}

void put(json_members& m, const events::tool_call& x) {
  m.text("id", x.id.value);
  m.text("provider_id", x.provider_id);
  m.text("tool", x.tool);
  m.text("title", x.title);
  m.object_or_null("arguments", x.arguments);
  m.text_unless_empty("arguments_text", x.arguments_text);
  m.text("effect", to_string(x.eff));
  m.number("step", x.step);
  m.text("status", to_string(x.status));
  m.text_unless_empty("node", x.node);
}

void put(json_members& m, const events::tool_progress& x) {
  m.text("id", x.id.value);
  m.text("tool", x.tool);
  m.text_unless_empty("message", x.report.message);
  m.number("progress", x.report.progress);
  m.number("total", x.report.total);
  m.text_unless_empty("stream", x.report.stream);
  if (x.report.coalesced != 0) m.number("coalesced", x.report.coalesced);
}

void put(json_members& m, const events::tool_result& x) {
  m.text("id", x.id.value);
  m.text("tool", x.tool);
  m.text("outcome", to_string(x.how));
  m.flag("success", x.how == outcome::ok);
  m.text("output", x.output);
  m.flag("truncated", x.truncated);
  m.number("duration_ms", x.duration_ms);
  m.number("attempts", x.attempts);
  if (x.err) {
    m.object("error", [&](json_members& inner) {
      inner.text("code", to_string(x.err->code));
      inner.text("message", x.err->message);
    });
  }
  m.object_or_nothing("metadata", x.metadata);
  put_attachments(m, x.attachments);
}

void put(json_members& m, const events::plan_updated& x) {
  m.text("action", x.action);
  if (is_json(x.plan))
    m.json("plan", x.plan);
  else
    m.null("plan");
}

void put(json_members& m, const events::approval_required& x) {
  m.text("proposal_id", x.proposal.value);
  m.text("id", x.id.value);
  m.text("tool", x.tool);
  m.text("title", x.title);
  m.object_or_null("arguments", x.arguments);
  m.text_unless_empty("preview", x.preview);
  m.text("reason", x.reason);
  if (x.expires_at) m.text("expires_at", to_string(*x.expires_at));
  m.text_unless_empty("digest", x.digest);
  if (x.always) m.flag("always", true);
  m.text_unless_empty("pattern", x.pattern);
}

void put(json_members& m, const events::approval_resolved& x) {
  m.text("proposal_id", x.proposal.value);
  m.text("id", x.id.value);
  m.text("decision", to_string(x.how));
  m.text("by", x.by);
  m.text_unless_empty("reason", x.reason);
  m.object_or_nothing("arguments", x.arguments);
  if (x.unasked) m.flag("unasked", true);
}

void put(json_members& m, const events::proposal& x) {
  m.text("proposal_id", x.id.value);
  m.text("source", to_string(x.source));
  m.text("summary", x.summary);
  m.text("status", to_string(x.status));
}

void put(json_members& m, const events::usage& x) {
  m.number("step", x.step);
  put_usage(m, x.tokens);
}

void put(json_members& m, const events::retry& x) {
  m.text("what", to_string(x.what));
  if (x.id) m.text("id", x.id->value);
  m.number("attempt", x.attempt);
  m.number("max_attempts", x.max_attempts);
  m.number("delay_ms", x.delay_ms);
  m.text("reason", x.reason);
}

void put(json_members& m, const events::status& x) { m.text("text", x.text); }

void put(json_members& m, const events::user_message& x) {
  m.text("text", x.text);
  m.number("step", x.step);
}

void put_error(json_members& m, const error& x,
               std::optional<std::uint32_t> step = {}) {
  m.text("code", to_string(x.code));
  m.text("op", x.op);
  m.text("message", x.message);
  m.number("step", step);
  m.flag("retryable", x.retryable);
}

void put(json_members& m, const events::failure& x) {
  put_error(m, x.err, x.step);
}

void put(json_members& m, const events::final_answer& x) {
  m.text("content", x.content);
  m.number("steps", x.steps);
  m.object("usage", [&](json_members& inner) { put_usage(inner, x.usage); });
  m.number("tools", x.tools);
  if (x.truncated) m.flag("truncated", true);
}

void put(json_members& m, const events::run_finished& x) {
  m.text("status", to_string(x.status));
  m.number("duration_ms", x.duration_ms);
  m.number("steps", x.steps);
  m.number("tool_calls", x.tool_calls);
  m.object("usage", [&](json_members& inner) { put_usage(inner, x.usage); });
  if (!x.err) return;
  m.object("error", [&](json_members& inner) { put_error(inner, *x.err); });
}

void put(json_members& m, const events::plan_started& x) {
  m.text("plan_id", x.plan.value);
  m.number("steps", x.steps);
}

void put(json_members& m, const events::plan_step_started& x) {
  m.number("step", x.step);
  m.text("id", x.id);
  m.text_unless_empty("instruction", x.instruction);
  m.text_unless_empty("tool", x.tool);
  m.text_unless_empty("run_id", x.run.value);
  m.number("attempt", x.attempt);
}

void put(json_members& m, const events::plan_step_finished& x) {
  m.number("step", x.step);
  m.text("id", x.id);
  m.text("status", to_string(x.status));
  m.text("output", x.output);
  m.flag("truncated", x.truncated);
  if (x.err)
    m.object("error", [&](json_members& inner) { put_error(inner, *x.err); });
  m.text_unless_empty("run_id", x.run.value);
  m.number("duration_ms", x.duration_ms);
}

void put(json_members& m, const events::plan_finished& x) {
  m.text("status", to_string(x.status));
  if (x.answer) m.text("final_answer", *x.answer);
  if (x.err)
    m.object("error", [&](json_members& inner) { put_error(inner, *x.err); });
  m.number("duration_ms", x.duration_ms);
}

constexpr std::string_view time_open = R"(},"timestamp":")";
constexpr std::string_view time_close = "\"}\n";

}  // namespace

event_writer::event_writer(const run_id& run) {
  run_.append(R"(,"run_id":")");
  append_json_escaped(run_, run.value);
  run_.append(R"(","event_type":")");
  token_ = run_ + R"(llm_token","data":{"content":")";
  reasoning_ = run_ + R"(llm_reasoning","data":{"content":")";
  time_.append(time_open).append(time_text_size, '0').append(time_close);
  set_time({});
}

void event_writer::set_time(wall_time now) {
  write(now, std::span<char, time_text_size>{time_.data() + time_open.size(),
                                             time_text_size});
}

void event_writer::add(std::string& out, std::uint64_t seq,
                       const events::body& body) {
  const auto text = [&](const auto& x, bool reasoning) {
    add_text(out, seq, reasoning, x.content, x.step);
  };
  if (const auto* token = std::get_if<events::llm_token>(&body))
    return text(*token, false);
  if (const auto* thought = std::get_if<events::llm_reasoning>(&body))
    return text(*thought, true);
  begin(out, seq, run_);
  out.append(events::type_name(body.index())).append(R"(","data":{)");
  json_members data{out};
  std::visit(
      [&]<class T>(const T& x) {
        if constexpr (!std::same_as<T, events::llm_token> &&
                      !std::same_as<T, events::llm_reasoning>)
          put(data, x);
      },
      body);
  out.append(time_);
}

void event_writer::add_text(std::string& out, std::uint64_t seq, bool reasoning,
                            std::string_view content, std::uint32_t step) {
  begin(out, seq, reasoning ? reasoning_ : token_);
  append_json_escaped(out, content);
  out.append(R"(","step":)");
  append_number(out, step);
  out.append(time_);
}

void event_writer::begin(std::string& out, std::uint64_t seq,
                         std::string_view head) {
  out.append(R"({"seq":)");
  append_number(out, seq);
  out.append(head);
}

std::string to_line(const event& x) {
  event_writer writer{x.run};
  writer.set_time(x.at);
  std::string line;
  writer.add(line, x.seq, x.body);
  return line;
}

}  // namespace riffle
