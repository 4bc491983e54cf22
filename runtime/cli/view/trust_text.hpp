// SPDX-License-Identifier: MIT
#pragma once

// What a person sees before they trust a configuration. Pure.

#include <string>
#include <string_view>

#include "runtime/config/trust.hpp"

namespace riffle::cli {

/// What it sets, and what changed since it was trusted, each line behind a
/// bar; harmless for a terminal, whatever stands in the file. Ends with a line
/// end. Of what is very long only both ends, unless it is to be `whole`.
std::string trust_text(const config::trust_state& x, bool whole = false);

/// The question behind it, without the answers.
std::string trust_question(const config::trust_state& x);

/// What a file says, so that nothing in it is unseen.
/// One line that hides nothing: blanks are kept, more than three of them are
/// counted ("␣×40"), line ends and tabs are "\n" and "\t", other blanks, and
/// characters that show nothing, are \u{NNNN}. All else as `safe_text`.
std::string exact_line(std::string_view text);

}  // namespace riffle::cli
