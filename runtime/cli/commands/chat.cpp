// SPDX-License-Identifier: MIT
// riffle chat, and riffle alone at a terminal
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>

#include "runtime/cli/commands/chat_completion.hpp"
#include "runtime/cli/commands/chat_offers.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/conversation.hpp"
#include "runtime/cli/commands/find_session.hpp"
#include "runtime/cli/commands/history_file.hpp"
#include "runtime/cli/commands/init.hpp"
#include "runtime/cli/commands/left_lines.hpp"
#include "runtime/cli/commands/requests.hpp"
#include "runtime/cli/commands/room.hpp"
#include "runtime/cli/commands/unfinished.hpp"
#include "runtime/cli/commands/unread_limits.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/terminal_kind.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/run_output.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/config/home.hpp"

namespace riffle::cli {

namespace {

std::string this_place() {
  std::error_code gone;
  const char* home = std::getenv("HOME");
  return short_place(std::filesystem::current_path(gone).string(),
                     home ? home : "");
}

int no_terminal(console& io) {
  io.complain(
      "a conversation needs a terminal for standard input and standard error; "
      "without one: riffle run TASK, and riffle run -c TASK goes on");
  return usage;
}

/// The session that goes on, if one does, and with whom.
expected<void> choose_session(run_command& options, config::config& settings,
                              console& io) {
  interrupts signals;
  room_wait room{{}, signals, io};
  session_finder all{settings};
  const auto session = with_room(
      room, [&] { return all.for_task(options.session, options.goes_on); });
  if (!session) return unexpected{session.error()};
  tell_fresh(all.fresh(), options.common, io);
  if (!*session) return {};
  options.session = (*session)->value;
  const auto& use =
      all.use_of(**session, {options.agent, options.choices.model});
  options.agent = use.agent;
  options.choices.model = use.model;
  for (const auto& x : use.gone) io.complain(x);
  return {};
}

/// Whoever leaves with `/quit` may have typed more behind it.
void tell_unsent(const chat_prompt& prompt, console& io) {
  constexpr std::size_t most = 3;
  const auto all = prompt.unsent();
  if (all.empty()) return;
  std::string text = "Not sent:";
  for (std::size_t i = 0; i < all.size() && i < most; ++i)
    text += (i == 0 ? " " : ", ") + safe_line(all[i], 60);
  if (all.size() > most)
    text += ", and " + std::to_string(all.size() - most) + " more";
  io.complain(text);
}

/// What waited when this session's last program was killed is the newest of the
/// history, and that is said once.
void offer_left(const left_lines& left, const std::string& session,
                conversation& talk, line_editor& editor, bool color,
                console& io) {
  auto all = left.take(session);
  if (!all.empty() && talk.began_with(all.front())) all.erase(all.begin());
  std::erase_if(all, [&](const std::string& x) { return talk.has_heard(x); });
  if (all.empty()) return;
  const auto known = editor.history();
  const bool there = known.size() >= all.size() &&
                     std::equal(all.rbegin(), all.rend(), known.rbegin());
  for (const auto& x : all)
    if (!there) editor.remember(x);
  const auto text = left_text(all.size());
  io.say(color ? "\x1b[2m" + text + "\x1b[0m\n" : text + "\n");
}

/// Until the person leaves; true: a signal ended it, also at a quiet prompt.
bool talk_on(conversation& talk, chat_prompt& prompt, history_file& history,
             left_lines& left, bool color, console& io) {
  std::string session;
  do {
    if (session != talk.session_name()) {
      session = talk.session_name();
      offer_left(left, session, talk, prompt.editor(), color, io);
    }
    // Each turn has a Ctrl-C of its own.
    interrupts signals;
    const unread_limits limits{[&] { return signals.asked_to_leave(); }, io};
    const auto text = prompt.next(signals);
    // Until it is on record a task waits as those behind it do.
    auto waits = prompt.queued();
    if (text) waits.insert(waits.begin(), *text);
    left.waiting(session, std::move(waits));
    history.add_typed(prompt.editor());
    const bool over = !text || !talk.on(*text, signals);
    if (over || signals.asked_to_leave()) return signals.asked_to_leave();
    // Before the next turn's signals: a late Ctrl-C ends no conversation.
    prompt.hold();
  } while (io.out.good() && io.err.good());
  return false;
}

/// What stands before the first prompt, maybe a run that goes on. An exit
/// status: there will be none.
std::optional<int> open_talk(conversation& talk, chat_prompt& prompt,
                             console& io) {
  interrupts signals;
  const unread_limits limits{[&] { return signals.asked_to_leave(); }, io};
  if (const auto status = talk.begin(signals)) return status;
  const bool worked = talk.catch_up(signals);
  if (signals.asked_to_leave()) return interrupted_by_user;
  // As behind each turn.
  if (worked) prompt.hold();
  return std::nullopt;
}

/// From what stands before its first prompt to its end.
int talk_through(conversation& talk, chat_prompt& prompt, history_file& history,
                 left_lines& left, bool color, console& io) {
  if (const auto status = open_talk(talk, prompt, io)) return *status;
  return talk_on(talk, prompt, history, left, color, io) ? interrupted_by_user
                                                         : completed;
}

void leave(const conversation& talk, const chat_prompt& prompt,
           const run_command& options, bool color, console& io) {
  tell_unsent(prompt, io);
  const auto how = talk.farewell();
  if (!how.empty() && options.common.level != verbosity::quiet)
    io.say(color ? "\x1b[2m" + how + "\x1b[0m\n" : how + "\n");
}

/// What Tab, and the list below the line, have from the conversation.
void complete_from(conversation& talk, chat_prompt& prompt, const console& io) {
  constexpr auto longest_tab = std::chrono::milliseconds{300};
  const auto offers = std::make_shared<chat_offers>(chat_offers::sources{
      [&](std::string_view command) { return talk.names_for(command); },
      [&] { return talk.known_prompts(); },
      [&](std::string_view command) { return talk.finder_for(command); }});
  prompt.complete_with([&, offers](std::string_view before) {
    return complete_chat(before, io.err.columns(), talk.commands_for(before),
                         [&](std::string_view) {
                           return offers->offer_within(before, longest_tab);
                         });
  });
  prompt.offer_with(
      [offers](std::string_view before) { return offers->offer(before); });
}

}  // namespace

int execute(const chat_command& x, console& io) {
  auto keyboard = open_keyboard(false);
  if (!keyboard) return no_terminal(io);
  auto options = x.each;
  // A session that goes on has had a model.
  const bool fresh = !options.goes_on && !options.session;
  if (const int status =
          fresh ? take_first_steps(options.common, options.choices.model, io)
                : completed)
    return status;
  const auto view = view_of(options.common, options.show, io.out, io.err);
  // Outlives the prompt, which has last words, too.
  std::atomic<bool> has_to_leave{false};
  const unread_limits limits{[&] { return has_to_leave.load(); }, io};
  chat_prompt prompt{std::move(*keyboard), io.err, !can_erase(), view.color};
  prompt.show_log(io.log);
  prompt.name_window(this_place());
  const auto typed = prompt.kept_beside_questions();
  auto settings =
      load_config(options.common, config_use::acts, false, io, &typed);
  if (!settings) return usage;
  const named_use named{options.agent, options.choices.model};
  if (const auto known = check_named(named.agent, named.model, *settings);
      !known)
    return report(known.error(), io);
  if (const auto chosen = choose_session(options, *settings, io); !chosen)
    return report(chosen.error(), io);
  choose_log_level(options.common.level, *settings);

  const auto folder = config::data_folder(settings->runtime);
  history_file history{folder ? *folder / "history" : std::filesystem::path{}};
  history.load(prompt.editor());
  conversation talk{options, named, std::move(*settings), prompt, io};
  complete_from(talk, prompt, io);
  left_lines left{history.beside("queued"), ::getpid()};
  talk.keep_queued_with([&](const std::string& x) {
    history.add_typed(prompt.editor());
    auto all = prompt.queued();
    if (!x.empty()) all.push_back(x);
    left.waiting(talk.session_name(), std::move(all));
  });
  const int status = talk_through(talk, prompt, history, left, view.color, io);
  has_to_leave = status == interrupted_by_user;
  left.waiting({}, {});
  history.add_typed(prompt.editor());
  // Also whom a signal ends.
  if (status == completed || status == interrupted_by_user)
    leave(talk, prompt, options, view.color, io);
  return status == completed && !talk.can_go_on() ? failed : status;
}

}  // namespace riffle::cli
