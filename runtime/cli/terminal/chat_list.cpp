// SPDX-License-Identifier: MIT
// The list below the line of a conversation: a part of its prompt.
#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/cli/terminal/chat_prompt.hpp"

namespace riffle::cli {

namespace {

constexpr int look_ms = 100;
/// Where something may come, or an ESC is to become a key.
constexpr int quick_look_ms = 20;

std::chrono::steady_clock::time_point now() {
  return std::chrono::steady_clock::now();
}

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t'; }

}  // namespace

/// Whether the key was for the list. An Enter that sends what it took goes on
/// to the text.
bool chat_prompt::list_takes(const key& x) {
  const auto before = editor_.before_cursor();
  switch (list_.on(x, before)) {
    case typed_list::outcome::passes: return false;
    case typed_list::outcome::moved: return true;
    case typed_list::outcome::taken: break;
  }
  const auto one = list_.take();
  editor_.replace_before(one.replaces, one.by);
  listed_for_ = before;
  return !one.sends;
}

/// What there is for the text as it is now. True: its rows have changed.
bool chat_prompt::settle_list() {
  if (!offerer_) return false;
  const auto& text = editor_.text();
  const auto at = editor_.cursor();
  const bool in_word = at < text.size() && !is_blank(text[at]);
  if (in_word || editor_.searches()) list_.hide();
  const auto before = editor_.before_cursor();
  // Without a word what was looked up for one is given up.
  auto found = offerer_(list_.wants_offer() ? before : std::string{});
  return list_.offer(std::move(found), before);
}

/// The text is another one, and no key has made it so.
void chat_prompt::drop_stale_list() {
  if (!list_.is_for(editor_.before_cursor())) list_.hide();
}

/// The line ends, and with it what was looked up for it.
void chat_prompt::end_list() {
  list_.hide();
  if (offerer_) offerer_({});
}

/// Below so many rows of text. Half of the screen stays with what was said.
std::vector<std::string> chat_prompt::list_below(std::size_t columns,
                                                 std::size_t used) {
  const auto rows = screen_.rows();
  const auto room = rows - std::min(rows, used + 1);
  return list_.draw(columns, std::min(rows / 2, room), color_);
}

std::string chat_prompt::draft_with_list() {
  auto out = draft();
  drop_stale_list();
  if (out.empty()) return out;
  // Work has at most half of the screen, this line a row, the text one.
  const auto rows = screen_.rows();
  constexpr std::size_t most_of_work = 12;
  const auto used = std::clamp<std::size_t>(rows / 2, 2, most_of_work) + 3;
  const auto columns = std::max<std::size_t>(screen_.columns(), 2) - 1;
  for (const auto& row :
       list_.draw(columns, rows - std::min(rows, used), false))
    out += "\n" + row;
  return out;
}

bool chat_prompt::asks_for_drawing() {
  const bool wider =
      width_.asks_for_drawing(screen_.columns(), shown_columns_, now());
  const bool higher =
      height_.asks_for_drawing(screen_.rows(), shown_rows_, now());
  return wider || (higher && list_.stands());
}

void chat_prompt::close_list() {
  if (list_.close()) show();
}

int chat_prompt::idle_ms() const {
  return list_.pending() || keys_.has_escape() ? quick_look_ms : look_ms;
}

void chat_prompt::on_bytes(std::string_view bytes) {
  // With a list it is a key, and else means nothing here.
  if (escape_at_ && list_.stands() &&
      keys_.drop_escape_before(bytes, now() - *escape_at_))
    close_list();
  for (auto& x : keys_.feed(bytes)) pressed_.push_back(std::move(x));
  escape_at_.reset();
  if (keys_.has_escape()) escape_at_ = now();
}

void chat_prompt::on_silence() {
  if (list_.pending() && settle_list()) show();
  if (!keys_.has_escape()) return escape_at_.reset();
  if (!escape_at_) escape_at_ = now();
  if (now() - *escape_at_ < escape_gap) return;
  escape_at_.reset();
  keys_.drop_escape();
  close_list();
}

}  // namespace riffle::cli
