// SPDX-License-Identifier: MIT
#include "runtime/storage/unit_check.hpp"

#include <algorithm>
#include <type_traits>

namespace riffle::storage {

namespace {

using fault = std::optional<std::string>;

/// By `find`, which the C library does many bytes at a time.
std::uint64_t count_lines(std::string_view lines) {
  std::uint64_t n = 0;
  for (auto at = lines.find('\n'); at != lines.npos;
       at = lines.find('\n', at + 1))
    ++n;
  return n;
}

fault block_fault(const event_block& block, const run_id& run,
                  std::uint64_t last_seq) {
  if (block.first_seq != last_seq + 1 || block.last_seq < block.first_seq)
    return "a block of events " + std::to_string(block.first_seq) + " to " +
           std::to_string(block.last_seq) + " of run " + run.value +
           " does not go on after " + std::to_string(last_seq);
  const auto count = block.last_seq - block.first_seq + 1;
  if (!block.lines || block.lines->empty() || block.lines->back() != '\n' ||
      count_lines(*block.lines) != count)
    return "a block of run " + run.value + " does not hold the " +
           std::to_string(count) + " whole lines that it stands for";
  return std::nullopt;
}

fault change_fault(const state_change& change, const run_id& run,
                   const run_facts& facts) {
  const auto foreign = [&](const std::string& what) {
    return "a unit of run " + run.value + " changes a " + what;
  };
  if (const auto* x = std::get_if<run_record>(&change)) {
    if (x->id != run) return foreign("record of run " + x->id.value);
    if (x->session.value != facts.session || x->ordinal != facts.ordinal)
      return foreign("run's session or ordinal");
  } else if (const auto* m = std::get_if<message_record>(&change)) {
    if (m->run != run || m->session.value != facts.session)
      return foreign("message of run " + m->run.value);
  } else if (const auto* c = std::get_if<call_record>(&change)) {
    if (c->run != run) return foreign("call of run " + c->run.value);
  } else if (const auto* p = std::get_if<proposal_record>(&change)) {
    if (p->run != run || p->session.value != facts.session)
      return foreign("proposal of run " + p->run.value);
  } else if (const auto* v = std::get_if<state_value>(&change)) {
    if (v->session.value != facts.session)
      return foreign("value of session " + v->session.value);
  } else if (const auto* f = std::get_if<file_record>(&change)) {
    if (f->session.value != facts.session || !f->bytes)
      return foreign("file of session " + f->session.value);
  }
  return std::nullopt;
}

}  // namespace

fault find_fault(const commit_unit& unit, const run_facts& run) {
  if (unit.block)
    if (auto found = block_fault(*unit.block, unit.run, run.last_seq))
      return found;
  for (const auto& change : unit.changes)
    if (auto found = change_fault(change, unit.run, run)) return found;
  return std::nullopt;
}

event_block cut_front(const event_block& block, std::uint64_t after_seq) {
  if (after_seq < block.first_seq) return block;
  std::size_t at = 0;
  for (auto seq = block.first_seq; seq <= after_seq; ++seq)
    at = block.lines->find('\n', at) + 1;
  return {after_seq + 1, block.last_seq,
          std::make_shared<const std::string>(block.lines->substr(at))};
}

std::size_t weight(const commit_unit& unit) {
  std::size_t sum = sizeof unit + unit.run.value.size();
  if (unit.block && unit.block->lines) sum += unit.block->lines->size();
  for (const auto& change : unit.changes) {
    sum += sizeof change;
    if (const auto* o = std::get_if<output_record>(&change))
      sum += o->text.size();
    else if (const auto* m = std::get_if<message_record>(&change))
      sum += m->text.size() + m->reasoning.size();
    else if (const auto* c = std::get_if<call_record>(&change))
      sum += c->told.size() + c->call.arguments.size();
    else if (const auto* r = std::get_if<run_record>(&change))
      sum += r->task.size() + r->settings.size();
    else if (const auto* p = std::get_if<proposal_record>(&change))
      sum += p->arguments.size() + p->preview.size() + p->summary.size();
    else if (const auto* v = std::get_if<state_value>(&change))
      sum += v->key.size() + v->value.size();
    else if (const auto* f = std::get_if<file_record>(&change);
             f != nullptr && f->bytes)
      sum += f->bytes->size();
  }
  return sum;
}

}  // namespace riffle::storage
