// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/approval_prompt.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <termios.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "actors/tools/proposal_texts.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/suspension.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/chat_line.hpp"
#include "tools/registry.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_typed = 8192;

/// A letter of the question itself.
bool is_answer(const key& x) {
  return x.what == key_kind::text && is_answer_key(x.text);
}

/// Alone in the input line it would make one that looks empty, and keeps keys
/// from the question.
bool is_blank(const key& x) {
  return x.what == key_kind::text && x.text == " ";
}

}  // namespace

std::optional<unique_fd> open_keyboard(bool stdin_is_task) {
  if (::isatty(2) == 0) return std::nullopt;
  unique_fd fd{stdin_is_task ? ::open("/dev/tty", O_RDWR | O_CLOEXEC)
                             : ::fcntl(0, F_DUPFD_CLOEXEC, 3)};
  if (!fd || ::isatty(fd.get()) == 0) return std::nullopt;
  return fd;
}

approval_prompt::approval_prompt(unique_fd keyboard, surroundings around)
    : keyboard_{std::move(keyboard)},
      around_{std::move(around)},
      since_{system_wall_time()} {}

void approval_prompt::on(const event& x) {
  if (const auto* asked = std::get_if<events::approval_required>(&x.body);
      asked != nullptr && !(around_.ends && around_.ends(*asked)))
    waiting_.push_back(*asked);
  const auto* answered = std::get_if<events::approval_resolved>(&x.body);
  if (answered == nullptr) return;
  if (settling_ == answered->proposal) settling_ = {};
  if (const auto changed = changes_.find(answered->id);
      changed != changes_.end())
    changed->second.stale =
        answered->how == events::proposal_outcome::cancelled &&
        answered->reason == stale_reason;
  if (!answered->arguments.empty()) {
    auto& x = changes_[answered->id];
    x.here = x.here && tools::are_same_arguments(x.made, answered->arguments);
    x.made = answered->arguments;
  }
  if (open_ && open_->id() == answered->proposal) {
    const auto said = keep_part(answered->how, answered->reason);
    if (!said.empty() && answered->reason != withdrawn) say(said + "\n");
    if (const auto now_known = known())
      if (const auto allowed = allowed_by(*now_known); !allowed.empty())
        say(allowed + "\n");
    open_.reset();
    if (around_.typing != nullptr) around_.typing->beside_question();
  }
  // The one that is asked for is the first.
  const auto found = std::ranges::find(waiting_, answered->proposal,
                                       &events::approval_required::proposal);
  if (found != waiting_.end()) waiting_.erase(found);
}

bool approval_prompt::busy() const {
  if (waiting_.empty()) return false;
  return settling_.empty() ||
         std::chrono::steady_clock::now() >= settling_until_;
}

void approval_prompt::ask() {
  options_ = around_.screen();
  options_.line = around_.typing != nullptr;
  open_.emplace(waiting_.front(), options_);
  typed_.clear();
  reason_.clear();
  early_.clear();
  note_.clear();
  file_ = file_mark_now();
  outdated_ = false;
  keys_ = {};
  count_continues();
  continued_ = times_continued();
  has_picture_ = true;
  open_gate();
  if (const auto said = take_up_changes(); !said.empty()) say(said);
  is_plain() ? show_plain() : draw();
}

void approval_prompt::say(const std::string& lines) {
  const auto screen = around_.screen();
  around_.show(wrap_lines(lines, screen.plain ? 0 : screen.columns));
}

void approval_prompt::show_plain() {
  std::string text;
  for (const auto& row : open_->picture()) text += row + "\n";
  around_.show(text + open_->prompt());
  if (around_.shown) around_.shown(open_->about().proposal, open_->left_out());
}

/// A time before it can be seen: who answers later has had the time.
void approval_prompt::open_gate() {
  const bool before = typed_before();
  if (around_.typing != nullptr) around_.typing->beside_question();
  const auto now = std::chrono::steady_clock::now();
  const bool torn = std::exchange(torn_, false);
  const auto gone = std::exchange(gone_at_, {});
  // Who writes a reason looks at the keys: its letters answer nothing else.
  if (torn) return gate_.open_away(now);
  gate_.open(now, before);
  if (gone != std::chrono::steady_clock::time_point{})
    gate_.not_before(gone + answer_gate::quiet_behind_another);
}

bool approval_prompt::has_draft() const {
  return around_.typing != nullptr && !around_.typing->editor().text().empty();
}

