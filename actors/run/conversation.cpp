// SPDX-License-Identifier: MIT
#include "actors/run/conversation.hpp"

#include <utility>

#include "actors/core/context_window.hpp"
#include "actors/run/recovery.hpp"

namespace riffle {

conversation::conversation(settings x)
    : settings_{std::move(x)}, mark_{settings_.dialect->mark_of_cache()} {
  write_frame();
}

void conversation::write_frame() {
  head_ = settings_.dialect->request_head(settings_.request);
  tail_ = settings_.dialect->request_tail(settings_.request);
  head_tokens_ = core::estimate_tokens(head_);
}

void conversation::say_system(const std::string& text) {
  settings_.request.system = text;
  write_frame();
  tell(settings_.dialect->system_message(text));
}

void conversation::say_user(const std::string& text) {
  tell_last();
  tell(settings_.dialect->user_message(text));
  end_user_turn();
}

void conversation::say_model(core::new_message x) {
  tell_last();
  last_ = std::move(x);
}

void conversation::settle(storage::call_record x) {
  auto id = x.call.id;
  results_.insert_or_assign(std::move(id), std::move(x));
}

void conversation::tell(const std::string& message) {
  if (message.empty()) return;
  if (joined_) messages_ += ',';
  messages_ += message;
  joined_ = true;
  paused_ = false;
  tokens_ += core::estimate_tokens(message);
}

/// Of older ones nobody needs the end.
void conversation::end_user_turn() {
  if (mark_.text.empty()) return;
  if (turns_.size() == 2) turns_.erase(turns_.begin());
  turns_.push_back(messages_.size());
}

/// From committed records only.
void conversation::tell_last() {
  if (!last_) return;
  const auto message = std::exchange(last_, {});
  model::told_turn turn;
  turn.own = message->state.maker == settings_.maker;
  if (turn.own) turn.state = message->state.text;
  if (message->text.empty() && message->calls.empty() && turn.state.empty())
    return;
  for (const auto& id : message->calls) {
    const auto& call = results_.at(id).call;
    const auto& arguments = asked_for(call);
    turn.calls.push_back(
        {call.provider_id, call.tool, arguments.empty() ? "{}" : arguments});
  }
  turn.text = message->text;
  turn.reasoning = message->reasoning;
  tell(settings_.dialect->assistant_message(turn));
  paused_ = true;
  if (!message->calls.empty()) tell_results(message->calls);
}

void conversation::tell_results(const std::vector<call_id>& calls) {
  old_outputs_ = outputs_.size();
  const auto frame = settings_.dialect->frame_of_results();
  if (!frame.begin.empty()) {
    if (joined_) messages_ += ',';
    messages_ += frame.begin;
    joined_ = false;
  }
  for (const auto& id : calls) {
    tell_result(results_.at(id));
    results_.erase(id);
  }
  messages_ += frame.end;
  end_user_turn();
}

void conversation::tell_result(const storage::call_record& x) {
  const auto& call = x.call;
  const auto text =
      settings_.dialect->tool_message(call.provider_id, call.tool, x.told);
  const auto begin = messages_.size() + (joined_ ? 1 : 0);
  tell(text);
  if (settings_.window == 0) return;
  output out{begin, messages_.size(), call.provider_id, call.tool, {}, {}};
  out.note = core::trim_note(call.tool, asked_for(call), x.told.size());
  out.size = {core::estimate_tokens(text),
              core::estimate_tokens(settings_.dialect->tool_message(
                  call.provider_id, call.tool, out.note))};
  // One that is no larger than its note stays for ever.
  if (out.size.tokens > out.size.note_tokens)
    outputs_.push_back(std::move(out));
}

std::size_t conversation::compact() {
  tell_last();
  std::vector<core::told_output> old;
  old.reserve(old_outputs_);
  for (std::size_t i = 0; i < old_outputs_; ++i)
    old.push_back(outputs_[i].size);
  const auto count =
      core::outputs_to_trim(settings_.window, head_tokens_ + tokens_, old);
  if (count > 0) trim(count);
  return count;
}

std::size_t conversation::make_room() {
  tell_last();
  const auto count = old_outputs_;
  if (count > 0) trim(count);
  return count;
}

void conversation::ask_with(model::request_options x) {
  x.system = std::move(settings_.request.system);
  settings_.request = std::move(x);
  write_frame();
}

/// Writes the conversation once more, with notes instead of the first outputs.
void conversation::trim(std::size_t count) {
  std::string fresh;
  fresh.reserve(messages_.size());
  std::size_t from = 0;
  auto turns = turns_;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    auto& x = outputs_[i];
    fresh.append(messages_, from, x.begin - from);
    const auto begin = fresh.size();
    if (i < count) {
      const auto note =
          settings_.dialect->tool_message(x.provider_id, x.tool, x.note);
      for (std::size_t k = 0; k < turns.size(); ++k)
        if (x.end <= turns_[k]) turns[k] -= x.end - x.begin - note.size();
      fresh += note;
      tokens_ -= x.size.tokens - x.size.note_tokens;
    } else {
      fresh.append(messages_, x.begin, x.end - x.begin);
    }
    from = x.end;
    x.begin = begin;
    x.end = fresh.size();
  }
  fresh.append(messages_, from);
  messages_ = std::move(fresh);
  turns_ = std::move(turns);
  outputs_.erase(outputs_.begin(),
                 outputs_.begin() + static_cast<std::ptrdiff_t>(count));
  old_outputs_ -= count;
  counted_.reset();
}

std::string conversation::request(const std::string& note) const {
  std::string last;
  if (!note.empty() && !paused_) last = settings_.dialect->user_message(note);
  std::string body;
  body.reserve(head_.size() + messages_.size() + last.size() + tail_.size() +
               turns_.size() * mark_.text.size() + 1);
  body += head_;
  std::size_t from = 0;
  for (const auto end : turns_) {
    body.append(messages_, from, end - mark_.from_end - from);
    body += mark_.text;
    from = end - mark_.from_end;
  }
  body.append(messages_, from);
  if (!last.empty()) {
    if (joined_) body += ',';
    body += last;
  }
  body += tail_;
  return body;
}

std::uint64_t conversation::tokens(const std::string& note) const {
  if (!counted_) return estimate(note);
  return *counted_ + tokens_ - counted_at_ + core::estimate_tokens(note);
}

std::uint64_t conversation::estimate(const std::string& note) const {
  return head_tokens_ + tokens_ + core::estimate_tokens(note);
}

void conversation::on_counted(std::uint64_t counted) {
  counted_ = counted;
  counted_at_ = tokens_;
}

error context_full(std::uint64_t tokens, std::uint64_t window,
                   const std::string& model) {
  return {errc::invalid_request, "conversation",
          "the conversation has about " + std::to_string(tokens) +
              " tokens, and context_window of the model " + model + " is " +
              std::to_string(window) +
              "; start a new session, give the task in smaller parts, lower "
              "output_limit of the tools, or raise context_window if the "
              "model takes more"};
}

}  // namespace riffle
