// SPDX-License-Identifier: MIT
#pragma once

// What a person sees of a call before deciding about it. Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "messages/event.hpp"

namespace riffle::cli {

struct picture_options {
  std::size_t columns = 80;
  std::size_t rows = 24;
  bool color = false;
  bool ascii = false;   ///< the terminal does not show UTF-8
  bool whole = false;   ///< all of it, however long
  bool others = false;  ///< not the person here has `edited` it
};

/// One sentence, and below it, each line behind a bar, what the call would do:
/// a command, a diff, or its arguments; nothing twice. Rows without their ends,
/// each narrower than the terminal. What does not fit is counted in a row of
/// its own. `edited`: a person wrote the arguments, and this is what they do.
std::vector<std::string> approval_picture(const events::approval_required& x,
                                          bool edited,
                                          const picture_options& options);

/// Whole lines of what it would do that have no room in that picture, or not
/// for all of them; empty: nothing is left out.
std::string left_out_of_picture(const events::approval_required& x, bool edited,
                                const picture_options& options);

/// For terminals that do not show UTF-8: what is not ASCII by a name of it.
std::string ascii_text(std::string_view text);

}  // namespace riffle::cli
