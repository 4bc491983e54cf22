// SPDX-License-Identifier: MIT
#pragma once

// What a person sees of many tasks at once: how each began and ended, above
// what goes on. Pure: events, time and size in, bytes out.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "messages/event.hpp"
#include "runtime/cli/view/work_view.hpp"
#include "runtime/service/requests.hpp"

namespace riffle::cli {

class volley_view : public work_view {
 public:
  /// Events from before `opened` are history: they count in no time.
  volley_view(const view_options& options, std::vector<std::string> titles,
              wall_time opened = {});

  /// A run of the task begins; `again`: it had one before.
  screen_writes begun(std::size_t task, bool again, time_point now,
                      view_size size);
  /// An event of its run.
  screen_writes on(std::size_t task, const event& x, view_size size);
  /// Nothing more comes of the task.
  screen_writes over(const task_result& x, time_point now, view_size size);

 private:
  struct time_span {
    wall_time first{};
    wall_time last{};
  };

  [[nodiscard]] std::uint64_t took(std::size_t task, duration seen) const;
  static std::string why_not(const task_result& x);

  std::vector<std::string> titles_;
  wall_time opened_;
  std::map<std::size_t, time_span> spans_;      ///< of events that came here
  std::map<std::string, std::size_t> reasons_;  ///< errors, where told first
};

}  // namespace riffle::cli
