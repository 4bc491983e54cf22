// SPDX-License-Identifier: MIT
#pragma once

// A conversation at the terminal: its session, its model, what was typed.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/api/riffle.hpp"
#include "runtime/cli/commands/chat_offers.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/room.hpp"
#include "runtime/cli/commands/session_use.hpp"
#include "runtime/cli/terminal/chat_prompt.hpp"
#include "runtime/cli/terminal/interrupts.hpp"
#include "runtime/cli/view/chat_line.hpp"
#include "runtime/cli/view/context_text.hpp"
#include "runtime/cli/view/recap_text.hpp"
#include "runtime/cli/view/running_output.hpp"
#include "tools/builtin/files/take_back.hpp"

namespace riffle::cli {

class conversation {
 public:
  /// `named`: what counts whichever session goes on. All that is referred to
  /// outlives it.
  conversation(run_command options, named_use named, config::config settings,
               chat_prompt& prompt, console& io);

  /// Starts the runtime; an exit status if that failed.
  std::optional<int> begin(interrupts& signals);

  /// The end of what was said so far, and an offer to finish what a crash
  /// interrupted in this folder; a run goes on as a turn does. True: one did.
  bool catch_up(interrupts& signals);

  /// What was typed. False: the person leaves, or it cannot go on.
  bool on(const std::string& text, interrupts& signals);

  /// Commands beside those that are built in: the person's own, and prompts of
  /// servers, where a text names one or begins to. The first time it starts the
  /// servers, and waits for them.
  std::vector<std::string> commands_for(std::string_view before_cursor);
  /// What may stand behind "/agent", "/model" and "/approve", with what is told
  /// of each.
  [[nodiscard]] std::vector<named_choice> names_for(
      std::string_view command) const;
  /// What finds the titles behind "/resume", without this conversation; empty
  /// for any other command.
  [[nodiscard]] name_finder finder_for(std::string_view command) const;
  /// Prompts of servers, as far as they are known: it waits for none. Of a
  /// server that was not asked yet the beginning of their names.
  [[nodiscard]] std::vector<named_choice> known_prompts() const;

  /// Of each task that waits for its turn `f` is told at once; with an empty
  /// one, that fewer do.
  void keep_queued_with(std::function<void(const std::string&)> f) {
    keep_queued_ = std::move(f);
  }

  /// Whether the last run began with such a line, or heard it while it worked:
  /// who was killed then had no time to strike it.
  [[nodiscard]] bool began_with(const std::string& line);
  [[nodiscard]] bool has_heard(const std::string& line);

  /// A change of the model may have left it without a runtime.
  [[nodiscard]] bool can_go_on() const noexcept { return rt_.has_value(); }

  /// The one that the next task goes to; "": none has begun.
  [[nodiscard]] std::string session_name() const {
    return session_ ? session_->value : std::string{};
  }

  /// What to say at the end: how to go on.
  [[nodiscard]] std::string farewell() const;

