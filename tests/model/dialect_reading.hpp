// SPDX-License-Identifier: MIT
#pragma once

// Requests of any dialect, and reading its answers.

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "actors/core/message_assembler.hpp"
#include "runtime/model/dialect.hpp"

namespace riffle::testing {

/// The body with these messages.
nlohmann::json request_of(const std::string& dialect,
                          const model::request_options& options,
                          const std::vector<std::string>& messages = {});

/// Some of everything that all dialects have a place for.
model::request_options all_options();

/// An answer, in pieces of so many bytes.
core::message_assembler read_answer(const std::string& dialect,
                                    const std::string& body,
                                    std::size_t piece = 5);

/// A server-sent event that is named by its type.
std::string typed_event(const nlohmann::json& x);

}  // namespace riffle::testing
