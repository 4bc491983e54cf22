// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/keys.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "messages/utf8.hpp"

namespace riffle::cli {

namespace {

constexpr char escape = '\x1b';
constexpr std::string_view paste_begins = "\x1b[200~";
constexpr std::string_view paste_ends = "\x1b[201~";
/// What stands behind the ESC of OSC, DCS, APC, PM and SOS.
constexpr std::string_view answer_begins = "]P_^X";
constexpr std::string_view answer_ends = "\x1b\\";
constexpr std::size_t longest_sequence = 32;

std::optional<key_kind> of_control(char c) {
  switch (c) {
    case '\r':
    case '\n': return key_kind::enter;
    case '\t': return key_kind::tab;
    case 0x01: return key_kind::home;
    case 0x02: return key_kind::left;
    case 0x03: return key_kind::interrupt;
    case 0x04: return key_kind::end_of_input;
    case 0x05: return key_kind::end;
    case 0x06: return key_kind::right;
    case 0x07: return key_kind::editor;
    case 0x08:
    case 0x7F: return key_kind::backspace;
    case 0x0B: return key_kind::kill_end;
    case 0x0C: return key_kind::redraw;
    case 0x0E: return key_kind::down;
    case 0x10: return key_kind::up;
    case 0x12: return key_kind::search;
    case 0x15: return key_kind::kill_start;
    case 0x17: return key_kind::kill_word;
    case 0x19: return key_kind::yank;
    case 0x1A: return key_kind::suspend;
    case 0x1F: return key_kind::undo;
    default: return std::nullopt;
  }
}

using named = std::pair<std::string_view, key_kind>;

/// What stands behind the ESC.
constexpr std::array sequences{named{"[A", key_kind::up},
                               named{"[B", key_kind::down},
                               named{"[C", key_kind::right},
                               named{"[D", key_kind::left},
                               named{"[H", key_kind::home},
                               named{"[F", key_kind::end},
                               named{"OA", key_kind::up},
                               named{"OB", key_kind::down},
                               named{"OC", key_kind::right},
                               named{"OD", key_kind::left},
                               named{"OH", key_kind::home},
                               named{"OF", key_kind::end},
                               named{"[1~", key_kind::home},
                               named{"[7~", key_kind::home},
                               named{"[4~", key_kind::end},
                               named{"[8~", key_kind::end},
                               named{"[3~", key_kind::erase},
                               named{"[1;5C", key_kind::word_right},
                               named{"[1;3C", key_kind::word_right},
                               named{"[1;5D", key_kind::word_left},
                               named{"[1;3D", key_kind::word_left},
                               named{"b", key_kind::word_left},
                               named{"f", key_kind::word_right},
                               named{"\r", key_kind::line},
                               named{"\n", key_kind::line},
                               named{"\x7f", key_kind::kill_word}};

/// Bytes of the sequence at the beginning; 0: its end has not come.
std::size_t sequence_size(std::string_view x) {
  if (x.size() < 2) return 0;
  if (x[1] == 'O') return x.size() < 3 ? 0 : 3;
  if (x[1] != '[') return 2;
  for (std::size_t i = 2; i < x.size(); ++i) {
    if (x[i] >= 0x40 && x[i] <= 0x7E) return i + 1;
    if (i > longest_sequence) return i;
  }
  return 0;
}

/// Bytes of typed text at the beginning; 0: the character is not whole.
std::size_t text_size(std::string_view x) {
  constexpr std::size_t longest_character = 4;
  std::size_t n = 0;
  while (n < x.size()) {
    const auto c = static_cast<unsigned char>(x[n]);
    if (c < 0x20 || c == 0x7F) break;
    const auto one = first_character(x.substr(n));
    const bool cut = !one.valid && n + one.size == x.size() && c >= 0xC2 &&
                     c < 0xF5 && x.size() - n < longest_character;
    if (cut) break;
    n += one.size;
  }
  return n;
}

}  // namespace

std::vector<key> key_reader::feed(std::string_view bytes, time_point now) {
  std::vector<key> out;
  end_lost(bytes, now, out);
  rest_ += bytes;
  fed_ = now;
  const auto takes = [&] {
    switch (reads_) {
      case what::paste: return take_paste(out);
      case what::answer: return take_answer();
      default: return take(out);
    }
  };
  while (!rest_.empty() && takes()) {
  }
  return out;
}

/// A paste that was only slow goes on with more than a person presses at once,
/// or with its end. Ctrl-C alone is never a part of one.
void key_reader::end_lost(std::string_view bytes, time_point now,
                          std::vector<key>& out) {
  constexpr std::size_t most_pressed = 64;
  constexpr std::string_view ctrl_c = "\x03";
  if (reads_ == what::answer && now - answer_began_ >= longest_answer) {
    rest_.clear();
    reads_ = what::keys;
  }
  if (reads_ != what::paste || bytes.empty()) return;
  const bool pressed =
      now - fed_ >= longest_pause && bytes.size() <= most_pressed &&
      (rest_ + std::string{bytes}).find(paste_ends) == std::string::npos;
  if (!pressed && bytes != ctrl_c) return;
  keep_pasted(rest_.size());
  end_paste(out);
}

bool key_reader::drop_escape_before(std::string_view bytes,
                                    std::chrono::nanoseconds later) {
  const bool goes_on = bytes.starts_with('[') || bytes.starts_with('O');
  if (!has_escape() || bytes.empty() || goes_on || later < key_gap)
    return false;
  drop_escape();
  return true;
}

bool key_reader::take_paste(std::vector<key>& out) {
  const auto end = rest_.find(paste_ends);
  const bool over = end != std::string::npos;
  // The end may be cut in two.
  const auto keep = std::min(rest_.size(), paste_ends.size() - 1);
  keep_pasted(over ? end : rest_.size() - keep);
  if (!over) return false;
  rest_.erase(0, paste_ends.size());
  end_paste(out);
  return true;
}

/// The next bytes are of the paste.
void key_reader::keep_pasted(std::size_t size) {
  const auto kept = std::min(size, longest_paste - pasted_.size());
  pasted_.append(rest_, 0, kept);
  left_out_ += size - kept;
  rest_.erase(0, size);
}

void key_reader::end_paste(std::vector<key>& out) {
  reads_ = what::keys;
  out.push_back({key_kind::text, std::exchange(pasted_, {}), true,
                 std::exchange(left_out_, 0)});
}

/// Up to BEL, or ESC and a backslash. Any other control character is a key, or
/// the beginning of one, and the end of what was no answer, and so is what is
/// too much for one.
bool key_reader::take_answer() {
  constexpr char bell = '\x07';
  const auto found = std::ranges::find_if(rest_, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  const auto size = std::min(static_cast<std::size_t>(found - rest_.begin()),
                             largest_answer - answered_);
  rest_.erase(0, size);
  answered_ += size;
  if (answered_ == largest_answer) {
    reads_ = what::keys;
    return true;
  }
  if (rest_.empty() || rest_ == std::string_view{&escape, 1}) return false;
  reads_ = what::keys;
  if (rest_.front() == bell)
    rest_.erase(0, 1);
  else if (rest_.starts_with(answer_ends))
    rest_.erase(0, answer_ends.size());
  return true;
}

bool key_reader::take(std::vector<key>& out) {
  if (rest_.front() == escape) return take_sequence(out);
  if (const auto n = text_size(rest_); n > 0) {
    out.push_back({key_kind::text, rest_.substr(0, n)});
    rest_.erase(0, n);
    return true;
  }
  constexpr char ctrl_x = 0x18;
  constexpr char ctrl_e = 0x05;
  if (rest_.front() == ctrl_x) {
    if (rest_.size() < 2) return false;
    const bool known = rest_[1] == ctrl_e;
    if (known) out.push_back({key_kind::editor, {}});
    rest_.erase(0, known ? 2 : 1);
    return true;
  }
  const auto c = static_cast<unsigned char>(rest_.front());
  if (c >= 0x20 && c != 0x7F) return false;  // part of a character
  if (const auto known = of_control(rest_.front())) out.push_back({*known, {}});
  rest_.erase(0, 1);
  return true;
}

bool key_reader::take_sequence(std::vector<key>& out) {
  const auto n = sequence_size(rest_);
  if (n == 0) return false;
  const auto whole = rest_.substr(0, n);
  // An ESC alone, and then another key.
  const bool alone = n == 2 && whole[1] == escape;
  rest_.erase(0, alone ? 1 : n);
  if (alone) return true;
  if (whole == paste_begins) {
    reads_ = what::paste;
    return true;
  }
  if (n == 2 && answer_begins.find(whole[1]) != answer_begins.npos) {
    reads_ = what::answer;
    answer_began_ = fed_;
    answered_ = 0;
    return true;
  }
  const auto* const found = std::ranges::find(
      sequences, std::string_view{whole}.substr(1), &named::first);
  if (found != sequences.end()) out.push_back({found->second, {}});
  return true;
}

}  // namespace riffle::cli
