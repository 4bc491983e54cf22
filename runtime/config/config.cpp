// SPDX-License-Identifier: MIT
#include "runtime/config/config.hpp"

namespace riffle::config {

std::string render(const mistake& x) {
  std::string out = x.file;
  if (x.line > 0) {
    out += ":" + std::to_string(x.line) + ":" + std::to_string(x.column);
  }
  return out + ": " + x.message;
}

tool_config with_tool_defaults(const std::string& name, tool_config base) {
  if (name == "bash") {
    base.timeout = 2min;
    base.read_only = {"ls",        "cat",
                      "head",      "tail",
                      "wc",        "grep",
                      "rg",        "stat",
                      "file",      "pwd",
                      "which",     "find",
                      "sed",       "nl",
                      "sort",      "uniq",
                      "cut",       "diff",
                      "cmp",       "du",
                      "basename",  "dirname",
                      "realpath",  "readlink",
                      "md5sum",    "sha1sum",
                      "sha256sum", "sha512sum",
                      "date",      "git status",
                      "git log",   "git diff",
                      "git show",  "git branch --list"};
  }
  base.approval = tool_config{}.approval;  // what [tools] says is no word of it
  return base;
}

tool_config common_tool_defaults() {
  tool_config x;
  x.approval = "ask";
  return x;
}

const tool_config& tools_config::of(const std::string& name) const {
  const auto found = by_name.find(name);
  if (found != by_name.end()) return found->second;
  const auto end = name.find("__");
  if (of_servers.empty() || end == name.npos) return defaults;
  const auto server = of_servers.find(name.substr(0, end + 2));
  return server == of_servers.end() ? defaults : server->second;
}

std::string tools_config::approval_of(const std::string& name,
                                      effect of_tool) const {
  const auto found = by_name.find(name);
  if (found != by_name.end() && found->second.approval != "default")
    return found->second.approval;
  return of_tool == effect::read_only ? "allow" : defaults.approval;
}

std::vector<std::string> builtin_tools() {
  return {"read",          "glob",      "grep",    "bash",
          "write",         "edit",      "fetch",   "manage_plan",
          "seek_approval", "set_phase", "complete"};
}

}  // namespace riffle::config
