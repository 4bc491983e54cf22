// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/left_lines.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"

namespace riffle::cli {

namespace {

/// Of all sessions, and bytes of them; of what was never asked for the oldest
/// go. One text may be as long as an editor takes it.
constexpr std::size_t most_left_lines = 200;
constexpr std::size_t most_left_bytes = 8u << 20;

bool lives(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

}  // namespace

left_lines::left_lines(std::filesystem::path file, pid_t own)
    : file_{std::move(file)}, own_{own} {}

/// A JSON array a line; what is none says nothing.
std::vector<left_lines::entry> left_lines::read() const {
  std::vector<entry> out;
  std::ifstream in{file_};
  for (std::string line; std::getline(in, line);) {
    const auto x = nlohmann::json::parse(line, nullptr, false);
    if (x.is_array() && x.size() == 3 && x[0].is_string() &&
        x[1].is_number_integer() && x[2].is_string())
      out.push_back({x[0].get<std::string>(), x[1].get<pid_t>(),
                     x[2].get<std::string>()});
  }
  return out;
}

/// The newest stays in any case.
std::size_t left_lines::first_kept(const std::vector<entry>& entries) {
  std::size_t from = entries.size();
  std::size_t bytes = 0;
  while (from > 0 && entries.size() - from < most_left_lines &&
         (bytes += entries[from - 1].text.size()) <= most_left_bytes)
    --from;
  return entries.empty() ? 0 : std::min(from, entries.size() - 1);
}

/// Two programs that write in one moment lose a hint, and no line.
void left_lines::write(const std::vector<entry>& entries) const {
  if (file_.empty()) return;
  std::error_code problem;
  if (entries.empty()) {
    std::filesystem::remove(file_, problem);
    return;
  }
  using enum std::filesystem::perms;
  const auto fresh = file_.string() + "." + std::to_string(own_) + ".new";
  {
    std::ofstream out{fresh, std::ios::trunc};
    std::filesystem::permissions(fresh, owner_read | owner_write, problem);
    using json = nlohmann::json;
    for (auto i = first_kept(entries); i < entries.size(); ++i)
      out << json::array(
                 {entries[i].session, entries[i].process, entries[i].text})
                 .dump(-1, ' ', false, json::error_handler_t::replace)
          << '\n';
    if (!out.flush()) return;
  }
  std::filesystem::rename(fresh, file_, problem);
}

void left_lines::waiting(const std::string& session,
                         std::vector<std::string> texts) {
  if (texts == last_) return;
  last_ = std::move(texts);
  auto all = read();
  std::erase_if(all, [&](const entry& x) { return x.process == own_; });
  for (const auto& x : last_) all.push_back({session, own_, x});
  write(all);
}

std::vector<std::string> left_lines::take(const std::string& session) const {
  auto all = read();
  std::vector<std::string> out;
  const auto n = std::erase_if(all, [&](const entry& x) {
    if (x.session != session || x.process == own_ || lives(x.process))
      return false;
    out.push_back(x.text);
    return true;
  });
  if (n > 0) write(all);
  return out;
}

std::string left_text(std::size_t lines) {
  return counted(lines, "line") + (lines == 1 ? " was" : " were") +
         " waiting when it ended: Up brings " + (lines == 1 ? "it" : "them") +
         " back.";
}

}  // namespace riffle::cli
