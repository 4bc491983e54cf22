// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/asking.hpp"

#include <cstdlib>
#include <memory>
#include <unistd.h>
#include <utility>

#include "runtime/cli/terminal/terminal_kind.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/output_text.hpp"
#include "runtime/cli/view/run_output.hpp"

namespace riffle::cli {

namespace {

/// How often something quiet is looked at, and its status drawn.
constexpr auto look = std::chrono::milliseconds{100};

/// The same where somebody may type, who wants to see each key.
constexpr auto quick_look = std::chrono::milliseconds{20};

/// The same behind text, which has taken the status away: nobody shall see
/// that it was gone. Longer than `screen::behind_text`.
constexpr auto look_behind_text = std::chrono::milliseconds{12};

constexpr std::size_t title_columns = 50;

/// The tasks that a person has stopped at a question.
class stopped_tasks {
 public:
  explicit stopped_tasks(const asked_work& of)
      : stop_{of.stop}, task_of_{of.task_of} {}

  void stop(const events::approval_required& about) {
    all_.insert(task_of(about));
    stop_(about);
  }
  [[nodiscard]] bool has(const events::approval_required& x) const {
    return !all_.empty() && all_.contains(task_of(x));
  }

 private:
  using task = std::optional<std::size_t>;

  [[nodiscard]] task task_of(const events::approval_required& x) const {
    return task_of_ ? task_of_(x.proposal) : task{};
  }

