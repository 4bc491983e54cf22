// SPDX-License-Identifier: MIT
#pragma once

// What the JSON of an error says, for the readers of bodies and of streams.

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace riffle::model {

/// What the server behind a gateway said (`metadata.raw`): ": …", or nothing if
/// the message says it already.
std::string words_behind(const nlohmann::ordered_json& error,
                         const std::string& message);

/// What an error is about: " (parameter, code)", without what the message says
/// already, and without codes that have no '_'.
std::string subject_of(const nlohmann::ordered_json& error,
                       const std::string& message);

}  // namespace riffle::model
