// SPDX-License-Identifier: MIT
// Runs that are on record and wait for their spec: a part of the run registry.
// A run that waits for nodes is told so in its log, which the registry writes
// itself until the run has a publisher.
#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/process/run_registry.hpp"
#include "actors/run/run_log.hpp"
#include "messages/event_line.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

namespace {

constexpr const char* source = "run_registry";

/// A shorter wait is nobody's concern.
constexpr auto told_after = std::chrono::milliseconds{500};

}  // namespace

/// It is on record as this process's, and whoever started it or took it up
/// knows; its actors come with its spec, or with its end.
void run_registry_state::complete_spec(entry& run, const core::begin_run& x) {
  const auto& late = run.late.emplace(
      late_start{x, std::move(arrived), std::exchange(arrived_said, {}),
                 ++last_late, std::stop_source{}});
  run.late->written_seq = run.late->snapshot->last_seq;
  for (const auto& who : run.readers)
    if (who->position() < run.late->written_seq) who->behind();
  tell_begin(run);
  auto job = [me = caf::actor_cast<run_registry_actor>(self), id = x.run,
              number = late.number, make = run.spec->complete,
              stop = late.stop.get_token()] {
    spec_completed said{id, number};
    try {
      if (auto made = make(stop))
        said.spec = *std::move(made);
      else
        said.failure = std::move(made.error());
    } catch (const std::exception& e) {
      said.failure = error{errc::internal, source, e.what()};
    }
    caf::anon_send(me, std::move(said));
  };
  if (!setup.making) return job();
  try {
    setup.making->submit(std::move(job));
  } catch (const std::exception& e) {  // there is no thread, and none to be had
    self->send(self, spec_completed{x.run, late.number, nullptr,
                                    error{errc::internal, source, e.what()}});
  }
}

/// Of one whose spec says what it waits for. A plan has events of its own, and
/// what an approval caused begins with its call.
void run_registry_state::tell_begin(entry& run) {
  const auto& spec = *run.spec;
  if (spec.waited.empty() || spec.plan || spec.cause) return;
  const auto& known = *run.late->snapshot;
  if (known.last_seq == 0) write_event(run, started_event(spec, known.run));
  self->delayed_send(self, told_after, wait_due{spec.run, run.late->number});
}

void run_registry_state::write_event(entry& run, const events::body& x) {
  const auto& spec = *run.spec;
  auto& late = *run.late;
  log_event(spec.run, spec.session, x);
  event_writer writer{spec.run};
  writer.set_time(spec.wall());
  const auto seq = ++late.snapshot->last_seq;
  std::string line;
  writer.add(line, seq, x);
  const storage::event_block block{
      seq, seq, std::make_shared<const std::string>(std::move(line))};
  ++late.unwritten;
  spec.journal->append({spec.run, block, {}},
                       [me = caf::actor_cast<run_registry_actor>(self),
                        said = wait_written{spec.run, late.number, block}](
                           std::optional<error> why) mutable {
                         said.failure = std::move(why);
                         caf::anon_send(me, std::move(said));
                       });
}

/// Nothing: it has begun meanwhile, or ended.
run_registry_state::entry* run_registry_state::late_run(const run_id& run,
                                                        std::uint64_t number) {
  const auto i = runs.find(run);
  if (i == runs.end() || !i->second.late || i->second.late->number != number)
    return nullptr;
  return &i->second;
}

void run_registry_state::on(const wait_due& x) {
  auto* run = late_run(x.run, x.number);
  if (run == nullptr || run->late->ready) return;
  write_event(*run, events::status{run->spec->waited});
}

void run_registry_state::on(wait_written& x) {
  auto* run = late_run(x.run, x.number);
  if (run == nullptr) return;
  if (x.failure) return apply(table.on_broken(x.run, std::move(*x.failure)));
  auto& late = *run->late;
  --late.unwritten;
  late.written_seq = x.block.last_seq;
  // Who is behind stays: it is told of the end all the same.
  for (const auto& who : run->readers) {
    const auto at = who->position();
    const bool next = at + 1 == x.block.first_seq;
    if (at < x.block.last_seq && !(next && who->offer(x.block))) who->behind();
  }
  if (late.ready) begin_late(*run, std::move(late.end));
}

/// What comes for a run that has begun without it, or has ended, is dropped.
void run_registry_state::on(spec_completed& x) {
  auto* run = late_run(x.run, x.number);
  if (run == nullptr || run->late->ready) return;
  if (!x.spec) {
    auto why = std::move(x.failure).value_or(error{errc::internal, "run", {}});
    return apply(table.on_cancel(x.run, {std::move(why), false}));
  }
  run->spec = std::move(x.spec);
  begin_late(*run, {});
}

/// Nobody waits for its spec any more. `end`: nothing of it begins.
void run_registry_state::begin_late(entry& run,
                                    std::optional<core::end_request> end) {
  run.late->stop.request_stop();
  run.late->ready = true;
  if (end) run.late->end = std::move(end);
  if (run.late->unwritten > 0) return;
  auto late = *std::exchange(run.late, {});
  late.how.end = late.end;
  spawn(run, late.how,
        {std::move(late.snapshot),
         late.how.fresh,
         {},
         std::move(late.end),
         std::move(late.said)});
}

}  // namespace riffle
