// SPDX-License-Identifier: MIT
#include "runtime/model/surrogate_joiner.hpp"

#include <cstdint>

#include "messages/utf8.hpp"

namespace riffle::model {

namespace {

/// The last private characters: 2,048 as there are surrogates.
constexpr unsigned base = 0x10F800;

bool is_high(unsigned unit) { return unit < 0xDC00; }

template <class Map, class Key>
std::optional<unsigned> take(Map& from, const Key& key) {
  const auto i = from.find(key);
  if (i == from.end()) return {};
  const auto out = i->second;
  from.erase(i);
  return out;
}

}  // namespace

void halves::append(unsigned unit, std::string& to) {
  append_utf8(to, base + (unit - 0xD800));
}

std::optional<unsigned> halves::first(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(text[i]));
  };
  if (text.size() < length || at(0) != 0xF4 || at(1) != 0x8F || at(2) < 0xA0)
    return {};
  return 0xD800 + ((at(2) & 0x1F) << 6) + (at(3) & 0x3F);
}

std::string halves::settled(std::string_view text,
                            std::optional<unsigned>& waits) {
  std::string out;
  const auto alone = [&] {
    if (waits) out += replacement_character;
    waits.reset();
  };
  while (!text.empty()) {
    if (const auto half = halves::first(text)) {
      text.remove_prefix(halves::length);
      if (waits && !is_high(*half)) {
        append_utf8(out,
                    0x10000 + ((*waits - 0xD800) << 10) + (*half - 0xDC00));
        waits.reset();
        continue;
      }
      alone();
      if (is_high(*half))
        waits = half;
      else
        out += replacement_character;
      continue;
    }
    alone();
    auto next = text.find('\xF4', 1);
    if (next == std::string_view::npos) next = text.size();
    out += text.substr(0, next);
    text.remove_prefix(next);
  }
  return out;
}

std::string halves::joined(std::string_view text) {
  std::optional<unsigned> waits;
  auto out = halves::settled(text, waits);
  if (waits) out += replacement_character;
  return out;
}

void surrogate_joiner::join(turn_delta& x, const delta_mark& since) {
  if (x.pieces.pieces.size() > since.pieces) join_pieces(x, since);
  for (auto i = since.fragments; i < x.fragments.size(); ++i)
    join_fragment(x.fragments[i]);
}

void surrogate_joiner::join_pieces(turn_delta& x, const delta_mark& since) {
  piece_list joined;
  auto begin = since.bytes;
  for (auto i = since.pieces; i < x.pieces.pieces.size(); ++i) {
    const auto& piece = x.pieces.pieces[i];
    auto waits = take(pieces_, piece.kind);
    const auto text = halves::settled(
        std::string_view{x.pieces.bytes}.substr(begin, piece.end - begin),
        waits);
    begin = piece.end;
    if (waits) pieces_[piece.kind] = *waits;
    if (!text.empty()) joined.add(piece.kind, text);
  }
  x.pieces.bytes.resize(since.bytes);
  x.pieces.pieces.resize(since.pieces);
  joined.for_each([&](piece_kind kind, std::string_view text) {
    x.pieces.add(kind, text);
  });
}

void surrogate_joiner::join_fragment(call_fragment& x) {
  std::optional<unsigned> none;
  x.name = halves::settled(x.name, none);
  if (none) x.name += replacement_character;
  none.reset();
  x.id = halves::settled(x.id, none);
  if (none) x.id += replacement_character;
  const call_key key{x.index, x.index ? std::string{} : x.id};
  if (x.arguments.empty() && !x.closes) return;
  auto waits = take(calls_, key);
  x.arguments = halves::settled(x.arguments, waits);
  if (!waits) return;
  if (x.closes)
    x.arguments += replacement_character;
  else
    calls_[key] = *waits;
}

void surrogate_joiner::finish(turn_delta& x) {
  for (const auto& [kind, half] : pieces_)
    x.pieces.add(kind, replacement_character);
  for (const auto& [key, half] : calls_) {
    auto& fragment = x.fragments.emplace_back();
    fragment.index = key.first;
    fragment.id = key.second;
    fragment.arguments = replacement_character;
  }
  pieces_.clear();
  calls_.clear();
}

}  // namespace riffle::model
