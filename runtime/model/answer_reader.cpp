// SPDX-License-Identifier: MIT
#include "runtime/model/answer_reader.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/model/openai_chunk.hpp"

namespace riffle::model {

namespace answer {

using json = nlohmann::ordered_json;

const json& member(const json& x, const char* key) {
  static const json nothing;
  if (!x.is_object()) return nothing;
  const auto i = x.find(key);
  return i != x.end() ? *i : nothing;
}

std::string text_at(const json& x, const char* key) {
  const auto& value = member(x, key);
  return value.is_string() ? value.get<std::string>() : std::string{};
}

std::optional<std::uint64_t> count_at(const json& x, const char* key) {
  const auto& value = member(x, key);
  if (!value.is_number_unsigned()) return std::nullopt;
  return value.get<std::uint64_t>();
}

error interrupted(std::string message, std::string cause) {
  return {errc::stream_interrupted, "model", std::move(message), true,
          std::move(cause)};
}

std::string printable(std::string_view text) {
  constexpr std::size_t most = 256;
  std::string out{text.substr(0, most)};
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '.');
  return out;
}

namespace {

constexpr std::size_t most_bytes = 256u << 20;
constexpr std::size_t head_size = 256;

error too_long(const char* what, std::size_t limit) {
  return interrupted("the model server sent " + std::string{what} +
                     " of more than " + std::to_string(limit) + " bytes");
}

}  // namespace

}  // namespace answer

void answer_reader::feed(std::string_view bytes, turn_delta& out) {
  if (over_) return;
  received_ += bytes.size();
  if (received_ > answer::most_bytes) {
    auto why = answer::too_long("an answer", answer::most_bytes);
    why.code = errc::model_error;
    why.retryable = false;
    return fail(out, std::move(why));
  }
  // However the bytes were cut: it is told of a body that is nothing.
  if (head_.size() < answer::head_size)
    head_.append(bytes.substr(0, answer::head_size - head_.size()));
  if (body_ == body::unknown) sniff();
  if (body_ == body::page) return;
  if (body_ == body::document) {
    // Of a byte order mark only a part may stand in this read.
    if (document_.empty())
      bytes.remove_prefix(std::min(bytes.find_first_of("{["), bytes.size()));
    document_.append(bytes);
    if (document_.size() > sse_decoder::default_limit)
      fail(out, answer::too_long("a document", sse_decoder::default_limit));
    return;
  }
  const bool good =
      events_.feed(bytes, [&](const sse_event& x) { read_event(x, out); });
  if (!good && !over_)
    fail(out, answer::too_long("an event", sse_decoder::default_limit));
}

// A field of an event cannot begin with these, a document must.
void answer_reader::sniff() {
  std::string_view seen{head_};
  if (seen.starts_with("\xEF\xBB\xBF")) seen.remove_prefix(3);
  seen = trimmed(seen);
  if (seen.empty()) return;
  if (seen[0] == '{' || seen[0] == '[')
    body_ = body::document;
  else if (seen[0] == '<')
    body_ = body::page;
  else if (seen[0] != '\xEF')
    body_ = body::events;
}

void answer_reader::read_event(const sse_event& x, turn_delta& out) {
  if (over_) return;
  const auto data = trimmed(x.data);
  if (data.empty() || data.starts_with("[DONE]")) return;
  halves_ = false;
  if (x.type != "error" && template_.read(data, text_))
    return on_again(text_, out);
  auto event = openai::parse_halves(data, halves_);
  if (event && halves_ && !takes_halves(*event)) {
    halves_ = false;
    event = openai::parse_json(data);
  }
  if (!event) {
    if (x.type == "error") return fail(out, openai::any_error(data));
    if (x.type == "ping") return;
    return fail(out,
                answer::interrupted("the model server sent an event that is no "
                                    "JSON",
                                    answer::printable(data)));
  }
  if (x.type == "error" || answer::text_at(*event, "type") == "error")
    return fail(out, openai::any_error(*event));
  if (answer::text_at(*event, "type").empty())
    if (auto why = openai::find_error(*event))
      return fail(out, std::move(*why));
  if (!event->is_object()) return;
  on_event(*event, out);
  if (over_) return;
  if (const auto path = often(*event); !path.empty())
    template_.learn(data, path);
}

void answer_reader::end(turn_delta& out) {
  if (over_) return;
  if (body_ == body::document) return read_document(out);
  over_ = true;
  if (finished()) return;
  if (body_ == body::page)
    return fail(out, {errc::model_error, "model",
                      "the model server answered with a web page; check "
                      "base_url and what stands between",
                      true, answer::printable(head_)});
  if (received_ == 0)
    return fail(out,
                answer::interrupted("the model server sent an empty answer"));
  fail(out,
       answer::interrupted(events_.half_event()
                               ? "the answer ended inside an event"
                               : "the answer ended before the model finished"));
}

void answer_reader::read_document(turn_delta& out) {
  const auto text = std::exchange(document_, {});
  const auto x = openai::parse_json(text);
  if (!x)
    return fail(
        out, answer::interrupted("the model server's answer is no event stream "
                                 "and no JSON",
                                 answer::printable(head_)));
  if (auto why = openai::find_error(*x)) return fail(out, std::move(*why));
  on_document(*x, out);
  if (!over_ && !finished())
    fail(out, answer::interrupted("the model server's answer is not complete",
                                  answer::printable(head_)));
}

void answer_reader::fail(turn_delta& out, error why) {
  over_ = true;
  out.failure = std::move(why);
}

void answer_reader::be_done(turn_delta& out) {
  over_ = true;
  out.done = true;
}

}  // namespace riffle::model
