// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "messages/error.hpp"

namespace riffle::model {

/// What a person may do where a model does not answer; empty: nothing is known.
struct model_advice {
  std::string unreachable{};  ///< where nobody listens
  std::string not_found{};    ///< where the server has no such model
};

/// The same failure with the advice for it behind its message. `http_status`
/// 0: no answer came.
[[nodiscard]] error advised(error why, int http_status, const model_advice& x);

}  // namespace riffle::model
