// SPDX-License-Identifier: MIT
#include "runtime/cli/view/work_view.hpp"

#include <algorithm>
#include <iterator>

#include "runtime/base/text.hpp"
#include "runtime/cli/markdown/markdown.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/settled_width.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t tasks_with_bar = 20;

/// Half of the screen stays with what was said.
std::size_t most_rows(view_size size) {
  constexpr std::size_t least = 2;
  constexpr std::size_t most = 12;
  return std::clamp(size.rows / 2, least, most);
}

std::string bar(std::size_t done, std::size_t all) {
  constexpr std::size_t width = 18;  // with all else within 80
  const auto full = all == 0 ? width : done * width / all;
  return "[" + std::string(full, '#') + std::string(width - full, '-') + "]";
}

/// The line that is typed, and as much as there is room for of a list below it.
std::string typed_rows(std::string_view lines, std::size_t columns,
                       std::size_t most) {
  std::string out;
  while (!lines.empty() && most-- > 0) {
    const auto end = std::min(lines.find('\n'), lines.size());
    out += fit(lines.substr(0, end), columns) + "\n";
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

}  // namespace

work_view::work_view(const view_options& options, work_layout layout)
    : options_{options},
      screen_{options.status, layout.several || options.out_terminal},
      layout_{layout} {
  if (!layout.several) working_.try_emplace(0, options);
}

void work_view::append(screen_writes& out, screen_writes more) {
  out.insert(out.end(), std::move_iterator{more.begin()},
             std::move_iterator{more.end()});
}

std::string work_view::place(std::size_t task) const {
  return "[" + std::to_string(task + 1) + "/" + std::to_string(all_) + "]";
}

void work_view::seen(time_point now) {
  if (!began_) began_ = now;
  for (auto& [task, x] : working_) x.seen(now);
}

task_view* work_view::working(std::size_t task) {
  const auto found = working_.find(task);
  return found == working_.end() ? nullptr : &found->second;
}

std::string work_view::begin(std::size_t task, std::string title, bool again,
                             time_point now, std::size_t columns) {
  if (!again) working_.erase(task);
  auto& x =
      working_.try_emplace(task, options_, place(task), title).first->second;
  seen(now);
  if (again) x.begin_again(now, std::move(title));
  if (cancelling_ && !layout_.together) x.cancelling();
  // Where it has a row, that says it.
  return quiet() || x.folds() ? std::string{} : x.begin_line(columns);
}

std::string work_view::end(std::size_t task, task_end x, std::size_t columns) {
  ended_before(x.well);
  std::string lines;
  std::string folded;
  if (const auto found = working_.find(task); found != working_.end()) {
    ++watched_;
    lines = found->second.end(x.well);
    if (x.took_ms) x.waited = found->second.waited(*x.took_ms);
    folded = found->second.folded();
    x.cut = found->second.cut_text();
    working_.erase(found);
  }
  if (quiet()) return lines;
  return lines + end_line(x, place(task), folded, columns, options_.color);
}

void work_view::ended_before(bool well) {
  ++ended_;
  if (!well) ++failed_;
}

screen_writes work_view::answer(std::string_view text) {
  auto out = screen_.clear();
  append(out, screen_.text(text));
  return out;
}

std::string work_view::whole_answer(const std::string& text,
                                    std::size_t columns) const {
  if (!options_.out_terminal) return text;
  if (!options_.rendered) return safe_text(text);
  markdown x{options_.styled};
  auto out = x.on(safe_text(text), columns);
  return out + x.finish(columns);
}

screen_writes work_view::leave_line() {
  auto out = screen_.clear();
  append(out, screen_.leave_line());
  return out;
}

/// Where many work the sum says it for all.
void work_view::cancelling() {
  cancelling_ = true;
  if (layout_.together) return;
  for (auto& [task, x] : working_) x.cancelling();
}

std::string work_view::doing(std::size_t columns) const {
  if (!layout_.several) return working_.at(0).doing(columns);
  if (all_ == 0) return "starting";
  const auto* told = told_of();
  if (!cancelling_ && told != nullptr && told->second.asks_since())
    return told->second.doing(columns);
  const auto of = " of " + std::to_string(all_);
  auto out = layout_.together || told == nullptr
                 ? std::to_string(ended_) + of + " ended"
                 : "step " + std::to_string(told->first + 1) + of;
  if (cancelling_) return fit(out + " – cancelling", columns);
  if (told == nullptr) return fit(out, columns);
  out += " – ";
  const auto used = columns_of(out);
  return fit(out + told->second.doing(columns > used ? columns - used : 1),
             columns);
}

/// Whose work the title tells: who asked first, else one whose tools work.
/// Null: nobody works.
const work_view::working_task* work_view::told_of() const {
  const working_task* asks = nullptr;
  const working_task* busy = nullptr;
  for (const auto& x : working_) {
    const auto since = x.second.asks_since();
    if (since && (asks == nullptr || *since < *asks->second.asks_since()))
      asks = &x;
    if (busy == nullptr && x.second.busy()) busy = &x;
  }
  if (asks != nullptr) return asks;
  if (busy != nullptr) return busy;
  return working_.empty() ? nullptr : &*working_.begin();
}

std::string work_view::wrapped(std::string lines, std::size_t columns) const {
  if (!options_.status || columns == 0) return lines;
  return wrap_lines(lines, columns + 1);  // they may fill a row
}

std::string work_view::rest() {
  std::string out;
  for (auto& [task, x] : working_) out += x.rest();
  return out;
}

screen_writes work_view::tick(time_point now, view_size size) {
  seen(now);
  auto out = show(rest(), size.columns);
  append(out, draw(now, size));
  return out;
}

screen_writes work_view::draw(time_point now, view_size size) {
  constexpr std::size_t narrowest = 4;
  pulled_ = is_pulled(now, size);
  if (size.columns < narrowest || !screen_.due(now)) return {};
  const bool busy = layout_.several || !typing_.empty() ||
                    std::ranges::any_of(working_, [](const auto& x) {
                      return x.second.busy();
                    });
  return screen_.draw(status(now, size), busy, now, size.columns);
}

/// A window that is being pulled: what is drawn for the size of this moment is
/// shown by one that is smaller by then, and what leaves that at its top, or
/// is wrapped into its history, nobody can erase.
bool work_view::is_pulled(time_point now, view_size size) {
  const auto before = std::exchange(size_, size);
  if (before && *before != size) {
    pulled_at_ = now;
    screen_.hurry();
  }
  return pulled_at_ && now - *pulled_at_ < settled_width::quiet;
}

/// All that work, as many as fit, each with as many of its rows as there is
/// room for; their sum; what is typed. The last two while a window is pulled.
std::string work_view::status(time_point now, view_size size) const {
  const auto columns = size.columns - 1;  // a full line makes some wrap
  auto left = most_rows(size) - (layout_.several ? 1 : 0);
  const bool brief = pulled_ && layout_.several;
  auto shown = brief ? 0 : std::min(working_.size(), left);
  const auto hidden = brief ? 0 : working_.size() - shown;
  left -= shown;
  std::string out;
  for (auto x = working_.begin(); shown > 0; ++x, --shown) {
    const auto more = std::min(left / shown, x->second.wanted_rows() - 1);
    left -= more;
    out += x->second.rows(now, columns, more + 1);
  }
  if (layout_.several) out += fit(sum(now, hidden), columns) + "\n";
  const auto used = static_cast<std::size_t>(std::ranges::count(out, '\n')) + 1;
  out += typed_rows(typing_, columns, std::max(size.rows, used + 1) - used);
  out.pop_back();
  return out;
}

/// Who asks does not work; of a run alone other tools may.
std::string work_view::beside_question(time_point now, std::size_t more,
                                       std::size_t columns) const {
  if (!options_.status) return {};
  if (!layout_.several) return working_.at(0).tools_row(now, columns);
  auto out = std::to_string(ended_) + "/" + std::to_string(all_) + " ended";
  const auto say = [&](std::size_t n, const char* one, const char* many) {
    if (n > 0) out += ", " + std::to_string(n) + (n == 1 ? one : many);
  };
  say(failed_, " failed", " failed");
  const auto busy = working_.size();
  say(busy - std::min(busy, more + 1), " works", " work");
  say(more, " more question", " more questions");
  if (layout_.together) say(all_ - ended_ - busy, " waits", " wait");
  if (cancelling_) out += ", cancelling";
  return out + " — " + short_duration(watched_ms(now));
}

std::string work_view::sum(time_point now, std::size_t hidden) const {
  const auto time = watched_ms(now);
  const bool long_one = all_ > tasks_with_bar;
  std::string out;
  if (long_one) out = bar(ended_, all_) + " ";
  out += std::to_string(ended_) + "/" + std::to_string(all_) + " ended";
  const auto say = [&](std::size_t n, const char* one, const char* many) {
    if (n > 0) out += ", " + std::to_string(n) + (n == 1 ? one : many);
  };
  say(failed_, " failed", " failed");
  say(hidden, " more runs", " more run");
  if (layout_.together) say(all_ - ended_ - working_.size(), " waits", " wait");
  if (cancelling_) out += ", cancelling";
  out += " — " + short_duration(time);
  if (long_one && watched_ > 0 && ended_ < all_)
    out += ", about " + short_duration(time * (all_ - ended_) / watched_) +
           " left";
  return out;
}

}  // namespace riffle::cli
