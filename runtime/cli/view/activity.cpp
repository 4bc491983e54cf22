// SPDX-License-Identifier: MIT
#include "runtime/cli/view/activity.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "actors/core/held_notice.hpp"
#include "actors/core/wait_notice.hpp"
#include "actors/core/writing_notice.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/call_text.hpp"
#include "runtime/cli/view/trace_writer.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_message = 200;

/// A token of English text has about four bytes (what providers say of their
/// tokenizers); good enough for a number that grows.
constexpr std::uint64_t bytes_of_a_token = 4;

/// So long a model that writes may say nothing before that is told.
constexpr auto silence = std::chrono::seconds{10};

constexpr std::array spinner = {"⠋", "⠙", "⠹", "⠸", "⠼",
                                "⠴", "⠦", "⠧", "⠇", "⠏"};

/// Calls end in about the order in which they began, so it is near the front.
template <class Calls>
void drop(Calls& calls, const call_id& id) {
  const auto found = std::ranges::find(
      calls, id, [](const auto& call) -> const call_id& { return call.id; });
  if (found != calls.end()) calls.erase(found);
}

/// Short: what a tool of somebody's own is called is the word behind it.
std::string without_using(const std::string& title) {
  constexpr std::string_view begin = "Using ";
  return title.starts_with(begin) ? title.substr(begin.size()) : title;
}

/// "title (progress)"; of both the end is cut if there is no room, and the
/// title first. Where little fits the title, which says what the call is about,
/// has all of it.
std::string in_room(const std::string& title, const std::string& progress,
                    std::size_t columns) {
  constexpr std::size_t brackets = 3;
  constexpr std::size_t little = 40;
  constexpr std::size_t least = 8;  // of what says anything
  const auto beside = progress.empty() ? 0 : columns_of(progress) + brackets;
  if (columns_of(title) + beside <= columns)
    return progress.empty() ? title : title + " (" + progress + ")";
  const auto name = without_using(title);
  const auto room = columns > brackets ? columns - brackets : 0;
  const auto left = room - std::min(room, columns_of(name));
  const auto most = columns < little ? left : std::max(room / 2, left);
  if (progress.empty() || most < std::min(least, columns_of(progress)))
    return fit(name, columns);
  const auto said = fit(progress, most);
  return fit(name, room - columns_of(said)) + " (" + said + ")";
}

}  // namespace

std::uint64_t in_ms(duration x) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(x).count());
}

bool activity::is_writing(std::string_view status) {
  return core::is_writing_notice(status);
}

void activity::on(const event& x) {
  const bool goes_on = std::holds_alternative<events::status>(x.body);
  if (!goes_on) writing_ = false;
  if (const auto* asked = std::get_if<events::approval_required>(&x.body))
    return on(*asked, x.at);
  std::visit([this](const auto& body) { on(body); }, x.body);
}

void activity::on(const events::step_start& x) {
  open_.clear();
  step_.clear();
  if (x.step > 1) step_ = ", step " + std::to_string(x.step);
  say(std::string{core::waiting_for_model} + step_);
}

void activity::on(const events::step_restarted& x) {
  open_.clear();
  say("asking the model again, attempt " + std::to_string(x.attempt));
}

void activity::on(const events::llm_token& x) {
  bytes_ += x.content.size();
  say("the model writes");
  spoke_ = now_;
}

void activity::on(const events::llm_reasoning& x) {
  bytes_ += x.content.size();
  say("the model thinks");
  spoke_ = now_;
}

void activity::on(const events::tool_call& x) {
  if (x.status != events::call_status::starting) return;
  auto title = safe_line(exact_text(x.title), longest_message);
  if (title.empty()) title = safe_line(x.tool, longest_message);
  open_.push_back({x.id, std::move(title), {}, now_, waiting_name(x)});
}

void activity::on(const events::tool_progress& x) {
  const auto found = std::ranges::find(open_, x.id, &open_call::id);
  if (found == open_.end()) return;
  if (core::is_waited_notice(x.report.message)) {
    found->began = now_;
    if (found->progress == core::waits_for_worker) found->progress.clear();
    return;
  }
  if (auto text = progress_text(x.report); !text.empty()) {
    found->progress = std::move(text);
  }
}

void activity::on(const events::tool_result& x) {
  drop(open_, x.id);
  if (open_.empty()) say(std::string{core::waiting_for_model});
}

void activity::on(const events::approval_required& x, wall_time at) {
  undecided_.push_back({x.id, waiting_name(x), at});
}

void activity::on(const events::approval_resolved& x) {
  drop(undecided_, x.id);
}

void activity::on(const events::usage& x) {
  tokens_ = add_up(tokens_, x.tokens.output_tokens);
  bytes_ = 0;
}

void activity::on(const events::retry& x) {
  if (x.what != events::retry_what::model) return;
  const auto begin = core::is_rate_refusal(x.reason)
                         ? "refused by the model's rate limit, again"
                         : "the model failed, again";
  wait(begin, std::chrono::milliseconds{x.delay_ms},
       ": " + safe_line(x.reason, longest_message));
}

/// Of the others the events say more.
void activity::on(const events::status& x) {
  if (is_writing(x.text)) {
    writing_ = true;
    say(safe_line(x.text, longest_message));
  } else if (const auto held = core::read_held_notice(x.text)) {
    if (held->next)
      wait(std::string{core::held_back} + ", next", *held->next);
    else
      say(std::string{core::held_back});
  } else if (x.text == core::waiting_for_model) {
    say(x.text + step_);
  }
}

void activity::say(std::string what) {
  doing_ = std::move(what);
  until_.reset();
  spoke_.reset();
}

