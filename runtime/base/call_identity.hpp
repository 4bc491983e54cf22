// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "runtime/base/digest.hpp"

namespace riffle {

/// `grant_record::definition` of scope `call`: what the tool is and, where the
/// call was shown to act on something (`proposal_record::basis`), what that
/// was. A call with another one, such as of a script that was changed, is not
/// this very call; nor is what older versions kept, which had the tool alone.
inline std::string call_identity(const std::string& definition,
                                 const std::string& basis) {
  return basis.empty() ? definition : sha256(definition + "\n" + basis);
}

}  // namespace riffle
