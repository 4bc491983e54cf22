// SPDX-License-Identifier: MIT
// What a question looks like on a terminal, and its editor.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/editor.hpp"
#include "runtime/cli/terminal/erasure.hpp"
#include "runtime/cli/terminal/read_text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/approval_picture.hpp"
#include "runtime/cli/view/call_edit.hpp"

namespace riffle::cli {

namespace {

/// Characters of a reason that are shown.
constexpr std::size_t longest_reason = 4000;

constexpr std::string_view outdated_text =
    "This file has been written to since: a yes looks at it again.";

/// What a file of the workspace holds; nothing for what is no file.
std::optional<std::string> file_at(const std::filesystem::path& folder,
                                   const std::string& path) {
  std::error_code problem;
  const auto name = folder / path;
  if (!std::filesystem::is_regular_file(name, problem)) return std::nullopt;
  auto text = read_file(name, "file");
  return text ? std::optional{std::move(*text)} : std::nullopt;
}

std::string without_colors(const std::string& row) {
  std::string out;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '\x1b')
      i = std::min(row.find('m', i), row.size());
    else
      out += row[i];
  }
  return out;
}

/// Columns of what stands below a picture.
std::size_t width_of(const dialog_options& x) {
  return std::max<std::size_t>(x.columns, 9) - 1;
}

void add_line(std::string_view line, std::size_t width,
              std::vector<std::string>& rows) {
  for (auto& row : cli::wrapped(line, width, "", ""))
    rows.push_back(std::move(row));
}

/// The whole lines of a text; what stands behind them.
std::string_view add_lines(std::string_view text, std::size_t width,
                           std::vector<std::string>& rows) {
  for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    add_line(text.substr(0, end), width, rows);
    text.remove_prefix(end + 1);
  }
  return text;
}

}  // namespace

std::string_view approval_prompt::why_no_answer() const {
  if (!has_draft() && !gate_.away()) return ": wait half a second";
  return around_.typing == nullptr ? ": Tab first"
                                   : ": Tab first, keys go to the line below";
}

std::vector<std::string> approval_prompt::bottom() const {
  const auto width = width_of(options_);
  std::vector<std::string> rows;
  if (outdated_) add_line(outdated_text, width, rows);
  add_lines(note_, width, rows);
  if (!beside_.empty()) rows.push_back(fit(beside_, width));
  std::string text = open_->prompt();
  if (open_->wants_text())
    text += safe_line(reason_.text(), longest_reason);
  else if (!gate_.answers() && text.ends_with(" > "))
    text.replace(text.size() - 3, 3, why_no_answer());
  add_line(add_lines(text, width, rows), width, rows);
  if (around_.typing != nullptr && !open_->wants_text())
    if (const auto draft = around_.typing->draft(); !draft.empty())
      rows.push_back(fit(draft, width));
  return rows;
}

void approval_prompt::draw(std::string bytes) {
  drawn_.clear();
  auto rows = has_picture_ ? open_->picture() : std::vector<std::string>{};
  picture_rows_ = rows.size();
  if (has_picture_ && around_.shown)
    around_.shown(open_->about().proposal, open_->left_out());
  for (auto& row : rows) {
    bytes += row + "\n";
    drawn_.push_back(without_colors(row));
  }
  draw_bottom(std::move(bytes));
}

/// Below the picture, which stands there or is part of `bytes`.
void approval_prompt::draw_bottom(std::string bytes) {
  drawn_.resize(picture_rows_);
  beside_ = beside();
  beside_at_ = std::chrono::steady_clock::now();
  for (auto& row : bottom()) {
    bytes += (drawn_.size() == picture_rows_ ? "" : "\n") + row;
    drawn_.push_back(without_colors(row));
  }
  around_.show(bytes);
}

std::string approval_prompt::beside() const {
  if (!around_.beside || is_plain()) return {};
  return around_.beside(waiting_.size() - 1);
}

