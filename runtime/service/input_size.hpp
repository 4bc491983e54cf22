// SPDX-License-Identifier: MIT
#pragma once

#include "actors/run/run_spec.hpp"
#include "messages/error.hpp"

namespace riffle::service {

/// What is asked, with its context and its files, has to fit into the window
/// of the model, or of one that may take its place, beside what each request
/// tells. What cannot is refused before it is part of a session. Costs nothing
/// for what is far from that.
expected<void> check_input_size(const run_spec& spec);

}  // namespace riffle::service
