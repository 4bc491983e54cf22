// SPDX-License-Identifier: MIT
#include "actors/tool_call_parser.hpp"

#include "actors/call_check.hpp"
#include "actors/handler.hpp"

namespace riffle {

namespace {

using core::assembly_step;

constexpr const char* op = "tool_call_parser";

error spoiled_error() {
  return {errc::invalid_arguments, op,
          "more argument text came after a whole JSON object"};
}

}  // namespace

void tool_call_parser_state::on_fragments(const call_fragments& x) {
  for (const auto& fragment : x.fragments)
    apply(assembler.on_fragment(fragment));
  send_out();
}

void tool_call_parser_state::on_over(turn_over& x) {
  auto finish = x.turn.finish;
  if (x.turn.failure) finish.reset();
  apply(assembler.on_turn_end(finish));
  // Whatever is left was never completed.
  for (auto& [index, call] : waiting)
    if (call.how == assembly_step::whole) call.how = assembly_step::cut;
  emit_in_order();
  send_out();
  self->send(dispatcher, std::move(x));
  self->quit();
}

void tool_call_parser_state::apply(
    const std::vector<core::assembly_event>& news) {
  for (const auto& x : news) {
    const auto i = sent.find(x.call.index);
    if (i == sent.end()) {
      waiting[x.call.index] = {x.call, x.step};
    } else if (x.step == assembly_step::spoiled) {
      send_out();
      self->send(dispatcher, spoiled_call{i->second, spoiled_error()});
    }
  }
  if (!news.empty()) emit_in_order();
}

void tool_call_parser_state::emit_in_order() {
  while (!waiting.empty()) {
    auto i = waiting.begin();
    if (i->first != sent.size()) return;  // an earlier one is not known yet
    auto call = make_call(i->second.raw, i->second.how);
    if (i->second.how == assembly_step::whole && !may_go_early(call)) return;
    sent.emplace(i->first, call.id);
    if (!call.provider_id.empty()) provider_ids.insert(call.provider_id);
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
  return call.eff == effect::read_only && !call.control && !call.defect;
}

tool_call tool_call_parser_state::make_call(const core::assembled_call& x,
                                            assembly_step how) {
  tool_call call;
  call.id = spec->ids->next<call_id>();
  // Ids that are missing or repeat within a turn would mix up the results.
  call.provider_id =
      x.provider_id.empty() || provider_ids.contains(x.provider_id)
          ? call.id.value
          : x.provider_id;
  call.tool = x.name;
  call.title = x.name;
  call.step = step;
  call.index = x.index;
  call.arguments_text = x.arguments;
  call.defect = check_call(*spec, call, x.arguments);
  if (how == assembly_step::cut)
    call.defect = error{errc::truncated, op,
                        "the call was cut off before it was complete; ask for "
                        "it again if it is still needed"};
  else if (how == assembly_step::spoiled)
    call.defect = spoiled_error();
  return call;
}

tool_call_parser_actor::behavior_type tool_call_parser(
    tool_call_parser_actor::stateful_pointer<tool_call_parser_state> self,
    run_spec_ptr spec, std::uint32_t step, dispatcher_actor dispatcher) {
  auto& st = self->state;
  st.spec = std::move(spec);
  st.step = step;
  st.dispatcher = std::move(dispatcher);
  const auto run = [self](const char* handler, auto f) {
    run_handler(self, self->state.spec->faults, handler, std::move(f));
  };
  return {
      [&st, run](call_fragments& x) {
        run("tool_call_parser.call_fragments", [&] { st.on_fragments(x); });
      },
      [&st, run](turn_over& x) {
        run("tool_call_parser.turn_over", [&] { st.on_over(x); });
      },
  };
}

}  // namespace riffle
