// SPDX-License-Identifier: MIT
#include "runtime/cli/view/session_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "actors/run/recovery.hpp"
#include "messages/runtime_note.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/call_text.hpp"
#include "runtime/cli/view/chat_line.hpp"
#include "runtime/cli/view/people_text.hpp"
#include "runtime/cli/view/recap_text.hpp"
#include "runtime/cli/view/shell_text.hpp"
#include "runtime/service/views.hpp"
#include "runtime/storage/last_use.hpp"

namespace riffle::cli {

namespace {

std::string runs_text(std::size_t n) {
  return std::to_string(n) + (n == 1 ? " run" : " runs");
}

using known_calls = std::unordered_map<call_id, const storage::call_record*>;

known_calls calls_of(const storage::session_snapshot& x) {
  known_calls all;
  for (const auto& c : x.calls) all.emplace(c.call.id, &c);
  return all;
}

const storage::call_record* find_call(const known_calls& all,
                                      const call_id& id) {
  const auto found = all.find(id);
  return found == all.end() ? nullptr : found->second;
}

std::string files_text(const std::vector<attachment>& all) {
  std::string out;
  for (const auto& x : all)
    out += "- [attached] " + safe_line(describe(x), 200) + "\n";
  return out;
}

/// "- `read README.md`: ok"
std::string call_text(const storage::call_record& x) {
  auto name = safe_line(x.call.tool, 64);
  if (const auto about = fit(words_of(x.call).about, 100); !about.empty())
    name += " " + about;
  std::ranges::replace(name, '`', '\'');
  return "- `" + name + "`: " + end_of(x) + "\n" + files_text(x.attachments);
}

/// Files that a task mentions, which were attached in this order.
class attached_files {
 public:
  explicit attached_files(const std::string& task)
      : words_{mentioned_files(task)} {}

  /// "File a.md, lines 1 to 2:\none" -> "a.md, lines 1 to 2", if that is the
  /// next of them or behind it; else "": what a file says attaches nothing.
  std::string_view take(std::string_view text) {
    constexpr std::string_view before = "File ";
    auto head = text.substr(0, text.find('\n'));
    if (!head.starts_with(before) || !head.ends_with(':')) return {};
    head = head.substr(before.size(), head.size() - before.size() - 1);
    const auto name = head.substr(0, head.rfind(", line"));
    for (auto i = next_; i < words_.size(); ++i) {
      if (!mentions(words_[i], name)) continue;
      next_ = i + 1;
      return head;
    }
    return {};
  }