void activity::wait(std::string before, duration length, std::string after) {
  doing_.clear();
  until_ = countdown{std::move(before), now_ + length, std::move(after)};
}

std::string activity::said(duration elapsed) const {
  if (!until_ && spoke_ && elapsed - *spoke_ >= silence)
    return doing_ + ", nothing for " + short_duration(in_ms(elapsed - *spoke_));
  if (!until_) return doing_;
  const auto left = std::chrono::ceil<std::chrono::seconds>(
      std::max(duration{}, until_->until - elapsed));
  const auto s = left.count();
  constexpr auto minute = 60;
  const auto time =
      s < minute ? std::to_string(s) + "s" : short_duration(in_ms(left));
  return until_->before + (s > 0 ? " in " + time : " soon") + until_->after;
}

std::string activity::doing(std::size_t columns) const {
  return cancelling_ || undecided_.empty() ? doing(columns, now_)
                                           : asks(columns);
}

std::optional<wall_time> activity::asks_since() const {
  if (cancelling_ || undecided_.empty()) return std::nullopt;
  return undecided_.front().asked;
}

std::string activity::asks(std::size_t columns) const {
  return fit("waiting for approval: " + undecided_.front().name, columns);
}

std::string activity::doing(std::size_t columns, duration elapsed) const {
  if (cancelling_)
    return fit("cancelling; Ctrl-C once more stops at once", columns);
  if (!open_.empty()) return tools(columns);
  return undecided_.empty() ? fit_waiting(said(elapsed), columns)
                            : asks(columns);
}

/// Where there is little room the step is what changes, and is read.
std::string activity::fit_waiting(const std::string& what,
                                  std::size_t columns) const {
  if (columns_of(what) <= columns || step_.empty() || !what.ends_with(step_))
    return fit(what, columns);
  const auto few = "waiting" + step_;
  return columns_of(few) <= columns
             ? few
             : fit(std::string_view{step_}.substr(2), columns);
}

/// One that waits for a worker has not begun what its title says.
std::string activity::whole_row(const open_call& x) {
  if (x.progress == core::waits_for_worker)
    return "Waiting for a free worker: " + x.name;
  return x.progress.empty() ? x.title : x.title + " (" + x.progress + ")";
}

std::string activity::row(const open_call& x, std::size_t columns) {
  if (x.progress != core::waits_for_worker)
    return in_room(x.title, x.progress, columns);
  const auto whole = whole_row(x);
  return columns_of(whole) <= columns ? whole
                                      : fit("Waiting: " + x.name, columns);
}

/// All, or the one that works longest: of halves nobody would read any.
std::string activity::tools(std::size_t columns) const {
  const auto n = open_.size();
  const auto& first = open_.front();
  if (n == 1) return row(first, columns);
  std::string all = std::to_string(n) + " tools: ";
  for (const auto& x : open_) {
    if (&x != &first) all += " · ";
    all += whole_row(x);
  }
  if (columns_of(all) <= columns) return all;
  const auto others = " and " + std::to_string(n - 1) + " more";
  const auto used = columns_of(others);
  return fit(row(first, columns > used ? columns - used : columns) + others,
             columns);
}

/// What the model has written in this run; a call that is being written has a
/// number of its own.
std::string activity::tokens() const {
  if (writing_) return {};
  const auto guessed = bytes_ / bytes_of_a_token;
  const auto n = tokens_ + guessed;
  if (n == 0) return {};
  return (guessed > 0 ? ", ~" : ", ") + short_count(n) +
         (n == 1 ? " token" : " tokens");
}

/// `what`: instead of what it does.
std::string activity::with_time(duration elapsed, std::size_t columns,
                                const std::string* what) const {
  const auto says = [&](std::size_t room) {
    return what ? fit(*what, room) : doing(room, elapsed);
  };
  const std::string frame = spinner[in_ms(elapsed) / 100 % spinner.size()];
  constexpr std::size_t least = 10;
  // Before it began a person may have thought about it for long.
  const auto since =
      open_.empty() || cancelling_ ? duration{} : open_.front().began;
  const auto time =
      " — " + short_duration(in_ms(std::max(duration{}, elapsed - since)));
  const auto begin = frame + " ";
  for (const auto& tail : {time + tokens(), time}) {
    const auto other = columns_of(begin) + columns_of(tail);
    if (columns >= other + least) return begin + says(columns - other) + tail;
  }
  return fit(begin + says(columns), columns);
}

std::string activity::line(duration elapsed, std::size_t columns) const {
  return with_time(elapsed, columns, nullptr);
}

std::string activity::tools_line(duration elapsed, std::size_t columns) const {
  if (open_.empty() || cancelling_) return {};
  return line(elapsed, columns);
}

std::string activity::lines(duration elapsed, std::size_t columns,
                            std::size_t rows) const {
  constexpr std::string_view indent = "  ";
  constexpr std::size_t least_rows = 3;  // the sum, a tool, "… more"
  const auto n = open_.size();
  if (cancelling_ || n < 2 || rows < least_rows ||
      columns <= indent.size() + least_rows)
    return line(elapsed, columns);
  const auto sum = std::to_string(n) + " tools";
  auto out = with_time(elapsed, columns, &sum);
  const auto shown = n < rows ? n : rows - 2;
  for (std::size_t i = 0; i < shown; ++i)
    out.append("\n").append(indent).append(
        row(open_[i], columns - indent.size()));
  if (shown < n)
    out.append("\n").append(
        fit("  … " + std::to_string(n - shown) + " more", columns));
  return out;
}

}  // namespace riffle::cli
