// SPDX-License-Identifier: MIT
// The fast path: simdjson on demand, one walk, nothing built. Whatever is not
// plain and expected is left to `read_any`.
#include <cstdint>
#include <simdjson.h>

#include "runtime/model/openai_chunk.hpp"
#include "runtime/model/openai_walk.hpp"

namespace riffle::model::openai {

namespace {

class common_reader {
 public:
  common_reader(chunk& x, const char* begin) : x_{x}, begin_{begin} {}

  bool root(od::document& document) {
    od::value value;
    return !document.get_value().get(value) &&
           each_member(
               value,
               [this](auto key, auto& v) { return root_member(key, v); }) &&
           x_.known && at_end(document);
  }

  /// The place of the only string, if nothing else came.
  std::optional<text_place> only_text(std::size_t pieces_before,
                                      std::size_t fragments_before) const {
    const auto& fragments = x_.out.fragments;
    if (texts_ != 1 || x_.finish) return std::nullopt;
    const auto pieces = x_.out.pieces.pieces.size() - pieces_before;
    const auto more = fragments.size() - fragments_before;
    if (pieces == 1 && more == 0) return place_;
    if (pieces != 0 || more != 1) return std::nullopt;
    const auto& last = fragments.back();
    if (!last.index || !last.id.empty() || !last.name.empty())
      return std::nullopt;
    auto place = place_;
    place.call = last.index;
    return place;
  }

 private:
  // Where a choice began, to take it back.
  struct mark {
    std::size_t bytes, pieces, fragments;
    std::optional<finish_reason> finish;
  };

  static bool at_end(od::document& document) {
    const char* position = nullptr;
    return document.current_location().get(position) == simdjson::OUT_OF_BOUNDS;
  }

  bool root_member(od::raw_json_string key, od::value& value) {
    switch (key.raw()[0]) {
      case 'c':
        if (!is(key, "choices")) break;
        x_.known = true;
        return each_element(value, [this](auto& v) { return choice(v); });
      case 'u':
        if (is(key, "usage")) return is_null(value);
        break;
      case 'e':
        if (is(key, "error")) return is_null(value);
        break;
      case 'x':
        if (is(key, "x_groq")) return is_null(value);
        break;
      case 't':
        if (is(key, "type")) return not_error(value);
        break;
      case 'o':
        if (is(key, "object")) return not_error(value);
        break;
      default: break;
    }
    return is_good(value);
  }

  static bool not_error(od::value& value) {
    std::string_view text;
    return !value.get_string().get(text) && text != "error";
  }

  bool choice(od::value& value) {
    auto& p = x_.out.pieces;
    const mark begin{p.bytes.size(), p.pieces.size(), x_.out.fragments.size(),
                     x_.finish};
    index_ = 0;
    has_delta_ = has_message_ = has_text_ = has_reasoning_ = false;
    if (!each_member(
            value, [this](auto key, auto& v) { return choice_member(key, v); }))
      return false;
    if (index_ != 0) {
      p.bytes.resize(begin.bytes);
      p.pieces.resize(begin.pieces);
      x_.out.fragments.resize(begin.fragments);
      x_.finish = begin.finish;
      return true;
    }
    return has_delta_ || !has_message_;
  }

  bool choice_member(od::raw_json_string key, od::value& value) {
    switch (key.raw()[0]) {
      case 'i':
        if (is(key, "index")) return !value.get_uint64().get(index_);
        break;
      case 'd':
        if (is(key, "delta")) return delta(value);
        break;
      case 'f':
        if (is(key, "finish_reason")) return finish(value);
        break;
      case 'm':
        if (!is(key, "message")) break;
        if (is_null(value)) return true;
        has_message_ = true;
        break;
      case 'e':
        if (is(key, "error")) return is_null(value);
        break;
      case 'u':
        if (is(key, "usage")) return is_null(value);
        break;
      default: break;
    }
    return is_good(value);
  }

  bool finish(od::value& value) {
    std::string_view word;
    if (!get_text(value, word) || word == "error") return false;
    if (!word.empty()) x_.finish = parse_finish(word);
    return true;
  }

  bool delta(od::value& value) {
    if (is_null(value)) return true;
    has_delta_ = true;
    return each_member(
        value, [this](auto key, auto& v) { return delta_member(key, v); });
  }

  bool delta_member(od::raw_json_string key, od::value& value) {
    if (is(key, "content")) return text(value);
    if (is(key, "tool_calls")) return calls(value);
    if (is(key, "function_call")) return is_null(value);
    if (is(key, "reasoning_content") || is(key, "reasoning"))
      return reasoning(value);
    if (is(key, "reasoning_details")) return details(value);
    return is(key, "refusal") ? refusal(value) : is_good(value);
  }

  bool refusal(od::value& value) {
    std::string_view refusal;
    if (!get_text(value, refusal)) return false;
    if (!refusal.empty()) {
      has_text_ = true;
      x_.out.pieces.add(piece_kind::refusal, refusal);
    }
    return true;
  }

