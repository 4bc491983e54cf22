// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "actors/run/run_spec.hpp"
#include "messages/error.hpp"

namespace riffle::service {

/// What is asked, with its context and its files, has to fit into the window
/// of the model, or of one that may take its place, beside what each request
/// tells. What cannot is refused before it is part of a session. Costs nothing
/// for what is far from that.
expected<void> check_input_size(const run_spec& spec);

/// Bytes of what is said to a run that works.
inline constexpr std::size_t most_told = 64u << 10;

/// Whether that can be said to one: there is something, and no more
/// than `most_told`. Fails with `invalid_request`.
expected<void> check_told(const std::string& text);

}  // namespace riffle::service