/// Whether a Tab in the input line completes a name there.
bool approval_prompt::completes() const {
  if (around_.typing == nullptr) return false;
  const auto& line = around_.typing->editor();
  const auto before = std::string_view{line.text()}.substr(0, line.cursor());
  if (before.starts_with('/') && before.find_first_of(" \n/", 1) == before.npos)
    return true;
  return path_before(before).found;
}

/// Without an input line only characters are a text: who presses Enter behind a
/// letter, or takes back what stands nowhere, types nothing.
bool approval_prompt::means_nothing(const key& x) const {
  return around_.typing == nullptr && x.what != key_kind::text &&
         x.what != key_kind::tab && x.what != key_kind::end_of_input;
}

bool approval_prompt::typed_before() {
  if (is_plain()) {
    // What was typed before the question was seen is no answer to it.
    ::tcflush(keyboard_.get(), TCIFLUSH);
    return false;
  }
  if (around_.typing != nullptr) {
    around_.typing->look();
    if (const auto last = around_.typing->last_key()) gate_.typed(*last);
    return has_draft();
  }
  mode_ = std::make_unique<terminal_mode>(keyboard_.get());
  mode_->set(typing_mode::keys);
  bool found = false;
  pollfd ready{keyboard_.get(), POLLIN, 0};
  std::array<char, 4096> piece{};
  constexpr int most = 1000;  // somebody else may type for ever
  for (int i = 0; i < most && ::poll(&ready, 1, 0) > 0; ++i) {
    const auto n = ::read(keyboard_.get(), piece.data(), piece.size());
    if (n <= 0) break;
    for (const auto& x :
         keys_.feed({piece.data(), static_cast<std::size_t>(n)}))
      found = found || !means_nothing(x);
  }
  return found;
}

void approval_prompt::look(std::chrono::milliseconds limit) {
  if (!busy() || around_.stopped()) return;
  // Reading in the background would stop the whole process.
  if (!is_in_foreground(keyboard_.get())) {
    std::this_thread::sleep_for(limit);
    return close_if_decided();
  }
  if (!open_) {
    // A log that is shown from its beginning holds what was decided long ago.
    const auto found = known();
    // What was said before counts, unless no call at all is wanted now.
    const bool none = around_.decides && around_.decides() == approve::none;
    const auto is_settled = [&](const storage::proposal_record& x) {
      return !none && (is_covered(x) || is_answered(x));
    };
    if (found && (found->decided || is_settled(found->what))) {
      if (const auto allowed = allowed_by(*found); !allowed.empty())
        say(allowed + "\n");
      return waiting_.pop_front();
    }
  }
  if (decided_for_all()) return;
  if (!open_) ask();
  show_after_stop();
  if (!is_plain() &&
      width_.asks_for_drawing(around_.screen().columns, options_.columns,
                              std::chrono::steady_clock::now()))
    show_again();
  pollfd ready{keyboard_.get(), POLLIN, 0};
  const int found = ::poll(&ready, 1, static_cast<int>(limit.count()));
  // It may have been stopped while it waited: what was there to read is gone.
  if (show_after_stop()) return;
  if (found <= 0) {
    forget_early(std::chrono::steady_clock::now());
    take_escape();
    if (!is_plain() &&
        gate_.look(std::chrono::steady_clock::now(), has_draft()))
      show_again();
    look_beside();
    return close_if_decided();
  }
  std::array<char, 16384> piece{};
  const auto n = ::read(keyboard_.get(), piece.data(), piece.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) return on_no_line(n == 0);
  // Or between the wait and these: then they came with `fg`.
  if (show_after_stop() && is_plain()) return;
  if (is_about_to_stop()) return;
  const std::string_view bytes{piece.data(), static_cast<std::size_t>(n)};
  is_plain() ? take_lines(bytes) : take_keys(bytes);
}

/// Ctrl-D, where lines are read, or the terminal has gone.
void approval_prompt::on_no_line(bool ended) {
  remove_prompt();
  if (ended && is_plain() && ::isatty(keyboard_.get()) != 0)
    return decide({approval_answer::kind::no, {}, {}});
  ++unanswered_;
  decide({approval_answer::kind::no, "nobody is there to decide", {}});
}

// -- answers ------------------------------------------------------------------

void approval_prompt::take_lines(std::string_view bytes) {
  typed_.append(bytes);
  for (auto end = typed_.find('\n'); open_ && end != std::string::npos;
       end = typed_.find('\n')) {
    const auto line = typed_.substr(0, end);
    typed_.erase(0, end + 1);
    act(open_->on_line(line));
  }
  if (!open_ || typed_.size() > longest_typed) typed_.clear();
}