  std::function<void(const events::approval_required&)> stop_;
  std::function<task(const proposal_id&)> task_of_;
  std::set<task> all_;
};

std::optional<approval_prompt> prompt_for(std::optional<unique_fd>& keyboard,
                                          asked_work about, work_output& output,
                                          const common_options& options,
                                          const interrupts& signals,
                                          const console& io) {
  std::optional<approval_prompt> out;
  if (!keyboard) return out;
  const bool color = use_color(options, io.err);
  const auto stopped = std::make_shared<stopped_tasks>(about);
  out.emplace(
      std::move(*keyboard),
      approval_prompt::surroundings{
          about.rt, [stopped](const auto& x) { stopped->stop(x); },
          [&output](const std::string& text) { output.interject(text); },
          [&signals] { return signals.asked_to_stop(); },
          [&io, color, stops = std::move(about.stops)] {
            return dialog_options{io.err.columns(),    io.err.rows(), color,
                                  locale_lacks_utf8(), !can_erase(),  stops};
          },
          about.typing,
          [&output](std::size_t more) { return output.beside_question(more); },
          [&output](const proposal_id& x) { output.decided_here(x); },
          [&output](const proposal_id& x, std::string left_out) {
            output.stands_asked(x, std::move(left_out));
          },
          std::move(about.decides),
          [stopped](const auto& x) { return stopped->has(x); }});
  return out;
}

}  // namespace

void open_questions::on(const event& x) {
  if (const auto* asked = std::get_if<events::approval_required>(&x.body)) {
    open_.insert(asked->proposal.value);
    told_ = false;
  }
  if (const auto* done = std::get_if<events::approval_resolved>(&x.body))
    open_.erase(done->proposal.value);
}

std::string open_questions::on_quiet() {
  if (open_.empty() || std::exchange(told_, true)) return {};
  const auto n = open_.size();
  return "[APPROVAL] " + of_ + " waits for " +
         (n == 1 ? std::string{"a decision"}
                 : std::to_string(n) + " decisions") +
         " (approve, deny or edit):\n  riffle proposals list\n" +
         approve_lines(open_);
}

std::string approve_lines(const std::set<std::string>& ids) {
  std::string text;
  std::size_t named = 0;
  for (const auto& id : ids) {
    if (named++ == most_named) break;
    text += "  riffle proposals approve " + id + "\n";
  }
  return text;
}

watched_work::watched_work(work_output& output,
                           std::optional<unique_fd>& keyboard, asked_work about,
                           const common_options& options,
                           const show_options& show, const interrupts& signals,
                           console& io)
    : output_{output},
      show_{show},
      signals_{signals},
      io_{io},
      title_{output.has_status(), io.err},
      log_{io.log},
      nobody_{about.what},
      typing_{about.typing},
      prompt_{prompt_for(keyboard, std::move(about), output, options, signals,
                         io)} {
  stop_echo();
}

/// A key that is echoed stands within the rows, and each Enter leaves a copy
/// of them. It waits for who reads the terminal next.
void watched_work::stop_echo() {
  if (typing_ != nullptr || !output_.has_status()) return;
  if (!echo_ && is_in_foreground(STDERR_FILENO)) echo_.emplace(STDERR_FILENO);
  if (echo_) echo_->set(typing_mode::quiet);
}

/// For who sets the terminal in his own way; what he has set stays.
void watched_work::echo_again() {
  if (echo_ && echo_->now() == typing_mode::quiet)
    echo_->set(typing_mode::lines);
}

void watched_work::on(const event& x) {
  if (typing_ != nullptr) {
    if (std::holds_alternative<events::step_start>(x.body)) typing_->on_step();
    if (const auto* said = std::get_if<events::user_message>(&x.body))
      typing_->on_heard(said->text);
  }
  if (!prompt_) return nobody_.on(x);
  prompt_->on(x);
  if (std::holds_alternative<events::approval_required>(x.body))
    ring(show_, "a call waits for your answer", io_);
}

/// Ctrl-Z: nothing that does not stay is left to the shell.
void watched_work::stop_for_shell() {
  if (prompt_) prompt_->stand_aside();
  output_.leave_line();
  title_.step_aside();
  if (typing_) typing_->step_aside();
  echo_again();
  suspension_.stop();
  if (typing_) typing_->come_back();
  if (prompt_) prompt_->come_back();
}

void watched_work::look_once(const taker& take) {
  if (suspension_.asked()) stop_for_shell();
  const bool asks = prompt_ && prompt_->busy();
  title_.say(output_.doing(title_columns), asks != std::exchange(asks_, asks));
  if (prompt_ && signals_.asked_to_stop()) prompt_->leave();
  if (typing_) typing_->go_on();
  if (prompt_ && prompt_->busy() && !signals_.asked_to_stop()) {
    echo_again();
    prompt_->look(look);
    if (prompt_->busy()) return go_on_above(take);
  }
  stop_echo();
  const auto longest = came_ ? look_behind_text : typing_ ? quick_look : look;
  const bool waited = !came_;
  came_ = take(longest);
  if (!came_ && waited)
    output_.interject(wrap_lines(nobody_.on_quiet(), io_.err.columns()));
  if (signals_.asked_to_stop()) output_.cancelling();
  if (prompt_ && prompt_->busy()) return;
  show_log();
  if (typing_) {
    typing_->look();
    output_.aside(typing_->take_answers());
    output_.typing(output_.has_status() ? typing_->draft_with_list()
                                        : typing_->draft());
  }
  output_.tick(std::chrono::steady_clock::now());
}

/// While a person thinks, what happens stands above the question, which is
/// written again below it. Where nothing can be erased it waits in the log.
void watched_work::go_on_above(const taker& take) {
  constexpr int most = 100;
  if (prompt_->erasure().empty()) return;
  output_.cover([this] { return prompt_->give_way(); });
  if (typing_) output_.interject(typing_->take_answers());
  for (int i = 0; i < most && prompt_->busy() && take({}); ++i) continue;
  prompt_->uncovered(output_.uncover());
}

std::string last_output(runtime& rt, const call_id& id) {
  const auto kept = rt.output(id);
  return kept ? end_of({kept->file, kept->text}) : std::string{};
}

void tell_unasked(std::uint32_t calls, const std::string& it,
                  const common_options& options, console& io) {
  if (calls == 0 || options.level == verbosity::quiet) return;
  io.complain(
      (calls == 1 ? std::string{"a call was"}
                  : std::to_string(calls) + " calls were") +
      " denied since nobody could be asked: run " + it +
      " at a terminal, choose by --approve ask|all|none, or allow such calls "
      "by rules of the configuration");
}

void ring(const show_options& show, std::string_view what, console& io) {
  if (!show.notify || !io.err.is_terminal()) return;
  const char* term = std::getenv("TERM");
  std::string out;
  if (term && std::string_view{term} != "dumb")
    out.append("\x1b]9;Riffle: ").append(what).append("\x1b\\");
  io.err.write(out + "\a");
}

}  // namespace riffle::cli
