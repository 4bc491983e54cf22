// SPDX-License-Identifier: MIT
#include "runtime/model/ollama_decoder.hpp"

#include <array>
#include <utility>

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"
#include "runtime/model/answer_reader.hpp"
#include "runtime/model/openai_chunk.hpp"
#include "runtime/model/wire_text.hpp"

namespace riffle::model::ollama {

namespace {

using answer::count_at;
using answer::interrupted;
using answer::member;
using answer::text_at;
using json = nlohmann::ordered_json;

constexpr std::size_t most_bytes = 256u << 20;
constexpr std::size_t longest_line = 2u << 20;

bool is_done(const json& x) {
  const auto& done = member(x, "done");
  return done.is_boolean() && done.get<bool>();
}

}  // namespace

void ollama_decoder::feed(std::string_view bytes, turn_delta& out) {
  received_ += bytes.size();
  while (!over_ && !bytes.empty()) {
    const auto stop = bytes.find('\n');
    const auto size = stop == bytes.npos ? bytes.size() : stop;
    if (line_.size() + size > longest_line || received_ > most_bytes)
      return fail(out, {errc::model_error,
                        "model",
                        "the model server sent a line or an answer that is too "
                        "long",
                        false,
                        {}});
    const auto part = bytes.substr(0, size);
    if (stop == bytes.npos) {
      line_.append(part);
      return;
    }
    if (line_.empty()) {
      on_line(part, out);
    } else {
      line_.append(part);
      on_line(std::exchange(line_, {}), out);
    }
    bytes.remove_prefix(stop + 1);
  }
}

// The last line may come without its end.
void ollama_decoder::end(turn_delta& out) {
  if (over_) return;
  if (!line_.empty()) on_line(std::exchange(line_, {}), out);
  if (over_) return;
  fail(out, interrupted(received_ == 0
                            ? "the model server sent an empty answer"
                            : "the answer ended before the model finished"));
}

void ollama_decoder::on_line(std::string_view line, turn_delta& out) {
  if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  line = trimmed(line);
  if (line.empty()) return;
  if (line[0] == '<')
    return fail(out, {errc::model_error, "model",
                      "the model server answered with a web page; check "
                      "base_url and what stands between",
                      true, answer::printable(line)});
  has_halves_ = false;
  if (template_.read(line, text_)) return add(out, again_, text_);
  const auto x = parse(line);
  if (!x || !x->is_object())
    return fail(out, interrupted("the model server sent a line that is no JSON "
                                 "object",
                                 answer::printable(line)));
  if (auto why = openai::find_error(*x)) return fail(out, std::move(*why));
  on_message(member(*x, "message"), out);
  if (is_done(*x)) return on_done(*x, out);
  learn(line, *x);
}

/// Of a line that brings text alone halves of characters, too.
std::optional<json> ollama_decoder::parse(std::string_view line) {
  auto x = openai::parse_halves(line, has_halves_);
  if (!x || !has_halves_) return x;
  if (!is_done(*x) && member(member(*x, "message"), "tool_calls").is_null())
    return x;
  has_halves_ = false;
  return openai::parse_json(line);
}

void ollama_decoder::add(turn_delta& out, piece_kind kind, std::string text) {
  text = halves_.join(kind, std::move(text), has_halves_);
  if (!text.empty()) out.pieces.add(kind, text);
}

/// Most lines bring one text, or one thought.
void ollama_decoder::learn(std::string_view line, const json& x) {
  static constexpr std::array<std::string_view, 2> content{"message",
                                                           "content"};
  static constexpr std::array<std::string_view, 2> thinking{"message",
                                                            "thinking"};
  const auto& message = member(x, "message");
  const bool text = !text_at(message, "content").empty();
  const bool thought = !text_at(message, "thinking").empty();
  if (text == thought || !member(message, "tool_calls").is_null()) return;
  again_ = text ? piece_kind::text : piece_kind::reasoning;
  template_.learn(line, text ? content : thinking);
}

void ollama_decoder::on_message(const json& x, turn_delta& out) {
  add(out, piece_kind::reasoning, text_at(x, "thinking"));
  add(out, piece_kind::text, text_at(x, "content"));
  const auto& calls = member(x, "tool_calls");
  if (!calls.is_array()) return;
  for (const auto& call : calls) on_call(call, out);
}

void ollama_decoder::on_call(const json& x, turn_delta& out) {
  const auto& function = member(x, "function");
  if (!function.is_object()) return;
  keep_more(x);
  auto& fragment = out.fragments.emplace_back();
  fragment.index = calls_++;
  fragment.id = text_at(x, "id");
  fragment.name = text_at(function, "name");
  const auto& arguments = member(function, "arguments");
  if (arguments.is_string())
    fragment.arguments = arguments.get<std::string>();
  else if (!arguments.is_null())
    fragment.arguments =
        arguments.dump(-1, ' ', false, json::error_handler_t::replace);
  fragment.arguments_whole = arguments.is_object();
  fragment.closes = true;
}

/// All but its name and arguments: `{…,"function":{…}}`.
void ollama_decoder::keep_more(const json& call) {
  auto more = call;
  auto& function = more["function"];
  function.erase("name");
  function.erase("arguments");
  if (function.empty()) more.erase("function");
  if (more.empty()) return;
  kept_.push_back(
      {{"id", text_at(call, "id")}, {"at", calls_}, {"more", std::move(more)}});
  weight_ += wire::weight_of(kept_.back());
}

void ollama_decoder::on_done(const json& x, turn_delta& out) {
  for (const auto kind : {piece_kind::reasoning, piece_kind::text})
    if (halves_.give_up(kind)) out.pieces.add(kind, replacement_character);
  const auto input = count_at(x, "prompt_eval_count");
  const auto output = count_at(x, "eval_count");
  if (input || output) {
    auto& usage = out.usage.emplace();
    // What was in its cache is not counted.
    usage.input_tokens = input.value_or(0);
    usage.output_tokens = output.value_or(0);
  }
  const auto word = text_at(x, "done_reason");
  if (word == "length")
    out.finish = finish_reason::length;
  else if (word.empty() || word == "stop")
    out.finish = calls_ > 0 ? finish_reason::tool_calls : finish_reason::stop;
  else
    out.finish = openai::parse_finish(word);
  if (!kept_.empty())
    out.state = wire::text_of(nlohmann::ordered_json{{"calls", kept_}});
  out.done = over_ = true;
}

void ollama_decoder::fail(turn_delta& out, error why) {
  over_ = true;
  out.failure = std::move(why);
}

}  // namespace riffle::model::ollama
