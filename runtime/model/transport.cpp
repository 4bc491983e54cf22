// SPDX-License-Identifier: MIT
#include "runtime/model/transport.hpp"

namespace riffle::model {

error advised(error why, int http_status, const model_advice& x) {
  constexpr int not_found = 404;
  if (why.code == errc::model_unreachable && !x.unreachable.empty())
    why.message += " (" + x.unreachable + ")";
  if (why.code == errc::model_error && http_status == not_found &&
      !x.not_found.empty())
    why.message += " (" + x.not_found + ")";
  return why;
}

}  // namespace riffle::model
