// SPDX-License-Identifier: MIT
#include "actors/tools/call_records.hpp"

#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/tools/proposal_texts.hpp"
#include "messages/utf8.hpp"

namespace riffle {

std::string cut_text(const std::string& text, std::size_t limit,
                     bool& truncated) {
  auto part = std::string{first_characters(text, limit)};
  truncated = part.size() < text.size();
  return part;
}

std::string cut_output(const std::string& text, bool failed, std::size_t limit,
                       bool& truncated) {
  const auto all = count_characters(text);
  if (!failed || all <= limit) return cut_text(text, limit, truncated);
  truncated = true;
  return text.substr(first_characters(text, all - limit).size());
}

namespace {

/// Bytes of the whole output, of which the tool may have kept a part only.
std::uint64_t whole_bytes(const call_result& result) {
  const auto about = nlohmann::json::parse(result.metadata, nullptr, false);
  if (about.is_object() && about.value("truncated", false) &&
      about.contains("bytes") && about["bytes"].is_number_unsigned())
    return about["bytes"].get<std::uint64_t>();
  return result.output.size();
}

/// Looked for anywhere only where that costs little.
bool says(const std::string& output, const std::string& message) {
  constexpr std::size_t longest = 4096;
  return message.size() <= longest ? output.find(message) != output.npos
                                   : output.ends_with(message);
}

}  // namespace

std::string told_text(const call_result& result, std::size_t limit) {
  std::string told;
  if (result.err) {
    told = "Error (" + std::string{to_string(result.err->code)} + ")";
    // A tool's output often says it already; once is enough.
    if (!says(result.output, result.err->message))
      told += ": " + result.err->message + denial_advice(*result.err);
    if (!result.output.empty()) told += "\n\n";
  }
  bool truncated = false;
  told += cut_text(result.output, limit, truncated);
  if (truncated)
    told += "\n[the output was cut here; " +
            std::to_string(whole_bytes(result)) + " bytes in all]";
  return told;
}

std::string told_without_note(const storage::call_record& x) {
  if (x.call.edited_from.empty()) return x.told;
  const auto note = edit_note(x.call);
  return x.told.starts_with(note) ? x.told.substr(note.size()) : x.told;
}

std::string told_output(const storage::call_record& x) {
  auto text = told_without_note(x);
  if (!x.err) return text;
  for (const auto& head :
       {"Error (" + std::string{to_string(x.err->code)} + ")",
        ": " + x.err->message + denial_advice(*x.err)})
    if (text.starts_with(head)) text.erase(0, head.size());
  constexpr std::string_view between = "\n\n";
  if (!text.starts_with(between)) return {};
  return text.substr(between.size());
}

events::tool_call call_event(const tool_call& call, bool began) {
  return {
      call.id,
      call.provider_id,
      call.tool,
      call.title,
      call.arguments,
      call.arguments_text,
      call.eff,
      call.step,
      began ? events::call_status::starting : events::call_status::not_started,
      call.node};
}

void name_node(call_result& result, const std::string& node) {
  using json = nlohmann::ordered_json;
  auto about = json::parse(result.metadata, nullptr, false);
  if (!about.is_object()) about = json::object();
  about["node"] = node;
  result.metadata = about.dump(-1, ' ', false, json::error_handler_t::replace);
}

events::tool_result result_event(const tool_call& call,
                                 const call_result& result,
                                 std::size_t output_limit) {
  events::tool_result x;
  x.id = call.id;
  x.tool = call.tool;
  x.how = result.how;
  x.output = result.output.empty() && result.err
                 ? cut_text(result.err->message, output_limit, x.truncated)
                 : cut_output(result.output, result.how != outcome::ok,
                              output_limit, x.truncated);
  x.duration_ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(result.took)
          .count());
  x.attempts = result.attempts;
  x.err = result.err;
  x.metadata = result.metadata;
  for (const auto& file : result.files) x.attachments.push_back(file.about);
  return x;
}

namespace {

/// What the model is shown: named in the record, kept once by the session.
std::vector<storage::file_record> keep_files(const run_spec& spec,
                                             std::vector<result_file> files,
                                             storage::call_record& record) {
  std::vector<storage::file_record> out;
  for (auto& x : files) {
    out.push_back({spec.session, x.about.digest,
                   std::make_shared<const std::string>(std::move(x.bytes))});
    record.attachments.push_back(std::move(x.about));
  }
  return out;
}

}  // namespace

run_entry settlement_entry(const run_spec& spec, tool_call call,
                           call_result result, bool announced,
                           std::uint32_t attempt, std::string answer,
                           std::vector<storage::attempt_record> attempts) {
  run_entry entry;
  if (!announced) entry.events.emplace_back(call_event(call, false));
  entry.events.emplace_back(
      result_event(call, result, spec.publish.output_limit));
  storage::call_record record;
  record.run = spec.run;
  record.stage = storage::call_stage::settled;
  record.attempt = attempt;
  record.announced = true;
  record.how = result.how;
  record.told =
      told_text(result, spec.tool_settings.of(call.tool).output_limit);
  if (!call.edited_from.empty()) record.told = edit_note(call) + record.told;
  record.call = std::move(call);
  record.err = std::move(result.err);
  record.attempts = std::move(attempts);
  auto files = keep_files(spec, std::move(result.files), record);
  entry.changes.reserve(files.size() + 2);
  entry.changes.emplace_back(record);
  for (const auto& x : files) entry.changes.emplace_back(x);
  if (!result.output.empty())
    entry.changes.emplace_back(
        storage::output_record{record.call.id, std::move(result.output)});
  entry.notice = settlement_committed{std::move(record), std::move(answer),
                                      std::move(files)};
  return entry;
}

storage::call_record decided_record(const run_spec& spec, const tool_call& call,
                                    bool approved, const std::string& reason,
                                    errc code) {
  storage::call_record record;
  record.call = call;
  record.run = spec.run;
  record.approved = approved;
  record.decision_reason = reason;
  if (!approved) record.err = error{code, "proposal_tracker", reason};
  return record;
}

}  // namespace riffle
