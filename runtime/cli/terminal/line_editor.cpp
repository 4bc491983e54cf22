// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/line_editor.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "messages/utf8.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t'; }

/// A terminal sends the line ends of a paste as '\r'.
std::string with_line_ends(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool both = text.substr(i).starts_with("\r\n");
    if (!both) out += text[i] == '\r' ? '\n' : text[i];
  }
  return out;
}

}  // namespace

std::size_t line_editor::behind(std::size_t at) const {
  if (at >= text_.size()) return text_.size();
  if (pasted_texts::begins_mark(text_[at]))
    return std::min(at + pasted_texts::mark_size, text_.size());
  return at + first_shown(std::string_view{text_}.substr(at)).size;
}

/// Clusters are only found from the front: from the line's beginning.
std::size_t line_editor::before(std::size_t at) const {
  if (at == 0) return 0;
  if (text_[at - 1] == '\n') return at - 1;
  const auto end = text_.rfind('\n', at - 1);
  auto x = end == std::string::npos ? 0 : end + 1;
  // In a very long line it is enough to begin behind a blank.
  constexpr std::size_t far = 256;
  if (at - x > far)
    if (const auto blank = text_.find(' ', at - far); blank + 1 < at)
      x = blank + 1;
  auto last = x;
  for (; x < at; x = behind(x)) last = x;
  return last;
}

std::size_t line_editor::line_start() const {
  if (cursor_ == 0) return 0;
  const auto end = text_.rfind('\n', cursor_ - 1);
  return end == std::string::npos ? 0 : end + 1;
}

std::size_t line_editor::line_end() const {
  return std::min(text_.find('\n', cursor_), text_.size());
}

std::size_t line_editor::word_before() const {
  auto x = cursor_;
  while (x > 0 && is_blank(text_[x - 1])) --x;
  while (x > 0 && !is_blank(text_[x - 1])) --x;
  return x;
}

std::size_t line_editor::word_behind() const {
  auto x = cursor_;
  while (x < text_.size() && is_blank(text_[x])) ++x;
  while (x < text_.size() && !is_blank(text_[x])) ++x;
  return x;
}

line_editor line_editor::with_pieces() {
  line_editor out;
  out.has_pieces_ = true;
  return out;
}

void line_editor::put(std::string_view marked) {
  text_.insert(cursor_, marked);
  cursor_ += marked.size();
}

void line_editor::insert(std::string_view text) {
  const auto safe = pasted_texts::without_marks(safe_text(text));
  const auto used = pieces_.whole_size(text_);
  put(cut_utf8(safe, longest_text - std::min(used, longest_text)));
}

/// Typed, or pasted. Of what is too long a piece says how much of it is there,
/// and all else is not taken.
editor_event line_editor::type(const key& x) {
  const auto safe = safe_text(with_line_ends(x.text));
  const auto used = pieces_.whole_size(text_);
  const auto room = longest_text - std::min(used, longest_text);
  const auto kept = cut_utf8(safe, room);
  const auto left_out = safe.size() - kept.size() + x.left_out;
  if (has_pieces_ && pasted_texts::is_long(safe) && !kept.empty()) {
    const auto mark = pieces_.keep(std::string{kept}, left_out);
    if (!mark.empty()) {
      put(mark);
      return editor_event::none;
    }
  }
  if (left_out > 0) return editor_event::full;
  put(pasted_texts::without_marks(safe));
  return editor_event::none;
}

void line_editor::give(const std::string& marked) {
  text_ = marked + (text_.empty() ? "" : "\n") + text_;
  cursor_ = text_.size();
}

std::deque<std::string> line_editor::history() const {
  std::deque<std::string> out;
  for (const auto& x : history_) out.push_back(pieces_.whole(x));
  return out;
}

void line_editor::replace_before(std::size_t size, std::string_view text) {
  erase(cursor_ - std::min(size, cursor_), cursor_);
  insert(text);
}

void line_editor::erase(std::size_t from, std::size_t to) {
  text_.erase(from, to - from);
  cursor_ = from;
}

/// For Ctrl-Y.
void line_editor::cut(std::size_t from, std::size_t to) {
  if (from < to) cut_ = text_.substr(from, to - from);
  erase(from, to);
}

void line_editor::replace(std::string_view text) {
  clear();
  insert(text);
}

void line_editor::undo() {
  typing_ = false;
  if (earlier_.empty()) return;
  text_ = std::move(earlier_.back().text);
  cursor_ = earlier_.back().cursor;
  earlier_.pop_back();
}

/// Letters that are typed in a row go in a row.
void line_editor::keep_for_undo(const key& x, std::string text,
                                std::size_t cursor) {
  constexpr std::size_t most = 100;
  constexpr std::size_t longest = 64u << 10;
  const bool types =
      x.what == key_kind::text && !x.text.empty() && !is_blank(x.text.back());
  const bool goes_on = std::exchange(typing_, types) && types;
  if (goes_on || text.size() > longest) return;
  earlier_.push_back({std::move(text), cursor});
  if (earlier_.size() > most) earlier_.pop_front();
}

void line_editor::clear() {
  earlier_.clear();
  typing_ = false;
  text_.clear();
  cursor_ = 0;
  entry_ = history_.size();
  draft_.clear();
}

std::string line_editor::take_marked() {
  auto out = std::exchange(text_, {});
  remember(out);
  clear();
  return out;
}

