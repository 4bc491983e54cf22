// SPDX-License-Identifier: MIT
#pragma once

// What a model says, as plain data, and how a provider of each dialect says it.

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/support/http_server.hpp"

namespace riffle::testing {

struct scripted_turn {
  enum class ending {
    whole,
    error,  ///< in mid stream, of a kind that may be tried again
    cut,    ///< inside of the last call, or of the text
  };

  std::string thought{};
  std::string text{};
  std::vector<std::pair<std::string, nlohmann::json>> calls{};
  ending end = ending::whole;
};

/// `number`: what ids are made of.
http_reply as_said(const std::string& dialect, int number,
                   const scripted_turn& x);

}  // namespace riffle::testing
