// SPDX-License-Identifier: MIT
#pragma once

// Use case: which models somebody who has configured nothing can use.

#include <string>
#include <vector>

#include "runtime/config/config.hpp"
#include "runtime/config/providers.hpp"
#include "runtime/service/model_links.hpp"

namespace riffle::service {

struct usable_provider {
  std::string name{};
  /// Those of the provider, without a model. `base_url` is another one where
  /// the environment says so: $X_BASE_URL beside a key $X_API_KEY, and
  /// $OLLAMA_HOST.
  config::model_config settings{};
  bool moved = false;  ///< `base_url` is not the provider's own
  /// What a server on this machine has; it was asked to find out whether it is
  /// there. Empty for the others, which nothing was sent to.
  std::vector<std::string> models{};
};

/// The providers whose keys are in the environment, in the order of
/// `providers.toml`, then the servers that run on this machine. Blocks for the
/// latter, a second each at most. What is odd about a variable is not said: its
/// provider is left out.
std::vector<usable_provider> usable_providers();

/// Where the environment says that a provider is: $X_BASE_URL beside a key
/// $X_API_KEY, and $OLLAMA_HOST. Empty: it says nothing. Without a path it gets
/// the provider's own: people write $ANTHROPIC_BASE_URL without "/v1".
std::string place_in_environment(const config::provider& x);

/// The variable that says it; empty: there is none for this provider.
std::string place_variable(const config::provider& x);

/// What a provider needs and the environment does not have: variables of keys
/// and of its address. Empty: it has all, or needs none.
std::vector<std::string> missing_variables(const config::model_config& x);

/// What would make a provider usable, a line each, in that order: "A", or
/// "A with B" where it takes several variables.
std::vector<std::string> wanted_keys();

}  // namespace riffle::service
