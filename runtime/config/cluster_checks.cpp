// SPDX-License-Identifier: MIT
#include "runtime/config/cluster_checks.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "messages/duration_text.hpp"
#include "runtime/base/endpoint.hpp"
#include "runtime/base/text.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/home.hpp"

namespace riffle::config {

namespace {

constexpr std::size_t longest_name = 64;
constexpr std::string_view of_label = "label:";

bool is_word(std::string_view text, std::string_view beside) {
  return !text.empty() && text.size() <= longest_name &&
         std::ranges::all_of(text, [&](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                  (c >= 'a' && c <= 'z') ||
                  beside.find(c) != std::string_view::npos;
         });
}

void check_tls(const config& x, const cluster_mistake& report) {
  const auto& tls = x.cluster.tls;
  const std::vector<std::pair<std::string, const std::string*>> files = {
      {"certificate", &tls.certificate}, {"key", &tls.key}, {"ca", &tls.ca}};
  const auto set = std::ranges::count_if(
      files, [](const auto& one) { return !one.second->empty(); });
  for (const auto& [key, file] : files) {
    if (set > 0 && file->empty())
      report({"cluster", "tls", key},
             "is missing: certificate, key and ca belong together; `riffle "
             "cluster init DIR` makes all three");
    const auto whole = resolve_home(*file);
    if (file->empty() || !whole) continue;
    if (const auto why = no_plain_file(*whole, *file); !why.empty())
      report({"cluster", "tls", key}, why);
  }
  if (!x.cluster.used() || set > 0) return;
  if (!x.cluster.insecure)
    return report({"cluster", "tls"},
                  "must be set: nodes run each other's calls, so they prove "
                  "who they are; `riffle cluster init DIR` makes the files. "
                  "For a try on one machine: --insecure");
  auto addresses = x.cluster.join;
  if (!x.cluster.listen.empty()) addresses.push_back(x.cluster.listen);
  for (const auto& one : addresses)
    if (!is_loopback_address(one))
      report(
          {"cluster", "insecure"},
          "is for addresses of this machine alone, such as 127.0.0.1:7434; " +
              in_quotes(one) + " needs cluster.tls");
}

}  // namespace

bool is_node_name(const std::string& text) {
  return is_word(text, "._-") && text != "local";
}

std::string node_pattern_problem(const std::string& text) {
  const std::string_view x = text;
  const bool fits = x.starts_with(of_label)
                        ? is_word(x.substr(of_label.size()), "._-")
                        : is_word(x, "._-*?");
  return fits ? ""
              : in_quotes(text) +
                    " is no node: give a name, a pattern such as \"gpu-*\", "
                    "\"label:gpu\" or \"local\"";
}

host_port split_address(const std::string& text) {
  host_port out;
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) return out;
  out.host = text.substr(0, colon);
  if (out.host.size() > 2 && out.host.front() == '[' && out.host.back() == ']')
    out.host = out.host.substr(1, out.host.size() - 2);
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), out.port);
  return out;
}

bool is_loopback_address(const std::string& text) {
  const auto host = plain_host(split_address(text).host);
  if (host == "localhost" || host == "::1") return true;
  const auto ip = parse_ip(host);
  return ip && parse_network("127.0.0.0/8")->contains(*ip);
}

void check_cluster(const config& x, const cluster_mistake& report) {
  const auto& c = x.cluster;
  if (!c.name.empty() && !is_node_name(c.name))
    report({"cluster", "name"}, in_quotes(c.name) +
                                    " is no name of a node: letters, digits, "
                                    "\".\", \"_\", \"-\", at most 64, and not "
                                    "\"local\"");
  if (c.used() && !is_word(c.group, "._-"))
    report({"cluster", "group"}, in_quotes(c.group) + " is no name of a group");
  if (c.timeout <= c.heartbeat)
    report({"cluster", "timeout"}, "must be longer than cluster.heartbeat (" +
                                       duration_text(c.heartbeat) +
                                       "): what is silent for less is "
                                       "not lost");
  if (c.orphan_after < c.timeout)
    report({"cluster", "orphan_after"},
           "must not be shorter than cluster.timeout (" +
               duration_text(c.timeout) +
               "): what a node runs would end while its origin still waits");
  check_tls(x, report);
  for (const auto& label : x.node.labels)
    if (!is_word(label, "._-"))
      report({"node", "labels"}, in_quotes(label) + " is no label");
  auto tools = x.node.tools;
  std::ranges::sort(tools);
  if (const auto twice = std::ranges::adjacent_find(tools);
      twice != tools.end())
    report({"node", "tools"}, "names " + in_quotes(*twice) + " twice");
  const auto check_nodes = [&](std::vector<std::string> at,
                               const tool_config& t) {
    at.emplace_back("nodes");
    for (const auto& one : t.nodes)
      if (auto why = node_pattern_problem(one); !why.empty()) report(at, why);
  };
  check_nodes({"tools"}, x.tools.defaults);
  for (const auto& [name, tool] : x.tools.by_name)
    if (tool.nodes != x.tools.defaults.nodes)
      check_nodes({"tools", name}, tool);
}

}  // namespace riffle::config
