// SPDX-License-Identifier: MIT
#pragma once

// Every command that the program has, with arguments that it takes.
// `places_test` compares it with the help.

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/e2e/program.hpp"

namespace riffle::testing {

/// CALL and PROP are put in.
struct listed_command {
  std::vector<std::string> arguments;
  bool prints = true;    ///< something goes to its standard output
  bool spends = false;   ///< what it is about: it ends so once
  int status = 0;        ///< where nothing is missing
  bool retries = false;  ///< for seconds, where a process cannot be started
};

/// Nobody listens there.
inline constexpr auto no_node = "cluster.join=[\"127.0.0.1:1\"]";

/// All but those of `long_lived_commands`.
inline const std::vector<listed_command>& all_commands() {
  static const std::vector<listed_command> all{
      {{"run", "go", "--approve", "none"}},
      {{"run", "go", "--approve", "none", "--output", "json"}},
      {{"run", "go", "--approve", "none", "--output", "jsonl"}},
      {{"sessions", "list"}},
      {{"sessions", "list", "--output", "json"}},
      {{"sessions", "show", "s1"}},
      {{"sessions", "diff"}, false},
      {{"sessions", "diff", "s1", "--output", "json"}},
      {{"sessions", "events", "s1"}},
      {{"sessions", "output", "CALL"}},
      {{"sessions", "resume", "s1"}, false},
      // Nothing is under way.
      {{"sessions", "cancel", "s1"}, false, false, 2},
      {{"sessions", "forget", "s1"}, false, false, 2},
      {{"sessions", "delete", "s1", "--output", "json"}, true, true},
      {{"proposals", "list", "--all"}},
      {{"proposals", "show", "PROP"}},
      {{"proposals", "approve", "PROP", "--output", "jsonl"}, true, true},
      {{"proposals", "deny", "PROP", "--output", "json"}, true, true},
      {{"proposals", "edit", "PROP", "--arguments",
        R"({"path":"c.txt","content":"c"})", "--output", "jsonl"},
       true,
       true},
      {{"tools", "list"}},
      {{"tools", "call", "read", R"({"path":"a.txt"})"}},
      {{"events", "check", "published"}},
      {{"config", "check"}},
      {{"config", "show"}},
      {{"config", "init", "new.toml", "--output", "json"}, true, true},
      {{"config", "trust", "--yes"}, false, true},
      {{"proposals", "always"}, false},
      {{"plan", "plan.json", "--output", "jsonl"}},
      {{"plan", "check", "plan.json"}},
      {{"models", "providers"}},
      // A script has no list, and does not do what a check asks for.
      {{"models", "list", "default"}, false, false, 1},
      {{"models", "check", "default"}, true, false, 1},
      {{"completion", "bash"}},
      {{"completion", "--names", "tools"}},
      {{"chat"}, false, false, 2},            // without a terminal
      {{"init", "--here"}, false, false, 2},  // there is a file
      {{"serve", "token", "ci"}},
      {{"nodes", "list", "--set", no_node, "--set", "cluster.insecure=true"},
       true,
       false,
       1},
      {{"nodes", "drain", "n1", "--set", no_node, "--set",
        "cluster.insecure=true"},
       false,
       false,
       1},
      {{"cluster", "init", "new", "n1"}, true, true},
      {{"cluster", "add", "n2", "--dir", "authority"}, true, true},
      {{"mcp", "add", "other", "--", "true"}, false, true},
      {{"mcp", "import", "servers.json"}, false, true},
      {{"mcp", "remove", "self"}, false, true},
      {{"mcp", "serve"}, false},  // its client has gone
      {{"mcp", "list"}, true, false, 0, true},
      {{"mcp", "tools", "self"}, true, false, 0, true},
      {{"mcp", "call", "self", "run_task", R"({"task":"go"})"},
       true,
       false,
       0,
       true},
      {{"mcp", "approve", "self", "--yes"}, false, false, 0, true},
      // A program needs none.
      {{"mcp", "login", "self"}, false, false, 2},
      {{"mcp", "logout", "self"}, false, false, 2},
      // There is no such thing.
      {{"mcp", "read", "file:///x", "--server", "self"}, false, false, 1, true},
      {{"--help"}},
      {{"run", "--help"}},
      {{"--version"}},
  };
  return all;
}

/// They run until they are told to end.
inline const std::vector<std::string>& long_lived_commands() {
  static const std::vector<std::string> all{"serve", "node"};
  return all;
}

/// "list", "show" … of "sessions", as the help names them.
inline std::set<std::string> names_in_help(const work_folder& folder,
                                           const std::vector<std::string>& of) {
  auto arguments = of;
  arguments.emplace_back("--help");
  const auto help = riffle::testing::riffle(folder, arguments).out;
  const auto at = help.find("\nSubcommands:");
  std::set<std::string> names;
  if (at == std::string::npos) return names;
  std::istringstream in{help.substr(at + 1)};
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line) && line.starts_with("  ")) {
    std::istringstream one{line};
    std::string name;
    one >> name;
    if (line[2] != ' ') names.insert(name);
  }
  return names;
}

}  // namespace riffle::testing
