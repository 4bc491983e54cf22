// SPDX-License-Identifier: MIT
#include "runtime/model/openai_decoder.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"

namespace riffle::model {

namespace {

constexpr std::string_view end_mark = "[DONE]";
constexpr std::size_t head_size = 256;

/// What is told of an answer more often than this is told at its end.
constexpr std::size_t most_states = 8;

error interrupted(std::string message, std::string cause = {}) {
  return {errc::stream_interrupted, "model", std::move(message), true,
          std::move(cause)};
}

// Printable, for a log line.
std::string printable(std::string_view text) {
  std::string out{text.substr(0, head_size)};
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '.');
  return out;
}

// Once the turn was cut by a limit or a filter, no later word makes it safe.
bool is_cut(finish_reason x) {
  return x == finish_reason::length || x == finish_reason::content_filter;
}

}  // namespace

openai_decoder::openai_decoder(openai_limits limits)
    : limits_{limits}, events_{limits.event} {}

void openai_decoder::feed(std::string_view bytes, turn_delta& out) {
  if (over_) return;
  counted_ = out.pieces.pieces.size();
  received_ += bytes.size();
  if (received_ > limits_.answer) {
    return fail(out, {errc::model_error,
                      "model",
                      "the answer is longer than " +
                          std::to_string(limits_.answer) + " bytes",
                      false,
                      {}});
  }
  // However the bytes were cut: it is told of a body that is nothing.
  if (head_.size() < head_size)
    head_.append(bytes.substr(0, head_size - head_.size()));
  if (body_ == body::unknown) sniff();
  if (body_ == body::json) return feed_json(bytes, out);
  if (body_ != body::html) feed_events(bytes, out);
  count_told(out);
}

/// What was told since `counted_`.
void openai_decoder::count_told(const turn_delta& out) {
  const auto& all = out.pieces.pieces;
  for (; counted_ < all.size(); ++counted_) {
    if (all[counted_].kind == piece_kind::reasoning) continue;
    told_ += all[counted_].end - (counted_ == 0 ? 0 : all[counted_ - 1].end);
  }
}

// A field of an event cannot begin with these, a document must.
void openai_decoder::sniff() {
  std::string_view seen{head_};
  if (seen.starts_with("\xEF\xBB\xBF")) seen.remove_prefix(3);
  seen = trimmed(seen);
  if (seen.empty()) return;
  if (seen[0] == '{' || seen[0] == '[')
    body_ = body::json;
  else if (seen[0] == '<')
    body_ = body::html;
  else if (seen[0] != '\xEF')
    body_ = body::events;
}

void openai_decoder::feed_json(std::string_view bytes, turn_delta& out) {
  // Of a byte order mark only a part may stand in this read.
  if (document_.empty())
    bytes.remove_prefix(std::min(bytes.find_first_of("{["), bytes.size()));
  document_.append(bytes);
  if (document_.size() > limits_.event)
    fail(out, interrupted("the model server sent a document that is too long"));
}

void openai_decoder::feed_events(std::string_view bytes, turn_delta& out) {
  const bool good =
      events_.feed(bytes, [&](const sse_event& x) { on_event(x, out); });
  if (!good && !over_) {
    fail(out, interrupted("the model server sent an event of more than " +
                          std::to_string(limits_.event) + " bytes"));
  }
}

void openai_decoder::on_event(const sse_event& x, turn_delta& out) {
  if (over_) return;
  any_event_ = true;
  const delta_mark before{out};
  halves_ = joiner_.waits();
  read_event(x, out);
  if (halves_) joiner_.join(out, before);
  if (over_) joiner_.finish(out);
}

