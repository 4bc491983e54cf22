// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/config/document.hpp"
#include "runtime/config/reader.hpp"

namespace riffle::config {

/// What no single key can tell: names that lead nowhere, files that are not
/// there, values that do not go together. `document` gives the places.
void check(const config& x, const value& document, const load_request& request,
           mistake_list& mistakes);

}  // namespace riffle::config
