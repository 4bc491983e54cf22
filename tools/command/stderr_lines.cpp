// SPDX-License-Identifier: MIT
#include "tools/command/stderr_lines.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

using nlohmann::json;

/// Nothing: the line is none.
std::optional<tool_progress_report> read_report(const std::string& line) {
  if (!line.starts_with('{')) return std::nullopt;
  const auto x = json::parse(line, nullptr, false);
  if (!x.is_object()) return std::nullopt;
  tool_progress_report out;
  bool any = false;
  for (const auto& [key, value] : x.items()) {
    const bool number = key == "progress" || key == "total";
    if (!number && key != "message") continue;
    if (number ? !value.is_number() : !value.is_string()) return std::nullopt;
    if (key == "progress") out.progress = value.get<double>();
    if (key == "total") out.total = value.get<double>();
    if (key == "message") out.message = value.get<std::string>();
    any = true;
  }
  if (!any) return std::nullopt;
  return out;
}

}  // namespace

void stderr_lines::append(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto room = longest_line - std::min(line_.size(), longest_line);
    line_.append(cut_utf8(text.substr(0, end), room));
    unsaid_.append(text.substr(0, end));
    if (unsaid_.size() > 2 * longest_line)
      unsaid_ = tail_utf8(unsaid_, longest_line);
    if (end == text.size()) return;
    end_line();
    text.remove_prefix(end + 1);
  }
}

void stderr_lines::flush() {
  const bool may_be_report =
      line_.starts_with('{') && line_.size() < longest_line;
  if (!report_ || unsaid_.empty() || may_be_report) return;
  in_pieces_ = true;
  report_({.message =
               std::string{tail_utf8(std::exchange(unsaid_, {}), longest_line)},
           .stream = "stderr"});
}

void stderr_lines::finish() {
  if (!line_.empty()) end_line();
}

void stderr_lines::end_line() {
  const auto rest = std::exchange(unsaid_, {});
  const bool in_pieces = std::exchange(in_pieces_, false);
  auto report = read_report(line_);
  if (!report) {
    line_ += '\n';
    log_ += line_;
    if (log_.size() > 2 * kept_log) log_ = tail_utf8(log_, kept_log);
    report = tool_progress_report{};
    report->message =
        in_pieces ? std::string{tail_utf8(rest, longest_line)} + '\n' : line_;
    report->stream = "stderr";
  }
  line_.clear();
  if (report_) report_(std::move(*report));
}

std::string stderr_lines::log() const {
  return std::string{trimmed(tail_utf8(log_, kept_log))};
}

}  // namespace riffle::tools