void line_editor::remember(std::string text) {
  constexpr std::size_t longest_shown = 16u << 10;  // drawn with each key
  const bool again =
      !history_.empty() &&
      pieces_.whole_size(history_.back()) == pieces_.whole_size(text) &&
      whole(history_.back()) == whole(text);
  entry_ = history_.size();
  if (again || std::ranges::all_of(text, is_blank)) return;
  kept_ += pieces_.whole_size(text);
  if (has_pieces_ && text.size() > longest_shown)
    if (auto mark = pieces_.keep(whole(text)); !mark.empty())
      text = std::move(mark);
  history_.push_back(std::move(text));
  for (; history_.size() > 1 &&
         (history_.size() > most_entries || kept_ > most_kept);
       history_.pop_front())
    kept_ -= pieces_.whole_size(history_.front());
  entry_ = history_.size();
}

void line_editor::release_pieces(std::span<const std::string* const> taken) {
  if (pieces_.empty()) return;
  std::set<std::uint32_t> marks;
  for (const auto* x : taken) pasted_texts::add_marks(*x, marks);
  for (const auto& x : history_) pasted_texts::add_marks(x, marks);
  for (const auto& x : earlier_) pasted_texts::add_marks(x.text, marks);
  for (const auto* x : {&text_, &draft_, &cut_})
    pasted_texts::add_marks(*x, marks);
  pieces_.release_all_but(marks);
}

void line_editor::recall(std::size_t entry) {
  if (entry_ == history_.size()) draft_ = text_;
  entry_ = entry;
  text_ = entry == history_.size() ? draft_ : history_[entry];
  cursor_ = text_.size();
}

/// To the line above or below; at the first and last one through the history.
void line_editor::vertical(bool up) {
  const auto start = line_start();
  const auto wanted =
      columns_of(std::string_view{text_}.substr(start, cursor_ - start));
  if (up && start == 0) {
    if (entry_ > 0) recall(entry_ - 1);
    return;
  }
  if (!up && line_end() == text_.size()) {
    if (entry_ < history_.size()) recall(entry_ + 1);
    return;
  }
  cursor_ = up ? start - 1 : line_end() + 1;
  if (up) cursor_ = line_start();
  const auto end = line_end();
  for (std::size_t used = 0; cursor_ < end && used < wanted;
       cursor_ = behind(cursor_))
    used += first_shown(std::string_view{text_}.substr(cursor_)).columns;
}

editor_event line_editor::enter() {
  if (cursor_ == text_.size() && text_.ends_with('\\')) {
    text_.back() = '\n';
    return editor_event::none;
  }
  return editor_event::submitted;
}

bool line_editor::move(key_kind x) {
  switch (x) {
    case key_kind::left: cursor_ = before(cursor_); return true;
    case key_kind::right: cursor_ = behind(cursor_); return true;
    case key_kind::home: cursor_ = line_start(); return true;
    case key_kind::end: cursor_ = line_end(); return true;
    case key_kind::word_left: cursor_ = word_before(); return true;
    case key_kind::word_right: cursor_ = word_behind(); return true;
    case key_kind::up: vertical(true); return true;
    case key_kind::down: vertical(false); return true;
    default: return false;
  }
}

bool line_editor::change(key_kind x) {
  switch (x) {
    case key_kind::backspace: erase(before(cursor_), cursor_); return true;
    case key_kind::erase: {
      const auto at = cursor_;
      erase(at, behind(at));
      return true;
    }
    case key_kind::kill_word: cut(word_before(), cursor_); return true;
    case key_kind::kill_start: cut(line_start(), cursor_); return true;
    case key_kind::kill_end: {
      const auto at = cursor_;
      cut(at, line_end());
      return true;
    }
    case key_kind::yank: put(cut_); return true;
    case key_kind::line: insert("\n"); return true;
    default: return false;
  }
}

/// The newest entry before that one which has the text.
void line_editor::find_before(std::size_t entry) {
  while (entry-- > 0)
    if (pieces_.shown(history_[entry]).find(*search_) != std::string::npos)
      return recall(entry);
}

/// Any key that is no part of the search is one of the text that was found.
editor_event line_editor::on_search(const key& x) {
  if (x.what == key_kind::search) {
    find_before(entry_);
  } else if (x.what == key_kind::text) {
    *search_ += safe_line(x.text, 200);
    find_before(std::min(entry_ + 1, history_.size()));
  } else if (x.what == key_kind::backspace) {
    if (!search_->empty()) search_->pop_back();
    while (!search_->empty() && (search_->back() & 0xC0) == 0x80)
      search_->pop_back();
    find_before(history_.size());
  } else {
    search_.reset();
    // Ctrl-G, too, as in shells.
    if (x.what == key_kind::interrupt || x.what == key_kind::editor) {
      recall(history_.size());
      return editor_event::none;
    }
    return on(x);
  }
  return editor_event::none;
}

editor_event line_editor::on(const key& x) {
  if (search_) return on_search(x);
  if (x.what == key_kind::undo) {
    undo();
    return editor_event::none;
  }
  auto before = text_;
  const auto at = cursor_;
  const auto what = act(x);
  if (what != editor_event::none || text_ == before)
    typing_ = typing_ && x.what == key_kind::text;
  else
    keep_for_undo(x, std::move(before), at);
  return what;
}

editor_event line_editor::act(const key& x) {
  if (move(x.what) || change(x.what)) return editor_event::none;
  switch (x.what) {
    case key_kind::text: return type(x);
    case key_kind::enter: return enter();
    case key_kind::tab: return editor_event::complete;
    case key_kind::interrupt: return editor_event::interrupted;
    case key_kind::redraw: return editor_event::redraw;
    case key_kind::search: search_.emplace(); return editor_event::none;
    case key_kind::editor: return editor_event::edit;
    case key_kind::end_of_input:
      if (text_.empty()) return editor_event::end_of_input;
      change(key_kind::erase);
      return editor_event::none;
    default: return editor_event::none;
  }
}

}  // namespace riffle::cli
