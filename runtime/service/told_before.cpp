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
  return out.empty() ? out : "Where you work, by now:\n" + out;
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
  for (const auto& run : *runs) {
    const auto was = request_from_json(run.settings);
    if (was.lasting != x.lasting || was.surroundings.empty()) continue;
    x.surroundings = was.surroundings;
    auto& context = x.request.context;
    // With each task: those that were told of it may go, to make room.
    if (const auto now = changes_of(was.state, x.state); !now.empty())
      context += (context.empty() ? "" : "\n\n") + now;
    x.state = was.state;  // of the text that stays
    return true;
  }
  return false;
}

}  // namespace riffle::service
