// SPDX-License-Identifier: MIT
#include "actors/tools/tool_worker.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "actors/handler.hpp"
#include "runtime/base/log.hpp"
#include "tools/kept_file.hpp"

namespace riffle {

namespace {

outcome outcome_of(errc code) {
  switch (code) {
    case errc::timeout: return outcome::timed_out;
    case errc::cancelled: return outcome::cancelled;
    case errc::interrupted:
      return outcome::interrupted;  // its process was lost: nobody knows
    default: return outcome::failed;
  }
}

call_result to_result(tools::tool_output x) {
  call_result result;
  result.output = std::move(x.text);
  result.metadata = std::move(x.metadata);
  if (x.err) {
    result.how = outcome_of(x.err->code);
    result.err = std::move(x.err);
  }
  return result;
}

call_result stopped_before() {
  call_result result;
  result.how = outcome::cancelled;
  result.err = error{errc::cancelled, "tool_worker",
                     "the call was stopped before a thread was free"};
  return result;
}

/// A call has a thousand events of progress, however often it is tried.
core::progress_pace pace_of(std::uint32_t attempts) {
  core::progress_pace out;
  out.most = std::max(out.most / std::max(attempts, 1U), 2U);
  return out;
}

/// One attempt on the blocking executor; its thread's only.
struct blocking_attempt {
  tools::tool_ptr tool;
  assignment what;
  tools::tool_context context;
  std::shared_ptr<progress_relay> relay;
  tool_worker_actor worker;
  std::function<void(const std::function<void()>&)> run_inline;
  bool began = false;
  bool moved = false;

  /// A call that was stopped while it waited for a thread never acts, nor one
  /// that its dispatcher took back.
  void begin() {
    if (context.stop.stop_requested()) return;
    if (what.ticket && !what.ticket->begin()) return;
    began = true;
    tell(what.dispatcher, work_started{what.call.id, what.attempt});
  }

  /// Runs the tool, then tells the worker. An exception of the tool is caught
  /// at this border and costs the worker.
  void run() {
    blocking_done done;
    done.id = what.call.id;
    try {
      done.result = began ? call_tool() : stopped_before();
    } catch (const std::exception& e) {
      done.died = e.what();
    } catch (...) {
      done.died = "unknown exception";
    }
    // Before anybody can hear of it: who asks then is told the truth.
    if (began && what.ticket) what.ticket->end();
    if (done.result.how == outcome::ok) done.state = context.state->changes();
    done.moved = moved;
    done.last_progress = relay->close();
    tell(worker, std::move(done));
  }

 private:
  template <class Actor, class Message>
  void tell(const Actor& who, Message message) {
    if (!run_inline) return caf::anon_send(who, std::move(message));
    run_inline([&] { caf::anon_send(who, std::move(message)); });
  }

