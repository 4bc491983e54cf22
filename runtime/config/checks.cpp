// SPDX-License-Identifier: MIT
#include "runtime/config/checks.hpp"

#include <algorithm>
#include <filesystem>

#include "actors/core/control_tools.hpp"
#include "actors/core/read_command.hpp"
#include "messages/duration_text.hpp"
#include "runtime/base/text.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/cluster_checks.hpp"
#include "runtime/config/command_checks.hpp"
#include "runtime/config/home.hpp"
#include "runtime/config/mcp_checks.hpp"
#include "runtime/config/model_checks.hpp"
#include "runtime/config/server_checks.hpp"
#include "tools/schema.hpp"

namespace riffle::config {

namespace {

using path = std::vector<std::string>;

class checker {
 public:
  checker(const config& x, const value& document, const load_request& request,
          mistake_list& mistakes)
      : x_{x}, document_{document}, request_{request}, mistakes_{mistakes} {}

  void run() {
    for (const auto& [name, model] : x_.models) check_model(name, model);
    for (const auto& [name, agent] : x_.agents) check_agent(name, agent);
    for (const auto& [name, tool] : x_.tools.by_name) check_tool(name, tool);
    if (!x_.tools.defaults.keys.empty())
      add({"tools", "keys"},
          "another value is not supported by this version; supported: []");
    check_order({"supervision", "backoff"}, x_.supervision.backoff_base,
                x_.supervision.backoff_cap);
    check_server(x_, [this](const path& key, const std::string& message) {
      add(key, message);
    });
    check_cluster(x_, [this](const path& key, const std::string& message) {
      add(key, message);
    });
    check_mcp(x_, [this](const path& key, const std::string& message) {
      add(key, message);
    });
    for (const auto& tool : x_.node.tools)
      check_tool_name({"node", "tools"}, tool);
    for (const auto& tool : x_.mcp_server.tools) check_offered(tool);
  }

 private:
  /// The place of a key, or of the closest table around it.
  place where(const path& keys) const {
    place out;
    const auto* here = &document_;
    for (const auto& key : keys) {
      here = here->find(key);
      if (!here) break;
      out = here->at;
    }
    return out;
  }

  void add(const path& keys, const std::string& message) {
    std::string name;
    for (const auto& key : keys) name += (name.empty() ? "" : ".") + key;
    mistakes_.add(where(keys), name + ": " + message);
  }

  bool is_set(const path& keys) const {
    return find_path(document_, keys) != nullptr;
  }

  void check_model(const std::string& name, const model_config& m) {
    if (m.dialect == "scripted" && m.script.empty()) {
      add({"models", name, "dialect"},
          "\"scripted\" needs the key script: the file that it plays");
    }
    if (m.dialect == "scripted" && !m.script.empty()) {
      check_file({"models", name, "script"}, m.script);
    }
    check_order({"models", name, "retry"}, m.retry.base, m.retry.cap);
    check_model_table(x_, name, m, find_path(document_, {"models", name}),
                      reporter("models", name));
  }

  model_mistake reporter(std::string table, std::string name) {
    return [this, table = std::move(table), name = std::move(name)](
               const std::string& key, const std::string& message) {
      add({table, name, key}, message);
    };
  }

  void check_agent(const std::string& name, const agent_config& a) {
    if (const auto model = find_model(x_, a.model))
      check_parameters(a.parameters, *model, reporter("agents", name));
    else
      add({"agents", name, "model"}, unknown_model(x_, a.model));
    check_schema(name, a);
    if (!a.system_prompt_file.empty()) {
      if (is_set({"agents", name, "system_prompt"})) {
        add({"agents", name, "system_prompt_file"},
            "give either system_prompt or system_prompt_file");
      }
      check_file({"agents", name, "system_prompt_file"}, a.system_prompt_file);
    }
    for (const auto& file : a.context_files)
      if (const std::filesystem::path path{file};
          file.empty() || path.is_absolute() ||
          std::ranges::find(path, "..") != path.end())
        add({"agents", name, "context_files"},
            in_quotes(file) +
                " is no name of a file in a project, such as \"AGENTS.md\" "
                "or \"docs/rules.md\"");
    check_budget(name, a);
    for (const auto& tool : a.tools) {
      check_tool_name({"agents", name, "tools"}, tool);
    }
  }

