// SPDX-License-Identifier: MIT
#include "actors/run/conversation.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/context_window.hpp"
#include "actors/core/tool_call_assembler.hpp"
#include "actors/run/recovery.hpp"
#include "messages/event_line.hpp"

namespace riffle {

namespace {

std::uint64_t tokens_of(const shown_files& files) {
  std::uint64_t sum = 0;
  for (const auto& x : files) sum += core::estimate_file_tokens(x.about);
  return sum;
}

std::vector<attachment> names_of(const shown_files& files) {
  std::vector<attachment> out;
  for (const auto& x : files) out.push_back(x.about);
  return out;
}

std::string left_out(const shown_files& files) {
  std::string out;
  for (const auto& x : files)
    out += "\n[" + describe(x.about) + " was left out to make room.]";
  return out;
}

/// What the model sent; text that could not be parsed, or what stands for it,
/// inside an object, as servers that parse it would refuse the conversation for
/// ever.
std::string sent_arguments(const tool_call& x) {
  const auto& arguments = asked_for(x);
  if (!arguments.empty()) return arguments;
  if (x.arguments_text.empty()) return "{}";
  const bool kept = x.arguments_text != core::arguments_not_kept;
  std::string out = kept ? R"({"invalid_arguments":")" : R"({"arguments":")";
  append_json_escaped(out, x.arguments_text);
  return out + "\"}";
}

}  // namespace

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
  front_ = messages_.size();
  front_tokens_ = tokens_;
}

void conversation::say_summary(const std::string& text) {
  tell(settings_.dialect->user_message(text));
  front_ = messages_.size();
  front_tokens_ = tokens_;
}

void conversation::begin_task() {
  tell_last();
  if (tasks_.empty() || tasks_.back().at != messages_.size())
    tasks_.push_back({messages_.size(), tokens_});
}

void conversation::say_user(const std::string& text, const shown_files& files) {
  tell_last();
  if (!files.empty()) old_outputs_ = outputs_.size();
  tell_user(text, choose(files, true), true);
  end_user_turn();
}

/// A person who shows a file again means it; a tool that gives what stands
/// above already costs a line.
conversation::choice conversation::choose(const shown_files& files,
                                          bool of_person) {
  choice out;
  for (const auto& x : files) {
    std::string why;
    if (std::ranges::find(settings_.file_types, x.about.type) ==
        settings_.file_types.end())
      why = " is not shown: this model takes no such files.]";
    else if (!x.bytes)
      why = " is not shown: it is lost.]";
    else if (!of_person && shown_.contains(x.about.digest))
      why = " is the same as shown above.]";
    else if (!of_person && settings_.most_file_bytes > 0 &&
             step_bytes_ + x.about.bytes > settings_.most_file_bytes / 2)
      why =
          " is not shown: it is too much for one step; show it alone "
          "(attachments.max_total_bytes).]";
    if (!why.empty()) {
      out.words += "\n[" + describe(x.about) + why;
      continue;
    }
    ++shown_[x.about.digest];
    file_bytes_ += x.about.bytes;
    step_bytes_ += x.about.bytes;
    out.files.push_back(x);
  }
  return out;
}

void conversation::tell_user(const std::string& text, choice x,
                             bool of_person) {
  const auto& dialect = *settings_.dialect;
  if (results_last_) tell(std::string{dialect.behind_results()});
  if (x.files.empty())
    return tell_text(text + x.words, [&](const std::string& words) {
      return dialect.user_message(words);
    });
  const auto plain = dialect.user_message(text + x.words);
  const auto tokens = core::estimate_tokens(plain) + tokens_of(x.files);
  output out;
  out.begin = messages_.size() + (joined_ ? 1 : 0);
  tell(dialect.user_message(text + x.words, x.files), tokens);
  out.end = messages_.size();
  out.note = dialect.user_message(text + x.words + left_out(x.files));
  out.size = {tokens, core::estimate_tokens(out.note)};
  out.files = names_of(x.files);
  out.of_person = of_person;
  keep_output(std::move(out));
}

/// `write`: a text as its message. A long one may be shortened later.
template <class Write>
void conversation::tell_text(const std::string& text, Write write) {
  const auto message = write(text);
  output out;
  out.begin = messages_.size() + (joined_ ? 1 : 0);
  out.size.tokens = core::estimate_tokens(message);
  tell(message, out.size.tokens);
  if (settings_.window == 0 || text.size() < core::least_shortened) return;
  out.end = messages_.size();
  out.note = write(core::shortened(text));
  out.size.note_tokens = core::estimate_tokens(out.note);
  out.is_text = true;
  keep_output(std::move(out));
}

void conversation::say_model(core::new_message x) {
  tell_last();
  last_ = std::move(x);
}

void conversation::settle(storage::call_record x, const shown_files& files) {
  auto id = x.call.id;
  results_.insert_or_assign(std::move(id), result{std::move(x), files});
}

void conversation::tell(const std::string& message) {
  tell(message, core::estimate_tokens(message));
}

/// `tokens`: about how many it has; what stands for a file says nothing of it.
void conversation::tell(const std::string& message, std::uint64_t tokens) {
  if (message.empty()) return;
  if (joined_) messages_ += ',';
  messages_ += message;
  joined_ = true;
  paused_ = results_last_ = false;
  tokens_ += tokens;
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
  auto message = std::exchange(last_, {});
  leave_out_skipped(*message);
  model::told_turn turn;
  turn.own = message->state.maker == settings_.maker;
  if (turn.own) turn.state = message->state.text;
  if (message->text.empty() && message->calls.empty() && turn.state.empty())
    return;
  for (const auto& id : message->calls) {
    const auto& call = results_.at(id).call.call;
    turn.calls.push_back({call.provider_id, call.tool, sent_arguments(call)});
  }
  turn.text = message->text;
  turn.reasoning = message->reasoning;
  // What is signed stays as it is, and what calls go with, too.
  if (turn.calls.empty() && turn.state.empty())
    tell_text(message->text, [&](const std::string& words) {
      turn.text = words;
      return settings_.dialect->assistant_message(turn);
    });
  else
    tell(settings_.dialect->assistant_message(turn));
  paused_ = true;
  if (!message->calls.empty()) tell_results(message->calls);
}

void conversation::tell_results(const std::vector<call_id>& calls) {
  old_outputs_ = outputs_.size();
  step_bytes_ = 0;
  const auto frame = settings_.dialect->frame_of_results();
  if (!frame.begin.empty()) {
    if (joined_) messages_ += ',';
    messages_ += frame.begin;
    joined_ = false;
  }
  choice later;
  for (const auto& id : calls) {
    tell_result(results_.at(id), later);
    results_.erase(id);
  }
  results_last_ = true;
  if (!later.files.empty())
    tell_user("The files of the results above, in their order:" + later.words,
              {std::move(later.files), {}}, false);
  messages_ += frame.end;
  end_user_turn();
}

/// Where results show no files, these come `later`.
void conversation::tell_result(const result& x, choice& later) {
  const auto& dialect = *settings_.dialect;
  const auto& call = x.call.call;
  auto shown = choose(x.files, false);
  const auto told = x.call.told + shown.words;
  if (!dialect.results_show_files()) {
    for (auto& file : shown.files) {
      later.words += " " + describe(file.about) + ".";
      later.files.push_back(std::move(file));
    }
    shown.files.clear();
  }
  const auto plain = dialect.tool_message(call.provider_id, call.tool, told);
  output out;
  out.begin = messages_.size() + (joined_ ? 1 : 0);
  out.size.tokens = core::estimate_tokens(plain) + tokens_of(shown.files);
  if (shown.files.empty())
    tell(plain, out.size.tokens);
  else
    tell(dialect.tool_message(call.provider_id, call.tool, told, shown.files),
         out.size.tokens);
  if (settings_.window == 0 && shown.files.empty()) return;
  out.end = messages_.size();
  out.note = dialect.tool_message(
      call.provider_id, call.tool,
      shown.files.empty()
          ? core::trim_note(call.tool, asked_for(call), x.call.told.size())
          : told + left_out(shown.files));
  out.size.note_tokens = core::estimate_tokens(out.note);
  out.files = names_of(shown.files);
  keep_output(std::move(out));
}

/// One that is no larger than its note stays for ever.
void conversation::keep_output(output x) {
  if (x.size.tokens > x.size.note_tokens || !x.files.empty())
    outputs_.push_back(std::move(x));
}

void conversation::ask_with(model::request_options x) {
  x.system = std::move(settings_.request.system);
  settings_.request = std::move(x);
  write_frame();
}

std::string conversation::request(const std::string& note) const {
  std::string last;
  if (!note.empty() && !paused_) {
    const auto& dialect = *settings_.dialect;
    if (results_last_) last = dialect.behind_results();
    if (!last.empty()) last += ',';
    last += dialect.user_message(note);
  }
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

}  // namespace riffle
