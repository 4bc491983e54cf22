// SPDX-License-Identifier: MIT
#include "actors/run/tool_call_parser.hpp"

#include <algorithm>

#include "actors/handler.hpp"
#include "actors/run/run_log.hpp"
#include "actors/tools/call_check.hpp"
#include "actors/tools/look_limits.hpp"

namespace riffle {

namespace {

using core::assembly_step;

constexpr const char* tool_call_parser_op = "tool_call_parser";

/// Calls behind those that are looked at, and bytes of those that nobody
/// executes: with so many the turn has no end.
constexpr std::size_t most_dropped = 16'384;
constexpr std::uint64_t most_dropped_bytes = 64u << 20;

error too_long_error(std::uint64_t limit) {
  return {errc::invalid_arguments, tool_call_parser_op,
          "the arguments are longer than the " + std::to_string(limit) +
              " bytes that one call may have; make several smaller calls"};
}

/// Short: a turn may have very many of them.
error behind_limit(std::uint32_t limit) {
  return {errc::truncated, tool_call_parser_op,
          "a turn may have " + std::to_string(limit) +
              " tool calls: not executed, ask for it again in another one"};
}

/// On a look's thread: nothing may leave it as an exception.
calls_checked::one checked_call(const run_spec& spec, tool_call call,
                                const std::string& text) {
  calls_checked::one out{std::move(call), {}};
  try {
    out.rejection = check_call(spec, out.call, text);
  } catch (const std::exception& problem) {
    out.rejection =
        error{errc::internal, tool_call_parser_op,
              std::string{"it could not be checked, so it was not executed: "} +
                  problem.what()};
  }
  return out;
}

error malformed_error() {
  return {errc::invalid_arguments, tool_call_parser_op,
          "more argument text came after a whole JSON object"};
}

}  // namespace

std::size_t most_calls(std::uint32_t limit) {
  constexpr std::size_t least = 1024;
  constexpr std::size_t factor = 4;
  if (limit == 0) return core::assembly_limits{}.most_calls;
  return std::max(least, limit * factor);
}

void tool_call_parser_state::on(call_fragments& x) {
  if (!consumer)
    consumer = caf::actor_cast<caf::actor_addr>(self->current_sender());
  if (is_looking())
    held.emplace_back(std::move(x));
  else
    take_fragments(x);
}

void tool_call_parser_state::take_fragments(const call_fragments& x) {
  for (const auto& fragment : x.fragments) {
    writing.on(fragment);
    apply(assembler.on_fragment(fragment));
  }
  send_out();
  tell_writing();
  if (has_no_end())
    cut_turn(flood_error());
  else if (is_too_long(x.said))
    cut_turn({});
  if (x.bytes > 0)
    self->send(caf::actor_cast<stream_consumer_actor>(x.consumer),
               credit{x.bytes});
}

void tool_call_parser_state::tell_writing() {
  auto text = writing.take(self->clock().now());
  if (!text) return;
  run_entry entry;
  entry.events.emplace_back(events::status{std::move(*text)});
  self->send(muxer, std::move(entry));
}

bool tool_call_parser_state::has_no_end() const {
  const bool limited = spec->agent.max_calls_per_turn > 0;
  return assembler.dropped() > (limited ? most_dropped : 0) ||
         assembler.dropped_bytes() > most_dropped_bytes;
}

bool tool_call_parser_state::is_too_long(std::uint64_t said) const {
  const auto limit = spec->agent.max_turn_bytes;
  return limit != 0 && said + assembler.received() > limit;
}

/// Nothing: the limit has told the model already, and the run goes on. An error
/// is not tried again: the model would only do the same.
std::optional<error> tool_call_parser_state::flood_error() const {
  if (spec->agent.max_calls_per_turn > 0) return std::nullopt;
  return error{errc::model_error, tool_call_parser_op,
               "the model asked for more than " +
                   std::to_string(most_calls(0)) +
                   " tool calls in one turn, far more than any turn needs; the "
                   "turn was cut"};
}

void tool_call_parser_state::cut_turn(std::optional<error> why) {
  if (std::exchange(cut, true)) return;
  const auto from = caf::actor_cast<stream_consumer_actor>(
      caf::actor_cast<caf::strong_actor_ptr>(consumer));
  if (from) self->send(from, broken_turn{std::move(why)});
}

void tool_call_parser_state::on(turn_over& x) {
  if (!is_looking()) return take_over(x);
  // What a turn that failed asked for is not executed.
  const bool failed = x.turn.failure.has_value();
  held.emplace_back(std::move(x));
  if (failed) stop();
}

void tool_call_parser_state::take_over(turn_over& x) {
  // It may have ended before the consumer heard that it is cut: what came
  // behind the bound is not known, so it did not end well.
  if (has_no_end() && !x.turn.failure) x.turn.failure = flood_error();
  if (is_too_long(x.turn.text.size() + x.turn.reasoning.size()))
    x.turn.finish = finish_reason::length;
  if (assembler.dropped() > 0)
    log_run(log_level::warn, spec->run,
            "of the calls of one turn only the first " +
                std::to_string(most_calls(spec->agent.max_calls_per_turn)) +
                " were looked at");
  if (x.turn.failure) x.turn.finish.reset();
  auto finish = x.turn.finish;
  if (x.turn.failure) finish.reset();
  apply(assembler.on_turn_end(finish));
  // Whatever is left was never completed.
  for (auto& [index, call] : waiting)
    if (call.how == assembly_step::whole) call.how = assembly_step::cut;
  over = std::move(x);
  emit_in_order();
  send_out();
  pass_over_on();
}

void tool_call_parser_state::apply(std::vector<core::assembly_event> news) {
  for (auto& x : news) {
    const auto index = x.call.index;
    if (index >= sent.size()) {
      auto& known = waiting[index];
      if (known.raw != x.call) {
        known.checked.reset();
        known.looking = false;
      }
      known.raw = std::move(x.call);
      known.how = x.step;
    } else if (x.step == assembly_step::malformed) {
      send_out();
      self->send(dispatcher, malformed_call{sent[index], malformed_error()});
    }
  }
  if (!news.empty()) emit_in_order();
}

void tool_call_parser_state::emit_in_order() {
  if (is_looking()) return;
  while (!waiting.empty()) {
    auto i = waiting.begin();
    if (i->first != sent.size()) return;  // an earlier one is not known yet
    if (!make(i->second)) return submit_look();
    auto& call = *i->second.checked;
    if (i->second.how == assembly_step::whole && !may_go_early(call)) return;
    // Ids that are missing or repeat within a turn would mix up the results.
    call.provider_id = i->second.raw.provider_id;
    if (call.provider_id.empty() || provider_ids.contains(call.provider_id))
      call.provider_id = call.id.value;
    sent.push_back(call.id);
    provider_ids.insert(call.provider_id);
    ready.push_back(std::move(call));
    waiting.erase(i);
  }
}

void tool_call_parser_state::send_out() {
  if (ready.empty()) return;
  self->send(dispatcher, parsed_calls{std::move(ready)});
  ready.clear();
}

bool tool_call_parser_state::may_go_early(const tool_call& call) const {
  return call.eff == effect::read_only && !call.control && !call.rejection;
}

/// Checks its arguments once, however often it is looked at.
void tool_call_parser_state::check(pending& x) {
  auto& call = x.checked.emplace();
  call.id = spec->ids->next<call_id>();
  call.tool = call.title = x.raw.name;
  call.step = step;
  call.index = x.raw.index;
  const auto limit = spec->agent.max_calls_per_turn;
  if (limit > 0 && call.index >= limit) {
    call.arguments_text = core::arguments_not_kept;
    call.rejection = behind_limit(limit);
    return;
  }
  call.arguments_text = x.raw.arguments;
  const bool complete =
      x.how == assembly_step::whole || x.how == assembly_step::closed;
  if (!spec->looks || !takes_a_look(*spec, call.tool))
    call.rejection = check_call(*spec, call, x.raw.arguments);
  else if (complete && !stopped)
    x.looking = true;
  else
    describe_call(call, x.raw.arguments);
}

bool tool_call_parser_state::make(pending& x) {
  if (!x.checked) check(x);
  if (x.looking) return false;
  if (x.how == assembly_step::cut)
    x.checked->rejection = error{errc::truncated, tool_call_parser_op,
                                 "the call was cut off before it was complete; "
                                 "ask for it again if it is still needed"};
  else if (x.how == assembly_step::malformed)
    x.checked->rejection = malformed_error();
  else if (x.how == assembly_step::too_long)
    x.checked->rejection = too_long_error(spec->agent.max_argument_bytes);
  return true;
}

// -- looks --------------------------------------------------------------------

/// All that is known by now in one: a turn may have thousands of calls.
void tool_call_parser_state::submit_look() {
  std::vector<std::pair<tool_call, std::string>> calls;
  for (auto& [index, x] : waiting) {
    if (!x.checked) check(x);
    if (x.looking) calls.emplace_back(*x.checked, x.raw.arguments);
  }
  look = ++looks;
  self->delayed_send(self, look_late, check_overdue{look, false});
  spec->looks->submit(
      [me = caf::actor_cast<tool_call_parser_actor>(self), spec = spec,
       round = look, calls = std::move(calls)] {
        calls_checked out{round, {}};
        for (const auto& [call, text] : calls)
          out.calls.push_back(checked_call(*spec, call, text));
        caf::anon_send(me, std::move(out));
      },
      {spec->run.value, 0}, {});
}

void tool_call_parser_state::on(calls_checked& x) {
  if (x.round != look) return;
  for (auto& one : x.calls) {
    auto& known = waiting.at(one.call.index);
    if (!known.checked || known.checked->id != one.call.id)
      continue;  // more of it came
    known.looking = false;
    known.checked = std::move(one.call);
    known.checked->rejection = std::move(one.rejection);
  }
  end_look();
}

void tool_call_parser_state::on(const check_overdue& x) {
  if (x.round != look) return;
  for (auto& [index, known] : waiting) {
    if (!known.looking) continue;
    if (!x.last) {
      log_warn(tool_call_parser_op,
               "a call of `" + known.raw.name +
                   "` cannot be looked at yet; it does not begin before");
      self->delayed_send(self, look_limit - look_late,
                         check_overdue{look, true});
      return;
    }
    known.looking = false;
    describe_call(*known.checked, known.raw.arguments);
    known.checked->rejection =
        not_looked_at(tool_call_parser_op, known.raw.name);
  }
  end_look();
}

void tool_call_parser_state::stop() {
  stopped = true;
  if (!is_looking()) return;
  for (auto& [index, known] : waiting) {
    if (!known.looking) continue;
    known.looking = false;
    describe_call(*known.checked, known.raw.arguments);
  }
  end_look();
}

void tool_call_parser_state::end_look() {
  look = 0;
  emit_in_order();
  send_out();
  while (!is_looking() && !held.empty()) {
    auto next = std::move(held.front());
    held.pop_front();
    if (auto* more = std::get_if<call_fragments>(&next))
      take_fragments(*more);
    else
      take_over(std::get<turn_over>(next));
  }
  pass_over_on();
}

void tool_call_parser_state::pass_over_on() {
  if (is_looking() || !over) return;
  self->send(dispatcher, std::move(*over));
  over.reset();
  self->quit();
}

tool_call_parser_actor::behavior_type tool_call_parser(
    tool_call_parser_actor::stateful_pointer<tool_call_parser_state> self,
    run_spec_ptr spec, std::uint32_t step, dispatcher_actor dispatcher,
    progress_muxer_actor muxer) {
  log_exceptions(self);
  auto& st = self->state;
  st.spec = std::move(spec);
  st.step = step;
  st.dispatcher = std::move(dispatcher);
  st.muxer = std::move(muxer);
  const auto& agent = st.spec->agent;
  st.assembler = core::tool_call_assembler{
      {most_calls(agent.max_calls_per_turn), agent.max_calls_per_turn,
       agent.max_argument_bytes}};
  return {
      handle<call_fragments>(self, "tool_call_parser.call_fragments"),
      handle<turn_over>(self, "tool_call_parser.turn_over"),
      handle<calls_checked>(self, "tool_call_parser.calls_checked"),
      handle<const check_overdue>(self, "tool_call_parser.check_overdue"),
      handle<const stop_asking>(self, "tool_call_parser.stop_asking"),
  };
}

}  // namespace riffle
