// SPDX-License-Identifier: MIT
#include "runtime/service/file_changes.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "actors/core/read_command.hpp"
#include "messages/event_line.hpp"
#include "runtime/base/text.hpp"
#include "runtime/config/config.hpp"

namespace riffle::service {

namespace {

using nlohmann::json;

constexpr std::size_t page_bytes = 256u << 10;
/// What the model is told by name.
constexpr std::size_t most_files_told = 50;

using known_calls = std::unordered_map<call_id, const storage::call_record*>;

bool changes_files(std::string_view tool) {
  return tool == "write" || tool == "edit";
}

std::string text_in(const json& x, const char* key) {
  const auto found = x.find(key);
  return found != x.end() && found->is_string() ? found->get<std::string>()
                                                : std::string{};
}

std::uint64_t number_in(const json& x, const char* key) {
  const auto found = x.find(key);
  return found != x.end() && found->is_number_unsigned()
             ? found->get<std::uint64_t>()
             : 0;
}

json object_of(const std::string& text) {
  auto x = json::parse(text, nullptr, false);
  return x.is_object() ? x : json::object();
}

/// Of calls that work elsewhere.
using known_nodes = std::unordered_map<call_id, std::string>;

/// Whose log is read.
struct logged_run {
  run_id id;
  std::string folder;
};

void add(session_changes& out, const logged_run& run,
         const events::tool_result& x, const known_calls& calls,
         const known_nodes& nodes) {
  if (!changes_files(x.tool) || x.how != outcome::ok) return;
  const auto told = object_of(x.metadata);
  file_change one{.run = run.id, .call = x.id, .tool = x.tool};
  one.folder = run.folder;
  if (const auto call = calls.find(x.id); call != calls.end())
    one.path = text_in(object_of(call->second->call.arguments), "path");
  if (one.path.empty()) one.path = text_in(told, "path");
  one.diff = text_in(told, "diff");
  const auto cut = told.find("diff_truncated");
  one.cut = !told.contains("diff") ||
            (cut != told.end() && cut->is_boolean() && cut->get<bool>());
  one.added = number_in(told, "added");
  one.removed = number_in(told, "removed");
  one.before = text_in(told, "digest_before");
  one.after = text_in(told, "digest_after");
  one.place = text_in(told, "place");
  if (const auto node = nodes.find(x.id); node != nodes.end())
    one.node = node->second;
  out.files.push_back(std::move(one));
}

/// So that a name is no more than a name.
std::vector<std::string> quoted(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const auto& x : names)
    out.push_back(json(x.substr(0, 500))
                      .dump(-1, ' ', false, json::error_handler_t::replace));
  return out;
}

/// The few lines that matter are looked at.
void read_lines(session_changes& out, const logged_run& run,
                std::string_view lines, const known_calls& calls,
                known_nodes& nodes) {
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size() - 1) + 1;
    const auto line = lines.substr(0, end);
    lines.remove_prefix(end);
    const bool result = line.find(R"("event_type":"tool_result")") != line.npos;
    const bool call = line.find(R"("event_type":"tool_call")") != line.npos &&
                      line.find(R"("node":)") != line.npos;
    if (!result && !call) continue;
    const auto x = parse_line(line);
    if (!x) continue;
    if (const auto* began = std::get_if<events::tool_call>(&x->body);
        began != nullptr && !began->node.empty())
      nodes.emplace(began->id, began->node);
    if (const auto* ended = std::get_if<events::tool_result>(&x->body))
      add(out, run, *ended, calls, nodes);
  }
}

bool may_change_more(const storage::call_record& x) {
  static const std::unordered_set<std::string_view> harmless{
      "manage_plan", "seek_approval", "complete"};
  return x.call.eff == effect::mutating && x.attempt > 0 &&
         !harmless.contains(x.call.tool) &&
         !only_reads(x.call.tool, x.call.arguments) &&
         (!changes_files(x.call.tool) || x.how == outcome::interrupted ||
          x.how == outcome::timed_out);
}

}  // namespace

bool only_reads(std::string_view tool, const std::string& arguments) {
  static const auto reads = config::with_tool_defaults("bash", {}).read_only;
  return tool == "bash" &&
         core::only_reads(text_in(object_of(arguments), "command"), reads);
}

expected<session_changes> changes_of(storage::event_log& log,
                                     const storage::session_snapshot& x) {
  session_changes out;
  known_calls calls;
  known_nodes nodes;
  std::unordered_set<run_id> with_changes;
  for (const auto& c : x.calls) {
    calls.emplace(c.call.id, &c);
    if (changes_files(c.call.tool)) with_changes.insert(c.run);
    if (may_change_more(c))
      out.others.push_back({c.run, c.call.tool, c.call.title});
  }
  for (const auto& run : x.runs) {
    std::uint64_t after = 0;
    bool more = with_changes.contains(run.id);
    const logged_run log_of{run.id, more ? folder_of(run) : std::string{}};
    while (more) {
      const auto page = log.read_events(run.id, after, page_bytes);
      if (!page) return unexpected{page.error()};
      for (const auto& block : page->blocks) {
        read_lines(out, log_of, *block.lines, calls, nodes);
        after = block.last_seq;
      }
      more = !page->end && !page->blocks.empty();
    }
  }
  return out;
}

taken_back taken_back_of(const std::map<std::string, std::string>& state) {
  taken_back out;
  const auto found = state.find(taken_back_key);
  if (found == state.end()) return out;
  const auto x = object_of(found->second);
  out.last = run_id{text_in(x, "last")};
  for (const auto& one : x.value("runs", json::array()))
    if (one.is_string()) out.runs.push_back(run_id{one.get<std::string>()});
  for (const auto& one : x.value("files", json::array()))
    if (one.is_string()) out.files.push_back(one.get<std::string>());
  return out;
}

json json_of(const taken_back& x) {
  json runs = json::array();
  for (const auto& one : x.runs) runs.push_back(one.value);
  return {
      {"runs", std::move(runs)}, {"last", x.last.value}, {"files", x.files}};
}

taken_back with(taken_back x, const run_id& run, const run_id& newest,
                const std::vector<std::string>& files) {
  if (std::ranges::find(x.runs, run) == x.runs.end()) x.runs.push_back(run);
  if (x.last != newest) x.files.clear();  // those are told
  x.last = newest;
  for (const auto& one : files)
    if (x.files.size() < most_files_told &&
        std::ranges::find(x.files, one) == x.files.end())
      x.files.push_back(one);
  return x;
}

void tell_taken_back(storage::session_records& journal,
                     const session_id& session, run_request& x) {
  const auto state = journal.load_state(session);
  if (!state || !state->contains(taken_back_key)) return;
  const auto act = taken_back_of(*state);
  storage::run_filter newest;
  newest.session = session;
  newest.limit = 1;
  const auto runs = journal.list_runs(newest);
  if (!runs || runs->empty() || runs->front().id != act.last) return;
  x.context += (x.context.empty() ? "" : "\n\n") +
               std::string{
                   "The user has taken back what your calls of write "
                   "and edit changed in these files, which are as "
                   "they were before: "} +
               join_some(quoted(act.files)) +
               ". What commands did was not taken back. Read a file before "
               "you change it again.";
}

}  // namespace riffle::service
