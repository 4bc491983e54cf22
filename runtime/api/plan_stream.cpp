// SPDX-License-Identifier: MIT
#include <chrono>
#include <thread>
#include <utility>

#include "runtime/api/plans.hpp"

namespace riffle {

namespace {

/// Longest wait for a chunk before the question is asked again.
constexpr auto longest_wait = std::chrono::hours{1};

plan_tool_result to_result(const events::tool_result& x, std::string input) {
  return {x.tool,
          std::move(input),
          x.output,
          x.truncated,
          std::chrono::milliseconds{x.duration_ms},
          x.err};
}

}  // namespace

std::optional<plan_chunk> plan_stream::next(duration limit) {
  const auto deadline = std::chrono::steady_clock::now() +
                        std::min<duration>(limit, 1000 * longest_wait);
  while (ready_.empty() && !ended_) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (const auto batch = events_.next(std::max<duration>(left, {}))) {
      take(*batch);
    } else if (events_.ended()) {
      ended_ = true;
      plan_chunk cut;
      cut.plan = plan_;
      cut.failure = events_.failure().value_or(
          error{errc::stream_interrupted, "plan",
                "the plan does not go on in this process", true});
      return cut;
    } else {
      return std::nullopt;
    }
  }
  if (ready_.empty()) return std::nullopt;
  auto out = std::move(ready_.front());
  ready_.pop_front();
  ended_ = out.is_last();
  return out;
}

void plan_stream::take(const event_batch& batch) {
  batch.for_each([this](const event_view& x) {
    if (const auto parsed = x.parse()) take(*parsed);
  });
}

plan_chunk& plan_stream::add(const event& x) {
  auto& out = ready_.emplace_back();
  out.plan = plan_;
  out.step = step_;
  out.step_id = step_id_;
  out.at = x.at;
  return out;
}

void plan_stream::take(const event& x) {
  if (const auto* plan = std::get_if<events::plan_started>(&x.body)) {
    plan_ = plan->plan;
  } else if (const auto* s = std::get_if<events::plan_step_started>(&x.body)) {
    step_ = s->step;
    step_id_ = s->id;
    add(x).restarted = s->attempt > 1;
  } else if (const auto* text = std::get_if<events::llm_token>(&x.body)) {
    add(x).content = text->content;
  } else if (std::holds_alternative<events::step_restarted>(x.body)) {
    add(x).restarted = true;
  } else if (const auto* call = std::get_if<events::tool_call>(&x.body)) {
    inputs_[call->id] = call->arguments;
  } else if (const auto* r = std::get_if<events::tool_result>(&x.body)) {
    add(x).tool = to_result(*r, std::move(inputs_[r->id]));
    inputs_.erase(r->id);
  } else if (const auto* s = std::get_if<events::plan_step_finished>(&x.body)) {
    if (s->err) add(x).step_failure = s->err;
  } else if (const auto* end = std::get_if<events::plan_finished>(&x.body)) {
    auto& last = add(x);
    last.step = 0;
    last.step_id.clear();
    last.final_answer = end->answer;
    last.failure = end->err;
  }
}

expected<started_plan> execute_plan(runtime& rt, plan_request request,
                                    chunk_handler on_chunk) {
  auto plan = rt.start_plan(std::move(request));
  if (!plan) return unexpected{std::move(plan.error())};
  std::packaged_task<plan_chunk()> work{
      [stream = std::make_shared<plan_stream>(*plan),
       on_chunk = std::move(on_chunk)] {
        for (;;) {
          const auto chunk = stream->next(longest_wait);
          if (!chunk) continue;
          if (on_chunk) on_chunk(*chunk);
          if (chunk->is_last()) return *chunk;
        }
      }};
  started_plan out{std::move(*plan), work.get_future()};
  std::thread{std::move(work)}.detach();
  return out;
}

expected<plan_stream> execute_plan(runtime& rt, plan_request request) {
  auto plan = rt.start_plan(std::move(request));
  if (!plan) return unexpected{std::move(plan.error())};
  return plan_stream{std::move(*plan)};
}

}  // namespace riffle
