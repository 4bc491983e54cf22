// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/watch.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "runtime/cli/commands/unread_limits.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/waiting_log.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/run_output.hpp"

namespace riffle::cli {

namespace {

/// How often a quiet run is looked at, and the status line drawn.
constexpr auto look = std::chrono::milliseconds{100};

/// Longest wait for a cancelled run: time limits of tools are far shorter.
constexpr auto settle_limit = std::chrono::seconds{60};

/// Cancels a run whose output nobody can read any more, and knows when a
/// cancelled run has had its time.
class watcher {
 public:
  watcher(const run& x, const interrupts& signals, console& io)
      : run_{x}, signals_{signals}, io_{io} {}

  /// False: do not wait any longer.
  bool go_on() {
    if (!io_.out.good() && !unread_) {
      unread_ = true;
      cancel_unread();
    }
    if (!unread_ && !signals_.asked_to_stop()) return true;
    const auto now = std::chrono::steady_clock::now();
    if (give_up_ == decltype(give_up_){}) give_up_ = now + settle_limit;
    return now < give_up_;
  }

 private:
  void cancel_unread() {
    io_.complain_of_output();
    run_.cancel("nobody reads the output");
  }

  const run& run_;
  const interrupts& signals_;
  console& io_;
  bool unread_ = false;
  std::chrono::steady_clock::time_point give_up_{};  ///< its zero: none yet
};

int final_status(const run_output& output, std::uint32_t unasked,
                 const console& io) {
  const auto& end = output.report().finished();
  if (!end || !io.out.good()) return failed;
  const auto why = output.report().failure();
  return status_of(end->status, why ? std::optional{why->code} : std::nullopt,
                   unasked > 0);
}

/// What a person who was not there can do about it.
void tell_unasked(std::uint32_t calls, const common_options& options,
                  console& io) {
  if (calls == 0 || options.level == verbosity::quiet) return;
  io.complain(
      (calls == 1 ? std::string{"a call was"}
                  : std::to_string(calls) + " calls were") +
      " denied since nobody could be asked: run it at a terminal, choose by "
      "--approve ask|all|none, or allow such calls by rules of the "
      "configuration");
}

/// Said to everybody: what looks whole is not.
void tell_truncated(const run_output& output, const common_options& options,
                    console& io) {
  if (!output.report().truncated() || options.level == verbosity::quiet) return;
  io.complain(
      "the answer is cut off: it reached a limit for one answer (the model's, "
      "or agents.NAME.max_turn_bytes), or the provider's content filter "
      "stopped it; go on with: riffle run "
      "--session " +
      output.report().session() + " \"Go on.\"");
}

void tell_proposed(std::uint32_t calls, const common_options& options,
                   console& io) {
  if (calls == 0 || options.level == verbosity::quiet) return;
  io.complain((calls == 1 ? std::string{"a proposal waits"}
                          : std::to_string(calls) + " proposals wait") +
              " for a decision: riffle proposals list");
}

std::optional<approval_prompt> prompt_for(watched_run& x,
                                          const common_options& options,
                                          run_output& output,
                                          const interrupts& signals,
                                          const console& io) {
  std::optional<approval_prompt> out;
  if (!x.keyboard) return out;
  const bool color = use_color(options, io.err);
  out.emplace(
      std::move(*x.keyboard),
      approval_prompt::surroundings{
          x.rt, [handle = x.of] { handle.cancel("stopped by the user"); },
          [&output](const std::string& text) { output.interject(text); },
          [&signals] { return signals.asked_to_stop(); },
          [&io, color] {
            return dialog_options{io.err.columns(), io.err.rows(), color};
          }});
  return out;
}

/// Where nobody can be asked, it is said who can decide.
class hints {
 public:
  explicit hints(console& io) : io_{io} {}

  void on(const event& x) {
    if (const auto* asked = std::get_if<events::approval_required>(&x.body)) {
      open_.insert(asked->proposal.value);
      told_ = false;
    }
    if (const auto* done = std::get_if<events::approval_resolved>(&x.body))
      open_.erase(done->proposal.value);
  }

