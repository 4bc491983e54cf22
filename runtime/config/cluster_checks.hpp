// SPDX-License-Identifier: MIT
#pragma once

// What [cluster], [node] and `tools.X.nodes` must hold that no single key can
// tell.

#include <functional>
#include <string>
#include <vector>

#include "runtime/config/config.hpp"

namespace riffle::config {

/// Gets the whole name of the key as its parts, and what is wrong.
using cluster_mistake = std::function<void(const std::vector<std::string>& key,
                                           const std::string& message)>;

void check_cluster(const config& x, const cluster_mistake& report);

/// The items of `tools.X.nodes`: a name, a pattern ("gpu-*"), "label:X",
/// "local". Nothing if it is one, else what is wrong.
std::string node_pattern_problem(const std::string& text);

/// [A-Za-z0-9._-]{1,64}, and not "local".
bool is_node_name(const std::string& text);

/// Whether "host:port" is an address of this machine's loopback, by its text.
bool is_loopback_address(const std::string& text);

/// The parts of "host:port"; IPv6 in brackets.
struct host_port {
  std::string host;
  std::uint16_t port = 0;
};
host_port split_address(const std::string& text);

}  // namespace riffle::config
