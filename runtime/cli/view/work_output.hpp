// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "messages/event.hpp"
#include "runtime/cli/terminal/fd_writer.hpp"
#include "runtime/cli/view/work_view.hpp"

namespace riffle::cli {

/// Where a view writes. Nobody else writes to the terminal meanwhile, but for
/// an open question, which is the last thing there.
class work_output {
 public:
  work_output(const work_output&) = delete;
  work_output& operator=(const work_output&) = delete;

  /// `f` is called with each event that is shown, behind it; `before` it is.
  void listen(std::function<void(const event&)> f,
              std::function<void(const event&)> before = {}) {
    listener_ = std::move(f);
    before_ = std::move(before);
  }

  /// Gives the end of what a call put out: of what was long, events have a part
  /// alone.
  void read_outputs(std::function<std::string(const call_id&)> f) {
    end_of_output_ = std::move(f);
  }

  /// About every 100 ms: keeps the status alive.
  void tick(time_point now) { write(view_->tick(now, size())); }

  /// Text for the person between what is shown; the last line may be open.
  void interject(std::string_view text) { write(view_->interject(text)); }

  /// The same about what goes on beside the work: an answer that is being
  /// written is not broken by it.
  void note(std::string_view lines) {
    write(view_->note(lines, err_.columns()));
  }

  /// What a person asked for, in whole lines: behind the paragraph that is
  /// being written, unless that is long.
  void aside(std::string_view lines) {
    write(view_->aside(lines, std::chrono::steady_clock::now()));
  }

  /// Somebody else writes to standard error now.
  void hide_status() { write(view_->hide_status()); }

  /// The same of all that stands there.
  void leave_line() { write(view_->leave_line()); }

  /// An open question stands at the end: `erasure` removes it before anything
  /// else is written.
  void cover(std::function<std::string()> erasure) {
    erasure_ = std::move(erasure);
  }
  /// The question may be the last thing again; whether it was removed.
  bool uncover();

  /// What a person types meanwhile.
  void typing(std::string line) { view_->typing(std::move(line)); }
  /// A person has decided it at this terminal.
  void decided_here(const proposal_id& x) { view_->decided_here(x); }
  void stands_asked(const proposal_id& x, std::string left_out) {
    view_->stands_asked(x, std::move(left_out));
  }
  /// The user asked for the end.
  void cancelling() { view_->cancelling(); }
  /// What goes on, in a few words.
  [[nodiscard]] std::string doing(std::size_t columns) const {
    return view_->doing(columns);
  }
  /// While a question hides what goes on: what is left to say of it.
  [[nodiscard]] std::string beside_question(std::size_t more_questions) const {
    return view_->beside_question(std::chrono::steady_clock::now(),
                                  more_questions, size().columns - 1);
  }
  [[nodiscard]] bool has_status() const noexcept { return view_->has_status(); }

 protected:
  /// What is said once nobody reads standard output any more.
  enum class unread : std::uint8_t { nothing, all };

  /// The writers outlive it.
  work_output(std::unique_ptr<work_view> view, fd_writer& out, fd_writer& err,
              unread then = unread::nothing)
      : out_{out}, err_{err}, view_{std::move(view)}, unread_{then} {}
  ~work_output() = default;

  [[nodiscard]] work_view& view() const noexcept { return *view_; }
  void write(const screen_writes& all);
  /// Of the terminal that there is.
  [[nodiscard]] std::size_t columns() const {
    return err_.is_terminal() ? err_.columns() : out_.columns();
  }
  /// Of standard error.
  [[nodiscard]] view_size size() const { return {err_.columns(), err_.rows()}; }
  /// Puts that end in place of the part, where it is shown.
  void complete(event& x) const;
  [[nodiscard]] bool reads_outputs() const noexcept {
    return static_cast<bool>(end_of_output_);
  }
  [[nodiscard]] std::string end_of_output(const call_id& x) const {
    return end_of_output_ ? end_of_output_(x) : std::string{};
  }
  void tell(const event& x) {
    if (listener_) listener_(x);
  }
  /// It is shown next.
  void announce(const event& x) {
    if (before_) before_(x);
  }

  fd_writer& out_;
  fd_writer& err_;

 private:
  const std::unique_ptr<work_view> view_;
  const unread unread_;
  std::function<void(const event&)> listener_;
  std::function<void(const event&)> before_;
  std::function<std::string(const call_id&)> end_of_output_;
  std::function<std::string()> erasure_;  ///< empty: no question is open
  bool uncovered_ = false;
};

}  // namespace riffle::cli
