// SPDX-License-Identifier: MIT
#pragma once

// What `riffle init` says, understands and writes.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/service/first_model.hpp"

namespace riffle::cli {

/// The names that a typed text means: the first one for nothing typed, the one
/// of a number (from 1) or with just this name, else all that have the text in
/// them, whatever the case. Empty: it means none of them.
std::vector<std::string> meant_by(std::string_view typed,
                                  const std::vector<std::string>& names);

/// The names with their numbers, a line each, `most` of them; behind it how
/// many more there are.
std::string numbered(const std::vector<std::string>& names, std::size_t most);

/// "anthropic (key in $ANTHROPIC_API_KEY)", "ollama (running here, 3 models)".
std::string provider_text(const service::usable_provider& x);

/// What to do where no provider can be used.
std::string no_provider_text(const std::vector<std::string>& keys);

/// A configuration of ten lines for one model of a provider. `there`: keys that
/// the file sets already, as in `config::config::origins`; their tables are
/// left out.
std::string first_config(const service::usable_provider& x,
                         const std::string& model,
                         const std::map<std::string, std::string>& there = {});

/// Whether a configuration with these keys leaves the model to the defaults.
bool names_no_model(const std::map<std::string, std::string>& origins);

}  // namespace riffle::cli
