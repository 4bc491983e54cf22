// SPDX-License-Identifier: MIT
#pragma once

// Tools with `isolation = "process"`: which they are, and what their children
// are made from.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "runtime/config/config.hpp"
#include "tools/registry.hpp"

namespace riffle {

/// All tools of a configuration, none of them isolated.
expected<std::shared_ptr<tools::registry>> make_plain_registry(
    const config::config& config, std::vector<tools::tool_ptr> others);

/// The same tools; those that the configuration isolates run in children.
/// Tools that run programs of their own (spec().guarded) have processes
/// already, and control tools run nothing: they stay as they are. Fails with
/// `invalid_config` in a program that did not call `worker_main`.
expected<std::shared_ptr<tools::registry>> isolate_tools(
    std::shared_ptr<tools::registry> plain, const config::config& config);

/// Starts a child of each isolated tool; does not wait.
void warm_up_tools(const tools::registry& tools,
                   const std::filesystem::path& guard_dir);

/// What a child needs of the configuration, as text.
std::string worker_configuration(const config::config& config);

/// In the child: the tool with this name. `invalid_config` if there is none.
expected<tools::tool_ptr> make_worker_tool(const std::string& configuration,
                                           const std::string& name,
                                           std::vector<tools::tool_ptr> others);

}  // namespace riffle
