// SPDX-License-Identifier: MIT
#pragma once

// What is JSON and what is not, one case for each rule of RFC 8259's grammar
// that a parser can get wrong. Every place that reads JSON from outside is
// tested with all of them.

#include <string>
#include <vector>

namespace riffle::testing {

struct json_case {
  std::string rule;
  std::string text;
};

/// Values that must be taken.
std::vector<json_case> good_json();

/// Texts that must not be taken, neither alone nor as a value in an object.
std::vector<json_case> bad_json();

/// Texts that must not be taken alone.
std::vector<json_case> bad_documents();

/// Left open by the RFC: what to do with each is a decision of the reader.
namespace open_json {
extern const std::string invalid_utf8;    ///< a string with the byte FF
extern const std::string lone_surrogate;  ///< the escape \uD800
extern const std::string huge_number;     ///< 1e999
extern const std::string equal_keys;      ///< {"a":1,"a":2}
extern const std::string mark;            ///< a byte order mark, no value
}  // namespace open_json

/// `depth` arrays in each other.
std::string nested_arrays(std::size_t depth);

/// So many opening brackets, or beginnings of objects, and nothing else.
std::vector<std::string> depth_bombs();

}  // namespace riffle::testing
