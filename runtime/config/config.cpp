// SPDX-License-Identifier: MIT
#include "runtime/config/config.hpp"

#include <cstdlib>
#include <system_error>
#include <utility>

namespace riffle::config {

namespace {

std::string environment(const char* name) {
  const char* x = std::getenv(name);
  return x ? x : "";
}

bool is_there(const std::filesystem::path& x) {
  std::error_code ignored;
  return std::filesystem::exists(x, ignored);
}

}  // namespace

std::string render(const mistake& x) {
  std::string out = x.file;
  if (x.line > 0) {
    out += ":" + std::to_string(x.line) + ":" + std::to_string(x.column);
  }
  return out + ": " + x.message;
}

tool_config with_tool_defaults(const std::string& name, tool_config base) {
  if (name == "bash") base.timeout = 2min;
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
  return found == by_name.end() ? defaults : found->second;
}

std::string tools_config::approval_of(const std::string& name,
                                      effect of_tool) const {
  const auto found = by_name.find(name);
  if (found != by_name.end() && found->second.approval != "default")
    return found->second.approval;
  return of_tool == effect::read_only ? "allow" : defaults.approval;
}

std::vector<std::string> builtin_tools() {
  return {"read", "glob",  "grep",        "bash",          "write",
          "edit", "fetch", "manage_plan", "seek_approval", "complete"};
}

std::optional<std::filesystem::path> find_file(const load_request& request) {
  if (request.file) return request.file;
  if (const auto x = environment("RIFFLE_CONFIG"); !x.empty()) {
    return expand_home(x);
  }
  if (is_there("riffle.toml")) return "riffle.toml";
  const auto xdg = environment("XDG_CONFIG_HOME");
  const auto base =
      xdg.empty() ? expand_home("~/.config") : std::filesystem::path{xdg};
  if (auto x = base / "riffle" / "riffle.toml"; is_there(x)) return x;
  return std::nullopt;
}

std::filesystem::path expand_home(const std::string& path) {
  if (path != "~" && !path.starts_with("~/")) return path;
  const auto home = environment("HOME");
  if (home.empty()) return path;
  return path.size() <= 2 ? std::filesystem::path{home}
                          : std::filesystem::path{home} / path.substr(2);
}

}  // namespace riffle::config
