// SPDX-License-Identifier: MIT
#pragma once

// Prompts of a server: texts that a person sends to a model (`prompts/list`,
// `prompts/get` of the Model Context Protocol).

#include <string>
#include <string_view>
#include <vector>

#include "tools/mcp/server.hpp"

namespace riffle::mcp {

struct prompt_argument {
  std::string name{};
  std::string about{};
  bool required = false;
};

struct prompt {
  std::string name{};  ///< the server's own
  std::string about{};
  std::vector<prompt_argument> arguments{};
};

/// What a list says; entries without a name are left out.
std::vector<prompt> read_prompts(const std::vector<json>& listed);

/// What a person typed behind its name, as arguments: a word for each, in their
/// order; the last one takes the rest. Fails with `invalid_arguments`, naming
/// what is missing, and where there are words but no arguments.
expected<json> prompt_arguments(const prompt& of, std::string_view words);

/// The prompts of a server that is ready; none if it says that it has none.
expected<std::vector<prompt>> list_prompts(server& at,
                                           const std::stop_token& stop = {});

/// The texts of its messages, one after the other. Fails with
/// `tool_execution_error` if the server refuses, or there is no text, with
/// `cancelled` at a stop.
expected<std::string> get_prompt(server& at, const prompt& what,
                                 const json& arguments,
                                 const std::stop_token& stop = {});

}  // namespace riffle::mcp
