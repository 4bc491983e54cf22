// SPDX-License-Identifier: MIT
#include "runtime/cli/view/log_text.hpp"

#include <algorithm>
#include <string_view>

#include "runtime/cli/terminal/safe_text.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view of_servers = "mcp.";
constexpr std::size_t longest_told = 300;
/// Behind so many it is forgotten what was told.
constexpr std::size_t most_causes = 500;

std::string cause_of(const log_line& x) {
  const auto named = std::ranges::find(x.fields, "cause", &log_field::key);
  const auto cause = named == x.fields.end() || named->value.empty()
                         ? x.message
                         : named->value;
  std::string out;
  // Another process or another time is no other cause, another status is.
  for (std::size_t i = 0; i < cause.size();) {
    const auto end =
        std::min(cause.find_first_not_of("0123456789", i), cause.size());
    const bool counts = end - i >= 4 || out.ends_with("process ");
    if (end > i)
      out += counts ? "#" : cause.substr(i, end - i);
    else
      out += cause[i];
    i = std::max(end, i + 1);
  }
  return out;
}

}  // namespace

std::string log_text::on(const log_line& x) {
  auto line = render(x) + "\n";
  if (!x.op.starts_with(of_servers) || line.starts_with('{')) return line;
  const auto server = safe_line(x.op.substr(of_servers.size()), 64);
  if (told_.size() >= most_causes) told_.clear();
  if (!told_.insert(server + "\n" + cause_of(x)).second) return {};
  line = "[MCP] " + server + ": " + safe_line(x.message, longest_told);
  return color_ ? "\x1b[2m" + line + "\x1b[0m\n" : line + "\n";
}

}  // namespace riffle::cli
