// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

namespace riffle::model::anthropic {

/// The form of an answer as Anthropic takes it, from any JSON Schema: it
/// refuses many keywords, and objects with members that nobody named. What it
/// does not take is told in descriptions; whoever checks the answer checks the
/// whole schema.
nlohmann::ordered_json form_of(const nlohmann::ordered_json& schema);

}  // namespace riffle::model::anthropic
