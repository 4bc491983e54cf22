// SPDX-License-Identifier: MIT
#pragma once

// What the JSON of an error says, for the readers of bodies and of streams.

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace riffle::model {

/// What an error object says beside its message: ": …" as the server behind a
/// gateway put it (`metadata.raw`), " (parameter, code)" for what it is about.
/// A code without '_' is left out, and what the message says already.
std::string more_words(const nlohmann::json& error, const std::string& message);

}  // namespace riffle::model