void approval_prompt::take_keys(std::string_view bytes) {
  const auto now = std::chrono::steady_clock::now();
  // A key behind it was meant for what stood there before.
  if (escape_at_ && keys_.drop_escape_before(bytes, now - *escape_at_))
    return on_escape();
  const auto keys = keys_.feed(bytes);
  const bool alone = keys.size() == 1 &&
                     (keys[0].what != key_kind::text ||
                      (keys[0].text == bytes &&
                       first_shown(keys[0].text).size == keys[0].text.size()));
  for (const auto& x : keys) {
    // What came behind an answer was typed before what follows it.
    if (!open_) return;
    on_key(x, alone);
  }
  if (!keys_.has_escape())
    escape_at_.reset();
  else if (!escape_at_)
    escape_at_ = now;
  if (open_ && !keys.empty()) show_again();
}

void approval_prompt::on_key(const key& x, bool alone) {
  if (open_->wants_text()) return on_reason(x);
  if (means_nothing(x)) return;
  const auto now = std::chrono::steady_clock::now();
  // Without an input line there is nothing to go to.
  const bool stays = around_.typing == nullptr && gate_.answers();
  if (stays && x.what == key_kind::tab) return gate_.typed(now);
  const bool tab = x.what == key_kind::tab && !gate_.answers();
  // Who asks for a second completion does not mean the question.
  constexpr auto same_word = std::chrono::seconds{1};
  if (tab && completed_at_ && now - *completed_at_ < same_word)
    return gate_.typed(now);
  if (tab && completes()) {
    gate_.typed(now);
    completed_at_ = now;
    return around_.typing->take({x});
  }
  switch (gate_.on(x, alone, now, has_draft())) {
    case key_goal::moved: return;
    case key_goal::answer: return on_answer(x);
    case key_goal::text: break;
  }
  if (around_.typing == nullptr) return;
  // Nobody waits for letters that a text begins with: it goes on at once.
  forget_early(now);
  const bool begins = alone && early_.empty() && !has_draft();
  if (begins && is_blank(x) && !gate_.away()) return;
  const bool answers_too_early = alone && !has_draft() && !gate_.away() &&
                                 is_answer(x) &&
                                 (early_.empty() || early_.back() == x);
  early_.push_back(x);
  early_at_ = now;
  if (!answers_too_early) around_.typing->take(std::exchange(early_, {}));
}

/// Answers that came too early, and nothing behind them, are no text either.
void approval_prompt::forget_early(std::chrono::steady_clock::time_point now) {
  if (now - early_at_ >= answer_gate::quiet_before) early_.clear();
}

void approval_prompt::on_answer(const key& x) {
  if (x.what == key_kind::enter) {
    // It answers nothing, and says what is queued as it does without one.
    if (around_.typing != nullptr && around_.typing->can_tell())
      around_.typing->take({x});
    return;
  }
  if (x.what == key_kind::end_of_input) {
    // Who is in a conversation leaves it, and that is no answer.
    if (around_.typing != nullptr) return around_.typing->take({x});
    return decide({approval_answer::kind::no, {}, {}});
  }
  const auto step =
      x.what == key_kind::text ? open_->on_key(x.text) : dialog_step{};
  if (!step.unknown) note_.clear();
  if (x.what == key_kind::text && !step.unknown) return act(step);
  gate_.not_an_answer(std::chrono::steady_clock::now());
  if (around_.typing != nullptr && (!is_blank(x) || has_draft()))
    around_.typing->take({x});
}

void approval_prompt::on_reason(const key& x) {
  if (x.what == key_kind::tab) {
    reason_.clear();
    return open_->back();
  }
  // An Enter that came with `fg` was not meant for it.
  if (x.what == key_kind::enter &&
      gate_.is_unread(std::chrono::steady_clock::now()))
    return;
  if (reason_.on(x) != editor_event::submitted) return;
  act(open_->on_line(reason_.take()));
}

void approval_prompt::act(const dialog_step& step) {
  // As [v]iew does where there was no room for all of it.
  const bool whole =
      !step.show.empty() && step.show == open_->what_it_does(true);
  if (whole && around_.shown) around_.shown(open_->about().proposal, {});
  if (!step.show.empty()) whole ? show_whole(step.show) : show_note(step.show);
  if (step.edit) is_plain() ? edit_in_lines() : edit();
  if (step.decided) return decide(*step.decided);
  if (is_plain() && open_ && !step.edit) around_.show(open_->prompt());
}

}  // namespace riffle::cli