/// Once a second is enough for a time; a terminal that is being resized has to
/// settle first.
void approval_prompt::look_beside() {
  constexpr auto between = std::chrono::seconds{1};
  if (!open_ || drawn_.empty() ||
      std::chrono::steady_clock::now() - beside_at_ < between ||
      around_.screen().columns != options_.columns || beside() == beside_)
    return;
  draw_bottom(erasure_of(drawn_.size() - picture_rows_, options_.columns));
}

/// A narrower terminal has wrapped them.
std::string approval_prompt::erasure_of(std::size_t rows,
                                        std::size_t columns) const {
  std::size_t above = 0;
  for (std::size_t i = drawn_.size() - rows; i < drawn_.size(); ++i)
    above += wrapped_rows(drawn_[i], columns);
  return (above < 2 ? "\r" : "\r\x1b[" + std::to_string(above - 1) + "A") +
         std::string{erase_rows};
}

std::string approval_prompt::erasure() const {
  // Other lines stand there: it is drawn again below them.
  const bool was_stopped = times_continued() != continued_;
  if (is_plain() || drawn_.empty() || was_stopped) return {};
  return erasure_of(drawn_.size() - (picture_stays_ ? picture_rows_ : 0),
                    around_.screen().columns);
}

std::string approval_prompt::give_way() {
  auto out = erasure();
  drawn_.clear();
  has_picture_ = true;
  return out;
}

/// For good, without its prompt, which was erased with it.
void approval_prompt::leave_picture() {
  std::string rows;
  for (const auto& row : open_->picture()) rows += row + "\n";
  if (around_.shown) around_.shown(open_->about().proposal, open_->left_out());
  around_.show(rows);
}

/// Erased and drawn in one piece, for one size.
void approval_prompt::show_again() {
  if (!open_) return;
  if (is_plain()) return around_.show(open_->prompt());
  const auto now = around_.screen();
  options_.columns = now.columns;
  options_.rows = now.rows;
  const auto room = rows_of_picture();
  open_->resize(now.columns, room > 0 ? room : now.rows);
  draw(drawn_.empty() ? std::string{} : erasure_of(drawn_.size(), now.columns));
}

void approval_prompt::uncovered(bool erased) {
  if (open_) {
    if (erased) show_again();
    return;
  }
  if (!drawn_.empty()) around_.show(erasure());
  drawn_.clear();
  picture_stays_ = false;
  mode_.reset();
}

void approval_prompt::remove_prompt() {
  if (is_plain()) return around_.show("\n");
  if (drawn_.empty()) return;
  around_.show(
      erasure_of(drawn_.size() - picture_rows_, around_.screen().columns));
  drawn_.clear();
}

/// In the place of the picture, and as that it stays.
void approval_prompt::show_whole(const std::string& lines) {
  if (is_plain()) return around_.show(lines);
  around_.show(erasure());
  drawn_.clear();
  has_picture_ = false;
  say(lines);
}

/// A part of the prompt, which goes with it.
void approval_prompt::show_note(const std::string& lines) {
  if (is_plain()) return around_.show(lines);
  note_ = lines;
  if (rows_of_picture() > 0) return;
  remove_prompt();
  has_picture_ = false;
}

/// Of the screen: what stands below it is to be erased with it. 0: with so many
/// rows below it there is no room for it.
std::size_t approval_prompt::rows_of_picture() const {
  constexpr std::size_t least = 8;
  std::vector<std::string> rows;
  add_lines(note_, width_of(options_), rows);
  const auto below = rows.size();
  return options_.rows >= below + least ? options_.rows - below : 0;
}

void approval_prompt::leave() {
  if (!open_) return;
  remove_prompt();
  open_.reset();
  mode_.reset();
}

/// Nothing came behind an ESC: back from a part of the question, else it stops
/// what works, as it does in the line below.
void approval_prompt::take_escape() {
  if (is_plain() || !keys_.has_escape()) return escape_at_.reset();
  const auto now = std::chrono::steady_clock::now();
  if (!escape_at_) escape_at_ = now;
  if (now - *escape_at_ < escape_gap) return;
  keys_.drop_escape();
  on_escape();
}

