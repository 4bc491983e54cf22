// SPDX-License-Identifier: MIT
#pragma once

// What a person sees of many tasks at once: how each ended, and below that, as
// it changes, a row for each that works, its traces and their sum. Pure:
// events, time and size in, bytes out.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/event.hpp"
#include "runtime/cli/terminal/live_view.hpp"
#include "runtime/cli/terminal/screen.hpp"
#include "runtime/cli/view/task_view.hpp"
#include "runtime/service/requests.hpp"

namespace riffle::cli {

class volley_view {
 public:
  /// Events from before `opened` are history: they count in no time.
  volley_view(view_options options, std::vector<std::string> titles,
              wall_time opened = {});

  /// False: text and reasoning need not be read at all.
  [[nodiscard]] bool wants_text() const noexcept {
    return options_.status || options_.reasoning;
  }

  /// A run of the task begins; `again`: it had one before.
  screen_writes begun(std::size_t task, bool again, time_point now,
                      view_size size);
  /// An event of its run.
  screen_writes on(std::size_t task, const event& x, view_size size);
  /// Nothing more comes of the task.
  screen_writes over(const task_result& x, time_point now, view_size size);
  /// About every 100 ms.
  screen_writes tick(time_point now, view_size size);

  /// Text for the person; its last line may be open.
  screen_writes interject(std::string_view text) { return screen_.lines(text); }
  /// For standard output.
  screen_writes answer(std::string_view text);
  screen_writes hide_status() { return screen_.clear(); }
  void cancelling() { cancelling_ = true; }
  [[nodiscard]] cursor_place cursor() const noexcept {
    return screen_.cursor();
  }

  /// "[2/3]"
  [[nodiscard]] std::string place(std::size_t task) const;

 private:
  struct time_span {
    wall_time first{};
    wall_time last{};
  };

  [[nodiscard]] std::uint64_t took(std::size_t task, duration seen) const;
  static std::string why_not(const task_result& x);
  std::string end_line(const task_result& x, const std::string& folded,
                       time_point now, view_size size);
  [[nodiscard]] std::string status(time_point now, view_size size) const;
  [[nodiscard]] std::string sum_line(time_point now, std::size_t hidden,
                                     std::size_t columns) const;

  view_options options_;
  std::vector<std::string> titles_;
  wall_time opened_;
  screen screen_;
  std::map<std::size_t, task_view> running_;
  std::map<std::size_t, time_point> first_begun_;
  std::map<std::size_t, time_span> spans_;      ///< of events that came here
  std::map<std::string, std::size_t> reasons_;  ///< errors, where told first
  std::optional<time_point> began_;
  std::size_t done_ = 0;
  std::size_t failed_ = 0;
  std::size_t ran_ = 0;  ///< of those that are done, the ones that began here
  bool cancelling_ = false;
};

}  // namespace riffle::cli
