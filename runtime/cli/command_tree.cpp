// SPDX-License-Identifier: MIT
#include "runtime/cli/command_tree.hpp"

#include <algorithm>
#include <utility>

#include "runtime/cli/help.hpp"
#include "runtime/cli/parser.hpp"

namespace riffle::cli {

namespace {

option_node describe(const CLI::Option& x) {
  option_node out;
  for (const auto& name : x.get_lnames()) out.names.push_back("--" + name);
  for (const auto& name : x.get_snames()) out.names.push_back("-" + name);
  if (out.names.empty()) out.names.push_back(x.get_name(true));
  out.about = x.get_description();
  // What a check adds to it stands behind a colon.
  const auto type = x.get_type_name();
  if (x.get_items_expected_max() > 0)
    out.value = type.substr(0, type.find(':'));
  return out;
}

command_node describe(const CLI::App& app) {
  command_node out;
  out.name = app.get_name();
  out.about = app.get_description();
  out.footer = app.get_footer();
  for (const auto* x : app.get_options()) {
    if (x->get_group().empty()) continue;
    (x->get_positional() ? out.arguments : out.options).push_back(describe(*x));
  }
  for (const auto* x : app.get_subcommands({}))
    if (!x->get_group().empty()) out.commands.push_back(describe(*x));
  return out;
}

}  // namespace

command_node describe_commands() {
  const parser p;
  auto out = describe(p.app);
  out.footer = std::string{help::main} + "\n\n" + help::main_end;
  return out;
}

std::vector<std::string> choices_of(const std::string& value) {
  std::vector<std::string> out;
  if (value.find('|') == std::string::npos) return out;
  std::size_t begin = 0;
  while (begin <= value.size()) {
    const auto end = std::min(value.find('|', begin), value.size());
    out.push_back(value.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::string kind_of(const std::string& path, const std::string& what) {
  if (what == "--model") return "models";
  if (what == "--agent") return "agents";
  if (what == "--session") return "sessions";
  if (what == "FILE" || what == "--config" || what.ends_with("-file"))
    return "files";
  if (what == "ID" &&
      (path == "riffle sessions resume" || path == "riffle sessions cancel" ||
       path == "riffle sessions forget"))
    return "unfinished";
  if (path.starts_with("riffle sessions") && what == "ID") return "sessions";
  if (path.starts_with("riffle proposals") &&
      (what == "ID" || what == "--revoke"))
    return "proposals";
  if (path.starts_with("riffle tools") && what == "NAME") return "tools";
  if (path.starts_with("riffle models") && what == "NAME") return "models";
  return {};
}

}  // namespace riffle::cli
