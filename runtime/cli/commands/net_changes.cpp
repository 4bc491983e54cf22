// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/net_changes.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "tools/builtin/files/change_report.hpp"
#include "tools/builtin/files/line_diff.hpp"

namespace riffle::cli {

namespace {

/// Bytes that are looked at, for all files: each change of one costs its size.
constexpr std::uintmax_t most_work = 64u << 20;

std::uintmax_t work_for(const changed_file& x) {
  std::error_code gone;
  const auto path =
      std::filesystem::path{x.calls.back()->folder} / x.calls.back()->path;
  const auto size = std::filesystem::file_size(path, gone);
  return gone ? 0 : size * x.calls.size();
}

std::optional<std::string> net_of(const changed_file& x) {
  const auto& folder = x.calls.back()->folder;
  const auto is_here = [&](const file_change* one) {
    return one->node.empty() && one->folder == folder;
  };
  if (x.calls.size() < 2 || folder.empty() ||
      !std::ranges::all_of(x.calls, is_here))
    return std::nullopt;
  const auto was = tools::earlier(folder, made_by(x));
  if (!was) return std::nullopt;
  const auto& left = x.calls.back()->after;
  if (was->done)
    return !left.empty() && x.calls.front()->before == left
               ? std::optional{std::string{}}
               : std::nullopt;
  const auto diff =
      tools::unified_diff(was->was.value_or(std::string{}), was->now,
                          {.most_bytes = tools::longest_preview});
  if (diff.cut) return std::nullopt;
  return diff.text;
}

}  // namespace

std::vector<tools::made_change> made_by(const changed_file& x) {
  std::vector<tools::made_change> out;
  for (const auto* one : x.calls)
    out.push_back({one->path, one->diff, one->before, one->after, one->place});
  return out;
}

void find_net(std::vector<changed_file>& all) {
  std::uintmax_t work = 0;
  for (auto& x : all) {
    if (x.calls.size() < 2) continue;
    work += work_for(x);
    if (work > most_work) return;
    x.net = net_of(x);
  }
}

}  // namespace riffle::cli
