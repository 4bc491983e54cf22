// SPDX-License-Identifier: MIT
// How a conversation gets shorter.
#include <algorithm>
#include <utility>

#include "actors/core/context_window.hpp"
#include "actors/core/model_refusal.hpp"
#include "actors/core/tool_call_assembler.hpp"
#include "actors/run/conversation.hpp"
#include "runtime/base/text.hpp"

namespace riffle {

/// Those before the newest step, in the order in which they may go.
std::vector<std::size_t> conversation::old_outputs() const {
  std::vector<std::size_t> out;
  for (const bool of_person : {false, true})
    for (std::size_t i = 0; i < old_outputs_; ++i)
      if (outputs_[i].of_person == of_person && !outputs_[i].is_text)
        out.push_back(i);
  return out;
}

/// Over the limit files of tools go until half of it is free, then those of
/// persons, as few as are enough.
void conversation::drop_bytes(const std::vector<std::size_t>& old,
                              std::vector<bool>& drop) const {
  const auto limit = settings_.most_file_bytes;
  if (limit == 0 || file_bytes_ <= limit) return;
  auto left = file_bytes_;
  for (const auto i : old) {
    const auto& x = outputs_[i];
    if (x.files.empty() || left <= (x.of_person ? limit : limit / 2)) continue;
    for (const auto& file : x.files) left -= file.bytes;
    drop[i] = true;
  }
}

/// Where a turn with all its calls has no room, of those behind the limit the
/// first are told, and how many more there are.
void conversation::leave_out_skipped(core::new_message& x) {
  constexpr std::size_t told = 64;
  constexpr std::uint64_t frame = 120;  // bytes around a call and its result
  const auto of = [&](const call_id& id) -> storage::call_record& {
    return results_.at(id).call;
  };
  const auto is_kept = [&](const call_id& id) {
    return of(id).call.arguments_text != core::arguments_not_kept;
  };
  const auto first = std::ranges::find_if_not(x.calls, is_kept);
  const auto skipped = static_cast<std::size_t>(x.calls.end() - first);
  if (settings_.window == 0 || skipped <= told) return;
  std::uint64_t bytes = x.text.size() + x.reasoning.size();
  for (const auto& id : x.calls) {
    const auto& record = of(id);
    const auto& call = record.call;
    bytes += frame + 2 * call.provider_id.size() + call.tool.size() +
             call.arguments.size() + record.told.size();
  }
  const auto used = head_tokens_ + tokens_ + bytes / 4;
  if (!core::is_full(settings_.window, used)) return;
  const auto end = first + told;
  of(end[-1]).told +=
      "; nor were the " + std::to_string(skipped - told) + " calls behind it";
  for (auto i = end; i != x.calls.end(); ++i) results_.erase(*i);
  x.calls.erase(end, x.calls.end());
}

bool conversation::has_room() const {
  return !core::needs_room(settings_.window, head_tokens_ + tokens_) &&
         (settings_.most_file_bytes == 0 ||
          file_bytes_ <= settings_.most_file_bytes);
}

core::made_room conversation::compact() {
  tell_last();
  // What was said is not looked through at each turn.
  if (has_room()) return {};
  const auto used = head_tokens_ + tokens_;
  const auto order = old_outputs();
  std::vector<core::told_output> old;
  old.reserve(order.size());
  for (const auto i : order) old.push_back(outputs_[i].size);
  const auto count = core::outputs_to_trim(settings_.window, used, old);
  std::vector<bool> drop(outputs_.size());
  for (std::size_t i = 0; i < count; ++i) drop[order[i]] = true;
  drop_bytes(order, drop);
  auto out = trim(drop);
  if (!core::is_full(settings_.window, head_tokens_ + tokens_)) return out;
  const auto more = fit();
  out.outputs += more.outputs;
  out.texts = more.texts;
  out.tasks = more.tasks;
  return out;
}

/// How many stand before that.
std::size_t conversation::outputs_before(std::size_t at) const {
  const auto end = std::ranges::find_if(
      outputs_, [&](const output& x) { return x.end > at; });
  return static_cast<std::size_t>(end - outputs_.begin());
}

/// What is over the window although old outputs have gone.
core::made_room conversation::fit() {
  const auto wanted = core::wanted_use(settings_.window);
  const auto old = outputs_before(task_at());
  auto used = head_tokens_ + tokens_;
  std::vector<bool> drop(outputs_.size());
  for (const bool texts : {false, true})
    for (std::size_t i = 0; i < old && used > wanted; ++i) {
      const auto& x = outputs_[i];
      if (x.is_text != texts || x.size.tokens <= x.size.note_tokens) continue;
      drop[i] = true;
      used -= x.size.tokens - x.size.note_tokens;
    }
  auto out = trim(drop);
  if (used > wanted) out.tasks = drop_tasks(wanted).tasks;
  return out;
}

core::made_room conversation::make_room() {
  tell_last();
  const auto earlier = outputs_before(task_at());
  std::vector<bool> drop(outputs_.size());
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    drop[i] = i < earlier || (i < old_outputs_ && !outputs_[i].is_text);
  const auto out = trim(drop);
  return out ? out : drop_tasks(0);
}

/// The oldest tasks go until no more than that is used, never the newest one.
core::made_room conversation::drop_tasks(std::uint64_t wanted) {
  if (tasks_.size() < 2) return {};
  const auto used = head_tokens_ + tokens_;
  std::size_t first = 1;
  while (first + 1 < tasks_.size() &&
         used - (tasks_[first].tokens - front_tokens_) > wanted)
    ++first;
  begin_with(first);
  return {0, 0, first};
}

/// All before this task goes, but for what no task said.
void conversation::begin_with(std::size_t task) {
  const auto cut = tasks_[task].at;
  forgotten_ += task;
  const auto note =
      settings_.dialect->user_message(core::forgotten_note(forgotten_));
  auto fresh = messages_.substr(0, front_);
  if (front_ > 0) fresh += ',';
  fresh += note;
  const auto moved = [&](std::size_t at) { return at - cut + fresh.size(); };
  const auto gone = static_cast<std::ptrdiff_t>(outputs_before(cut));
  for (auto x = outputs_.begin(); x != outputs_.begin() + gone; ++x)
    forget_files(*x);
  outputs_.erase(outputs_.begin(), outputs_.begin() + gone);
  for (auto& x : outputs_) {
    x.begin = moved(x.begin);
    x.end = moved(x.end);
  }
  old_outputs_ -= std::min(old_outputs_, static_cast<std::size_t>(gone));
  std::erase_if(turns_, [&](std::size_t end) { return end <= cut; });
  for (auto& end : turns_) end = moved(end);
  const auto less = tasks_[task].tokens - front_tokens_;
  const auto more = core::estimate_tokens(note);
  tasks_.erase(tasks_.begin(),
               tasks_.begin() + static_cast<std::ptrdiff_t>(task));
  for (auto& x : tasks_) {
    x.at = moved(x.at);
    x.tokens = x.tokens - less + more;
  }
  fresh.append(messages_, cut);
  messages_ = std::move(fresh);
  tokens_ = tokens_ - less + more;
  counted_.reset();
}

/// Writes the conversation once more, with notes instead of these outputs.
core::made_room conversation::trim(const std::vector<bool>& drop) {
  core::made_room out;
  for (std::size_t i = 0; i < drop.size(); ++i)
    if (drop[i]) ++(outputs_[i].is_text ? out.texts : out.outputs);
  if (!out) return out;
  std::string fresh;
  fresh.reserve(messages_.size());
  std::size_t from = 0;
  auto turns = turns_;
  auto tasks = tasks_;
  std::vector<output> left;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    auto& x = outputs_[i];
    fresh.append(messages_, from, x.begin - from);
    const auto begin = fresh.size();
    from = x.end;
    if (drop[i]) {
      const auto less = x.end - x.begin - x.note.size();
      for (std::size_t k = 0; k < turns.size(); ++k)
        if (x.end <= turns_[k]) turns[k] -= less;
      for (std::size_t k = 0; k < tasks.size(); ++k)
        if (x.end <= tasks_[k].at) {
          tasks[k].at -= less;
          tasks[k].tokens -= x.size.tokens - x.size.note_tokens;
        }
      fresh += x.note;
      forget(x);
      continue;
    }
    fresh.append(messages_, x.begin, x.end - x.begin);
    x.begin = begin;
    x.end = fresh.size();
    left.push_back(std::move(x));
  }
  fresh.append(messages_, from);
  messages_ = std::move(fresh);
  turns_ = std::move(turns);
  tasks_ = std::move(tasks);
  outputs_ = std::move(left);
  old_outputs_ -= static_cast<std::size_t>(std::count(
      drop.begin(),
      drop.begin() +
          static_cast<std::ptrdiff_t>(std::min(old_outputs_, drop.size())),
      true));
  counted_.reset();
  return out;
}

void conversation::forget(const output& x) {
  tokens_ -= x.size.tokens - x.size.note_tokens;
  forget_files(x);
}

void conversation::forget_files(const output& x) {
  for (const auto& file : x.files) {
    file_bytes_ -= file.bytes;
    if (--shown_.at(file.digest) == 0) shown_.erase(file.digest);
  }
}

error context_full(std::uint64_t tokens, std::uint64_t window,
                   const std::string& model) {
  return {errc::invalid_request, "conversation",
          "this task has about " + short_count(tokens) +
              " tokens by now, and the model " + model + " takes " +
              short_count(window) +
              "; nothing older is left that could be left out. Give it in "
              "smaller parts, let tools return less (output_limit), or raise "
              "context_window if the model takes more"};
}

error with_way_out(error why) {
  if (core::is_context_overflow(why))
    why.message +=
        " (nothing that could be left out is left: start a new session, give "
        "the task in smaller parts, or lower output_limit of the tools)";
  return why;
}

}  // namespace riffle
