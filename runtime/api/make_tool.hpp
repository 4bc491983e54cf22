// SPDX-License-Identifier: MIT
#pragma once

// A tool out of a function, for what needs no class of its own.

#include <filesystem>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "messages/error.hpp"
#include "tools/tool.hpp"

namespace riffle {

/// What a tool may say about a call beside running it; see `tools::tool`.
struct tool_traits {
  /// What a person reads while it runs. Empty: the tool's name.
  std::function<std::string(const nlohmann::json& arguments)> title{};
  /// What the call touches. Empty: nothing is known.
  std::function<std::vector<std::string>(const nlohmann::json& arguments)>
      keys{};
  /// What rules of the configuration are matched with. Empty: the arguments.
  std::function<rule_subject(const nlohmann::json& arguments,
                             const std::filesystem::path& workspace)>
      subject{};
  /// What the call would do, for a person who decides about it. Empty:
  /// nothing to show beside the arguments.
  std::function<std::string(const nlohmann::json& arguments,
                            const std::filesystem::path& workspace)>
      preview{};
};

/// The function behind a tool; see `tools::tool::run` for its rules: it is
/// called from several threads at once and blocks; what it throws costs the
/// worker, what it expects to fail it gives back as an error.
using tool_function = std::function<tools::tool_output(
    const nlohmann::json& arguments, tools::tool_context& context)>;

/// The general form. A spec that is wrong (name, schema) is found by
/// `runtime::create`, with `invalid_config`.
tools::tool_ptr make_function_tool(tools::tool_spec spec, tool_function run,
                                   tool_traits traits);

namespace detail {

inline tools::tool_output to_output(tools::tool_output x) { return x; }

inline tools::tool_output to_output(std::string text) {
  return {std::move(text), {}, {}};
}

template <class T>
tools::tool_output to_output(expected<T> x) {
  if (!x) return {{}, std::move(x.error()), {}};
  return to_output(std::move(*x));
}

}  // namespace detail

/// Makes a tool of a function that takes `const nlohmann::json&` (arguments
/// that are valid for the schema) and, if it wants to, a `tools::tool_context&`
/// (progress, stop token, workspace). It gives back text, a
/// `tools::tool_output`, or an `expected` of one of them.
template <class F>
tools::tool_ptr make_tool(tools::tool_spec spec, F run,
                          tool_traits traits = {}) {
  constexpr bool takes_context =
      std::is_invocable_v<F&, const nlohmann::json&, tools::tool_context&>;
  static_assert(takes_context || std::is_invocable_v<F&, const nlohmann::json&>,
                "a tool takes (const nlohmann::json&) or "
                "(const nlohmann::json&, riffle::tools::tool_context&)");
  return make_function_tool(
      std::move(spec),
      [run = std::move(run)](const nlohmann::json& arguments,
                             tools::tool_context& context) mutable {
        if constexpr (takes_context)
          return detail::to_output(run(arguments, context));
        else
          return detail::to_output(run(arguments));
      },
      std::move(traits));
}

}  // namespace riffle