 private:
  /// "a.md:1-2" and "a.md," do "a.md".
  static bool mentions(const std::string& word, std::string_view name) {
    if (name.empty() || !word.starts_with(name)) return false;
    if (word.size() == name.size()) return true;
    const auto next = static_cast<unsigned char>(word[name.size()]);
    return next != '/' && std::isalnum(next) == 0;
  }

  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

std::string context_line(std::string_view what, std::size_t size) {
  constexpr std::size_t longest = 100;
  return "- [context] " + safe_line(what, longest) + " (" + short_size(size) +
         ")\n";
}

std::string told_files(std::string_view all, const std::string& task) {
  constexpr std::string_view between = "\n\nFile ";
  attached_files files{task};
  std::string out;
  auto name = files.take(all);
  while (!all.empty()) {
    std::string_view next;
    auto end = all.find(between);
    while (end != all.npos && (next = files.take(all.substr(end + 2))).empty())
      end = all.find(between, end + 1);
    const auto part = all.substr(0, end);
    // "File ", ":" and the end of the line.
    const auto head = name.empty() ? 0 : std::min(name.size() + 7, part.size());
    const auto shown = name.empty() ? part.substr(0, part.find('\n')) : name;
    out += context_line(shown, part.size() - head);
    all.remove_prefix(end == all.npos ? all.size() : end + 2);
    name = next;
  }
  return out;
}

/// Files, and outputs of commands behind them, that were told to the model
/// beside the task: what each is, and how large.
std::string told_context(std::string_view all, const std::string& task) {
  const auto commands =
      first_told(all) ? 0 : std::min(find_told(all), all.size());
  auto files = all.substr(0, commands);
  if (commands > 0 && commands < all.size()) files.remove_suffix(2);
  auto out = told_files(files, task);
  all.remove_prefix(commands);
  while (const auto x = first_told(all)) {
    out += context_line("!" + std::string{x->command}, x->output.size());
    all.remove_prefix(std::min(x->size + 2, all.size()));
  }
  return out;
}

/// Who said it, and what.
std::string said_text(std::string_view who, std::string_view text) {
  const bool one_line = text.find('\n') == text.npos;
  auto out = "**" + std::string{who} + ":**" + (one_line ? " " : "\n\n") +
             safe_text(text);
  return out.ends_with('\n') ? out : out + "\n";
}

std::string asked_text(std::string_view text, const std::string& task) {
  constexpr std::string_view context = "\n\nContext:\n";
  if (text.starts_with(runtime_note))
    return said_text("Runtime", text.substr(runtime_note.size()));
  if (!text.starts_with(task) || !text.substr(task.size()).starts_with(context))
    return said_text("You", text);
  return said_text("You", task) + "\n" +
         told_context(text.substr(task.size() + context.size()), task);
}

/// A blank line stands between any two blocks of Markdown.
void append_block(std::string& out, const std::string& block) {
  if (block.empty()) return;
  if (!out.empty()) out += '\n';
  out += block;
}

void append_message(std::string& out, const known_calls& all,
                    const storage::message_record& m, const std::string& task) {
  if (!m.text.empty()) {
    const bool user = m.role == storage::message_role::user;
    auto text = user ? asked_text(m.text, task) : safe_text(m.text);
    if (!text.ends_with('\n')) text += '\n';
    append_block(out, text);
  }
  auto list = files_text(m.attachments);
  for (const auto& id : m.calls)
    if (const auto* call = find_call(all, id)) list += call_text(*call);
  append_block(out, list);
}

}  // namespace

std::string short_id(const std::string& id) {
  constexpr std::size_t shown = 6;
  constexpr std::size_t least = 20;
  const auto is = [&](const char* kind) { return id.starts_with(kind); };
  const bool made = id.size() > least &&
                    (is("ses_") || is("plan_") || is("volley_") || is("prop_"));
  return made ? id.substr(id.size() - shown) : id;
}

std::string ago(wall_time then, wall_time now) {
  constexpr std::int64_t minute = 60;
  constexpr std::int64_t hour = 60 * minute;
  constexpr std::int64_t day = 24 * hour;
  const auto passed = std::max<std::int64_t>(0, now.us - then.us) / 1'000'000;
  if (passed < minute) return "just now";
  if (passed < hour) return std::to_string(passed / minute) + " min ago";
  if (passed < day) return std::to_string(passed / hour) + " h ago";
  const auto seconds = static_cast<std::time_t>(then.us / 1'000'000);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  std::array<char, 16> text{};
  return {text.data(),
          std::strftime(text.data(), text.size(), "%Y-%m-%d", &local)};
}

std::string local_time(wall_time x) {
  const auto seconds = static_cast<std::time_t>(x.us / 1'000'000);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  std::array<char, 24> text{};
  return {text.data(),
          std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &local)};
}

std::string short_place(const std::string& folder, const std::string& home) {
  constexpr std::size_t most = 30;
  auto out = safe_line(folder, 1000);
  if (!home.empty() && (folder == home || folder.starts_with(home + "/")))
    out = "~" + safe_line(folder.substr(home.size()), 1000);
  if (columns_of(out) <= most) return out;
  auto at = out.find('/', 1);
  while (at != out.npos && columns_of(out.substr(at)) >= most)
    at = out.find('/', at + 1);
  return at == out.npos ? fit(out, most) : "…" + out.substr(at);
}

namespace {

/// Where a session works, if that is elsewhere.
std::string place_of(const session_summary& x, const std::string& here) {
  const auto folder = here.empty() ? std::string{} : folder_of(x.last);
  if (folder.empty() || folder == here) return {};
  const char* home = std::getenv("HOME");
  return "  in " + short_place(folder, home ? home : "");
}

}  // namespace

std::string summary_text(const session_summary& x, wall_time now,
                         std::size_t columns, const std::string& here,
                         bool in_group, bool asks) {
  constexpr std::size_t longest_title = 60;
  constexpr std::size_t shortest_title = 12;
  auto out = padded(safe_line(short_id(x.id.value), 128), 6) + "  ";
  if (x.runs == 0) {
    out += "damaged: 'riffle sessions delete " + safe_line(x.id.value, 128) +
           "' deletes what is left";
    return (columns < 2 ? out : fit(out, columns - 1)) + "\n";
  }
  const auto state = service::state_of(x);
  out += padded(ago(storage::last_use(x.last), now), 10) + "  " +
         padded(asks && state == "active" ? "asks" : state, 11) + "  " +
         padded(runs_text(x.runs), 7) + "  ";
  auto title =
      safe_line(x.title.empty() ? x.last.task : x.title, longest_title);
  if (const auto volley = volley_of(x.last); !volley.empty() && !in_group)
    title += " [volley " + safe_line(short_id(volley), 64) + "]";
  const auto place = place_of(x, here);
  if (columns < 2) return out + title + place + "\n";
  const auto used = columns_of(out) + columns_of(place) + 1;
  title = fit(
      title, columns > used + shortest_title ? columns - used : shortest_title);
  return fit(out + title + place, columns - 1) + "\n";
}

std::string kept_calls_text(const std::vector<storage::call_record>& all,
                            std::size_t columns) {
  constexpr std::size_t longest_name = 20;
  constexpr std::size_t longest_about = 60;
  struct row {
    std::string id, tool, size, about;
  };
  std::vector<row> rows;
  std::size_t ids = 0;
  std::size_t tools = 0;
  std::size_t sizes = 0;
  for (const auto& x : all) {
    auto& one = rows.emplace_back(
        x.call.id.value, safe_line(x.call.tool, longest_name),
        short_size(x.told.size()), fit(words_of(x.call).about, longest_about));
    ids = std::max(ids, columns_of(one.id));
    tools = std::max(tools, columns_of(one.tool));
    sizes = std::max(sizes, columns_of(one.size));
  }
  std::string out;
  for (auto& x : rows) {
    const std::string before(sizes - columns_of(x.size), ' ');
    const auto line =
        padded(x.id, ids) + "  " + padded(std::move(x.tool), tools) + "  " +
        before + x.size + " told" + (x.about.empty() ? "" : "  ") + x.about;
    // An id that is cut names nothing.
    const bool narrow = columns > 0 && columns < ids + 4;
    out += narrow ? x.id : columns == 0 ? line : fit(line, columns - 1);
    out += '\n';
  }
  return out;
}

namespace {

/// "2026-11-21 14:03 (3 min ago)", of what is older the first alone.
std::string time_text(wall_time then, std::optional<wall_time> now) {
  constexpr std::int64_t day_us = 86'400'000'000;
  const auto at = local_time(then);
  if (!now || now->us - then.us >= day_us) return at;
  return at + " (" + ago(then, *now) + ")";
}

}  // namespace

std::string conversation_text(const storage::session_snapshot& x,
                              const std::unordered_set<run_id>& interrupted,
                              std::optional<wall_time> now) {
  std::string out;
  const auto all = calls_of(x);
  if (const auto title = title_of(x); !title.empty()) out = "# " + title + "\n";
  for (const auto& r : x.runs) {
    append_block(out, "## " + time_text(r.started, now) + ", " +
                          service::state_of(r, interrupted) + "\n");
    bool said = false;
    for (auto m : x.messages) {
      if (m.run != r.id) continue;
      // What a person said by it, not the words for the model.
      if (m.role == storage::message_role::user && sums_up(r.task, m.text))
        m.text = sum_up_task;
      append_message(out, all, m, r.task);
      said = true;
    }
    // It was put on record, and came no further.
    if (!said) append_message(out, all, {.text = r.task}, r.task);
  }
  return out;
}

}  // namespace riffle::cli
