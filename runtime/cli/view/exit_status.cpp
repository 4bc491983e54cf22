// SPDX-License-Identifier: MIT
#include "runtime/cli/view/exit_status.hpp"

#include <algorithm>

namespace riffle::cli {

exit_status status_of(events::run_status status, std::optional<errc> failure,
                      bool nobody_asked) noexcept {
  switch (status) {
    case events::run_status::completed:
      return nobody_asked ? unasked : completed;
    case events::run_status::cancelled:
      return failure == errc::timeout ? out_of_time : interrupted_by_user;
    case events::run_status::failed: break;
  }
  switch (failure.value_or(errc::internal)) {
    case errc::timeout: return out_of_time;
    case errc::cancelled: return interrupted_by_user;
    case errc::invalid_config: return usage;
    default: return failed;
  }
}

exit_status status_of(const std::vector<exit_status>& all) {
  const auto has = [&all](exit_status x) {
    return std::ranges::find(all, x) != all.end();
  };
  if (has(usage) && !has(interrupted_by_user) && !has(out_of_time))
    return failed;
  for (const auto x : {interrupted_by_user, out_of_time, failed, unasked})
    if (has(x)) return x;
  return completed;
}

exit_status status_of(errc failure) noexcept {
  switch (failure) {
    case errc::invalid_config:
    case errc::invalid_request:
    case errc::invalid_plan:
    case errc::agent_not_streaming:
    case errc::not_found:
    case errc::session_busy: return usage;
    case errc::timeout: return out_of_time;
    case errc::cancelled: return interrupted_by_user;
    default: return failed;
  }
}

}  // namespace riffle::cli
