// SPDX-License-Identifier: MIT
#pragma once

// What a person sees before they trust a configuration. Pure.

#include <string>

#include "runtime/config/trust.hpp"

namespace riffle::cli {

/// What it sets, and what changed since it was trusted, each line behind a
/// bar; harmless for a terminal, whatever stands in the file. Ends with a line
/// end. Of what is very long only both ends, unless it is to be `whole`.
std::string trust_text(const config::trust_state& x, bool whole = false);

/// The question behind it, without the answers.
std::string trust_question(const config::trust_state& x);

}  // namespace riffle::cli
