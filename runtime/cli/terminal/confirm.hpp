// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/cli/commands/commands.hpp"
#include "runtime/config/trust.hpp"

namespace riffle::cli {

/// What a line of the keyboard says: true for yes, false for no.
std::optional<bool> yes_or_no(std::string_view line);

/// Asks until there is an answer. What was typed before counts for nothing; a
/// closed keyboard, or `stopped`, is a no. `view`, unless it is empty, is what
/// the person may look at first.
bool confirm(const std::string& question, int keyboard,
             const std::function<bool()>& stopped, console& io,
             const std::string& view = {});

/// Shows what a file sets and asks whether it is to be trusted. Keeps nothing.
bool ask_for_trust(const config::trust_state& x, int keyboard, console& io);

}  // namespace riffle::cli
