// SPDX-License-Identifier: MIT
#include "runtime/config/command_checks.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/home.hpp"
#include "tools/process/find_program.hpp"
#include "tools/schema.hpp"

namespace riffle::config {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* own_keys[] = {"type",       "command", "description",
                                    "parameters", "effect",  "title",
                                    "env",        "cwd"};

class command_checker {
 public:
  command_checker(const tool_config& x, const value& table,
                  const fs::path& file_folder, const tool_mistake& report)
      : x_{x},
        table_{table},
        folder_{x.program.cwd.empty()
                    ? file_folder
                    : resolve_home(x.program.cwd).value_or(x.program.cwd)},
        report_{report} {}

  void run() {
    check_program();
    if (!has("description") || x_.program.description.empty())
      report_("description", "is missing: what the tool does, for the model");
    check_parameters();
  }

 private:
  bool has(const char* key) const { return table_.find(key) != nullptr; }

  void check_program() {
    std::error_code ignored;
    if (!fs::is_directory(folder_, ignored)) {
      report_("cwd", "there is no folder " + in_quotes(folder_.string()));
      return;
    }
    const auto& command = x_.program.command;
    if (command.empty() || command.front().empty()) {
      report_("command",
              "is missing: the program and its first arguments, "
              "such as [\"./lookup.py\"]");
      return;
    }
    const auto& name = command.front();
    if (name.find('/') == std::string::npos) {
      if (tools::find_program(name, folder_).empty())
        report_("command", "there is no program " + in_quotes(name) +
                               " in $PATH; a file needs a folder before its "
                               "name, such as \"./" +
                               name + "\"");
      return;
    }
    const auto file = folder_ / name;
    if (!fs::exists(file, ignored))
      report_("command", "there is no file " + in_quotes(file.string()));
    else if (!tools::is_program(file))
      report_("command",
              in_quotes(file.string()) + " is not executable: chmod +x it");
  }

  void check_parameters() {
    if (!has("parameters")) {
      report_("parameters",
              "is missing: the arguments' JSON Schema; for none: "
              "{ type = \"object\" }");
      return;
    }
    if (x_.program.parameters.text.empty()) return;  // is reported already
    auto schema = tools::schema::compile(x_.program.parameters.text);
    if (!schema)
      report_("parameters", "no usable JSON Schema: " + schema.error());
    else
      check_keys();
  }

  /// A key that no argument can have is a typing mistake.
  void check_keys() {
    const auto schema = json::parse(x_.program.parameters.text);
    const auto found = schema.find("properties");
    const bool open = schema.contains("patternProperties") ||
                      schema.contains("$ref") || schema.contains("allOf");
    if (open || found == schema.end() || !found->is_object()) return;
    std::vector<std::string> names;
    for (const auto& [name, ignored] : found->items()) names.push_back(name);
    for (const auto& key : x_.keys) {
      const auto name = json::json_pointer{key}.to_string();
      auto first = json::json_pointer{name.substr(0, name.find('/', 1))}.back();
      if (std::ranges::find(names, first) != names.end()) continue;
      report_("keys",
              in_quotes(key) +
                  " leads to no argument; parameters has: " + join_some(names));
    }
  }

  const tool_config& x_;
  const value& table_;
  const fs::path folder_;
  const tool_mistake& report_;
};

}  // namespace

void check_command(const std::string& name, const tool_config& x,
                   const value* table, const fs::path& file_folder,
                   const tool_mistake& report) {
  if (!table) return;
  const auto all = builtin_tools();
  const bool built_in = std::ranges::find(all, name) != all.end();
  if (!x.type.empty() && built_in) {
    report("type", "there is a built-in tool with this name; choose another");
  } else if (!x.type.empty()) {
    command_checker{x, *table, file_folder, report}.run();
  } else if (!table->find("type")) {
    for (const auto* key : own_keys)
      if (table->find(key))
        report(key, built_in ? "a built-in tool has no such key"
                             : "only a tool with type = \"command\" has this "
                               "key");
  }
}

}  // namespace riffle::config
