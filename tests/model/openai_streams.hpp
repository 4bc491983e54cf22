// SPDX-License-Identifier: MIT
#pragma once

// Streams of the openai dialect made by hand, and reading them.

#include <cstddef>
#include <string>
#include <string_view>

#include "messages/turn.hpp"
#include "runtime/model/openai_decoder.hpp"

namespace riffle::testing {

/// Decodes a whole answer, in pieces of at most `piece` bytes.
turn_delta read(std::string_view bytes, std::size_t piece = 1u << 20,
                model::openai_limits limits = {});

/// One event with this data.
std::string event(std::string_view json);

/// A chunk with one choice that has this delta.
std::string delta(std::string_view json);

/// The chunk with the finish reason `stop`, and the end mark.
extern const std::string stop;
extern const std::string done;

/// All texts of one kind, joined.
std::string texts(const turn_delta& x, piece_kind kind = piece_kind::text);

/// Checks the failure of a turn; its message holds `message`.
void check_failure(const turn_delta& x, errc code, bool retryable,
                   std::string_view message = {});

}  // namespace riffle::testing
