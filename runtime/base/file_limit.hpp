// SPDX-License-Identifier: MIT
#pragma once

namespace riffle {

/// From now on a write beyond the file size limit (`ulimit -f`) fails with
/// EFBIG, as a full disk does with ENOSPC, instead of ending the process by
/// SIGXFSZ. A handler, not SIG_IGN: child processes must not inherit that.
void outlive_file_limit() noexcept;

}  // namespace riffle
