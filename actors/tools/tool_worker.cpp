// SPDX-License-Identifier: MIT
#include "actors/tools/tool_worker.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "actors/handler.hpp"
#include "actors/tools/redaction.hpp"
#include "runtime/base/job_tail.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/trace.hpp"
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

/// Who stopped it says why: a limit, a person. The tool knows only that.
void drop_last_word(std::string& output, const error& why) {
  if (why.code != errc::cancelled || !output.ends_with(why.message)) return;
  const auto begin = output.size() - why.message.size();
  if (begin == 0 || output[begin - 1] == '\n') output.resize(begin);
}

call_result to_result(tools::tool_output x) {
  call_result result;
  result.output = std::move(x.text);
  result.metadata = std::move(x.metadata);
  result.files = std::move(x.files);
  if (x.err) {
    result.how = outcome_of(x.err->code);
    drop_last_word(result.output, *x.err);
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
  work::assignment what;
  work_listener dispatcher;
  tools::tool_context context;
  std::shared_ptr<progress_relay> relay;
  thread_worker_actor worker;
  std::shared_ptr<work_board> board;
  std::function<void(const std::function<void()>&)> run_inline;
  std::function<void(const std::function<void()>&)> begin_inline;
  std::shared_ptr<run_work> began{};   ///< null: it may not act
  std::optional<std::string> broke{};  ///< what ran the call did

  /// A call that was stopped while it waited for a thread never acts, nor one
  /// that its dispatcher took back.
  void begin() {
    if (context.stop.stop_requested()) return;
    auto work = board->find(what.run);
    if (!work || !work->begin(what.epoch, what.call.id, what.attempt)) return;
    began = std::move(work);
    tell(dispatcher, work::started{what.call.id, what.attempt}, begin_inline);
  }

  /// Runs the tool, then tells the worker. An exception of the tool is caught
  /// at this border and costs the worker.
  void run() {
    work::done done{what.call.id, what.attempt};
    std::optional<std::string> died;
    try {
      if (began)
        call_tool(done);
      else
        done.result = stopped_before();
    } catch (const std::exception& e) {
      died = e.what();
    } catch (...) {
      died = "unknown exception";
    }
    // Before anybody can hear of it: who asks then is told the truth.
    if (began) began->end(what.call.id, what.attempt);
    done.last_progress = relay->close();
    const job_tail soon_free;
    if (died)
      tell(worker,
           blocking_done{work::lost{done.id, done.attempt, *died}, true},
           run_inline);
    else if (broke)
      tell(worker, blocking_done{work::lost{done.id, done.attempt, *broke}},
           run_inline);
    else
      tell(worker, blocking_done{std::move(done)}, run_inline);
  }

 private:
  template <class Actor, class Message>
  static void tell(
      const Actor& who, Message message,
      const std::function<void(const std::function<void()>&)>& way) {
    if (!way) return caf::anon_send(who, std::move(message));
    way([&] { caf::anon_send(who, std::move(message)); });
  }

  void call_tool(work::done& done) {
    relay->begin();
    context.progress = [to = relay](tool_progress_report report) {
      to->offer(std::move(report));
    };
    const auto arguments = nlohmann::json::parse(what.call.arguments);
    const trace_scope trace{what.run};
    auto output = tool->run(arguments, context);
    redact_file(context.output_file);
    done.moved = output.moved && output.err;
    if (output.lost && output.err) broke = output.err->message;
    done.result = to_result(std::move(output));
    if (done.result.how == outcome::ok) done.state = context.state->changes();
  }
};

}  // namespace

std::filesystem::path guard_file(const std::filesystem::path& guard_dir,
                                 const call_id& call, std::uint32_t attempt) {
  return guard_dir / (call.value + "-" + std::to_string(attempt) + ".lock");
}

progress_relay::progress_relay(way to, std::size_t window,
                               std::uint32_t attempts)
    : to_{std::move(to)}, window_{window, pace_of(attempts)} {}

void progress_relay::begin() { thread_ = std::this_thread::get_id(); }

time_point progress_relay::now() const {
  return to_.worker->home_system().clock().now();
}

void progress_relay::send(std::optional<tool_progress_report> x) {
  if (x)
    caf::send_as(to_.worker, to_.muxer,
                 work::progress{to_.id, to_.attempt, window_.sent(), to_.tool,
                                std::move(*x)});
  const auto due = window_.due();
  if (!due || waking_) return;
  waking_ = true;
  caf::delayed_anon_send(to_.worker, std::max(*due - now(), duration{}),
                         tick{});
}

void progress_relay::on_time() {
  std::lock_guard lock{mutex_};
  waking_ = false;
  send(window_.on_time(now()));
}

