// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/conversation.hpp"

#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/cli.hpp"
#include "runtime/cli/commands/chat_files.hpp"
#include "runtime/cli/commands/room.hpp"
#include "runtime/cli/commands/unfinished.hpp"
#include "runtime/cli/commands/watch.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/run_output.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/service/match_id.hpp"

namespace riffle::cli {

conversation::conversation(run_command options, config::config settings,
                           chat_prompt& prompt, console& io)
    : options_{std::move(options)},
      settings_{std::move(settings)},
      prompt_{prompt},
      io_{io},
      color_{use_color(options_.common, io.err)} {
  if (options_.session) session_ = session_id{*options_.session};
}

void conversation::note(std::string_view text) {
  const std::string safe = safe_text(text);
  io_.say(color_ ? "\x1b[2m" + safe + "\x1b[0m\n" : safe + "\n");
}

void conversation::complain(const error& x) { report(x, io_); }

std::optional<int> conversation::begin(interrupts& signals) {
  room_wait room{{}, signals, io_};
  auto rt = with_room(
      room, [&] { return runtime::create(settings_, {.owns_process = true}); });
  if (room.status()) return room.status();
  if (!rt) return report(rt.error(), io_);
  rt_.emplace(std::move(*rt));
  const auto agent = settings_.agents.find(options_.agent);
  const auto model = options_.choices.model.value_or(
      agent == settings_.agents.end() ? std::string{} : agent->second.model);
  // "default (qwen3)"; of PROVIDER/MODEL the name says it.
  const auto known = settings_.models.find(model);
  const auto means =
      known == settings_.models.end() || model.ends_with(known->second.model)
          ? std::string{}
          : " (" + known->second.model + ")";
  const auto whole = snapshot();
  note("riffle " + std::string{version} + ", model " + model + means +
       (whole ? ", session " + short_id(session_->value) + ", " +
                    counted(whole->runs.size(), "run") + " so far"
              : "") +
       ". /help shows what can be typed.");
  return std::nullopt;
}

void conversation::finish_left(interrupts& signals) {
  room_wait room{{}, signals, io_};
  prompt_.pause();
  finish_first(*rt_, {options_.common, options_.show, settings_}, signals, room,
               io_);
}

std::optional<session_snapshot> conversation::snapshot() {
  if (!session_) return std::nullopt;
  auto found = rt_->session(*session_);
  if (!found) return std::nullopt;
  return std::move(*found);
}

run_request conversation::request(std::string task) const {
  auto out = request_of(options_, std::move(task));
  out.session = session_;
  out.surroundings = surroundings_of(options_.agent, settings_).text;
  if (!options_.choices.approval) out.approval = approve::ask;
  return out;
}

bool conversation::on(const std::string& text, interrupts& signals) {
  auto line = parse_chat_line(text);
  switch (line.what) {
    case chat_act::nothing: return true;
    case chat_act::shell: shell(line.rest); return true;
    case chat_act::command: return command(line, signals);
    case chat_act::task: break;
  }
  auto asked = request(std::move(line.rest));
  const auto attached = attach_mentioned(asked);
  if (!attached) {
    complain(attached.error());
    return true;
  }
  if (!attached->empty()) note("attached: " + *attached);
  if (auto ok = check_attachments(asked, settings_); !ok) {
    complain(ok.error());
    return true;
  }
  if (!told_.empty())
    asked.context += (asked.context.empty() ? "" : "\n\n") + told_;
  run_task(std::move(asked), signals);
  return true;
}

void conversation::run_task(run_request asked, interrupts& signals) {
  room_wait room{asked.timeout, signals, io_};
  const auto start = [&](auto stop) {
    asked.stop = std::move(stop);
    return rt_->start(asked);
  };
  auto started = start_with_room(room, signals, start);
  if (room.status()) return;
  if (!started && started.error().code == errc::session_busy) {
    finish_left(signals);
    if (signals.asked_to_stop()) return;
    started = start_with_room(room, signals, start);
    if (room.status()) return;
  }
  if (!started) return complain(started.error());
  told_.clear();
  session_ = started->session();
  const bool asks = asked.approval == approve::ask;
  prompt_.go_on();
  watch({*rt_, *started,
         asks ? open_keyboard(false) : std::optional<unique_fd>{}, &prompt_},
        options_.common, options_.show, signals, room, io_);
  if (!title_.empty()) set_title(std::exchange(title_, {}));
  if (!signals.asked_to_stop()) return;
  const bool waited = prompt_.take_back();
  note(std::string{"The run was stopped; what it did so far is kept. "} +
       (waited ? "What you had typed waits for your Enter."
               : "Say how to go on."));
}

void conversation::shell(const std::string& command) {
  prompt_.pause();
  const auto result = run_shell(
      command, [&](std::string_view x) { io_.err.write(safe_text(x)); });
  if (!result) return complain(result.error());
  if (!result->output.empty() && !result->output.ends_with('\n'))
    io_.err.write("\n");
  if (result->status != 0)
    note("exit status " + std::to_string(result->status));
  constexpr std::size_t most = 256u << 10;
  auto text = "The user ran this command: " + command + "\nexit status " +
              std::to_string(result->status) + ", output:\n" + result->output;
  if (told_.size() + text.size() > most) told_.clear();
  told_ += (told_.empty() ? "" : "\n\n") + text;
}

std::string conversation::farewell() const {
  if (!session_) return {};
  return "Go on: riffle -c, or riffle chat --session " +
         short_id(session_->value);
}

}  // namespace riffle::cli
