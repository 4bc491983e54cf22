// SPDX-License-Identifier: MIT
#include "actors/end_reason.hpp"

#include <caf/exit_reason.hpp>
#include <caf/message.hpp>
#include <caf/sec.hpp>
#include <caf/to_string.hpp>

namespace riffle {

bool is_crash(const caf::error& reason) {
  return reason != caf::exit_reason::normal &&
         reason != caf::exit_reason::user_shutdown;
}

std::string describe_end(const caf::error& reason) {
  if (reason == caf::exit_reason::kill) return "it was killed";
  const auto& context = reason.context();
  if (reason == caf::sec::runtime_error && !context.empty()) {
    const auto last = context.size() - 1;
    if (context.match_element<std::string>(last))
      return context.get_as<std::string>(last);
  }
  return to_string(reason);
}

}  // namespace riffle
