// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/history_file.hpp"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <fstream>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/file_lock.hpp"
#include "runtime/base/write_all.hpp"

namespace riffle::cli {

namespace {

/// How many stand behind the others; as many may be gone at the front.
std::size_t added(const std::deque<std::string>& before,
                  const std::deque<std::string>& now) {
  std::size_t n = now.size() - std::min(now.size(), before.size());
  const auto is_old = [&](std::size_t kept) {
    return std::equal(now.begin(), now.end() - (now.size() - kept),
                      before.end() - kept, before.end());
  };
  while (n < now.size() && !is_old(now.size() - n)) ++n;
  return n;
}

}  // namespace

void history_file::load(line_editor& editor) {
  if (std::error_code none; !std::filesystem::exists(file_, none)) return;
  const auto mine = open_locked();
  const auto found = read();
  for (const auto& line : found.lines) {
    const auto x = nlohmann::json::parse(line, nullptr, false);
    if (x.is_string()) editor.remember(x.get<std::string>());
  }
  known_ = editor.history();
  if (mine.locked && !found.all) trim(found.lines);
}

void history_file::add_typed(const line_editor& editor) {
  auto all = editor.history();
  const auto n = added(known_, all);
  if (n == 0) return;
  std::string lines;
  for (auto i = all.size() - n; i < all.size(); ++i)
    lines += nlohmann::json(all[i]).dump(
                 -1, ' ', false, nlohmann::json::error_handler_t::replace) +
             "\n";
  known_ = std::move(all);
  const auto out = open_locked();
  if (out.at.get() < 0) return;
  // In one piece: others may add to it, too.
  write_all(out.at.get(), lines);
  std::error_code unknown;
  // Twice as much: long texts are not copied with each that is added.
  if (const auto size = std::filesystem::file_size(file_, unknown);
      out.locked && !unknown && size > 2 * line_editor::most_kept)
    trim(read().lines);
}

/// The file, open at its end; others wait, as long as this takes them. Who
/// holds it for longer does not do what this program does.
history_file::open_file history_file::open_locked() const {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds{200};
  for (;;) {
    unique_fd out{
        ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
    if (out.get() < 0) return {};
    const bool mine = lock_until(out, lock_kind::exclusive, deadline);
    if (!mine || leads_to(file_, out)) return {std::move(out), mine};
  }
}

history_file::newest history_file::read() const {
  newest out;
  std::ifstream in{file_};
  std::size_t bytes = 0;
  for (std::string line; std::getline(in, line);) {
    bytes += line.size();
    out.lines.push_back(std::move(line));
    while (out.lines.size() > 1 &&
           (out.lines.size() > line_editor::most_entries ||
            bytes > line_editor::most_kept)) {
      bytes -= out.lines.front().size();
      out.lines.pop_front();
      out.all = false;
    }
  }
  return out;
}

/// While it is locked: the newest lines alone take its place.
void history_file::trim(const std::deque<std::string>& lines) const {
  using enum std::filesystem::perms;
  std::error_code problem;
  const auto fresh = file_.string() + ".new";
  {
    std::ofstream out{fresh, std::ios::trunc};
    std::filesystem::permissions(fresh, owner_read | owner_write, problem);
    for (const auto& x : lines) out << x << '\n';
    if (!out.flush()) return;
  }
  std::filesystem::rename(fresh, file_, problem);
}

}  // namespace riffle::cli
