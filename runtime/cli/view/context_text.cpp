// SPDX-License-Identifier: MIT
#include "runtime/cli/view/context_text.hpp"

#include <algorithm>
#include <string_view>

#include "actors/core/context_window.hpp"
#include "actors/run/recovery.hpp"
#include "runtime/base/text.hpp"

namespace riffle::cli {

void add_session(context_use& x, const storage::session_snapshot& said) {
  const auto summary = session_summary_of(said);
  const auto is_told = [&](const run_id& run) {
    return !summary || !summary->runs.contains(run);
  };
  if (summary) x.summary = core::estimate_tokens(summary->text);
  for (const auto& m : said.messages) {
    if (!is_told(m.run)) continue;
    auto& part = m.role == storage::message_role::user ? x.person : x.model;
    part += core::estimate_tokens(m.text);
    for (const auto& file : m.attachments)
      part += core::estimate_file_tokens(file);
  }
  for (const auto& call : said.calls) {
    if (!is_told(call.run)) continue;
    x.model += core::estimate_tokens(call.call.arguments);
    x.outputs += core::estimate_tokens(call.told);
    for (const auto& file : call.attachments)
      x.outputs += core::estimate_file_tokens(file);
  }
}

std::string context_text(const context_use& x) {
  const auto sum = x.instructions + x.tools + x.summary + x.person + x.model +
                   x.outputs + x.waits;
  const bool fits = x.window == 0 || sum <= x.window;
  auto out = (fits ? "The window holds about " : "All of it is about ") +
             short_count(sum);
  if (x.window == 0)
    out += " tokens; how many the model takes is not known\n";
  else if (!fits)
    out += " tokens, and the model takes " + short_count(x.window) +
           " of them at most\n";
  else
    out += " of " + short_count(x.window) + " tokens (" +
           std::to_string(sum * 100 / x.window) + "%)\n";
  if (x.window > 0 && !x.assumed_without.empty())
    out += short_count(x.window) + " is assumed: " + x.assumed_without +
           " sets it\n";
  const auto line = [&](std::string_view what, std::uint64_t tokens) {
    if (tokens == 0) return;
    auto number = short_count(tokens);
    number.insert(0, 8 - std::min<std::size_t>(number.size(), 8), ' ');
    out.append(number).append("  ").append(what).append("\n");
  };
  line("instructions", x.instructions);
  line("descriptions of tools", x.tools);
  line("the summary", x.summary);
  line("what you said, with files", x.person);
  line("what the model said", x.model);
  line("what tools gave back", x.outputs);
  line("goes with your next words", x.waits);
  if (!fits)
    out +=
        "What is too much is left out, the oldest first. /compact makes a "
        "summary of it.\n";
  else if (x.window > 0 && sum > x.window - x.window / 4)
    out +=
        "Old outputs of tools are left out from now on. /compact makes a "
        "summary.\n";
  return out;
}

}  // namespace riffle::cli