  call_result call_tool() {
    context.progress = [to = relay](tool_progress_report report) {
      to->offer(std::move(report));
    };
    const auto arguments = nlohmann::json::parse(what.call.arguments);
    auto output = tool->run(arguments, context);
    moved = output.moved && output.err;
    return to_result(std::move(output));
  }
};

}  // namespace

std::filesystem::path guard_file(const std::filesystem::path& guard_dir,
                                 const call_id& call, std::uint32_t attempt) {
  return guard_dir / (call.value + "-" + std::to_string(attempt) + ".lock");
}

progress_relay::progress_relay(tool_worker_actor worker, std::size_t window,
                               std::uint32_t attempts)
    : worker_{std::move(worker)}, window_{window, pace_of(attempts)} {}

time_point progress_relay::now() const {
  return worker_->home_system().clock().now();
}

void progress_relay::send(std::optional<tool_progress_report> x) {
  if (x)
    caf::anon_send(worker_, blocking_progress{window_.sent(), std::move(*x)});
  const auto due = window_.due();
  if (!due || waking_) return;
  waking_ = true;
  caf::delayed_anon_send(worker_, std::max(*due - now(), duration{}), tick{});
}

void progress_relay::on_time() {
  std::lock_guard lock{mutex_};
  waking_ = false;
  send(window_.on_time(now()));
}

void progress_relay::offer(tool_progress_report x) {
  std::lock_guard lock{mutex_};
  send(window_.offer(std::move(x), now()));
}

std::uint64_t progress_relay::close() {
  std::lock_guard lock{mutex_};
  send(window_.last());
  return window_.sent();
}

void progress_relay::on_ack() {
  std::lock_guard lock{mutex_};
  send(window_.on_ack(now()));
}

void tool_worker_state::keep_whole_output(tools::tool_context& context) const {
  const auto file = tools::kept_file(setup.output_dir, context.call);
  if (!file) return;
  std::error_code ignored;  // of an earlier attempt
  if (context.attempt > 1) std::filesystem::remove(*file, ignored);
  context.output_file = *file;
  // Both halves that stay in memory hold what the model gets.
  constexpr std::uint64_t least = 1u << 20;
  constexpr std::uint64_t most = 16u << 20;
  constexpr std::uint64_t bytes_of_two_characters = 8;
  const auto limit = std::min(setup.output_limit, most);
  context.output_cap = static_cast<std::size_t>(
      std::clamp(limit * bytes_of_two_characters, least, most));
}

void tool_worker_state::on_assignment(assignment& x) {
  current = std::move(x);
  stop = std::stop_source{};
  auto me = caf::actor_cast<tool_worker_actor>(self);
  relay = std::make_shared<progress_relay>(me, setup.progress_window,
                                           current->call.limits.attempts);
  tools::tool_context context;
  context.call = current->call.id;
  context.attempt = current->attempt;
  context.stop = stop.get_token();
  context.basis = current->call.basis;
  context.workspace = setup.workspace;
  context.kill_grace = setup.kill_grace;
  context.judged = current->call.judged;
  context.state = std::make_shared<tools::call_state>(current->state);
  if (tool->spec().guarded && !setup.guard_dir.empty())
    context.guard_lock =
        guard_file(setup.guard_dir, current->call.id, current->attempt);
  keep_whole_output(context);
  auto attempt = std::make_shared<blocking_attempt>(blocking_attempt{
      tool, *current, std::move(context), relay, me, setup.run_inline});
  setup.blocking->submit([attempt] { attempt->run(); },
                         {current->run.value, current->call.limits.priority},
                         [attempt] { attempt->begin(); });
}

void tool_worker_state::on_done(blocking_done& x) {
  if (!current || current->call.id != x.id) return;
  auto done = std::move(*current);
  current.reset();
  relay.reset();
  if (x.died) {
    log_error("tool_worker", done.call.tool + ": " + *x.died);
    if (orphan) lose(done, *x.died);
    self->quit(caf::make_error(caf::sec::runtime_error, *x.died));
    return;
  }
  if (orphan && x.result.how != outcome::ok) {
    lose(done, "its worker pool failed");
    self->quit();
    return;
  }
  self->send(done.dispatcher, work_done{x.id,
                                        done.attempt,
                                        std::move(x.result),
                                        x.last_progress,
                                        {},
                                        {},
                                        std::move(x.state),
                                        x.moved});
  if (orphan) return self->quit();
  self->send(pool, worker_idle{x.id});
}

/// Its pool, which would tell this, is gone.
void tool_worker_state::lose(const assignment& x, std::string reason) {
  self->send(x.dispatcher, work_lost{x.call.id, x.attempt, std::move(reason)});
}

/// Nobody can stop its call any more, or give it another: it ends with it.
void tool_worker_state::on_pool_down() {
  orphan = true;
  if (!current) return self->quit();
  stop.request_stop();
}

void tool_worker_state::on_progress(blocking_progress& x) {
  if (!current) return;
  self->send(current->muxer,
             core::progress_item{
                 current->call.id,
                 current->attempt,
                 x.number,
                 {current->call.id, current->call.tool, std::move(x.report)}});
}

tool_worker_actor::behavior_type tool_worker(
    tool_worker_actor::stateful_pointer<tool_worker_state> self,
    tools::tool_ptr tool, worker_setup setup, tool_pool_actor pool) {
  auto& st = self->state;
  st.tool = std::move(tool);
  st.setup = std::move(setup);
  st.pool = std::move(pool);
  const auto run = [self](const char* handler, auto f) {
    run_handler(self, self->state.setup.faults, handler, std::move(f));
  };
  self->monitor(st.pool);
  self->set_down_handler([&st, run](caf::down_msg&) {
    run("tool_worker.down", [&] { st.on_pool_down(); });
  });
  return {
      [&st, run](assignment& x) {
        run("tool_worker.assignment", [&] { st.on_assignment(x); });
      },
      [&st, run](stop_assignment& x) {
        run("tool_worker.stop", [&] {
          if (st.current && st.current->call.id == x.id) st.stop.request_stop();
        });
      },
      [&st, run](blocking_progress& x) {
        run("tool_worker.progress", [&] { st.on_progress(x); });
      },
      [&st, run](blocking_done& x) {
        run("tool_worker.done", [&] { st.on_done(x); });
      },
      [&st, run](tick&) {
        run("tool_worker.tick", [&] {
          if (st.relay) st.relay->on_time();
        });
      },
      [&st, run](progress_ack& x) {
        run("tool_worker.ack", [&] {
          if (st.relay && st.current && st.current->call.id == x.id)
            st.relay->on_ack();
        });
      },
  };
}

}  // namespace riffle
