// SPDX-License-Identifier: MIT
#pragma once

// The first steps of somebody who has configured nothing.

#include <optional>
#include <string>

#include "runtime/cli/commands/commands.hpp"

namespace riffle::cli {

/// `riffle init`, if there is no configuration anywhere, none was named and no
/// model either, and the built-in one has no key. The exit status: other than 0
/// where nothing can begin.
int take_first_steps(const common_options& options,
                     const std::optional<std::string>& model, console& io);

/// What nobody has chosen a model for, at a server of the environment: where it
/// is chosen. Else empty.
std::string init_hint(const config::config& settings);

/// Behind an error that these steps may mend: names them.
void point_to_init(const config::config& settings, const error& x, console& io);

}  // namespace riffle::cli
