// SPDX-License-Identifier: MIT
#pragma once

// Readers of one chunk (`chat.completion.chunk`, or a whole
// `chat.completion`) of the openai dialect. Only choice 0 is read.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "messages/error.hpp"
#include "messages/turn.hpp"
#include "runtime/model/openai_template.hpp"

namespace riffle::model::openai {

/// What one chunk brought.
struct chunk {
  /// Where pieces, fragments and usage are appended to.
  turn_delta& out;
  std::optional<finish_reason> finish;
  std::optional<error> failure;
  /// It had something that only chunks have: choices or usage.
  bool known = false;
  /// Set by `read_common` if one string was all that it brought.
  std::optional<text_place> only_text;
};

/// Reads the common chunk without building a document: texts, reasoning,
/// call fragments, finish. False: it holds something else or is no JSON; `x`
/// is as before then, and `read_any` has to read it. `readable`: bytes behind
/// `json` that may be read.
bool read_common(std::string_view json, std::size_t readable, chunk& x);

/// Reads whatever providers send; slower. Never fails: what it does not
/// understand it leaves out.
void read_any(const nlohmann::ordered_json& json, chunk& x);

/// Whether a part of a content list is told as text or as a refusal, and what
/// it says then.
bool is_shown(const nlohmann::ordered_json& part);
std::string shown_text(const nlohmann::ordered_json& part);

/// The document of a text, repaired where providers break JSON in ways that
/// leave no doubt: bytes that are no UTF-8 and lone surrogates become U+FFFD,
/// raw control characters in strings are escaped. Nothing if it is no JSON or
/// nested deeper than 256.
std::optional<nlohmann::ordered_json> parse_json(std::string_view text);

/// The same, but with lone surrogates kept as `halves` (surrogate_joiner.hpp);
/// `any`: there are some.
std::optional<nlohmann::ordered_json> parse_halves(std::string_view text,
                                                   bool& any);

/// What a provider's word for the end of its turn means. Words that nobody
/// knows count as `missing`: the text counts, but nothing mutating starts.
finish_reason parse_finish(std::string_view word) noexcept;

/// The error that a data object reports, in any of the shapes seen in the
/// wild; nothing if it reports none.
std::optional<error> find_error(const nlohmann::ordered_json& json);

/// The error of an `event: error` or of a body that is nothing else.
error any_error(const nlohmann::ordered_json& json);
error any_error(std::string_view text);

}  // namespace riffle::model::openai
