// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/http/site.hpp"

namespace riffle::http {

/// `POST /mcp`: Riffle as a server of the Model Context Protocol, of both eras.
void serve_mcp(call c);

}  // namespace riffle::http
