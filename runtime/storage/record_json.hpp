// SPDX-License-Identifier: MIT
#pragma once

// The stored form of the state records: compact JSON, one place for each
// record. A key that is missing reads as the member's default, so that records
// may grow without a migration; a key of another type is an exception
// (nlohmann::json::exception), as is an unknown name of an enum
// (std::invalid_argument). Bytes that are not UTF-8 are stored as U+FFFD.

#include <string>
#include <string_view>

#include "runtime/storage/journal.hpp"

namespace riffle::storage {

std::string to_json(const run_record& x);
std::string to_json(const message_record& x);
std::string to_json(const call_record& x);

run_record run_from_json(std::string_view text);
message_record message_from_json(std::string_view text);
std::string to_json(const proposal_record& x);
std::string to_json(const decision_record& x);
proposal_record proposal_from_json(std::string_view text);
decision_record decision_from_json(std::string_view text);
std::string to_json(const grant_record& x);
grant_record grant_from_json(std::string_view text);
call_record call_from_json(std::string_view text);

}  // namespace riffle::storage
