// SPDX-License-Identifier: MIT
#pragma once

// What the configuration says of a model, as its dialect wants it.

#include <memory>
#include <vector>

#include "runtime/config/config.hpp"
#include "runtime/model/dialect.hpp"
#include "runtime/service/model_links.hpp"

namespace riffle::service {

/// How the model's server is spoken to, with what is odd about its provider.
/// Fails with `invalid_config` for a dialect that there is not.
expected<std::shared_ptr<const model::dialect>> make_dialect(
    const config::model_config& x);

/// The server itself makes an answer fit a JSON Schema.
bool fits_schemas(const config::model_config& x);

/// The server takes a tool's name as `tool_choice`.
bool can_force(const config::model_config& x);

/// `x` with what is set in `over`.
config::parameters_config overlaid(config::parameters_config x,
                                   const config::parameters_config& over);

/// Who makes the messages of a model: what a server wants back with them goes
/// to the same model of the same server only. Without secrets.
std::string maker_of(const config::model_config& x, const model_link& at);

/// What stays the same in all requests.
model::request_options make_request(const config::model_config& x,
                                    const config::parameters_config& parameters,
                                    std::vector<model::tool_description> tools);

}  // namespace riffle::service
