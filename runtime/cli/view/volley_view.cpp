// SPDX-License-Identifier: MIT
#include "runtime/cli/view/volley_view.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_title = 200;
constexpr std::size_t tasks_with_bar = 20;
constexpr std::size_t most_reasons = 100;  ///< that are remembered

std::uint64_t in_ms(duration x) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(x).count());
}

std::string bar(std::size_t done, std::size_t all) {
  constexpr std::size_t width = 20;
  const auto full = all == 0 ? width : done * width / all;
  return "[" + std::string(full, '#') + std::string(width - full, '-') + "]";
}

}  // namespace

volley_view::volley_view(view_options options, std::vector<std::string> titles,
                         wall_time opened)
    : options_{options},
      titles_{std::move(titles)},
      opened_{opened},
      screen_{options.status} {
  for (auto& x : titles_) x = safe_line(x, longest_title);
}

std::string volley_view::place(std::size_t task) const {
  return "[" + std::to_string(task + 1) + "/" + std::to_string(titles_.size()) +
         "]";
}

screen_writes volley_view::begun(std::size_t task, bool again, time_point now,
                                 view_size size) {
  if (!began_) began_ = now;
  first_begun_.try_emplace(task, now);
  auto& x =
      running_
          .try_emplace(task, options_, place(task), titles_[task], true, now)
          .first->second;
  if (again) x.begin_again(now, titles_[task]);
  // Where it has a row that says it.
  if (options_.level == verbosity::quiet || x.folds()) return {};
  return screen_.lines(x.begin_line(size.columns));
}

screen_writes volley_view::on(std::size_t task, const event& x,
                              view_size size) {
  const auto found = running_.find(task);
  if (found == running_.end()) return {};
  // This may be behind its events, which know when they happened.
  if (x.at > opened_) {
    auto& span = spans_.try_emplace(task, time_span{x.at, x.at}).first->second;
    span.last = x.at;
  }
  return screen_.lines(found->second.on(x, size.columns));
}

screen_writes volley_view::over(const task_result& x, time_point now,
                                view_size size) {
  std::string lines;
  std::string folded;
  if (const auto found = running_.find(x.task); found != running_.end()) {
    lines = found->second.end(x.status == task_status::completed);
    folded = found->second.folded();
    running_.erase(found);
  }
  return screen_.lines(lines + end_line(x, folded, now, size));
}

std::string volley_view::end_line(const task_result& x,
                                  const std::string& folded, time_point now,
                                  view_size size) {
  ++done_;
  const bool good = x.status == task_status::completed;
  if (!good) ++failed_;
  const auto begun = first_begun_.find(x.task);
  if (begun == first_begun_.end() && x.run) return {};  // it had ended before
  if (begun != first_begun_.end()) ++ran_;
  if (options_.level == verbosity::quiet) return {};
  const auto columns = size.columns > 0 ? size.columns : file_columns;
  std::string end;
  if (begun != first_begun_.end())
    end =
        " (" + short_duration(took(x.task, now - begun->second)) + folded + ")";
  if (x.attempts > 1) end += ", " + std::to_string(x.attempts) + " runs";
  const char* sign = good ? "✓" : "✗";
  if (x.status == task_status::not_run) sign = "·";
  const auto why = why_not(x);
  const auto known = why.empty() ? reasons_.end() : reasons_.find(why);
  if (known != reasons_.end()) end += ", as " + place(known->second);
  const auto head = place(x.task) + " ";
  const auto used = columns_of(head) + 3 + columns_of(end);
  auto line = head + painted(sign, good ? "32" : "31", options_.color) + " " +
              fit(titles_[x.task], columns > used ? columns - used : 1) + end +
              "\n";
  if (why.empty() || known != reasons_.end()) return line;
  if (reasons_.size() < most_reasons) reasons_.emplace(why, x.task);
  return line + std::string(columns_of(head) + 2, ' ') + why + "\n";
}

std::string volley_view::why_not(const task_result& x) {
  if (x.status == task_status::completed) return {};
  if (x.status == task_status::not_run) return "not run";
  if (!x.failure) return std::string{to_string(x.status)};
  const auto& why = *x.failure;
  return (why.code == errc::cancelled
              ? std::string{}
              : std::string{to_string(why.code)} + ": ") +
         safe_line(why.message, longest_title);
}

/// In ms, of all its runs with the pauses between; `seen`: as far as events
/// do not say.
std::uint64_t volley_view::took(std::size_t task, duration seen) const {
  const auto span = spans_.find(task);
  if (span == spans_.end()) return in_ms(seen);
  const auto us = span->second.last.us - span->second.first.us;
  return us > 0 ? static_cast<std::uint64_t>(us) / 1000 : 0;
}

screen_writes volley_view::answer(std::string_view text) {
  auto out = screen_.clear();
  auto more = screen_.text(text);
  out.insert(out.end(), std::move_iterator{more.begin()},
             std::move_iterator{more.end()});
  return out;
}

screen_writes volley_view::tick(time_point now, view_size size) {
  constexpr std::size_t narrowest = 10;
  if (!began_) began_ = now;
  std::string waited;
  for (auto& [task, x] : running_) waited += x.rest();
  auto out = screen_.lines(waited);
  if (size.columns < narrowest || !screen_.due(now)) return out;
  auto more = screen_.draw(status(now, size), true, now, size.columns);
  out.insert(out.end(), std::move_iterator{more.begin()},
             std::move_iterator{more.end()});
  return out;
}

/// The last row is the sum.
std::string volley_view::status(time_point now, view_size size) const {
  const auto columns = size.columns - 1;  // a full line makes some wrap
  std::vector<const task_view*> all;
  for (const auto& [task, x] : running_) all.push_back(&x);
  std::size_t hidden = 0;
  const auto rows = rows_of(all, now, columns, status_rows(size) - 1, hidden);
  return rows + sum_line(now, hidden, columns);
}

std::string volley_view::sum_line(time_point now, std::size_t hidden,
                                  std::size_t columns) const {
  const auto all = titles_.size();
  const auto took = now - began_.value_or(now);
  std::string out;
  if (all > tasks_with_bar) out = bar(done_, all) + " ";
  out += std::to_string(done_) + "/" + std::to_string(all) + " done";
  if (failed_ > 0) out += ", " + std::to_string(failed_) + " not well";
  if (hidden > 0) out += ", " + std::to_string(hidden) + " more run";
  const auto waiting = all - done_ - running_.size();
  if (waiting > 0) out += ", " + std::to_string(waiting) + " wait";
  if (cancelling_) out += ", cancelling";
  out += " — " + short_duration(in_ms(took));
  if (all > tasks_with_bar && ran_ > 0 && done_ < all)
    out += ", about " + short_duration(in_ms(took) * (all - done_) / ran_) +
           " left";
  return fit(out, columns);
}

}  // namespace riffle::cli
