// SPDX-License-Identifier: MIT
#include "tools/process/signal_name.hpp"

#include <cstring>

namespace riffle::tools {

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return "SIG" + (name ? std::string{name} : std::to_string(signal));
}

}  // namespace riffle::tools
