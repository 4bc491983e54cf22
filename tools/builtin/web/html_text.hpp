// SPDX-License-Identifier: MIT
#pragma once

// The text of a page, for a reader that cannot see.

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>

namespace riffle::tools {

struct page_text {
  std::string title;
  std::string text;       ///< at most the limit and a line more
  bool cut = false;       ///< the limit was reached
  bool too_deep = false;  ///< it ends where elements nest without end
};

/// Reads HTML of any quality. Scripts, styles and other things that nobody
/// reads are dropped; links are kept as `[text](URL)`, whole; headings, lists,
/// tables and `pre` keep their form in plain text. `html` is UTF-8. Ends early
/// when `stop` is asked for. Time is linear in the size, for any input.
page_text html_to_text(std::string_view html, const std::string& page_url,
                       std::size_t limit, const std::stop_token& stop);

}  // namespace riffle::tools
