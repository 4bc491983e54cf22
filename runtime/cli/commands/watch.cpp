// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/watch.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "runtime/cli/commands/asking.hpp"
#include "runtime/cli/commands/unread_limits.hpp"
#include "runtime/cli/terminal/terminal_mode.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/people_text.hpp"
#include "runtime/cli/view/run_output.hpp"
#include "runtime/cli/view/session_text.hpp"

namespace riffle::cli {

namespace {

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
    return !settling_.is_over(unread_ || signals_.asked_to_stop());
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
  settle_clock settling_;
};

int final_status(const run_output& output, std::uint32_t unasked,
                 const console& io) {
  const auto& end = output.report().finished();
  if (!end || !io.out.good()) return failed;
  const auto why = output.report().failure();
  return status_of(end->status, why ? std::optional{why->code} : std::nullopt,
                   unasked > 0);
}

/// Said to everybody: what looks whole is not. `talks`: in a conversation.
void tell_truncated(const run_output& output, bool talks,
                    const common_options& options, console& io) {
  if (!output.report().truncated() || options.level == verbosity::quiet) return;
  const auto text = cut_answer_text(output.report().last_output_tokens()) +
                    " by a limit of the model or its provider, as a rule "
                    "max_output_tokens; ";
  io.complain(text + (talks ? std::string{"\"Go on.\" goes on"}
                            : "go on with: riffle run --session " +
                                  output.report().session() + " \"Go on.\""));
}

void tell_proposed(std::uint32_t calls, const std::set<std::string>& ids,
                   const common_options& options, console& io) {
  if (calls == 0 || options.level == verbosity::quiet) return;
  io.complain((calls == 1 ? std::string{"a proposal waits"}
                          : std::to_string(calls) + " proposals wait") +
              " for a decision (show, approve, deny or edit):");
  io.err.write(approve_lines(ids) + (calls > ids.size() || calls > most_named
                                         ? "  riffle proposals list\n"
                                         : ""));
}

int give_up(const run& x, console& io) {
  io.complain(
      "the run did not settle in time; finish it with: riffle sessions "
      "resume " +
      x.session().value);
  return interrupted_by_user;
}

/// The log cannot be written or read: what was stored is not lost.
int cut_off(const error& why, const run& x, console& io) {
  const int status = report(why, io);
  io.complain(
      "the run is suspended; once that is mended finish it with: riffle "
      "sessions resume " +
      x.session().value);
  return status;
}

/// It was suspended, and when there was room again it could not go on.
int set_aside(const run& x, console& io) {
  io.complain(
      "the run does not go on in this process; 'riffle sessions resume " +
      x.session().value + "' says why");
  return failed;
}

/// Shows a run as its events come, until they end.
class shown_run {
 public:
  shown_run(watched_run& x, const common_options& options, show_options show,
            const interrupts& signals, room_wait& room, console& io)
      : of_{x.of},
        room_{room},
        output_{options, show, io.out, io.err},
        work_{output_,
              x.keyboard,
              {.rt = x.rt,
               .stop = [this](const auto&) { of_.cancel(stopped_by_user); },
               .typing = x.typing,
               .decides = x.decides},
              options,
              show,
              signals,
              io},
        watching_{x.of, signals, io},
        stream_{x.of.events()} {
    output_.read_outputs(
        [&rt = x.rt](const call_id& id) { return last_output(rt, id); });
    output_.listen(
        [this](const event& e) {
          work_.on(e);
          if (const auto* made = std::get_if<events::proposal>(&e.body))
            note(*made);
        },
        [this](const event& e) { work_.before(e); });
  }
  shown_run(const shown_run&) = delete;
  shown_run& operator=(const shown_run&) = delete;

  enum class end : std::uint8_t { over, no_room, not_settled };

  end to_the_end() {
    for (;;) {
      if (stream_.ended()) {
        const auto why = stream_.failure();
        if (!why || !lacks_room(*why)) return end::over;
        output_.hide_status();
        if (!room_.wait(*why)) return end::no_room;
        stream_ = of_.events(last_seq_);
      }
      work_.look_once([this](auto limit) { return take(stream_.next(limit)); });
      if (!watching_.go_on() && !stream_.ended()) return end::not_settled;
    }
  }

  /// The last words, on standard output.
  void finish() {
    output_.finish();
    watching_.go_on();  // says so if the answer could not be written
  }
  void show_log() { work_.show_log(); }

  [[nodiscard]] const run_output& output() const { return output_; }
  [[nodiscard]] std::optional<error> failure() const {
    return stream_.failure();
  }
  /// Of proposals that wait, as many as are worth naming.
  [[nodiscard]] const std::set<std::string>& proposed() const {
    return proposed_;
  }
  [[nodiscard]] std::uint32_t unasked() const {
    return output_.report().unasked() + work_.unanswered();
  }

 private:
  void note(const events::proposal& x) {
    if (x.status != events::proposal_status::open)
      proposed_.erase(x.id.value);
    else if (proposed_.size() < most_named)
      proposed_.insert(x.id.value);
  }

  bool take(const std::optional<event_batch>& batch) {
    if (!batch) return false;
    room_.over();
    last_seq_ = batch->last_seq();
    output_.on_lines(batch->lines(), std::chrono::steady_clock::now());
    return true;
  }

  const run& of_;
  room_wait& room_;
  run_output output_;
  watched_work work_;
  watcher watching_;
  event_stream stream_;
  std::uint64_t last_seq_ = 0;
  std::set<std::string> proposed_;
};

/// What a second Ctrl-C, which ends the process at once, says of the run.
class parting_words {
 public:
  parting_words(const watched_run& x, const common_options& options,
                const console& io) {
    if (!io.err.is_terminal() || options.level == verbosity::quiet) return;
    const auto how = x.typing != nullptr
                         ? std::string{"-c"}
                         : "sessions resume " + short_id(x.of.session().value);
    leave_with_words("Stopped at once; riffle " + how + " goes on.\n");
  }
  ~parting_words() { leave_with_words({}); }
  parting_words(const parting_words&) = delete;
  parting_words& operator=(const parting_words&) = delete;
};

}  // namespace

int watch(watched_run x, const common_options& options, show_options show,
          interrupts& signals, room_wait& room, console& io) {
  room.finish_with("riffle sessions resume " + x.of.session().value);
  const unread_limits limits{
      [&] { return signals.asked_to_stop() || room.is_over_time(); }, io};
  show.asks = x.keyboard.has_value();
  shown_run shown{x, options, show, signals, room, io};
  const parting_words words{x, options, io};
  signals.on_stop(
      [handle = x.of](const char* by) { handle.cancel(stop_reason(by)); });
  const auto end = shown.to_the_end();
  if (end == shown_run::end::no_room) return *room.status();
  if (end == shown_run::end::not_settled) return give_up(x.of, io);
  signals.on_stop({});
  shown.show_log();
  if (const auto why = shown.failure()) return cut_off(*why, x.of, io);
  const auto& output = shown.output();
  if (!output.report().finished()) return set_aside(x.of, io);
  shown.finish();
  tell_truncated(output, x.typing != nullptr, options, io);
  tell_unasked(shown.unasked(), "it", options, io);
  tell_proposed(output.report().proposed(), shown.proposed(), options, io);
  ring(show, "the run has ended", io);
  return final_status(output, shown.unasked(), io);
}

}  // namespace riffle::cli