  /// Nothing happens: the run waits. The commands stand on lines of their own,
  /// to be copied.
  void on_quiet() {
    if (open_.empty() || std::exchange(told_, true)) return;
    const auto n = open_.size();
    std::string text = "[APPROVAL] the run waits for " +
                       (n == 1 ? std::string{"a decision"}
                               : std::to_string(n) + " decisions") +
                       " (approve, deny or edit):\n  riffle proposals list\n";
    std::size_t named = 0;
    for (const auto& id : open_) {
      if (named++ == most_named) break;
      text += "  riffle proposals approve " + id + "\n";
    }
    io_.err.write(text);
  }

 private:
  static constexpr std::size_t most_named = 10;

  console& io_;
  std::set<std::string> open_;
  bool told_ = false;
};

int give_up(const run& x, console& io) {
  io.complain(
      "the run did not settle in time; finish it with 'riffle sessions "
      "resume " +
      x.session().value + "'");
  return interrupted_by_user;
}

/// The log cannot be written or read: what was stored is not lost.
int cut_off(const error& why, const run& x, console& io) {
  const int status = report(why, io);
  io.complain("the run is suspended; finish it with 'riffle sessions resume " +
              x.session().value + "' once that is mended");
  return status;
}

/// It was suspended, and when there was room again it could not go on.
int set_aside(const run& x, console& io) {
  io.complain(
      "the run does not go on in this process; 'riffle sessions resume " +
      x.session().value + "' says why");
  return failed;
}

}  // namespace

int watch(watched_run x, const common_options& options, show_options show,
          interrupts& signals, room_wait& room, console& io) {
  room.finish_with("riffle sessions resume " + x.of.session().value);
  const unread_limits limits{
      [&] { return signals.asked_to_stop() || room.is_over_time(); }, io};
  show.asks = x.keyboard.has_value();
  run_output output{options, show, io.out, io.err};
  waiting_log log{view_of(options, show, io.out, io.err).status, io.err};
  auto prompt = prompt_for(x, options, output, signals, io);
  hints nobody{io};
  output.listen([&](const event& e) { prompt ? prompt->on(e) : nobody.on(e); });
  signals.on_stop([handle = x.of](const char* by) {
    handle.cancel(std::string{"cancelled by "} + by);
  });
  watcher watching{x.of, signals, io};
  auto stream = x.of.events();
  std::uint64_t last_seq = 0;
  for (;;) {
    if (stream.ended()) {
      const auto why = stream.failure();
      if (!why || !lacks_room(*why)) break;
      output.hide_status();
      if (!room.wait(*why)) return *room.status();
      stream = x.of.events(last_seq);
    }
    // What happens meanwhile waits in the log while a person thinks.
    if (prompt && signals.asked_to_stop()) prompt->leave();
    const bool asks = prompt && prompt->busy() && !signals.asked_to_stop();
    if (asks) prompt->look(look);
    const auto batch =
        asks && prompt->busy() ? std::nullopt : stream.next(look);
    const auto now = std::chrono::steady_clock::now();
    if (batch) {
      room.over();
      last_seq = batch->last_seq();
      output.on_lines(batch->lines(), now);
    }
    if (!batch) nobody.on_quiet();
    if (signals.asked_to_stop()) output.cancelling();
    if (!prompt || !prompt->busy()) {
      output.interject(log.take());
      output.tick(now);
    }
    if (!watching.go_on() && !stream.ended()) return give_up(x.of, io);
  }
  signals.on_stop({});
  output.interject(log.take());
  if (stream.failure()) return cut_off(*stream.failure(), x.of, io);
  if (!output.report().finished()) return set_aside(x.of, io);
  output.finish();
  watching.go_on();  // says so if the answer could not be written
  const auto unasked =
      output.report().unasked() + (prompt ? prompt->unanswered() : 0);
  tell_truncated(output, options, io);
  tell_unasked(unasked, options, io);
  tell_proposed(output.report().proposed(), options, io);
  return final_status(output, unasked, io);
}

}  // namespace riffle::cli
