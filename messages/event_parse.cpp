// SPDX-License-Identifier: MIT
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/event_line.hpp"
#include "messages/json_reader.hpp"
#include "messages/json_strict.hpp"

namespace riffle {

namespace {

using nlohmann::json;

/// Arguments and plans may be as deep as JSON from outside, within an event.
constexpr std::size_t deepest_line = deepest_json + 8;

token_usage get_usage(json_reader m) {
  return {
      .input_tokens = m.number<std::uint64_t>("input_tokens"),
      .output_tokens = m.number<std::uint64_t>("output_tokens"),
      .cached_tokens = m.maybe_number<std::uint64_t>("cached_tokens"),
      .reasoning_tokens = m.maybe_number<std::uint64_t>("reasoning_tokens"),
      .cost_usd = m.maybe_double("cost_usd"),
      .estimated = m.flag_or_false("estimated"),
  };
}

error get_error(json_reader m) {
  return {
      .code = m.choice<errc>("code", parse_errc),
      .op = m.text_or_empty("op"),
      .message = m.text("message"),
      .retryable = m.flag_or_false("retryable"),
      .cause = {},
  };
}

std::optional<error> maybe_error(json_reader& m) {
  if (!m.has("error")) return std::nullopt;
  return get_error(m.object("error"));
}

std::vector<attachment> get_attachments(json_reader& m) {
  std::vector<attachment> out;
  if (!m.has("attachments")) return out;
  m.objects("attachments", [&](json_reader x) {
    out.push_back({x.text("name"), x.text("type"),
                   x.number<std::uint64_t>("bytes"), x.text("digest")});
  });
  return out;
}

// `data` of each type.

void get(json_reader& m, events::run_started& x) {
  x.session = m.id<session_id>("session_id");
  x.agent = m.text("agent");
  x.model = m.text("model");
  x.task = m.text("task");
  x.max_steps = m.number<std::uint32_t>("max_steps");
  if (m.has("cause"))
    x.cause = m.object("cause").id<proposal_id>("proposal_id");
  x.attachments = get_attachments(m);
}

void get(json_reader& m, events::step_start& x) {
  x.step = m.number<std::uint32_t>("step");
  x.max_steps = m.number<std::uint32_t>("max_steps");
}

void get(json_reader& m, events::step_restarted& x) {
  x.step = m.number<std::uint32_t>("step");
  x.attempt = m.number<std::uint32_t>("attempt");
  x.reason = m.text("reason");
  auto range = m.object("withdraws");
  x.first_seq = range.number<std::uint64_t>("first_seq");
  x.last_seq = range.number<std::uint64_t>("last_seq");
}

void get(json_reader& m, events::llm_token& x) {
  x.content = m.text("content");
  x.step = m.number<std::uint32_t>("step");
}

void get(json_reader& m, events::llm_reasoning& x) {
  x.content = m.text("content");
  x.step = m.number<std::uint32_t>("step");
}

void get(json_reader& m, events::tool_call& x) {
  x.id = m.id<call_id>("id");
  x.provider_id = m.text("provider_id");
  x.tool = m.text("tool");
  x.title = m.text("title");
  x.arguments = m.object_or_null("arguments");
  x.arguments_text = m.text_or_empty("arguments_text");
  x.eff = m.choice<effect>("effect", parse_effect);
  x.step = m.number<std::uint32_t>("step");
  x.status = m.choice<events::call_status>("status", events::parse_call_status);
  x.node = m.text_or_empty("node");
}

void get(json_reader& m, events::tool_progress& x) {
  x.id = m.id<call_id>("id");
  x.tool = m.text("tool");
  x.report.message = m.text_or_empty("message");
  x.report.progress = m.maybe_double("progress");
  x.report.total = m.maybe_double("total");
  x.report.stream = m.text_or_empty("stream");
  x.report.coalesced = m.maybe_number<std::uint64_t>("coalesced").value_or(0);
}

void get(json_reader& m, events::tool_result& x) {
  x.id = m.id<call_id>("id");
  x.tool = m.text("tool");
  x.how = m.choice<outcome>("outcome", parse_outcome);
  if (m.flag("success") != (x.how == outcome::ok))
    m.fail<int>("success", "does not agree with the outcome");
  x.output = m.text("output");
  x.truncated = m.flag("truncated");
  x.duration_ms = m.number<std::uint64_t>("duration_ms");
  x.attempts = m.number<std::uint32_t>("attempts");
  x.err = maybe_error(m);
  x.metadata = m.object_or_empty("metadata");
  x.attachments = get_attachments(m);
}

void get(json_reader& m, events::plan_updated& x) {
  x.action = m.text("action");
  x.plan = m.any_text("plan");
}

void get(json_reader& m, events::approval_required& x) {
  x.proposal = m.id<proposal_id>("proposal_id");
  x.id = m.id<call_id>("id");
  x.tool = m.text("tool");
  x.title = m.text("title");
  x.arguments = m.object_or_null("arguments");
  x.preview = m.text_or_empty("preview");
  x.reason = m.text("reason");
  x.expires_at = m.maybe_time("expires_at");
  x.digest = m.text_or_empty("digest");
  x.always = m.flag_or_false("always");
  x.pattern = m.text_or_empty("pattern");
}

void get(json_reader& m, events::approval_resolved& x) {
  x.proposal = m.id<proposal_id>("proposal_id");
  x.id = m.id<call_id>("id");
  x.how = m.choice<events::proposal_outcome>("decision",
                                             events::parse_proposal_outcome);
  x.by = m.text("by");
  x.reason = m.text_or_empty("reason");
  x.arguments = m.object_or_empty("arguments");
  x.unasked = m.flag_or_false("unasked");
}

void get(json_reader& m, events::proposal& x) {
  x.id = m.id<proposal_id>("proposal_id");
  x.source = m.choice<events::proposal_source>("source",
                                               events::parse_proposal_source);
  x.summary = m.text("summary");
  x.status = m.choice<events::proposal_status>("status",
                                               events::parse_proposal_status);
}

void get(json_reader& m, events::usage& x) {
  x.step = m.number<std::uint32_t>("step");
  x.tokens = get_usage(m);
}

void get(json_reader& m, events::retry& x) {
  x.what = m.choice<events::retry_what>("what", events::parse_retry_what);
  if (m.has("id")) x.id = m.id<call_id>("id");
  x.attempt = m.number<std::uint32_t>("attempt");
  x.max_attempts = m.number<std::uint32_t>("max_attempts");
  x.delay_ms = m.number<std::uint64_t>("delay_ms");
  x.reason = m.text("reason");
}

void get(json_reader& m, events::status& x) { x.text = m.text("text"); }

void get(json_reader& m, events::user_message& x) {
  x.text = m.text("text");
  x.step = m.number<std::uint32_t>("step");
}

void get(json_reader& m, events::failure& x) {
  x.err = get_error(m);
  m.text("op");
  m.flag("retryable");
  x.step = m.maybe_number<std::uint32_t>("step");
}

void get(json_reader& m, events::final_answer& x) {
  x.content = m.text("content");
  x.steps = m.number<std::uint32_t>("steps");
  x.usage = get_usage(m.object("usage"));
  x.tools = m.number<std::uint32_t>("tools");
  x.truncated = m.flag_or_false("truncated");
}

void get(json_reader& m, events::run_finished& x) {
  x.status = m.choice<events::run_status>("status", events::parse_run_status);
  x.duration_ms = m.number<std::uint64_t>("duration_ms");
  x.steps = m.number<std::uint32_t>("steps");
  x.tool_calls = m.number<std::uint32_t>("tool_calls");
  x.usage = get_usage(m.object("usage"));
  x.err = maybe_error(m);
}

void get(json_reader& m, events::plan_started& x) {
  x.plan = m.id<run_id>("plan_id");
  x.steps = m.number<std::uint32_t>("steps");
}

void get(json_reader& m, events::plan_step_started& x) {
  x.step = m.number<std::uint32_t>("step");
  x.id = m.text("id");
  x.instruction = m.text_or_empty("instruction");
  x.tool = m.text_or_empty("tool");
  x.run = run_id{m.text_or_empty("run_id")};
  x.attempt = m.number<std::uint32_t>("attempt");
}

void get(json_reader& m, events::plan_step_finished& x) {
  x.step = m.number<std::uint32_t>("step");
  x.id = m.text("id");
  x.status = m.choice<events::run_status>("status", events::parse_run_status);
  x.output = m.text("output");
  x.truncated = m.flag("truncated");
  x.err = maybe_error(m);
  x.run = run_id{m.text_or_empty("run_id")};
  x.duration_ms = m.number<std::uint64_t>("duration_ms");
}

void get(json_reader& m, events::plan_finished& x) {
  x.status = m.choice<events::run_status>("status", events::parse_run_status);
  if (m.has("final_answer")) x.answer = m.text("final_answer");
  x.err = maybe_error(m);
  x.duration_ms = m.number<std::uint64_t>("duration_ms");
}

// Makes `body` hold the alternative of that index.
template <std::size_t I = 0>
void emplace(events::body& body, std::size_t index) {
  if constexpr (I < std::variant_size_v<events::body>) {
    if (index == I)
      body.emplace<I>();
    else
      emplace<I + 1>(body, index);
  }
}

tl::unexpected<error> broken(std::string problem) {
  return unexpected{error{.code = errc::storage_corrupt,
                          .op = "event.parse",
                          .message = std::move(problem),
                          .retryable = false,
                          .cause = {}}};
}

}  // namespace

expected<event> parse_line(std::string_view line) {
  const auto parsed = parse_strict(line, deepest_line);
  if (!parsed || !parsed->is_object())
    return broken("the line is no JSON object");
  const auto& value = *parsed;
  std::string problem;
  json_reader m{value, line, "", problem};
  event result;
  result.seq = m.number<std::uint64_t>("seq");
  result.run = m.id<run_id>("run_id");
  const auto type = m.text("event_type");
  if (!problem.empty()) return broken(problem);
  const auto index = events::type_index(type);
  if (!index) return broken("event_type: unknown: " + type);
  emplace(result.body, *index);
  auto data = m.object("data");
  std::visit([&](auto& x) { get(data, x); }, result.body);
  result.at = m.time("timestamp");
  if (!problem.empty()) return broken(problem);
  return result;
}

}  // namespace riffle
