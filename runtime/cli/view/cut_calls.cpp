// SPDX-License-Identifier: MIT
#include "runtime/cli/view/cut_calls.hpp"

#include <algorithm>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

std::vector<const storage::call_record*> cut_calls(
    const storage::session_snapshot& x, const run_id& run) {
  std::vector<const storage::call_record*> out;
  for (const auto& one : x.calls)
    if (one.run == run && one.stage == storage::call_stage::intent &&
        one.call.eff == effect::mutating && !one.call.idempotent)
      out.push_back(&one);
  return out;
}

std::string cut_calls_text(const std::vector<std::string>& names,
                           std::size_t columns) {
  constexpr std::size_t most = 5;
  constexpr std::size_t without_terminal = 200;
  const auto n = names.size();
  if (n == 0) return {};
  auto out = counted(n, "call") + (n == 1 ? " was" : " were") +
             " under way when Riffle ended; nobody knows how far " +
             (n == 1 ? "it" : "each") + " came:\n";
  const auto room = columns > 2 ? columns - 1 : without_terminal;
  for (std::size_t i = 0; i < std::min(n, most); ++i)
    out += fit("  " + names[i], room) + "\n";
  if (n > most) out += "  … " + std::to_string(n - most) + " more\n";
  return out;
}

}  // namespace riffle::cli