  bool text(od::value& value) {
    std::string_view text;
    const auto token = value.raw_json_token();
    if (!get_text(value, text)) return false;
    if (text.empty()) return true;
    if (has_text_) return false;
    has_text_ = true;
    add(piece_kind::text, text, token);
    return true;
  }

  bool reasoning(od::value& value) {
    std::string_view text;
    const auto token = value.raw_json_token();
    if (!get_text(value, text)) return false;
    if (text.empty()) return true;
    if (has_reasoning_ || has_text_) return false;
    has_reasoning_ = true;
    add(piece_kind::reasoning, text, token);
    return true;
  }

  void add(piece_kind kind, std::string_view text, std::string_view token) {
    note_place(token);
    place_.kind = kind;
    x_.out.pieces.add(kind, text);
  }

  // A token is a string with its quotation marks, and white space after it.
  void note_place(std::string_view token) {
    ++texts_;
    place_.begin = static_cast<std::size_t>(token.data() + 1 - begin_);
    place_.length = token.rfind('"') - 1;
  }

  // To be kept.
  bool details(od::value& value) {
    if (is_null(value)) return true;
    bool empty = false;
    od::array array;
    return !value.get_array().get(array) && !array.is_empty().get(empty) &&
           empty;
  }

  bool calls(od::value& value) {
    return is_null(value) ||
           each_element(value, [this](auto& v) { return call(v); });
  }

  bool call(od::value& value) {
    auto& fragment = x_.out.fragments.emplace_back();
    return each_member(value, [this, &fragment](auto key, auto& v) {
      if (is(key, "index")) return index(v, fragment);
      if (is(key, "id")) return assign(v, fragment.id);
      if (is(key, "function")) return function(v, fragment);
      return (is(key, "type") && is_good(v)) || is_null(v);
    });
  }

  static bool index(od::value& value, call_fragment& fragment) {
    std::uint64_t number = 0;
    if (value.get_uint64().get(number) || number > UINT32_MAX) return false;
    fragment.index = static_cast<std::uint32_t>(number);
    return true;
  }

  bool function(od::value& value, call_fragment& fragment) {
    return is_null(value) ||
           each_member(value, [this, &fragment](auto key, auto& v) {
             if (is(key, "name")) return assign(v, fragment.name);
             return is(key, "arguments") ? arguments(v, fragment) : is_good(v);
           });
  }

  bool arguments(od::value& value, call_fragment& fragment) {
    const auto token = value.raw_json_token();
    if (!assign(value, fragment.arguments)) return false;
    if (!fragment.arguments.empty()) note_place(token);
    return true;
  }

  static bool assign(od::value& value, std::string& to) {
    std::string_view text;
    if (!get_text(value, text)) return false;
    to.assign(text);
    return true;
  }

  chunk& x_;
  const char* begin_;
  text_place place_;
  std::uint32_t texts_ = 0;  ///< strings that count, of all choices
  std::uint64_t index_ = 0;
  bool has_delta_ = false;
  bool has_message_ = false;
  bool has_text_ = false;
  bool has_reasoning_ = false;
};

// One for each thread: a parser's buffers are several times as large as the
// document, and thousands of decoders may be alive.
struct thread_parser {
  static constexpr std::size_t usual = 16u << 10;
  static constexpr std::size_t keep = 1u << 20;

  od::parser parser;
  std::string padded;  ///< a copy, for documents that end with the read

  thread_parser() { reset(); }

  // Without memory the next `iterate` says so.
  void reset() {
    parser = od::parser{};
    if (parser.allocate(usual) != simdjson::SUCCESS) parser = od::parser{};
  }

  void shrink() {
    if (parser.capacity() > keep) reset();
    if (padded.capacity() > keep) padded = {};
  }
};

simdjson::padded_string_view pad(thread_parser& p, std::string_view json,
                                 std::size_t readable) {
  using view = simdjson::padded_string_view;
  if (readable >= simdjson::SIMDJSON_PADDING)
    return view{json.data(), json.size(), json.size() + readable};
  p.padded.assign(json);
  p.padded.append(simdjson::SIMDJSON_PADDING, '\0');
  return view{p.padded.data(), json.size(), p.padded.size()};
}

}  // namespace

bool read_common(std::string_view json, std::size_t readable, chunk& x) {
  thread_local thread_parser p;
  auto& pieces = x.out.pieces;
  const auto bytes = pieces.bytes.size();
  const auto count = pieces.pieces.size();
  const auto fragments = x.out.fragments.size();
  od::document document;
  const auto padded = pad(p, json, readable);
  common_reader reader{x, padded.data()};
  const bool understood =
      !p.parser.iterate(padded).get(document) && reader.root(document);
  if (understood) x.only_text = reader.only_text(count, fragments);
  p.shrink();
  if (understood) return true;
  pieces.bytes.resize(bytes);
  pieces.pieces.resize(count);
  x.out.fragments.resize(fragments);
  x.finish.reset();
  x.known = false;
  return false;
}

}  // namespace riffle::model::openai
