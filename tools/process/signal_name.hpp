// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace riffle::tools {

/// "SIGKILL"; "SIG99" for one without a name.
std::string signal_name(int signal);

}  // namespace riffle::tools
