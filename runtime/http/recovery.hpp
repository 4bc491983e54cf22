// SPDX-License-Identifier: MIT
#pragma once

// Runs that a server began and that a crash, or its end, cut off: they go on
// at the start of the next one, in their folder, a few at a time.

#include <cstddef>
#include <memory>

#include "runtime/http/site.hpp"

namespace riffle::http {

/// Which of the runs that have not ended are this server's to go on with: a
/// server began them, nobody works on them, and it stands in their folder. A
/// step of a plan goes on with its plan.
struct unfinished_work {
  std::vector<run_id> runs;
  std::vector<std::string> volleys;
  std::size_t elsewhere = 0;  ///< another folder's
};
expected<unfinished_work> find_unfinished(const service::sessions& sessions);

/// Goes on with them; answers at once.
void recover(const site_parts& parts, unfinished_work work);

}  // namespace riffle::http
