// SPDX-License-Identifier: MIT
// riffle events check FILE
#include <fstream>
#include <iostream>

#include <nlohmann/json.hpp>

#include "messages/event_check.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/exit_status.hpp"

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;

std::string count(std::uint64_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string as_text(const check_report& x) {
  std::string out;
  for (const auto& v : x.violations) out += safe_text(render(v)) + "\n";
  if (x.broken > x.violations.size()) {
    out +=
        "… and " + std::to_string(x.broken - x.violations.size()) + " more\n";
  }
  return out + (x.ok() ? "ok: " : "broken: ") + count(x.runs, "run") + ", " +
         count(x.events, "event") + ", " + count(x.broken, "violation") + "\n";
}

json violation_json(const violation& v) {
  return {{"line", v.line},
          {"seq", v.seq},
          {"promise", v.promise},
          {"text", v.text}};
}

std::string as_json(const check_report& x, bool lines) {
  std::string out;
  auto all = json::array();
  for (const auto& v : x.violations) {
    const auto item = violation_json(v);
    constexpr auto replace = json::error_handler_t::replace;
    if (lines) out += item.dump(-1, ' ', false, replace) + "\n";
    all.push_back(item);
  }
  if (lines) return out;
  const json object = {{"ok", x.ok()},
                       {"runs", x.runs},
                       {"events", x.events},
                       {"broken", x.broken},
                       {"violations", all}};
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

int check(std::istream& log, const events_check_command& x, console& io) {
  const auto found = check_events(log, {x.allow_unfinished});
  if (log.bad()) {
    io.complain("\"" + x.file + "\" cannot be read to its end");
    return usage;
  }
  const auto kind = x.common.output;
  const bool silent = kind == output_kind::text &&
                      x.common.level == verbosity::quiet && found.ok();
  if (!silent) {
    io.out.write(kind == output_kind::text
                     ? as_text(found)
                     : as_json(found, kind == output_kind::jsonl));
  }
  return found.ok() && io.out.good() ? completed : failed;
}

}  // namespace

int execute(const events_check_command& x, console& io) {
  if (x.file == "-") return check(std::cin, x, io);
  std::error_code ignored;
  std::ifstream log{x.file, std::ios::binary};
  if (!log || std::filesystem::is_directory(x.file, ignored)) {
    io.complain("\"" + x.file +
                "\" cannot be read: no such file, or no "
                "permission");
    return usage;
  }
  return check(log, x, io);
}

}  // namespace riffle::cli
