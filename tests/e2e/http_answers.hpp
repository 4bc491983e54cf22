// SPDX-License-Identifier: MIT
#pragma once

// Answers of `riffle serve` against its own OpenAPI document: the status is one
// of those of the route, the body is of the type and the form that it names,
// and has no member that it does not.

#include <set>
#include <string>
#include <vector>

namespace riffle::testing {

struct told_answer {
  std::string method;
  std::string path;  ///< with the query
  long status = 0;
  std::string head;
  std::string body;
};

/// Looks at it and keeps what is wrong, and which route it was of. Any thread.
void compare_with_document(const told_answer& x);

/// What was wrong since this was called last.
std::vector<std::string> take_undocumented();

/// "GET /v1/runs/{id} 200": what has come since this was called last.
std::set<std::string> take_documented();

/// "GET /v1/runs/{id}": all that there is.
std::set<std::string> documented_routes();

}  // namespace riffle::testing
