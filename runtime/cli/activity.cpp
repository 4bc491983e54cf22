// SPDX-License-Identifier: MIT
#include "runtime/cli/activity.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "runtime/cli/call_text.hpp"
#include "runtime/cli/safe_text.hpp"
#include "runtime/cli/text_width.hpp"
#include "runtime/cli/trace_writer.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_message = 200;

/// A token of English text has about four bytes (what providers say of their
/// tokenizers); good enough for a number that grows.
constexpr std::uint64_t bytes_of_a_token = 4;

constexpr std::array spinner = {"⠋", "⠙", "⠹", "⠸", "⠼",
                                "⠴", "⠦", "⠧", "⠇", "⠏"};

constexpr auto waiting_for_model = "waiting for the model";

std::uint64_t in_ms(duration x) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(x).count());
}

}  // namespace

void activity::on(const event& x) {
  std::visit([this](const auto& body) { on(body); }, x.body);
}

void activity::on(const events::step_start& x) {
  open_.clear();
  doing_ = waiting_for_model;
  if (x.step > 1) doing_ += ", step " + std::to_string(x.step);
}

void activity::on(const events::step_restarted& x) {
  open_.clear();
  doing_ = "asking the model again, attempt " + std::to_string(x.attempt);
}

void activity::on(const events::llm_token& x) {
  bytes_ += x.content.size();
  doing_ = "the model writes";
}

void activity::on(const events::llm_reasoning& x) {
  bytes_ += x.content.size();
  doing_ = "the model thinks";
}

void activity::on(const events::tool_call& x) {
  if (x.status != events::call_status::starting) return;
  auto title = safe_line(x.title, longest_message);
  if (title.empty()) title = safe_line(x.tool, longest_message);
  open_.push_back({x.id, std::move(title), {}});
}

void activity::on(const events::tool_progress& x) {
  const auto found = std::ranges::find(open_, x.id, &open_call::id);
  if (found == open_.end()) return;
  if (auto text = progress_text(x.report); !text.empty()) {
    found->progress = std::move(text);
  }
}

void activity::on(const events::tool_result& x) {
  std::erase_if(open_, [&](const auto& call) { return call.id == x.id; });
  if (open_.empty()) doing_ = waiting_for_model;
}

void activity::on(const events::approval_required& x) {
  undecided_.push_back({x.id, safe_line(x.title, longest_message), {}});
}

void activity::on(const events::approval_resolved& x) {
  std::erase_if(undecided_, [&](const auto& call) { return call.id == x.id; });
}

void activity::on(const events::usage& x) {
  tokens_ += x.tokens.input_tokens + x.tokens.output_tokens;
  bytes_ = 0;
}

void activity::on(const events::retry& x) {
  if (x.what != events::retry_what::model) return;
  doing_ = "the model failed, again in " + duration_text(x.delay_ms) + ": " +
           safe_line(x.reason, longest_message);
}

std::string activity::doing() const {
  if (cancelling_) return "cancelling";
  if (open_.empty()) {
    return undecided_.empty()
               ? doing_
               : "waiting for approval: " + undecided_.front().title;
  }
  std::string out;
  if (open_.size() > 1) out = std::to_string(open_.size()) + " tools: ";
  for (const auto& x : open_) {
    if (&x != &open_.front()) out += " · ";
    out += x.title;
    if (!x.progress.empty()) out += " (" + x.progress + ")";
  }
  return out;
}

std::string activity::tokens() const {
  const auto guessed = bytes_ / bytes_of_a_token;
  const auto n = tokens_ + guessed;
  if (n == 0) return {};
  return (guessed > 0 ? ", ~" : ", ") + count_text(n) +
         (n == 1 ? " token" : " tokens");
}

std::string activity::line(duration elapsed, std::size_t columns) const {
  const auto ms = in_ms(elapsed);
  const std::string frame = spinner[ms / 100 % spinner.size()];
  const auto tail = " — " + duration_text(ms) + tokens();
  const auto room = columns_of(frame) + 1 + columns_of(tail);
  constexpr std::size_t least = 10;
  if (columns < room + least) return fit(frame + " " + doing(), columns);
  return frame + " " + fit(doing(), columns - room) + tail;
}

}  // namespace riffle::cli
