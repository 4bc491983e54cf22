// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/cli/parse.hpp"
#include "tests/support/catch.hpp"

namespace riffle::testing {

template <class T>
T parsed(std::vector<std::string> arguments) {
  const auto x = cli::parse(std::move(arguments));
  if (const auto* why = std::get_if<cli::leave_command>(&x)) {
    UNSCOPED_INFO(why->out << why->err);
  }
  REQUIRE(std::holds_alternative<T>(x));
  return std::get<T>(x);
}

/// What is said about a mistake; the exit status is 2.
inline std::string refused(std::vector<std::string> arguments) {
  const auto x = parsed<cli::leave_command>(std::move(arguments));
  CHECK(x.status == 2);
  CHECK(x.out.empty());
  return x.err;
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace riffle::testing
