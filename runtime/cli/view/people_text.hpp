// SPDX-License-Identifier: MIT
#pragma once

// What went wrong with a call, for the person who watches: what the model is
// told beside that, since it has to go on, is left out. Pure.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"
#include "messages/event.hpp"
#include "runtime/storage/records.hpp"

namespace riffle::cli {

/// Why a call failed, in words for a person.
std::string for_people(const error& x);
std::string for_people(std::string_view message);

/// The same, of the text alone.
std::string without_advice(std::string_view message);

/// An error's text with the word for programs behind it; what stands in
/// brackets at its end is one pair.
std::string with_code(std::string text, std::string_view code);

/// What ends a run, a task of a volley or a step of a plan, in one wording: its
/// text, of at most so many characters, and its code.
std::string error_text(const error& x, std::size_t longest);

/// The error by which a step of a plan ended, whose own error has that one's
/// code in front of its text; else itself.
error cause_of(const error& of_step);

/// Of an answer that looks whole and is not: "the answer was cut off after 80
/// tokens". 0: how many nobody said.
std::string cut_answer_text(std::uint64_t tokens);

/// The run was ended, and with it this call.
bool is_stopped(const events::tool_result& x);

/// Nothing of it was done.
bool never_began(const events::tool_result& x);

/// The proposal by which a call waits for a person behind the end of its run;
/// empty: it does not.
std::string open_proposal(const events::tool_result& x);

/// What became of a call, behind the end of its run: "ok", "not begun",
/// "denied: you said no: use a copy".
std::string end_of(const storage::call_record& x);

/// As a decision names who sits at a terminal.
inline constexpr std::string_view by_user = "user";

/// Why the person before this program ended something: its one wording.
inline constexpr const char* stopped_by_user = "stopped by the user";

/// Why a signal ends something; `by`: its name, as `interrupts` has it.
std::string stop_reason(std::string_view by);

/// Of what this program was told to end: "Stopped", "Stopped by SIGTERM". Of
/// all else nothing. Also of a reason as it was worded before.
std::string stop_words(std::string_view why);

/// What a command said last, at most so many lines; blank ones only where there
/// is room for all. `cut`: there was more before it.
std::vector<std::string> last_rows(std::string_view text, bool cut,
                                   std::size_t columns, std::size_t most);

}  // namespace riffle::cli
