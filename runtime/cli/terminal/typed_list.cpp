// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/typed_list.hpp"

#include <algorithm>
#include <utility>

#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view marked_begin = "  > ";
constexpr std::string_view other_begin = "    ";

/// Of a text that is too long its end: paths differ there.
std::string fit_end(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string{text};
  while (!text.empty() && columns_of(text) + 1 > columns)
    text.remove_prefix(first_shown(text).size);
  return columns == 0 ? std::string{} : "…" + std::string{text};
}

std::string styled(const std::string& row, const char* how, bool color) {
  return color && !row.empty() ? how + row + "\x1b[0m" : row;
}

/// Columns of what stands left of the descriptions: where all of these are
/// short, what they leave.
std::size_t left_columns(const std::vector<list_entry>& all,
                         std::size_t columns) {
  constexpr std::size_t least = 28;
  constexpr std::size_t gap = 2;
  std::size_t out = 0;
  auto beside = marked_begin.size() + gap;
  for (const auto& x : all) {
    out = std::max(out, columns_of(x.shown));
    beside = std::max(beside, marked_begin.size() + gap + columns_of(x.about));
  }
  const auto room = columns - std::min(columns, beside);
  return std::min(out, std::max(room, least));
}

std::string row_of(const list_entry& x, bool marked, std::size_t left,
                   std::size_t columns, bool color) {
  const auto begin = marked ? marked_begin : other_begin;
  const auto room = columns - std::min(columns, begin.size());
  const auto name = x.about.empty() ? fit_end(x.shown, room)
                                    : padded(fit(x.shown, std::min(left, room)),
                                             std::min(left, room));
  const auto used = columns_of(name);
  constexpr std::size_t gap = 2;
  auto about = x.about.empty() || used + gap >= room
                   ? std::string{}
                   : std::string(gap, ' ') + fit(x.about, room - used - gap);
  auto row = fit(std::string{begin} + name, columns);
  if (marked) return styled(row + about, "\x1b[1m", color);
  return row + styled(about, "\x1b[2m", color);
}

std::size_t begin_of_word(const typed_offer& x, std::string_view before) {
  return before.size() - std::min(x.replaces, before.size());
}

}  // namespace

bool typed_list::seen_for(std::string_view before) const {
  return open_ && seen_ && !offer_.entries.empty() && before == for_;
}

/// Up from the first one, where it was not marked at first, leads back to the
/// text, and from there to the last one.
bool typed_list::move(bool down) {
  const auto count = offer_.entries.size();
  if (down) {
    mark_ = mark_ ? std::min(*mark_ + 1, count - 1) : 0;
    return true;
  }
  if (!mark_)
    mark_ = count - 1;
  else if (*mark_ > 0)
    --*mark_;
  else if (!offer_.marked)
    mark_.reset();
  return true;
}

typed_list::outcome typed_list::on(const key& x, std::string_view before) {
  if (!seen_for(before)) return outcome::passes;
  const bool moves = x.what == key_kind::up || x.what == key_kind::down;
  if (moves)
    return move(x.what == key_kind::down) ? outcome::moved : outcome::passes;
  const bool enter = x.what == key_kind::enter && mark_;
  if (!enter && x.what != key_kind::tab) return outcome::passes;
  const auto& one = offer_.entries[mark_.value_or(0)];
  const bool sends = enter && one.sends;
  taken_ = {offer_.replaces, one.by + (one.ends && !sends ? " " : ""), sends};
  return outcome::taken;
}

typed_list::choice typed_list::take() {
  hide();
  open_ = true;
  return std::exchange(taken_, {});
}

void typed_list::after(const key& x) {
  const bool typed =
      x.what == key_kind::text && !x.pasted && x.text.size() <= most_typed;
  const bool goes_on = x.what == key_kind::backspace ||
                       x.what == key_kind::kill_word || x.what == key_kind::tab;
  open_ = typed || (open_ && goes_on);
  if (x.what == key_kind::kill_start) left_.reset();
  seen_ = false;
}

/// Whether there was something to be drawn.
bool typed_list::clear() {
  const bool was = !offer_.entries.empty() || !offer_.note.empty();
  seen_ = false;
  drawn_ = false;
  offer_ = {};
  for_.clear();
  mark_.reset();
  return was;
}

void typed_list::hide() {
  clear();
  open_ = false;
  left_.reset();
}

bool typed_list::close() {
  if (!stands()) return false;
  const auto word = begin_of_word(offer_, for_);
  hide();
  left_ = word;
  return true;
}

bool typed_list::offer(std::optional<typed_offer> x, std::string_view before) {
  const bool elsewhere =
      open_ && (!x || (left_ && *left_ != begin_of_word(*x, before)));
  if (before.empty() || elsewhere) left_.reset();
  if (!open_ || !x || left_) return clear();
  const bool again = before == for_;
  if (again) offer_.pending = x->pending;
  if (again && *x == offer_) return false;
  std::optional<std::size_t> mark;
  if (x->marked && !x->entries.empty()) mark = 0;
  // Whoever looks at it shall not take what has just come in its place.
  for (std::size_t i = 0; again && mark_ && i < x->entries.size(); ++i)
    if (x->entries[i].by == offer_.entries[*mark_].by) mark = i;
  mark_ = mark;
  offer_ = *std::move(x);
  for_ = before;
  seen_ = false;
  return true;
}

std::string typed_list::below(std::size_t shown) const {
  const auto count = offer_.entries.size();
  auto out = offer_.note;
  if (shown < count || offer_.more > 0) {
    const auto place = mark_ ? std::to_string(*mark_ + 1) + " of " : "";
    out = place + std::to_string(count + offer_.more) +
          (out.empty() ? "" : "; " + out);
  }
  return out;
}

std::vector<std::string> typed_list::draw(std::size_t columns, std::size_t rows,
                                          bool color) {
  constexpr std::size_t narrowest = 8;
  seen_ = false;
  drawn_ = false;
  if (!open_ || rows == 0 || columns < narrowest) return {};
  const auto& all = offer_.entries;
  const auto most = std::min(rows, most_rows);
  const bool told =
      all.size() > most || offer_.more > 0 || !offer_.note.empty();
  // In one row there is only what an Enter takes.
  const bool has_below = told && (most > 1 || all.empty());
  const auto count = std::min(all.size(), most - (has_below ? 1 : 0));
  const auto at = mark_.value_or(0);
  const auto first = std::min(at - std::min(at, count / 2), all.size() - count);
  const auto left = left_columns(all, columns);
  std::vector<std::string> out;
  for (auto i = first; i < first + count; ++i)
    out.push_back(row_of(all[i], mark_ == i, left, columns, color));
  if (has_below)
    out.push_back(styled(fit(std::string{other_begin} + below(count), columns),
                         "\x1b[2m", color));
  seen_ = count > 0;
  drawn_ = !out.empty();
  return out;
}

}  // namespace riffle::cli
