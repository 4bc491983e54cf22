// SPDX-License-Identifier: MIT
#include "actors/core/tool_call_assembler.hpp"

#include <algorithm>

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"

namespace riffle::core {

namespace {

bool is_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_blank(std::string_view text) noexcept { return trimmed(text).empty(); }

}  // namespace

void object_tracker::feed(std::string_view text) noexcept {
  for (const char c : text) feed(c);
}

void object_tracker::feed(char c) noexcept {
  switch (state_) {
    case state::blank:
      if (is_space(c)) return;
      state_ = c == '{' ? state::inside : state::invalid;
      depth_ = 1;
      return;
    case state::inside:
      if (c == '"') state_ = state::string;
      if (c == '{' || c == '[') ++depth_;
      if ((c == '}' || c == ']') && --depth_ == 0) state_ = state::whole;
      return;
    case state::string:
      if (c == '"') state_ = state::inside;
      if (c == '\\') state_ = state::escape;
      return;
    case state::escape: state_ = state::string; return;
    case state::whole:
      if (!is_space(c)) state_ = state::invalid;
      return;
    case state::invalid: return;
  }
}

std::optional<std::size_t> tool_call_assembler::at(const address& x) const {
  const auto i = newest_.find(x);
  if (i == newest_.end()) return {};
  return i->second;
}

// Of the calls with the fragment's choice and index the one
// with its id, else the newest. Without an index only an id that is known
// points to a call, and no id at all to the last one.
std::optional<std::size_t> tool_call_assembler::find(
    const call_fragment& x) const {
  const auto exact = at({x.choice, x.index, x.id});
  return exact || !x.index ? exact : at({x.choice, x.index, {}});
}

/// `id`: empty, or the call's own.
void tool_call_assembler::note_newest(std::size_t at, const std::string& id) {
  const auto& p = progress_[at];
  const auto note = [&](address x) {
    auto& newest = newest_[std::move(x)];
    newest = std::max(newest, at);
  };
  note({p.choice, {}, id});
  if (p.key) note({p.choice, p.key, id});
}

// The same event twice: it names the same call with the same whole arguments,
// or what is known of them. Without an index or an id it cannot be told from a
// second call.
bool tool_call_assembler::is_repeated(std::size_t at,
                                      const call_fragment& x) const {
  const auto& call = calls_[at];
  const bool same_id = x.id == call.provider_id;
  const bool identified = same_id && (x.index || !x.id.empty());
  if (!progress_[at].tracker.whole() || !identified || x.name != call.name)
    return false;
  return is_behind(at) ? progress_[at].digest == fnv1a(x.arguments)
                       : x.arguments == call.arguments;
}

// Whether a fragment that points to a call begins another one.
bool tool_call_assembler::is_new(std::size_t at, const call_fragment& x) const {
  const auto& call = calls_[at];
  if (!x.id.empty() && !call.provider_id.empty() && x.id != call.provider_id)
    return true;  // another id
  if (!x.name.empty() && progress_[at].tracker.whole() &&
      !is_blank(x.arguments))
    return true;  // after a whole object
  // Nobody renames a call: without an id that says it is the same one, another
  // name means another call.
  return x.id.empty() && !x.name.empty() && !call.name.empty() &&
         x.name != call.name;
}

std::vector<assembly_event> tool_call_assembler::on_fragment(
    const call_fragment& x) {
  std::vector<assembly_event> out;
  if (ended_) return out;
  auto at = find(x);
  if (at && is_repeated(*at, x)) {
    count(is_behind(*at), x);
    return out;
  }
  if (!at || is_new(*at, x)) {
    const bool empty = x.id.empty() && x.name.empty() && is_blank(x.arguments);
    if (empty) return out;
    if (calls_.size() >= limits_.most_calls) {
      drop(x);
      return out;
    }
    at = begin(x, out);
  }
  append(*at, x, out);
  return out;
}

void tool_call_assembler::drop(const call_fragment& x) {
  if (!x.id.empty() || !x.name.empty()) ++dropped_;
  count(true, x);
}

bool tool_call_assembler::is_behind(std::size_t at) const {
  return limits_.most_kept != 0 && at >= limits_.most_kept;
}

void tool_call_assembler::count(bool dropped, const call_fragment& x) {
  (dropped ? dropped_bytes_ : received_) +=
      x.id.size() + x.name.size() + x.arguments.size();
}

// Another call began: the one before it is complete if it is whole. (Those
// before that one were told so when they became whole.)
std::size_t tool_call_assembler::begin(const call_fragment& x,
                                       std::vector<assembly_event>& out) {
  const auto last = this->at({x.choice, {}, {}});
  if (last && progress_[*last].said_whole) close(*last, out);
  const auto at = calls_.size();
  auto& call = calls_.emplace_back();
  call.index = static_cast<std::uint32_t>(at);
  auto& p = progress_.emplace_back();
  p.choice = x.choice;
  p.key = x.index;
  note_newest(at, {});
  return at;
}

void tool_call_assembler::append(std::size_t at, const call_fragment& x,
                                 std::vector<assembly_event>& out) {
  auto& call = calls_[at];
  auto& p = progress_[at];
  const bool behind = is_behind(at);
  count(behind, x);
  if (p.over) return;
  if (call.provider_id.empty() && !x.id.empty()) {
    call.provider_id = x.id;
    note_newest(at, x.id);
  }
  if (call.name.empty())
    call.name = x.name;  // a repeated name is no more of it
  if (!behind && limits_.max_arguments != 0 &&
      call.arguments.size() + x.arguments.size() > limits_.max_arguments) {
    p.over = true;
    call.arguments = std::string{cut_utf8(
        call.arguments + x.arguments.substr(0, kept_head + 1), kept_head)};
    return say(at, assembly_step::too_long, out);
  }
  if (!behind) call.arguments += x.arguments;
  if (behind) p.digest = fnv1a(x.arguments, p.digest);
  p.tracker.feed(x.arguments);
  if ((p.said_whole || p.said_closed) && !is_blank(x.arguments)) {
    p.over = true;
    return say(at, assembly_step::malformed, out);
  }
  if (p.tracker.whole() && !call.name.empty() && !p.said_whole) {
    p.said_whole = true;
    say(at, assembly_step::whole, out);
    if (another_began(at)) close(at, out);
  }
  if (x.closes) close(at, out);
}

bool tool_call_assembler::another_began(std::size_t at) const {
  return this->at({progress_[at].choice, {}, {}}) > at;
}

void tool_call_assembler::close(std::size_t at,
                                std::vector<assembly_event>& out) {
  auto& p = progress_[at];
  if (p.said_closed || p.over) return;
  p.said_closed = true;
  say(at, assembly_step::closed, out);
}

void tool_call_assembler::say(std::size_t at, assembly_step step,
                              std::vector<assembly_event>& out) const {
  out.push_back({step, calls_[at]});
}

std::vector<assembly_event> tool_call_assembler::on_turn_end(
    std::optional<finish_reason> finish) {
  std::vector<assembly_event> out;
  if (ended_) return out;
  ended_ = true;
  const bool limited = finish == finish_reason::length ||
                       finish == finish_reason::content_filter;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    auto& p = progress_[i];
    if (p.said_closed || p.over) continue;
    if (finish && (!limited || p.tracker.whole())) {
      close(i, out);
    } else {
      p.over = true;
      say(i, assembly_step::cut, out);
    }
  }
  return out;
}

}  // namespace riffle::core
