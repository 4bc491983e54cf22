// SPDX-License-Identifier: MIT
#pragma once

// What of a call becomes an event, a record, a text for the model. Pure.

#include <cstddef>
#include <string>

#include "actors/run/run_messages.hpp"
#include "messages/call.hpp"
#include "messages/event.hpp"

namespace riffle {

/// Longest prefix of at most `limit` characters; cuts at a UTF-8 border.
/// Characters, as promise 5 counts them, are code points.
std::string cut_text(const std::string& text, std::size_t limit,
                     bool& truncated);

/// Of the output of a call its beginning, or its end if it `failed`: that says
/// why. At most `limit` characters.
std::string cut_output(const std::string& text, bool failed, std::size_t limit,
                       bool& truncated);

/// What the model was told of a call, without what says that a person changed
/// its arguments: for that person.
std::string told_without_note(const storage::call_record& x);

/// Of that what the tool put out: without the error that stands before it.
std::string told_output(const storage::call_record& x);

/// What the model is told of a settled call, at most `limit` characters of
/// output; a cut is said.
std::string told_text(const call_result& result, std::size_t limit);

/// The one `tool_call` event.
events::tool_call call_event(const tool_call& call, bool began);

/// `metadata.node` of the result: `node` did the work.
void name_node(call_result& result, const std::string& node);

/// The one `tool_result` event.
events::tool_result result_event(const tool_call& call,
                                 const call_result& result,
                                 std::size_t output_limit);

/// Events, records and notice of a settlement, in one entry.
run_entry settlement_entry(const run_spec& spec, tool_call call,
                           call_result result, bool announced,
                           std::uint32_t attempt, std::string answer,
                           std::vector<storage::attempt_record> attempts);

/// Of a call about which was decided; `reason` and `code`: of a denial.
storage::call_record decided_record(const run_spec& spec, const tool_call& call,
                                    bool approved, const std::string& reason,
                                    errc code);

}  // namespace riffle
