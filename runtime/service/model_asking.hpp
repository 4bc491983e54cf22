// SPDX-License-Identifier: MIT
#pragma once

// Use cases of models: which a server has, and what works with one.

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "messages/usage.hpp"
#include "runtime/config/config.hpp"
#include "runtime/service/model_links.hpp"

namespace riffle::service {

/// The settings behind a name: a provider ("groq"), a model of a provider
/// ("groq/x"), or one of the configuration; empty: that of the agent "default".
/// Fails with `not_found`.
expected<config::model_config> find_server(const config::config& settings,
                                           const std::string& name);

/// What a server calls its models, in its order. Blocks; fails as a request
/// does, and with `model_error` if the answer is no list.
expected<std::vector<std::string>> list_models(
    model_links& links, const std::string& name,
    const config::model_config& model, std::stop_token stop = {});

/// The names in the answer of `/models` or `/api/tags`, in every known form.
expected<std::vector<std::string>> read_model_list(const std::string& body);

/// What one request with one tool has shown.
struct model_report {
  bool streamed = false;               ///< the answer came piece by piece
  std::size_t calls = 0;               ///< with arguments as asked for
  std::string odd_call{};              ///< one that came with others
  bool reasoned = false;               ///< thinking was shown, or counted
  std::optional<token_usage> usage{};  ///< if the server told it
  std::string text{};                  ///< of the answer
  std::uint64_t milliseconds = 0;
  /// Parameters and keys that were sent, for who looks for a culprit.
  std::optional<error> failure{};

  /// A person can work with it.
  [[nodiscard]] bool works() const noexcept { return !failure && calls > 0; }
};

/// Makes one tiny request to a model. Blocks; fails with `invalid_config`
/// where nothing can be sent; else what went wrong stands in the report.
expected<model_report> check_model(model_links& links, const std::string& name,
                                   const config::model_config& model,
                                   std::stop_token stop = {});

nlohmann::ordered_json to_json(const std::string& name, const model_report& x);

}  // namespace riffle::service
