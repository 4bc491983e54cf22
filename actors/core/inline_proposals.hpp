// SPDX-License-Identifier: MIT
#pragma once

// Proposals that a model wrote into its answer instead of calling
// `seek_approval`: a fenced block of JSON with the shape of that tool's
// arguments,
//
//   ```json
//   {"proposal": {"summary": "Delete the old logs, they fill the disk."}}
//   ```
//
// or the object in "proposal" alone with "type": "proposal". Everything else
// in an answer is no proposal, so that an example in it does not become one.

#include <string>
#include <string_view>
#include <vector>

namespace riffle::core {

/// Longest summary; longer ones are cut at a UTF-8 border.
inline constexpr std::size_t longest_summary = 2000;
/// An answer has at most so many; the rest is left out.
inline constexpr std::size_t most_inline_proposals = 16;

/// Their summaries, in order; equal ones count once. Takes any text.
std::vector<std::string> find_inline_proposals(std::string_view answer);

/// The answer of a run whose model said nothing, but proposed something.
std::string proposals_as_answer(const std::vector<std::string>& summaries);

}  // namespace riffle::core
