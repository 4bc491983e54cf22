// SPDX-License-Identifier: MIT
#include "actors/core/inline_proposals.hpp"

#include <algorithm>

#include "messages/json_strict.hpp"
#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"

namespace riffle::core {

namespace {

using nlohmann::json;

std::string_view without_cr(std::string_view line) {
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

/// How many backticks a fence has (CommonMark: at least three, indented by at
/// most three spaces); 0: it is none.
std::size_t fence_of(std::string_view line) {
  const auto indent = line.find_first_not_of(' ');
  if (indent == line.npos || indent > 3) return 0;
  const auto end = line.find_first_not_of('`', indent);
  const auto n = (end == line.npos ? line.size() : end) - indent;
  return n >= 3 ? n : 0;
}

/// The contents of closed blocks with the info string `json`.
std::vector<std::string> json_blocks(std::string_view text) {
  std::vector<std::string> found;
  std::string block;
  std::size_t open = 0;
  bool is_json = false;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = without_cr(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    const auto fence = fence_of(line);
    const auto inside = trimmed(line, " \t");
    const auto info =
        trimmed(inside.substr(std::min(fence, inside.size())), " \t");
    if (open == 0) {
      if (fence == 0) continue;
      open = fence;
      is_json = info == "json";
      block.clear();
    } else if (fence >= open && info.empty()) {
      if (is_json) found.push_back(std::move(block));
      block.clear();
      open = 0;
    } else if (is_json) {
      block.append(line).push_back('\n');
    }
  }
  return found;
}

std::string summary_of(const json& block) {
  if (!block.is_object()) return {};
  const auto* x = &block;
  if (const auto inner = block.find("proposal"); inner != block.end())
    x = &*inner;
  else if (block.value("type", json{}) != "proposal")
    return {};
  if (!x->is_object()) return {};
  const auto summary = x->find("summary");
  if (summary == x->end() || !summary->is_string()) return {};
  const auto& text = summary->get_ref<const std::string&>();
  if (text.find_first_not_of(" \t\r\n") == text.npos) return {};
  return std::string{cut_utf8(text, longest_summary)};
}

}  // namespace

std::vector<std::string> find_inline_proposals(std::string_view answer) {
  std::vector<std::string> all;
  for (const auto& block : json_blocks(answer)) {
    const auto value = parse_strict(block);
    if (!value || all.size() >= most_inline_proposals) continue;
    auto summary = summary_of(*value);
    if (!summary.empty() && std::ranges::find(all, summary) == all.end())
      all.push_back(std::move(summary));
  }
  return all;
}

std::string proposals_as_answer(const std::vector<std::string>& summaries) {
  std::string text = summaries.size() == 1
                         ? "This waits for a decision:\n"
                         : "These proposals wait for a decision:\n";
  for (const auto& x : summaries) text += "- " + x + "\n";
  text.pop_back();
  return text;
}

}  // namespace riffle::core
