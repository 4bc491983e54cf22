// SPDX-License-Identifier: MIT
#include "tools/builtin/search/match_report.hpp"

#include <utility>

namespace riffle::tools {

namespace {

constexpr std::chrono::milliseconds interval{100};
constexpr std::chrono::seconds life_interval{1};
constexpr std::size_t most_waiting = 4096;

}  // namespace

void match_report::add(std::string_view line) {
  if (!context_.progress) return;
  if (waiting_.size() + line.size() > most_waiting) flush();
  waiting_ += line;
  waiting_ += '\n';
  tick();
}

void match_report::tick() {
  if (waiting_.empty()) return;
  if (std::chrono::steady_clock::now() - last_ >= interval) flush();
}

void match_report::working(std::uint64_t files) {
  tick();
  const auto now = std::chrono::steady_clock::now();
  if (!context_.progress || now - last_ < life_interval) return;
  // The first time it only begins to wait.
  if (last_ != std::chrono::steady_clock::time_point{})
    context_.progress({.message = std::to_string(files) + " files searched\n"});
  last_ = now;
}

void match_report::flush() {
  if (waiting_.empty() || !context_.progress) return;
  context_.progress({.message = std::exchange(waiting_, {})});
  last_ = std::chrono::steady_clock::now();
}

}  // namespace riffle::tools