 private:
  std::optional<int> open(interrupts& signals);
  bool finish_left(interrupts& signals);
  /// False: nothing was said so far.
  bool show_recap(bool offer_follows);
  /// Its run was interrupted, and is what `finish_left` offers.
  [[nodiscard]] bool is_offered();
  bool tell_left_elsewhere();
  [[nodiscard]] recap_options recap_how() const;
  [[nodiscard]] std::string why_failed(const run_id& x);
  bool command(const chat_line& x, interrupts& signals);
  /// What only looks, at the conversation as it is now; false: it is no such.
  bool show(const chat_line& x);
  void show_sessions();
  /// The same while a run works: what it shows.
  std::optional<std::string> answer(const std::string& text);
  /// The same of all that is typed then. A letter that answers questions, as a
  /// line beside one, is no task; a task that waits for its turn is kept.
  std::optional<std::string> on_typed(const std::string& text);
  /// Whole lines.
  void write(const std::string& lines);
  /// `but`: words of it that attach nothing.
  void send(const std::string& task, interrupts& signals,
            std::span<const std::string> but = {});
  /// False: nothing of it is part of the session.
  bool run_task(run_request request, interrupts& signals);
  /// To its end, with what is typed meanwhile; `asks`: it began with a person
  /// to ask. The exit status.
  int watch_turn(const run& turn, bool asks, interrupts& signals,
                 room_wait& room);
  /// The same of a volley that goes on.
  int watch_volley(volley& of, interrupts& signals);
  /// See `chat_prompt::teller`.
  std::optional<std::string> tell(const run& turn, const std::string& text);
  int watch_work(const std::function<int(std::optional<unique_fd>)>& watch,
                 bool asks);
  /// What was typed waits for an Enter of its own, where the person stopped
  /// what worked. `turn`: null for what has said by itself how it goes on.
  int hold_typed(int status, const run* turn, const interrupts& signals);
  void hold_from_model(const std::string& why);
  void not_begun(const error& why, bool summary);
  void tell_unusable();
  [[nodiscard]] std::string agent_name() const;
  [[nodiscard]] std::string model_name() const;
  /// ", agent writer", where it is not the default.
  [[nodiscard]] std::string told_agent() const;
  [[nodiscard]] std::string named_model(const std::string& name) const;
  /// `around`: what the model is told of the folder.
  [[nodiscard]] context_use context_in_use(const std::string& around);
  void shell(const std::string& command, interrupts& signals);
  void shell_at_terminal(const std::string& command, interrupts& signals);
  void tell_meanwhile(std::size_t texts);
  void tell_of(const std::string& text);
  void list_prompts(interrupts& signals);
  void run_prompt(const chat_line& x, interrupts& signals);
  std::span<const named_choice> prompts_for(std::string_view before_cursor);
  void help();
  void tell_refused();
  /// False: the person has no such command.
  bool run_own(const chat_line& x, interrupts& signals);
  void fresh();
  void resume(const std::string& named, interrupts& signals);
  void go_on_with(session_id session, interrupts& signals);
  void take_its_use(interrupts& signals);
  /// A list to choose from.
  void offer_sessions(const std::vector<session_summary>& all,
                      interrupts& signals);
  void offer_models(interrupts& signals);
  void set_title(const std::string& title);
  bool keep_title(const std::string& title);
  void choose_model(const std::string& name, interrupts& signals);
  /// False: it goes on with the one of before, which is said; or cannot go on.
  bool use_model(const std::string& name, interrupts& signals);
  void list_models();
  expected<std::vector<std::string>> models_of_server(interrupts& signals);
  void list_agents();
  void choose_agent(const std::string& name);
  void choose_approval(const std::string& who);
  void show_approval();
  void tell_allowed(bool ends);
  [[nodiscard]] approve who_decides() const {
    return options_.choices.approval.value_or(approve::ask);
  }
  /// What was said in this session elsewhere since it was last looked at;
  /// empty: nothing.
  std::string said_elsewhere();
  /// The person knows all that has ended by now.
  void know_all();
  bool knows_the_last_turn(const char* otherwise);
  void plan();
  void output(const std::string& which);
  bool show_running(const run_id& x);
  /// What calls of a run have written, as far as its log was read.
  struct looked_at {
    run_id run{};
    std::uint64_t seq = 0;
    running_output calls{};
  };
  void diff(const std::string& file);
  void undo(interrupts& signals);
  /// A turn whose files are, or are to be, as before it.
  struct undone_turn {
    run_id run{};
    std::string name{};
    std::vector<std::string> files{};
  };
  struct undo_plan;
  static undo_plan undo_of(const session_changes& turn,
                           const std::filesystem::path& workspace);
  static std::vector<std::string> files_of(std::span<const undone_turn> all);
  static std::string as_before(std::span<const undone_turn> all);
  void tell_idle(const std::vector<const storage::run_record*>& x);
  void take_back(const std::vector<undone_turn>& x, const session_changes& turn,
                 const undo_plan& plan, const std::filesystem::path& workspace,
                 interrupts& signals);
  void count_as_taken_back(const std::vector<undone_turn>& x,
                           interrupts& signals);
  std::optional<session_snapshot> agreed_undo(const std::string& question,
                                              const std::vector<undone_turn>& x,
                                              interrupts& signals);
  void record_taken_back(const session_snapshot& whole,
                         const std::vector<undone_turn>& x,
                         const std::vector<std::string>& changed);
  void context();
  void cost();
  void compact(interrupts& signals);
  void save(const std::string& file);
  [[nodiscard]] std::optional<session_snapshot> snapshot();
  [[nodiscard]] run_request request(std::string task) const;
  /// For the person, dim where there are colours.
  void note(std::string_view text);
  void complain(const error& x);

  run_command options_;  ///< as they are now
  named_use named_;
  config::config settings_;
  chat_prompt& prompt_;
  console& io_;
  bool color_;
  std::optional<runtime> rt_;
  std::optional<session_id> session_;
  std::optional<std::vector<named_choice>> prompts_;  ///< once asked for
  std::set<std::string> own_seen_;  ///< texts of a folder's commands
  std::set<run_id> idle_told_;      ///< turns that changed nothing
  bool unasked_ = false;            ///< the last line got no question, see `on`
  bool works_ = false;              ///< a run does …
  bool asks_ = false;               ///< … and began with a person to ask
  std::uint64_t seen_ = 0;  ///< runs of the session that the person knows
  looked_at looked_at_;
  std::vector<std::string> listed_models_;  ///< by the server, if it was asked
  std::string told_;              ///< output of commands, for the next task
  std::string* shown_ = nullptr;  ///< else what is written goes out at once
  std::string title_;             ///< for a session that has not begun
  std::function<void(const std::string&)> keep_queued_;
};

}  // namespace riffle::cli
