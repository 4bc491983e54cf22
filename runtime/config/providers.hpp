// SPDX-License-Identifier: MIT
#pragma once

// The providers of `configs/providers.toml`, which is built into the program.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/config/config.hpp"
#include "runtime/model/dialect.hpp"

namespace riffle::config {

struct provider {
  std::string name{};
  model_config settings{};  ///< the defaults of its models
  model::quirks odd{};
  /// What goes back to it unread, and for how long it has a use for that: for
  /// people.
  std::string keeps{};
  /// What starts it, where it is a server on one's own machine: for people.
  std::string start{};
};

/// In the order of the file. Read once; a file with a mistake has none, which a
/// test would see.
const std::vector<provider>& providers();

std::vector<std::string> provider_names();

/// Null: there is none of this name.
const provider* find_provider(std::string_view name);

/// The provider of a model: the one that its table names, else the one whose
/// server its `base_url` is. Null: nobody knows.
const provider* provider_of(const model_config& x);

/// What is odd about the model's server; nothing known: nothing odd.
model::quirks quirks_of(const model_config& x);

/// A model of a provider, by the provider's own name for it.
model_config with_name(const provider& x, std::string model);

/// Of "PROVIDER/MODEL". Nothing: it is no such name.
std::optional<model_config> provided_model(std::string_view name);

/// Adds the models that agents and other models name as PROVIDER/MODEL.
void add_provided_models(config& x);

/// The mistakes of a text like `providers.toml`, and what it says.
std::vector<provider> parse_providers(std::string_view text,
                                      std::vector<mistake>& mistakes);

}  // namespace riffle::config
