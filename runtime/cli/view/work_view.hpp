// SPDX-License-Identifier: MIT
#pragma once

// What goes on, as a person watches it: the tasks that work, with their calls,
// traces and thoughts, how many have ended, and what is typed. A run, a
// conversation, a volley and a plan are all this; they differ in what they say
// above it, and in its layout. Pure: events, time and size in, bytes out.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "messages/event.hpp"
#include "runtime/cli/terminal/screen.hpp"
#include "runtime/cli/view/task_view.hpp"
#include "runtime/cli/view/view_options.hpp"

namespace riffle::cli {

struct work_layout {
  bool several = true;    ///< each has a place and a title, a sum is below
  bool together = false;  ///< they work at the same time
};

class work_view {
 public:
  work_view(const view_options& options, work_layout layout);
  virtual ~work_view() = default;
  work_view(const work_view&) = delete;
  work_view& operator=(const work_view&) = delete;

  /// False: text and reasoning need not be read at all.
  [[nodiscard]] virtual bool wants_text() const noexcept {
    return options_.status || options_.reasoning;
  }

  [[nodiscard]] bool has_status() const noexcept { return options_.status; }
  /// Whether the end of what this call put out is shown, or a part of it.
  [[nodiscard]] bool wants_end_of(const events::tool_result& x) const noexcept {
    return x.how == outcome::failed || options_.level == verbosity::verbose ||
           (options_.status && !layout_.several && x.tool == "bash");
  }
  /// What it says stands on the terminal to which answers go.
  [[nodiscard]] bool stays_on_screen() const noexcept {
    return options_.status && options_.out_terminal;
  }

  /// Call it about every 100 ms.
  virtual screen_writes tick(time_point now, view_size size);
  /// Text for the person; its last line may be open.
  virtual screen_writes interject(std::string_view text) {
    return screen_.lines(text);
  }
  /// Whole lines about what goes on beside the work, not within an answer.
  virtual screen_writes note(std::string_view lines, std::size_t columns) {
    return show(std::string{lines}, columns);
  }
  /// Whole lines that a person asked for meanwhile: soon, and not within a
  /// paragraph, if that can be.
  virtual screen_writes aside(std::string_view lines, time_point /*now*/) {
    return interject(lines);
  }
  /// For standard output.
  screen_writes answer(std::string_view text);
  /// What a model answered, as it goes there: at a terminal harmless, and its
  /// Markdown as people see it, unless they want it raw.
  [[nodiscard]] std::string whole_answer(const std::string& text,
                                         std::size_t columns) const;
  screen_writes hide_status() { return screen_.clear(); }
  /// Somebody else writes to the terminal now: the cursor stands on an empty
  /// line.
  virtual screen_writes leave_line();

  /// The user asked for the end.
  void cancelling();
  /// A person has decided it at this terminal.
  void decided_here(const proposal_id& x) {
    for (auto& [task, view] : working_) view.decided_here(x);
  }
  /// Its question stands at this terminal, all but some lines of it.
  void stands_asked(const proposal_id& x, const std::string& left_out) {
    for (auto& [task, view] : working_) view.stands_asked(x, left_out);
  }
  /// What a person types meanwhile, and a list below it, shown below all else;
  /// may be empty.
  void typing(std::string line) {
    if (line != typing_) screen_.hurry();
    typing_ = std::move(line);
  }

  /// What goes on, in a few words: "2 of 5 ended – Running: make"; before all
  /// what waits for a person.
  [[nodiscard]] std::string doing(std::size_t columns) const;
  /// The sum of it beside a question that hides the rows, with so many more
  /// that wait; "" where there is none.
  [[nodiscard]] std::string beside_question(time_point now, std::size_t more,
                                            std::size_t columns) const;
  /// In ms, since it began to be watched.
  [[nodiscard]] std::uint64_t watched_ms(time_point now) const {
    return in_ms(now - began_.value_or(now));
  }
  /// Where the cursor stands.
  [[nodiscard]] cursor_place cursor() const noexcept {
    return screen_.cursor();
  }
  /// "[2/3]"
  [[nodiscard]] std::string place(std::size_t task) const;

 protected:
  static void append(screen_writes& out, screen_writes more);

  /// Of how many it will be told.
  void expect(std::size_t tasks) { all_ = tasks; }
  /// A task begins, or begins again; lines that say so.
  std::string begin(std::size_t task, std::string title, bool again,
                    time_point now, std::size_t columns);
  /// Null: it does not work.
  [[nodiscard]] task_view* working(std::size_t task);
  /// What stays of a task that ended.
  std::string end(std::size_t task, task_end x, std::size_t columns);
  /// It ended before anybody watched.
  void ended_before(bool well);

  /// As lines stay on the screen: broken at blanks, not inside of words.
  [[nodiscard]] std::string wrapped(std::string lines,
                                    std::size_t columns) const;
  screen_writes show(std::string lines, std::size_t columns) {
    return screen_.lines(wrapped(std::move(lines), columns));
  }

  /// Lines that waited for the next event.
  std::string rest();
  /// The rows of all that works, if it is time.
  screen_writes draw(time_point now, view_size size);
  void seen(time_point now);

  const view_options options_;
  screen screen_;

 private:
  [[nodiscard]] bool quiet() const {
    return options_.level == verbosity::quiet;
  }
  bool is_pulled(time_point now, view_size size);
  using working_task = std::pair<const std::size_t, task_view>;
  [[nodiscard]] const working_task* told_of() const;
  [[nodiscard]] std::string status(time_point now, view_size size) const;
  [[nodiscard]] std::string sum(time_point now, std::size_t hidden) const;

  const work_layout layout_;
  std::map<std::size_t, task_view> working_;
  std::optional<time_point> began_;
  std::string typing_;
  std::size_t all_ = 0;
  std::size_t ended_ = 0;
  std::size_t failed_ = 0;
  std::size_t watched_ = 0;  ///< of those that have ended
  bool cancelling_ = false;
  std::optional<view_size> size_;  ///< as it was last
  std::optional<time_point> pulled_at_;
  bool pulled_ = false;
};

}  // namespace riffle::cli
