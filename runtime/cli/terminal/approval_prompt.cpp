// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/approval_prompt.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "runtime/cli/terminal/editor.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

/// How often it is looked whether somebody else decided.
constexpr auto between_checks = std::chrono::milliseconds{250};

/// Longest wait for the event of an answer, which says what came of it: the
/// next question does not depend on it.
constexpr auto longest_settling = std::chrono::seconds{2};

constexpr std::size_t longest_line = 8192;

std::string text_of(const storage::decision_record& x) {
  auto out = std::string{to_string(x.how)} + " by " + safe_line(x.by, 64);
  if (!x.reason.empty()) out += ": " + safe_line(x.reason, 200);
  return out;
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
    : keyboard_{std::move(keyboard)}, around_{std::move(around)} {}

void approval_prompt::on(const event& x) {
  if (const auto* asked = std::get_if<events::approval_required>(&x.body))
    waiting_.push_back(*asked);
  const auto* answered = std::get_if<events::approval_resolved>(&x.body);
  if (answered == nullptr) return;
  if (settling_ == answered->proposal) settling_ = {};
  if (open_ && open_->id() == answered->proposal) open_.reset();
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

bool approval_prompt::in_foreground() const {
  const auto group = ::tcgetpgrp(keyboard_.get());
  return group < 0 || group == ::getpgrp();
}

void approval_prompt::ask() {
  open_.emplace(waiting_.front(), around_.screen());
  // What was typed before the question was seen is no answer to it.
  ::tcflush(keyboard_.get(), TCIFLUSH);
  typed_.clear();
  around_.show(open_->begin());
}

void approval_prompt::look(std::chrono::milliseconds limit) {
  if (!busy() || around_.stopped()) return;
  // Reading in the background would stop the whole process.
  if (!in_foreground()) {
    std::this_thread::sleep_for(limit);
    return close_if_decided();
  }
  if (!open_) {
    // A log that is shown from its beginning holds what was decided long ago.
    if (decided()) return waiting_.pop_front();
    ask();
  }
  pollfd ready{keyboard_.get(), POLLIN, 0};
  if (::poll(&ready, 1, static_cast<int>(limit.count())) <= 0)
    return close_if_decided();
  std::array<char, 1024> piece{};
  const auto n = ::read(keyboard_.get(), piece.data(), piece.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) {
    around_.show("\n");
    ++unanswered_;
    return decide({approval_answer::kind::no, "nobody is there to decide", {}});
  }
  typed_.append(piece.data(), static_cast<std::size_t>(n));
  for (auto end = typed_.find('\n'); open_ && end != std::string::npos;
       end = typed_.find('\n')) {
    const auto line = typed_.substr(0, end);
    typed_.erase(0, end + 1);
    act(open_->on_line(line));
  }
  if (!open_ || typed_.size() > longest_line) typed_.clear();
}

/// A narrow terminal has wrapped it.
std::string approval_prompt::erasure() const {
  if (!open_) return {};
  const auto columns = std::max<std::size_t>(1, around_.screen().columns);
  const auto above = (columns_of(open_->last_line()) - 1) / columns;
  return (above == 0 ? "\r" : "\r\x1b[" + std::to_string(above) + "A") +
         std::string{"\x1b[J"};
}

void approval_prompt::show_again() {
  if (open_) around_.show(open_->last_line());
}

void approval_prompt::leave() {
  if (!open_) return;
  open_.reset();
  around_.show("\n");
}

void approval_prompt::act(const dialog_step& step) {
  if (!step.show.empty()) around_.show(step.show);
  if (step.edit) edit();
  if (step.decided) decide(*step.decided);
}

void approval_prompt::edit() {
  const auto text =
      edit_text(open_->editable(), keyboard_.get(), around_.stopped);
  if (text)
    act(open_->on_edited(*text));
  else
    around_.show(open_->refused(text.error().message));
}

void approval_prompt::decide(const approval_answer& answer) {
  using kind = approval_answer::kind;
  const auto& about = open_->about();
  decision x;
  x.approved = answer.what == kind::yes || answer.what == kind::always;
  x.always = answer.scope;
  x.reason = answer.what == kind::stop
                 ? "the user stopped " + around_.screen().stops
                 : answer.reason;
  x.arguments = answer.arguments;
  x.digest = about.digest;
  const auto result = around_.rt.decide(about.proposal, std::move(x));
  if (answer.what == kind::stop) around_.stop(about);
  if (!result) return around_.show(open_->refused(result.error().message));
  switch (result->verdict) {
    case decision_verdict::accepted: return close("");
    case decision_verdict::too_late:
      return close(result->now && result->now->decided
                       ? "This was decided already: " +
                             text_of(*result->now->decided)
                       : "This was decided already.");
    case decision_verdict::stale:
      return close("This is not what was asked about; nothing was decided.");
    case decision_verdict::unknown: return close("This proposal is gone.");
  }
}

/// The question is over; the event that says so may still be on its way.
void approval_prompt::close(const std::string& why) {
  if (!why.empty()) around_.show(why + "\n");
  settling_ = waiting_.front().proposal;
  settling_until_ = std::chrono::steady_clock::now() + longest_settling;
  open_.reset();
  waiting_.pop_front();
}

void approval_prompt::close_if_decided() {
  const auto now = std::chrono::steady_clock::now();
  if (now - checked_ < between_checks) return;
  checked_ = now;
  if (const auto found = decided())
    close("\nDecided elsewhere: " + text_of(*found));
}

/// What came of the first that waits, if the journal knows it.
std::optional<storage::decision_record> approval_prompt::decided() const {
  proposal_filter filter;
  filter.id = waiting_.front().proposal;
  const auto found = around_.rt.proposals(filter);
  if (!found || found->empty()) return std::nullopt;
  return found->front().decided;
}

}  // namespace riffle::cli