/// What it wakes runs once the lock is free again: it may bring an ack.
void progress_relay::offer(tool_progress_report x) {
  const auto hand_over = [&] {
    std::lock_guard lock{mutex_};
    send(window_.offer(std::move(x), now()));
  };
  if (to_.run_inline && std::this_thread::get_id() == thread_)
    to_.run_inline(hand_over);
  else
    hand_over();
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

void tool_worker_state::on(work::assignment& x, work_listeners& who) {
  const auto& call = x.call;
  current = task{call.id, x.attempt, who};
  stop = std::stop_source{};
  auto me = caf::actor_cast<thread_worker_actor>(self);
  relay = std::make_shared<progress_relay>(
      progress_relay::way{me, who.muxer, call.id, x.attempt, tool->spec().name,
                          setup.report_inline},
      setup.progress_window, call.limits.attempts);
  tools::tool_context context;
  context.call = call.id;
  context.attempt = x.attempt;
  context.stop = stop.get_token();
  context.basis = call.basis;
  context.workspace = x.workspace.empty() ? setup.workspace
                                          : std::filesystem::path{x.workspace};
  context.kill_grace = setup.kill_grace;
  context.judged = call.judged;
  context.files = std::move(x.files);
  context.state = std::make_shared<tools::call_state>(std::move(x.state));
  if (tool->spec().guarded && !setup.guard_dir.empty())
    context.guard_lock = guard_file(setup.guard_dir, call.id, x.attempt);
  if (setup.lease_of) context.lease = setup.lease_of(call.id);
  keep_whole_output(context);
  queue_ticket place{x.run.value, call.limits.priority};
  auto attempt = std::make_shared<blocking_attempt>(blocking_attempt{
      tool, std::move(x), std::move(who.dispatcher), std::move(context), relay,
      me, setup.board, setup.run_inline, setup.begin_inline});
  std::string why;
  try {
    setup.blocking->submit([attempt] { attempt->run(); }, std::move(place),
                           [attempt] { attempt->begin(); });
    return;
  } catch (const std::exception& e) {  // then it never runs
    why = e.what();
  }
  on_no_thread(attempt->what.call.id, attempt->what.attempt, why);
}

/// Nothing of the call has happened, and nothing is wrong with its tool.
void tool_worker_state::on_no_thread(const call_id& id, std::uint32_t attempt,
                                     const std::string& why) {
  log_error("tool_worker", "no thread for a call: " + why);
  work::done done{id, attempt};
  done.result.how = outcome::failed;
  done.result.err =
      error{errc::tool_execution_error, "tool_worker",
            "no thread could be started for it, so it did not begin: this "
            "process has as many as it may, or no memory for one",
            true, why};
  done.last_progress = relay->close();
  blocking_done end{std::move(done)};
  on(end);
}

void tool_worker_state::on(blocking_done& x) {
  const auto id = std::visit([](const auto& end) { return end.id; }, x.how);
  if (!runs(id)) return;
  const auto dispatcher = std::move(current->who.dispatcher);
  current.reset();
  relay.reset();
  auto* lost = std::get_if<work::lost>(&x.how);
  if (lost && !x.died) {
    self->send(dispatcher, std::move(*lost));
    if (orphan) return self->quit();
    return self->send(pool, work::freed{id});
  }
  if (lost) {
    const auto why = lost->reason;
    log_error("tool_worker", tool->spec().name + ": " + why);
    // Its pool, which would tell this, is gone.
    if (orphan) self->send(dispatcher, std::move(*lost));
    return self->quit(caf::make_error(caf::sec::runtime_error, why));
  }
  auto& done = std::get<work::done>(x.how);
  if (orphan && done.result.how != outcome::ok)
    self->send(dispatcher,
               work::lost{id, done.attempt, "its worker pool failed"});
  else
    self->send(dispatcher, std::move(done));
  if (orphan) return self->quit();
  self->send(pool, work::freed{id});
}

/// Nobody can stop its call any more, or give it another: it ends with it.
void tool_worker_state::on(caf::down_msg&) {
  orphan = true;
  if (!current) return self->quit();
  stop.request_stop();
}

thread_worker_actor::behavior_type tool_worker(
    thread_worker_actor::stateful_pointer<tool_worker_state> self,
    tools::tool_ptr tool, worker_setup setup, work_supervisor pool) {
  log_exceptions(self);
  auto& st = self->state;
  st.tool = std::move(tool);
  st.setup = std::move(setup);
  st.pool = std::move(pool);
  self->monitor(st.pool);
  self->set_down_handler(handle<caf::down_msg>(self, "tool_worker.down"));
  work::offer offer;
  offer.tools.push_back(st.tool->spec().name);
  self->send(st.pool, std::move(offer));
  return {
      handle<work::assignment, work_listeners>(self, "tool_worker.assignment"),
      handle<const work::stop>(self, "tool_worker.stop"),
      handle<const work::ack>(self, "tool_worker.ack"),
      handle<blocking_done>(self, "tool_worker.done"),
      handle<tick>(self, "tool_worker.tick"),
  };
}

}  // namespace riffle
