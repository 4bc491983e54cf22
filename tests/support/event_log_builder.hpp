// SPDX-License-Identifier: MIT
#pragma once

// Writes valid logs of events in a few words; tests change them afterwards.
//
//   auto log = event_log_builder{}.start().step().text("Hi").answer().finish();

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "messages/event.hpp"
#include "messages/event_line.hpp"

namespace riffle::testing {

using event_log = std::vector<event>;

class event_log_builder {
 public:
  explicit event_log_builder(std::string run = "run_1")
      : run_{std::move(run)} {}

  event_log_builder& add(events::body body) {
    const auto seq = log_.size() + 1;
    log_.push_back({seq,
                    run_,
                    std::move(body),
                    {1'769'851'800'000'000 + static_cast<int>(seq)}});
    return *this;
  }

  event_log_builder& start() {
    return add(events::run_started{{"ses_1"}, "default", "m", "task", 30, {}});
  }
  event_log_builder& step() {
    attempt_ = 1;
    text_.clear();
    first_ = log_.size() + 1;
    return add(events::step_start{++step_, 30});
  }
  /// Withdraws all of the step so far.
  event_log_builder& restart() {
    text_.clear();
    const auto first = std::exchange(first_, log_.size() + 1);
    return add(events::step_restarted{step_, ++attempt_, "the stream was cut",
                                      first, log_.size()});
  }
  event_log_builder& text(const std::string& content) {
    text_ += content;
    return add(events::llm_token{content, step_});
  }
  event_log_builder& reasoning(const std::string& content) {
    return add(events::llm_reasoning{content, step_});
  }

  /// `id` is also how the following functions know the call.
  event_log_builder& call(const std::string& id,
                          const std::string& tool = "read") {
    return add_call(id, tool, events::call_status::starting);
  }
  event_log_builder& call_not_started(const std::string& id,
                                      const std::string& tool = "read") {
    return add_call(id, tool, events::call_status::not_started);
  }
  event_log_builder& progress(const std::string& id) {
    return add(events::tool_progress{{id}, tools_[id], {"on it"}});
  }
  event_log_builder& result(const std::string& id, outcome how = outcome::ok) {
    std::optional<error> err;
    if (how != outcome::ok)
      err = error{errc::tool_execution_error, "", "it failed", false, ""};
    return add(events::tool_result{{id},
                                   tools_[id],
                                   how,
                                   "out",
                                   false,
                                   3,
                                   how == outcome::skipped ? 0u : 1u,
                                   err,
                                   ""});
  }
  event_log_builder& ask(const std::string& id,
                         const std::string& tool = "write") {
    tools_[id] = tool;
    return add(events::approval_required{
        {"prop_" + id}, {id}, tool, "Title", "{}", "", "it writes", {}});
  }
  event_log_builder& decide(
      const std::string& id,
      events::proposal_outcome how = events::proposal_outcome::approved) {
    return add(
        events::approval_resolved{{"prop_" + id}, {id}, how, "me", "", ""});
  }

  event_log_builder& usage() {
    return add(events::usage{step_, {.input_tokens = 3, .output_tokens = 4}});
  }
  event_log_builder& status() { return add(events::status{"thinking"}); }
  event_log_builder& retry() {
    return add(events::retry{events::retry_what::model, {}, 1, 3, 10, "429"});
  }

  /// The answer is the text of the step.
  event_log_builder& answer() { return answer(text_); }
  event_log_builder& answer(const std::string& content) {
    return add(events::final_answer{content, step_, {}, calls_});
  }
  event_log_builder& fail(errc code = errc::model_error) {
    std::optional<std::uint32_t> step;
    if (step_ > 0) step = step_;
    return add(events::failure{{code, "run", "it broke", false, ""}, step});
  }
  event_log finish(events::run_status status = events::run_status::completed) {
    add(events::run_finished{status, 12, step_, calls_, {}, {}});
    return log_;
  }

  [[nodiscard]] const event_log& log() const noexcept { return log_; }
  [[nodiscard]] std::uint32_t current_step() const noexcept { return step_; }

 private:
  event_log_builder& add_call(const std::string& id, const std::string& tool,
                              events::call_status status) {
    ++calls_;
    tools_[id] = tool;
    return add(events::tool_call{{id},
                                 "p_" + id,
                                 tool,
                                 "Title",
                                 "{}",
                                 "",
                                 effect::read_only,
                                 step_,
                                 status,
                                 ""});
  }

  run_id run_;
  event_log log_;
  std::map<std::string, std::string> tools_;
  std::uint32_t step_ = 0;
  std::uint32_t attempt_ = 1;
  std::uint32_t calls_ = 0;
  std::uint64_t first_ = 0;  ///< `seq` where the attempt began
  std::string text_;
};

/// Numbers the events again after some were taken out, put in or moved. What a
/// step_restarted withdraws stays the same events.
inline void renumber(event_log& log) {
  std::map<std::uint64_t, std::uint64_t> to_new;
  for (std::size_t i = 0; i < log.size(); ++i) to_new[log[i].seq] = i + 1;
  for (std::size_t i = 0; i < log.size(); ++i) {
    log[i].seq = i + 1;
    auto* x = std::get_if<events::step_restarted>(&log[i].body);
    if (!x) continue;
    const auto first = to_new.lower_bound(x->first_seq);
    const auto last = to_new.upper_bound(x->last_seq);
    if (first != to_new.end()) x->first_seq = first->second;
    if (last != to_new.begin()) x->last_seq = std::prev(last)->second;
  }
}

/// The log as text, as `sessions events` prints it.
inline std::string to_text(const event_log& log) {
  std::string result;
  for (const auto& x : log) result += to_line(x);
  return result;
}

/// The place of the n-th event of one type (n from 0); the log's size if there
/// is none.
template <class Body>
std::size_t find_event(const event_log& log, std::size_t n = 0) {
  for (std::size_t i = 0; i < log.size(); ++i)
    if (std::holds_alternative<Body>(log[i].body) && n-- == 0) return i;
  return log.size();
}

}  // namespace riffle::testing
