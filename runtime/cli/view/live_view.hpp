// SPDX-License-Identifier: MIT
#pragma once

// What a person sees of one run, alone or in a conversation: traces and the
// model's text as it comes, above what goes on. Pure: events, time and width
// in, bytes out.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "messages/event.hpp"
#include "runtime/cli/markdown/markdown.hpp"
#include "runtime/cli/view/run_stats.hpp"
#include "runtime/cli/view/work_view.hpp"

namespace riffle::cli {

class live_view : public work_view {
 public:
  explicit live_view(const view_options& options);

  [[nodiscard]] bool wants_text() const noexcept override {
    return options_.live_text || work_view::wants_text();
  }
  /// Whether events of calls, and statuses, change what is shown.
  [[nodiscard]] bool wants_calls() const noexcept;

  /// The events of the run, in order. `columns`: of the terminal; 0: none.
  screen_writes on(const event& x, time_point now, std::size_t columns);

  screen_writes tick(time_point now, view_size size) override;
  screen_writes interject(std::string_view text) override;
  screen_writes note(std::string_view lines, std::size_t columns) override;
  screen_writes aside(std::string_view lines, time_point now) override;
  screen_writes leave_line() override;

  /// After the last event. `answer`: what is to stand on standard output;
  /// what stands there already is not repeated.
  screen_writes finish(const std::optional<std::string>& answer);

 private:
  [[nodiscard]] bool ends_text(const event& x) const;
  static bool may_end_text(const event& x);
  void pause_text(screen_writes& out);
  void settle_text(screen_writes& out);
  static bool begins_step(const event& x);
  [[nodiscard]] bool in_line() const;
  [[nodiscard]] bool waits(const event& x) const;
  void release(screen_writes& out);
  void on_text(screen_writes& out, std::string_view content, time_point now);
  void take_text(screen_writes& out, std::string_view content);
  void show_text(screen_writes& out, std::string text);
  void show_lines(screen_writes& out, std::string_view lines);
  void write_lines(screen_writes& out, std::string_view lines);
  void show_notes(screen_writes& out);
  [[nodiscard]] bool ends_block() const;
  void show_asides(screen_writes& out, time_point now);

  task_view& run_;
  run_stats stats_;
  markdown markdown_;
  std::size_t columns_ = 0;
  std::string shown_;         ///< of this step's text
  bool below_lines_ = false;  ///< traces stand right above what comes
  bool below_text_ = false;   ///< text of the model does
  bool next_text_ = false;    ///< and what comes is that of another step
  bool half_end_ = false;     ///< a '\r' came, and what follows is not known
  bool flows_ = false;        ///< text goes on in its open line
  bool speaks_ = false;       ///< an answer is being written here
  std::string notes_;         ///< lines that wait for its end
  std::string asides_;        ///< the same, for that of a paragraph
  time_point asides_since_{};
  std::optional<time_point> pauses_;  ///< since then it may have ended
  std::string held_;  ///< lines that wait for the end of a sentence
  time_point held_since_{};
  time_point text_at_{};  ///< when the last of it came
};

}  // namespace riffle::cli
