// SPDX-License-Identifier: MIT
#include "actors/core/run_status.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/held_notice.hpp"
#include "actors/core/model_refusal.hpp"
#include "actors/core/writing_notice.hpp"

namespace riffle::core {

namespace {

constexpr std::size_t most_notices = 16;

std::string count(std::size_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

/// It is true until something else goes on.
bool lasts(std::string_view notice) {
  return is_writing_notice(notice) || read_held_notice(notice) ||
         notice == waiting_for_model;
}

bool is_end(const events::body& x) {
  return std::holds_alternative<events::plan_finished>(x) ||
         std::holds_alternative<events::final_answer>(x) ||
         std::holds_alternative<events::failure>(x) ||
         std::holds_alternative<events::run_finished>(x);
}

}  // namespace

std::string status_of(const events::plan_step_started& x) {
  return "step " + std::to_string(x.step) + ": " + x.id;
}

std::string run_status::text() const {
  if (!notices_.empty()) return notices_.front();
  if (!running_.empty()) return doing();
  if (!undecided_.empty()) {
    return "waiting for approval of " + count(undecided_.size(), "call");
  }
  return base_;
}

/// The title of the call that began first, which waits longest.
std::string run_status::doing() const {
  const auto more = running_.size() - 1;
  const auto& title = running_.front().title;
  return more == 0 ? title : title + " and " + count(more, "more call");
}

void run_status::change(time_point now) {
  if (due_ || (notices_.empty() && text() == told_)) return;
  due_ = now + between;
  if (last_) due_ = std::max(*due_, *last_ + between);
}

void run_status::on(const events::body& x, time_point now) {
  if (const auto* call = std::get_if<events::tool_call>(&x)) {
    const bool known = std::ranges::find(running_, call->id,
                                         &running_call::id) != running_.end();
    if (call->status == events::call_status::starting && !known)
      running_.push_back({call->id, call->title.empty() ? "Using " + call->tool
                                                        : call->title});
  } else if (const auto* result = std::get_if<events::tool_result>(&x)) {
    const auto ended = std::erase_if(
        running_, [&](const auto& call) { return call.id == result->id; });
    if (ended != 0 && running_.empty() && !plan_) base_ = waiting_for_model;
  } else if (const auto* asked = std::get_if<events::approval_required>(&x)) {
    undecided_.insert(asked->id);
  } else if (const auto* told = std::get_if<events::approval_resolved>(&x)) {
    undecided_.erase(told->id);
  } else if (const auto* again = std::get_if<events::retry>(&x)) {
    if (again->what == events::retry_what::model)
      base_ = is_rate_refusal(again->reason)
                  ? "refused by the model's rate limit, asking again"
                  : "the model failed, asking again";
  } else if (const auto* notice = std::get_if<events::status>(&x);
             notice && lasts(notice->text)) {
    base_ = notice->text;
  } else if (notice) {
    note(notice->text);
    due_ = last_ ? std::max(now, *last_ + between) : now;
  } else if (std::holds_alternative<events::step_start>(x) ||
             std::holds_alternative<events::step_restarted>(x)) {
    running_.clear();
    base_ = waiting_for_model;
  } else if (const auto* step = std::get_if<events::plan_step_started>(&x)) {
    plan_ = true;
    base_ = status_of(*step);
  } else if (is_end(x)) {
    ended_ = true;
  }
  change(now);
}

void run_status::on_text(bool reasoning, time_point now) {
  const auto* next = reasoning ? "the model thinks" : "the model writes";
  if (base_ == next) return;
  base_ = next;
  change(now);
}

std::optional<time_point> run_status::due() const {
  return ended_ ? std::nullopt : due_;
}

std::optional<std::string> run_status::take(time_point now) {
  if (ended_ || !due_ || now < *due_) return std::nullopt;
  due_.reset();
  auto out = text();
  const bool noted = !notices_.empty();
  if (noted) notices_.pop_front();
  if (out == told_ && !noted) return std::nullopt;
  told_ = out;
  last_ = now;
  if (noted) change(now);
  return out;
}

/// One of a model stands alone, since its beginning says what it is.
void run_status::note(const std::string& text) {
  const auto of_model = [](std::string_view x) {
    return x.starts_with(asked_anew);
  };
  const bool full = notices_.size() >= most_notices;
  if (full ||
      (!notices_.empty() && of_model(notices_.back()) == of_model(text)))
    notices_.back() += "; " + text;
  else
    notices_.push_back(text);
}

std::vector<std::string> run_status::last_notices(const events::body& next) {
  if (ended_ || !is_end(next)) return {};
  const auto all = std::exchange(notices_, {});
  return {all.begin(), all.end()};
}

}  // namespace riffle::core
