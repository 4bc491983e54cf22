// SPDX-License-Identifier: MIT
// riffle node, riffle nodes, riffle cluster
#include "runtime/cli/help.hpp"
#include "runtime/cli/parser.hpp"

namespace riffle::cli {

void parser::add_insecure(CLI::App& x) {
  x.add_flag("--insecure", raw.insecure,
             "Cluster without TLS, between processes of this machine; as "
             "cluster.insecure = true");
}

void parser::add_node() {
  auto* x = app.add_subcommand("node", "Run tools for other processes");
  x->footer(help::node);
  add_insecure(*x);
  add_common(*x);
  x->final_callback([this] { result = node_command{finish_common()}; });
}

void parser::add_nodes() {
  auto* x = app.add_subcommand("nodes", "List and drain the cluster's nodes");
  x->require_subcommand(1);
  x->footer(help::nodes);
  using what = nodes_command::what;
  const auto add = [&](const char* name, const char* about, what action) {
    auto* sub = x->add_subcommand(name, about);
    sub->footer(help::nodes);
    if (action == what::drain)
      sub->add_option("NAME", nodes.name, "The node")->required();
    add_insecure(*sub);
    add_common(*sub);
    sub->final_callback([this, action] {
      nodes.common = finish_common();
      nodes.action = action;
      result = nodes;
    });
  };
  add("list", "What each node offers and does", what::list);
  add("drain", "Let a node end when its calls are done", what::drain);
}

void parser::add_cluster() {
  auto* x = app.add_subcommand("cluster", "Make the certificates of a cluster");
  x->require_subcommand(1);
  x->footer(help::cluster);
  using what = cluster_command::what;
  auto* init = x->add_subcommand("init", "Make an authority and certificates");
  init->footer(help::cluster);
  init->add_option("DIR", cluster.folder, "A folder, made if it is not there")
      ->required();
  init->add_option("NAME", cluster.names, "Processes that get a certificate");
  auto* add = x->add_subcommand("add", "Make one more certificate");
  add->footer(help::cluster);
  add->add_option("NAME", cluster.names, "Processes that get a certificate")
      ->required();
  add->add_option("--dir", cluster.folder, "The folder of 'cluster init'")
      ->type_name("DIR")
      ->capture_default_str();
  for (auto* sub : {init, add}) {
    add_common(*sub);
    const auto action = sub == init ? what::init : what::add;
    sub->final_callback([this, action] {
      cluster.common = finish_common();
      cluster.action = action;
      result = cluster;
    });
  }
}

}  // namespace riffle::cli