/// Where it stops nothing it is a key that is no answer.
void approval_prompt::on_escape() {
  escape_at_.reset();
  const bool back = open_->leave_part();
  if (!back && around_.typing != nullptr) {
    ::kill(::getpid(), SIGINT);
    return;
  }
  if (!back) gate_.not_an_answer(std::chrono::steady_clock::now());
  show_again();
}

void approval_prompt::stand_aside() {
  if (mode_) mode_->set(typing_mode::lines);
  if (!open_ || is_plain() || drawn_.empty()) return;
  around_.show(erasure());
  drawn_.clear();
  has_picture_ = true;
}

void approval_prompt::come_back() {
  if (mode_) mode_->set(typing_mode::keys);
  if (!open_) return;
  continued_ = times_continued();
  wait_for_quiet();
  is_plain() ? around_.show(open_->prompt()) : show_again();
}

/// Behind Ctrl-Z and `fg` other lines stand there. Whether that was so.
bool approval_prompt::show_after_stop() {
  if (mode_) mode_->set(typing_mode::keys);
  const int times = times_continued();
  if (times == std::exchange(continued_, times)) return false;
  drawn_.clear();
  has_picture_ = true;
  if (!open_) return true;
  wait_for_quiet();
  show_again();
  return true;
}

/// What comes together with `fg` was typed for the shell, or unread.
void approval_prompt::wait_for_quiet() {
  if (is_plain()) {
    ::tcflush(keyboard_.get(), TCIFLUSH);
    typed_.clear();
  }
  gate_.went_on(std::chrono::steady_clock::now(), has_draft());
}

// -- editing ------------------------------------------------------------------

void approval_prompt::look_at_file() {
  if (const auto path = call_edit::path_to_edit(open_->about().tool,
                                                open_->about().arguments))
    open_->set_file(file_at(folder_, *path));
  file_ = file_mark_now();
  outdated_ = false;
}

/// Of the file that the open question is about; nothing: there is none.
std::optional<file_mark> approval_prompt::file_mark_now() const {
  const auto path =
      call_edit::path_to_edit(open_->about().tool, open_->about().arguments);
  struct stat x{};
  if (!path ||
      ::stat((std::filesystem::path{folder_} / *path).c_str(), &x) != 0)
    return std::nullopt;
  constexpr std::int64_t ns = 1'000'000'000;
  return file_mark{x.st_dev, x.st_ino, x.st_size,
                   x.st_mtim.tv_sec * ns + x.st_mtim.tv_nsec};
}

/// What it shows is not so any more. What would be so is asked when somebody
/// says yes; until then nobody shall think that it holds.
void approval_prompt::look_whether_outdated() {
  if (!open_ || outdated_ || is_plain() || open_->wants_text() ||
      drawn_.empty() || file_mark_now() == file_)
    return;
  outdated_ = true;
  show_again();
}

/// What the editor leaves counts for the file as it is behind it.
dialog_step approval_prompt::let_edit() {
  look_at_file();
  auto before = open_->editable();
  say(open_->told_before_edit());
  const auto text = edit_text(before, keyboard_.get(), around_.stopped,
                              open_->ending(), open_->first_line());
  look_at_file();
  auto step = text ? open_->on_edited(*text)
                   : dialog_step{open_->refused(text.error().message), {}};
  step.show += drop_what_cannot_be(bind_changes());
  return step;
}

void approval_prompt::edit_in_lines() {
  auto step = let_edit();
  if (open_->edited()) step.show += open_->what_it_does(false);
  act(step);
}

void approval_prompt::edit() {
  around_.show(erasure());
  drawn_.clear();
  around_.typing != nullptr ? around_.typing->pause()
                            : mode_->set(typing_mode::lines);
  note_ = let_edit().show;
  around_.typing != nullptr ? around_.typing->go_on()
                            : mode_->set(typing_mode::keys);
  has_picture_ = true;
  // Without room for both it stands above the picture, and stays there.
  const auto now = around_.screen();
  options_.columns = now.columns;
  options_.rows = now.rows;
  if (rows_of_picture() == 0) say(std::exchange(note_, {}));
  // What was typed for the editor is none either.
  gate_.open(std::chrono::steady_clock::now(), has_draft());
}

}  // namespace riffle::cli
