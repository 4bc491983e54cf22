// SPDX-License-Identifier: MIT
#pragma once

// What a node offers, on what terms it runs a call, and where outputs go that
// are too long for a message.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/cluster/call_host.hpp"
#include "actors/cluster/remote_worker.hpp"
#include "runtime/base/executor.hpp"
#include "runtime/config/config.hpp"
#include "tools/registry.hpp"

namespace riffle {

/// The configuration of a node: what changes something for others runs in
/// processes, where a guard can end it without this process.
std::shared_ptr<const config::config> with_processes(
    config::config x, const tools::registry& plain);

/// Nothing: the configuration denies its calls.
std::optional<cluster::tool_offer> offer_of(const tools::tool& tool,
                                            const config::tools_config& x);

/// Why what a node offers is not used here; an empty text: this process has the
/// tool itself, and nothing says that others may run it. Of effect, parameters
/// and approval the stricter side holds: an offer that would loosen is refused.
std::optional<std::string> why_unused(const cluster::tool_offer& offer,
                                      const tools::registry& own,
                                      const config::tools_config& settings);

/// Fits a call to this node's own configuration (arguments, limits, rules,
/// places), or says why it does not run here.
std::optional<error> admit_call(tool_call& call, const tools::registry& own,
                                const config::tools_config& settings);

std::function<caf::actor(caf::actor gate)> make_host(
    caf::actor_system& system, std::shared_ptr<const config::config> config,
    std::shared_ptr<const tools::registry> own,
    std::shared_ptr<work_board> works, std::shared_ptr<lease_board> leases,
    std::function<tool_pool_actor(const std::string&)> find_pool,
    std::filesystem::path outputs, std::shared_ptr<executor> aside,
    const std::vector<cluster::tool_offer>& offers);

/// Recovery: waits until what a node had of a dead runtime cannot act any more,
/// so that nothing acts after it was settled: nodes end what they run for
/// somebody whom they do not hear, after the time that was agreed with the
/// process that began the run. Once for all calls of a run.
std::function<void(const storage::call_record&)> node_wait(
    const config::config& config, std::shared_ptr<storage::journal> journal);

/// Keeps pieces in the files of this folder, where outputs are read.
piece_keeper keep_in(std::filesystem::path outputs,
                     std::shared_ptr<executor> aside);

}  // namespace riffle
