// SPDX-License-Identifier: MIT
// A turn of a conversation, and a run of before that goes on as one: sent, and
// shown to its end, while what is typed waits for that.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "actors/core/context_window.hpp"
#include "actors/run/recovery.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/commands/chat_files.hpp"
#include "runtime/cli/commands/conversation.hpp"
#include "runtime/cli/commands/file_part.hpp"
#include "runtime/cli/commands/requests.hpp"
#include "runtime/cli/commands/room.hpp"
#include "runtime/cli/commands/unfinished.hpp"
#include "runtime/cli/commands/volley.hpp"
#include "runtime/cli/commands/waiting_run.hpp"
#include "runtime/cli/commands/watch_plan.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/run_output.hpp"
#include "runtime/cli/view/session_text.hpp"

namespace riffle::cli {

namespace {

/// Whether a call of it began, or it said a word.
bool has_left_something(const storage::session_snapshot& x, const run_id& run) {
  return std::ranges::any_of(x.calls,
                             [&](const storage::call_record& call) {
                               return call.run == run && call.attempt > 0;
                             }) ||
         std::ranges::any_of(x.messages, [&](const storage::message_record& m) {
           return m.run == run && m.role == storage::message_role::assistant &&
                  !m.text.empty();
         });
}

}  // namespace

int conversation::watch_work(
    const std::function<int(std::optional<unique_fd>)>& watch, bool asks) {
  prompt_.go_on();
  prompt_.answer_with([this](const std::string& x) { return on_typed(x); });
  works_ = true;
  asks_ = asks;
  const int status = watch(asks ? open_keyboard(false) : std::nullopt);
  works_ = false;
  return status;
}

/// Its files would have to be part of what is said: such a text waits.
std::optional<std::string> conversation::tell(const run& turn,
                                              const std::string& text) {
  const auto line = parse_chat_line(text).rest;
  for (const auto& word : mentioned_files(line))
    if (const auto file = find_part(word).part)
      return "Not said now: it attaches " + shown(*file) +
             ". It is sent when the run has ended.\n";
  const auto said = turn.tell(line);
  if (said) return std::nullopt;
  return "Not said now: " + said.error().message +
         ". It is sent when the run has ended.\n";
}

bool conversation::began_with(const std::string& line) {
  const auto whole = snapshot();
  return whole && !whole->runs.empty() &&
         whole->runs.back().task == parse_chat_line(line).rest;
}

bool conversation::has_heard(const std::string& line) {
  const auto whole = snapshot();
  const auto text = parse_chat_line(line).rest;
  if (!whole || whole->runs.empty() || text.empty()) return false;
  const auto& last = whole->runs.back();
  constexpr std::string_view apart = "\n\n";
  return std::ranges::any_of(whole->messages, [&](const auto& m) {
    if (m.run != last.id || m.step == 0 ||
        m.role != storage::message_role::user)
      return false;
    const std::string_view said = m.text;
    for (auto at = said.find(text); at != said.npos;
         at = said.find(text, at + 1)) {
      const auto rest = said.substr(at + text.size());
      if ((at == 0 || said.substr(0, at).ends_with(apart)) &&
          (rest.empty() || rest.starts_with(apart)))
        return true;
    }
    return false;
  });
}

int conversation::watch_turn(const run& turn, bool asks, interrupts& signals,
                             room_wait& room) {
  const auto show = [&](std::optional<unique_fd> keyboard) {
    return watch_any({*rt_, turn, std::move(keyboard), &prompt_,
                      [this] { return who_decides(); }},
                     options_.common, options_.show, signals, room, io_);
  };
  const bool plan = turn.id().value.starts_with("plan_");
  if (!plan)
    prompt_.tell_with([&](const std::string& text) { return tell(turn, text); },
                      [this] {
                        if (keep_queued_) keep_queued_({});
                      });
  const int status = watch_work(show, asks);
  prompt_.tell_with({}, {});
  if (session_ == turn.session())
    if (const auto mine = rt_->find_run(turn.id())) seen_ = mine->ordinal;
  const auto held = hold_typed(status, plan ? nullptr : &turn, signals);
  if (session_ && session_ != turn.session())
    note("That was session " + short_id(turn.session().value) +
         "; what you type goes to this one, " + short_id(session_->value) +
         ".");
  return held;
}

int conversation::watch_volley(volley& of, interrupts& signals) {
  const auto show = [&](std::optional<unique_fd> keyboard) {
    return watch({.rt = *rt_,
                  .of = of,
                  .keyboard = std::move(keyboard),
                  .typing = &prompt_,
                  .decides = [this] { return who_decides(); }},
                 options_.common, options_.show, signals, io_);
  };
  const int status = watch_work(show, who_decides() == approve::ask);
  return hold_typed(status, nullptr, signals);
}

int conversation::hold_typed(int status, const run* turn,
                             const interrupts& signals) {
  // Or at a question, or elsewhere: what waits is not for that either.
  const bool stopped = signals.asked_to_stop() || status == interrupted_by_user;
  if (!stopped || signals.asked_to_leave() || prompt_.leaves_later())
    return status;
  const auto waits = prompt_.hold_back();
  std::string text;
  if (turn != nullptr)
    if (const auto all = rt_->session(turn->session());
        all && has_left_something(*all, turn->id()))
      text = "What it did and said is kept. ";
  if (waits > 0)
    text += held_text(waits);
  else if (turn != nullptr)
    text += "Say how to go on.";
  if (!text.empty()) note(text);
  return status;
}

bool conversation::run_task(run_request asked, interrupts& signals) {
  room_wait room{asked.timeout, signals, io_};
  const bool summary = sums_up(asked.task, asked.context);
  const auto start = [&](auto stop) {
    asked.stop = std::move(stop);
    return rt_->start(asked);
  };
  // What was typed behind it was written for another state of things.
  const auto left = [&] {
    if (!room.status()) return false;
    prompt_.look();
    prompt_.hold_back();
    return true;
  };
  prompt_.go_on();  // Ctrl-C ends the wait
  auto started = start_with_room(room, signals, start);
  if (left()) return false;
  // One that somebody works on is told of as that.
  if (!started && started.error().code == errc::session_busy && is_offered()) {
    note("A run of this session was not finished: yes or never to it " +
         std::string{summary ? "has the session summed up then"
                             : "sends your words"} +
         ", /new begins another.");
    finish_left(signals);
    if (signals.asked_to_stop()) return false;
    started = start_with_room(room, signals, start);
    if (left()) return false;
  }
  if (!started) {
    not_begun(started.error(), summary);
    return false;
  }
  told_.clear();
  session_ = started->session();
  if (keep_queued_) keep_queued_({});
  const int status =
      watch_turn(*started, asked.approval == approve::ask, signals, room);
  if (!title_.empty()) keep_title(std::exchange(title_, {}));
  if (!signals.asked_to_stop() && status == failed && can_erase()) {
    const auto typed = prompt_.editor().history();
    note(!typed.empty() && parse_chat_line(typed.back()).rest == asked.task
             ? "Up and Enter tries it again."
             : "Up, until the task stands there, and Enter tries it again.");
  }
  return true;
}

bool conversation::finish_left(interrupts& signals) {
  room_wait room{{}, signals, io_};
  prompt_.pause();
  const bool fresh = !session_;
  bool asked = false;
  std::optional<int> status;
  const auto shows = [&](const run& turn) {
    const bool plan = turn.id().value.starts_with("plan_");
    // What a person sees is what he goes on with.
    if (fresh && !plan) session_ = turn.session();
    status = watch_turn(turn, who_decides() == approve::ask, signals, room);
    return *status;
  };
  const auto shows_volley = [&](volley& of) {
    status = watch_volley(of, signals);
    return *status;
  };
  finish_first(*rt_,
               {.common = options_.common,
                .show = options_.show,
                .settings = settings_,
                .session = session_.value_or(session_id{}),
                .asked = &asked,
                .typed = prompt_.kept_beside_questions(),
                .approval = who_decides(),
                .shows = shows,
                .shows_volley = shows_volley},
               signals, room, io_);
  if (asked) {
    io_.err.write("\n");
    know_all();  // what its answer has ended, too
  }
  const bool stopped =
      status && (signals.asked_to_stop() || *status == interrupted_by_user);
  if (const auto held = prompt_.held(); held > 0 && !stopped)
    note(held_text(held));
  if (!status || !fresh || !session_) return status.has_value();
  const auto before = named_model(model_name()) + told_agent();
  take_its_use(signals);
  if (const auto now = named_model(model_name()) + told_agent(); now != before)
    note("It goes on with the model " + now + ".");
  return true;
}

/// What did not become part of the session stands in the input line again.
void conversation::send(const std::string& task, interrupts& signals,
                        std::span<const std::string> but) {
  if (!knows_the_last_turn(can_erase()
                               ? "It was not sent: Enter sends it."
                               : "It was not sent: type it again to send it."))
    return;
  auto asked = request(task);
  const auto attached = attach_mentioned(asked, but);
  if (!attached) {
    io_.complain(attached.error().message);
    return prompt_.give_back();
  }
  if (auto ok = check_attachments(asked, settings_); !ok) {
    io_.complain(ok.error().message);
    return prompt_.give_back();
  }
  if (!attached->empty()) note("attached: " + *attached);
  for (const auto& x : not_attached(task)) note(x);
  add_to_context(asked.context, told_);
  if (!run_task(std::move(asked), signals)) prompt_.give_back();
}

/// Only what a person did by the way is given up for what he says.
void conversation::not_begun(const error& why, bool summary) {
  const auto* const not_sent =
      summary ? "Nothing was summed up." : "It was not sent.";
  if (why.code == errc::session_busy) {
    const auto from = why.message.find("owned by ");
    const auto by = from == std::string::npos ? std::string{}
                                              : why.message.substr(from + 9);
    const auto who = by.substr(0, by.find_first_of("(:"));
    if (who.starts_with("a process that is gone")) {
      io_.complain(
          std::string{summary ? "nothing was summed up" : "it was not sent"} +
          ": a run of this session was not finished");
      if (!tell_left_elsewhere())
        note("'riffle sessions resume " + session_->value + "' finishes it.");
      return;
    }
    const auto asked = question_elsewhere(*rt_, *session_);
    io_.complain(
        "this conversation " +
        std::string{asked.empty() ? "works" : "waits for a decision"} +
        " in another terminal" +
        (who.empty() ? "" : ", " + std::string{trimmed(who)}) +
        (asked.empty() ? ": wait for it, or stop it there" : ": " + asked));
    return note(not_sent);
  }
  if (why.code != errc::invalid_request) {
    not_started(why, settings_, io_);
    return;
  }
  io_.complain(why.message);
  if (told_.empty()) return note(not_sent);
  note(
      "It was not sent. Enter sends it without what your commands wrote "
      "(about " +
      short_count(core::estimate_tokens(told_)) + " tokens).");
  told_.clear();
}

}  // namespace riffle::cli
