// SPDX-License-Identifier: MIT
#include "runtime/storage/health_registry.hpp"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/clock.hpp"
#include "runtime/base/log.hpp"

namespace riffle::storage {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t most_of_outages = 64u << 10;
/// Bytes of a reason, for one must not take the place of all.
constexpr std::size_t longest_why = 2048;

/// What a process wrote; nothing if it was at it just now.
void read_board(const std::string& text, std::vector<tool_outage>& out) {
  const auto all = json::parse(text, nullptr, false);
  if (!all.is_array()) return;
  for (const auto& x : all)
    out.push_back({x.value("tool", ""), x.value("why", ""),
                   wall_time{x.value("since_us", std::int64_t{0})},
                   x.value("process", 0)});
}

/// As many as a reader takes.
std::string to_text(const std::map<std::string, tool_outage>& outages) {
  std::string out = "[";
  for (const auto& [tool, x] : outages) {
    const json one = {{"tool", tool},
                      {"why", x.why.substr(0, longest_why)},
                      {"since_us", x.since.us},
                      {"process", x.process}};
    const auto text = one.dump(-1, ' ', false, json::error_handler_t::replace);
    if (out.size() + text.size() + 2 > most_of_outages) break;
    if (out.size() > 1) out += ',';
    out += text;
  }
  return out += ']';
}

}  // namespace

health_registry::health_registry(fs::path folder) : board_{std::move(folder)} {}

void health_registry::note(const std::string& tool, const std::string& why) {
  const std::lock_guard lock{mutex_};
  if (why.empty())
    outages_.erase(tool);
  else
    outages_[tool] = {tool, why, system_wall_time(), ::getpid()};
}

void health_registry::publish() {
  const std::lock_guard lock{mutex_};
  if (outages_.empty() && !board_.has_said()) return;
  if (const auto done = board_.write(to_text(outages_)); !done)
    log_warn("health_registry", done.error().message);
}

std::vector<tool_outage> read_outages(const fs::path& folder) {
  std::vector<tool_outage> out;
  for (const auto& text : read_boards(folder)) read_board(text, out);
  std::ranges::sort(out, {}, [](const tool_outage& x) {
    return std::pair{x.tool, x.process};
  });
  return out;
}

}  // namespace riffle::storage
