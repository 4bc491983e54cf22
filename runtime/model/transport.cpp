// SPDX-License-Identifier: MIT
#include "runtime/model/transport.hpp"

namespace riffle::model {

error advised(error why, int http_status, const model_advice& x) {
  constexpr int unauthorized = 401;
  constexpr int forbidden = 403;
  constexpr int not_found = 404;
  if (why.code == errc::model_unreachable && !x.unreachable.empty())
    why.message += " (" + x.unreachable + ")";
  if (why.code == errc::model_error && http_status == not_found &&
      !x.not_found.empty())
    why.message += " (" + x.not_found + ")";
  const bool refused = http_status == unauthorized || http_status == forbidden;
  if (refused && !x.refused.empty()) why.message += " (" + x.refused + ")";
  return why;
}

}  // namespace riffle::model