  /// Money cannot be counted without a price.
  void check_budget(const std::string& name, const agent_config& a) {
    const auto model = x_.models.find(a.model);
    if (a.budget.cost_usd <= 0 || model == x_.models.end()) return;
    const auto& price = model->second.price;
    if (price.input > 0 || price.output > 0) return;
    add({"agents", name, "budget", "cost_usd"},
        "the model " + in_quotes(a.model) +
            " has no price, so its cost is not known; set models." + a.model +
            ".price");
  }

  void check_schema(const std::string& name, const agent_config& a) {
    if (a.response_schema.text == "{}") return;
    const auto compiled = tools::schema::compile(a.response_schema.text);
    if (!compiled)
      add({"agents", name, "response_schema"},
          "is no JSON Schema of an object: " + compiled.error());
  }

  void check_tool(const std::string& name, const tool_config& t) {
    for (const auto& entry : t.read_only)
      if (!core::is_read_entry(entry))
        add({"tools", name, "read_only"},
            in_quotes(entry) +
                " is no command of plain words: give a program and what stands "
                "behind it, e.g. \"git status\" or \"date\"");
    if (is_set({"tools", name})) check_tool_name({"tools", name}, name);
    check_command(name, t, find_path(document_, {"tools", name}), x_.base_dir,
                  [&](const std::string& key, const std::string& message) {
                    add({"tools", name, key}, message);
                  });
    check_tool_env(name, t.program.env);
    if (!is_set({"tools", name, "type"}) && !t.keys.empty() &&
        !server_of(x_, name)) {
      add({"tools", name, "keys"},
          "only a tool with type = \"command\" has keys that can be set");
    }
    if (t.workspace != x_.tools.defaults.workspace) {
      add({"tools", name, "workspace"},
          "a workspace for one tool is not supported by this version; set "
          "tools.workspace for all");
    }
  }

  void check_tool_env(const std::string& name,
                      const std::vector<std::string>& given) {
    for (const auto& [model, m] : x_.models)
      for (const auto& key : key_variables(m))
        if (std::ranges::find(given, key) != given.end())
          add({"tools", name, "env"},
              in_quotes(key) + " is the key of models." + model +
                  ", which no tool gets; give the tool a key of its own in "
                  "another variable");
  }

  void check_tool_name(const path& at, const std::string& name) {
    if (!request_.tools || server_of(x_, name)) return;
    // What other processes have is known when they are there.
    if (x_.cluster.used() && at.front() != "node") return;
    auto known = *request_.tools;
    for (const auto& [command, ignored] : x_.tools.by_name)
      if (is_set({"tools", command, "type"})) known.push_back(command);
    if (name.starts_with("mcp:"))
      for (const auto& [server, ignored] : x_.mcp)
        known.push_back("mcp:" + server);
    if (std::ranges::find(known, name) != known.end()) return;
    auto text = "there is no tool " + in_quotes(name);
    const auto near = nearest(name, known);
    add(at, near.empty() ? text + "; known: " + join_some(known)
                         : text + "; did you mean " + in_quotes(near) + "?");
  }

  void check_offered(const std::string& tool) {
    const path at{"mcp_server", "tools"};
    if (core::is_control_tool(tool))
      return add(at, in_quotes(tool) +
                         " belongs to an agent's run, and to "
                         "nobody else");
    if (tool == "run_task")
      return add(at, "run_task is offered anyway, and this name is taken");
    if (server_of(x_, tool))
      return add(at, in_quotes(tool) +
                         " is a server's: clients name that server themselves");
    check_tool_name(at, tool);
  }

  void check_order(path at, duration base, duration cap) {
    if (base <= cap) return;
    at.emplace_back("cap");
    add(at, "cap (" + duration_text(cap) + ") must not be smaller than base (" +
                duration_text(base) + ")");
  }

  void check_file(const path& at, const std::string& file) {
    const auto whole = resolve_home(file);  // if not, the reader said why
    if (!whole) return;
    if (auto why = no_plain_file(*whole, file); !why.empty())
      add(at, std::move(why));
  }

  const config& x_;
  const value& document_;
  const load_request& request_;
  mistake_list& mistakes_;
};

}  // namespace

void check(const config& x, const value& document, const load_request& request,
           mistake_list& mistakes) {
  checker{x, document, request, mistakes}.run();
}

}  // namespace riffle::config
