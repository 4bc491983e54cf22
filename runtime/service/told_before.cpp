// SPDX-License-Identifier: MIT
#include "runtime/service/told_before.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "runtime/base/digest.hpp"
#include "runtime/service/surroundings.hpp"

namespace riffle::service {

namespace {

/// Agents may take turns, and each is told something else.
constexpr std::size_t most_runs_back = 20;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

/// What a model that was told `before` does not know; or nothing.
std::string changes_of(const std::string& before, const std::string& now) {
  std::string out;
  for (const auto line : lines_of(now))
    if (before.find(line) == std::string::npos) out += line;
  for (const auto line : lines_of(before)) {
    const auto what = line.substr(0, line.find(':') + 1);
    if (!what.empty() && now.find(what) == std::string::npos)
      out += std::string{what} + " nothing is known of it now\n";
  }
  return out;
}

/// Paths of what was said before are of another folder: that cannot be seen in
/// them. `last`: the session's newest run.
std::string moved_from(const storage::run_record& last,
                       const stored_request& x) {
  const auto there = folder_of(last);
  if (there.empty() || x.folder.empty() || there == x.folder) return {};
  return "- Folder: " + x.folder +
         "\nUntil this task you worked in another folder, " + there +
         ": what was said and done before it is about files there.\n";
}

/// With each task: those that were told of it may go, to make room.
void tell_by_now(const std::string& changes, std::string& context) {
  if (changes.empty()) return;
  context += (context.empty() ? "" : "\n\n");
  context += "Where you work, by now:\n" + changes;
}

}  // namespace

bool keep_what_was_told(storage::session_records& journal,
                        const session_id& session, const std::string& told,
                        stored_request& x) {
  auto parts = parts_of(told);
  x.lasting = sha256(parts.lasting);
  x.state = std::move(parts.state);
  if (!x.request.session) return false;
  storage::run_filter earlier;
  earlier.session = session;
  earlier.limit = most_runs_back;
  const auto runs = journal.list_runs(earlier);
  if (!runs) return false;  // whoever begins the run says why
  const auto moved =
      runs->empty() ? std::string{} : moved_from(runs->front(), x);
  for (const auto& run : *runs) {
    const auto was = request_from_json(run.settings);
    if (was.lasting != x.lasting || was.surroundings.empty()) continue;
    x.surroundings = was.surroundings;
    tell_by_now(changes_of(was.state, x.state) + moved, x.request.context);
    x.state = was.state;  // of the text that stays
    return true;
  }
  tell_by_now(moved, x.request.context);
  return false;
}

}  // namespace riffle::service