void openai_decoder::read_event(const sse_event& x, turn_delta& out) {
  const bool is_error = x.type == "error";
  if (!is_error && template_.read(x.data, out)) return;
  openai::chunk chunk{out, {}, {}, false, {}};
  if (!is_error && openai::read_common(x.data, x.readable, chunk)) {
    if (chunk.only_text) template_.learn(x.data, *chunk.only_text);
    return apply(chunk);
  }
  const auto data = trimmed(x.data);
  if (data.starts_with(end_mark)) return on_end_mark(out);
  if (data.empty()) return;
  on_odd_event(x, chunk);
  apply(chunk);
}

void openai_decoder::on_odd_event(const sse_event& x, openai::chunk& chunk) {
  if (x.type == "error") {
    chunk.failure = openai::any_error(x.data);
    return;
  }
  if (read_any(x.data, chunk)) return;
  // Events of a foreign kind (pings) need not be JSON.
  if (!x.type.empty() && x.type != "message") return;
  chunk.failure = interrupted("the model server sent an event that is no JSON",
                              printable(x.data));
}

/// False: it is no JSON.
bool openai_decoder::read_any(std::string_view text, openai::chunk& chunk) {
  bool any = false;
  const auto json = openai::parse_halves(text, any);
  if (!json) return false;
  halves_ = halves_ || any;
  count_told(chunk.out);
  openai::read_any(*json, chunk);
  keeper_.read(*json, told_, any);
  if (!chunk.failure && !chunk.known && body_ == body::json)
    chunk.failure = openai::any_error(*json);
  if (chunk.failure && any) {
    const auto whole = openai::parse_json(text);
    auto failure = openai::find_error(*whole);
    chunk.failure = failure ? std::move(failure) : openai::any_error(*whole);
  }
  return true;
}

void openai_decoder::apply(const openai::chunk& chunk) {
  if (chunk.finish && (!finish_ || !is_cut(*finish_))) finish_ = chunk.finish;
  if (chunk.finish) {
    chunk.out.finish = finish_;
    if (++finishes_ <= most_states) give_state(chunk.out);
  }
  if (chunk.failure) fail(chunk.out, *chunk.failure);
}

void openai_decoder::on_end_mark(turn_delta& out) {
  if (!finish_) {
    finish_ = finish_reason::missing;
    out.finish = finish_;
  }
  give_state(out);
  out.done = true;
  over_ = true;
}

void openai_decoder::give_state(turn_delta& out) {
  if (keeper_.changed()) out.state = keeper_.take();
}

void openai_decoder::end(turn_delta& out) {
  if (over_) return;
  over_ = true;
  if (body_ == body::json) return read_document(out);
  joiner_.finish(out);
  if (!finish_) return fail_cut(out);
  give_state(out);
}

void openai_decoder::fail_cut(turn_delta& out) {
  if (body_ == body::html) {
    return fail(out, {errc::model_error, "model",
                      "the model server answered with a web page; check "
                      "base_url and what stands between",
                      true, printable(head_)});
  }
  if (received_ == 0)
    return fail(out, interrupted("the model server sent an empty answer"));
  if (!any_event_) {
    return fail(out, interrupted("the model server's answer is no event stream",
                                 printable(head_)));
  }
  fail(out, interrupted(events_.half_event()
                            ? "the answer ended inside an event"
                            : "the answer ended before the model finished"));
}

// A whole `chat.completion`, or an error with status 200.
void openai_decoder::read_document(turn_delta& out) {
  const auto document = std::exchange(document_, {});
  counted_ = out.pieces.pieces.size();
  const delta_mark before{out};
  openai::chunk chunk{out, {}, {}, false, {}};
  if (!read_any(document, chunk)) {
    return fail(out, interrupted("the model server's answer is no event stream "
                                 "and no JSON",
                                 printable(head_)));
  }
  apply(chunk);
  if (halves_) joiner_.join(out, before);
  joiner_.finish(out);
  if (!out.failure) on_end_mark(out);
}

void openai_decoder::fail(turn_delta& out, error why) {
  over_ = true;
  out.failure = std::move(why);
}

}  // namespace riffle::model
