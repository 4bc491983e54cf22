// SPDX-License-Identifier: MIT
// What a server is: its words, and the folder in which they are looked for. A
// program of the same name in another folder is another program. And the end of
// those that a configuration that is read again has no more.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <string_view>

#include <nlohmann/json.hpp>

#include "runtime/base/digest.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/read_within.hpp"
#include "runtime/config/mcp_checks.hpp"
#include "runtime/node/mcp_part.hpp"
#include "runtime/node/node.hpp"
#include "tools/mcp/memory.hpp"

namespace riffle {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t digits_of_folder = 16;

bool is_there(const fs::path& x) {
  std::error_code ignored;
  return fs::exists(x, ignored);
}

/// What a word may name: "--import=./x.mjs", and "./srv" of "sh -c './srv'".
std::vector<std::string> parts_of(const std::string& word) {
  constexpr std::string_view between = " \t\r\n=,:;'\"|&()<>`";
  std::vector<std::string> out;
  for (std::size_t at = 0; at < word.size();) {
    const auto end = std::min(word.find_first_of(between, at), word.size());
    if (end > at) out.push_back(word.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// Not a file that it only works on.
bool is_program(const fs::path& x) {
  constexpr std::array ends{".py",  ".js",  ".mjs", ".cjs",  ".ts",  ".tsx",
                            ".rb",  ".pl",  ".sh",  ".bash", ".php", ".lua",
                            ".jar", ".exe", ".so",  ".wasm", ".pyz"};
  std::error_code ignored;
  const auto about = fs::status(x, ignored);
  if (fs::is_directory(about))
    return std::ranges::any_of(
        std::array{"__main__.py", "index.js", "package.json"},
        [&](const char* y) { return is_there(x / y); });
  constexpr auto runs =
      fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  return fs::exists(about) &&
         ((about.permissions() & runs) != fs::perms::none ||
          std::ranges::find(ends, x.extension().string()) != ends.end());
}

/// Whether a program in the folder is called so, with the ends that
/// interpreters add ("node srv").
bool is_in(const fs::path& folder, const std::string& part) {
  if (part.front() == '/' || part.front() == '-') return false;
  return std::ranges::any_of(
      std::array{"", ".py", ".js", ".mjs", ".cjs", ".ts"},
      [&](const char* end) { return is_program(folder / (part + end)); });
}

/// Whether its words say what runs, so that anything of a folder may: "python3
/// -m srv", "sh -c npx x", "make mcp". Not so where the first of them is a file
/// of a place of its own.
bool runs_what_it_is_told(const std::vector<std::string>& words) {
  constexpr std::array interpreters{"python", "node", "deno", "ruby", "perl",
                                    "sh",     "bash", "php",  "java", "lua",
                                    "tsx",    "dash", "zsh",  "ksh",  "fish"};
  constexpr std::array takes_words{
      "env",    "make",    "gmake",  "just",     "task",   "nice",
      "sudo",   "setsid",  "nohup",  "xargs",    "cmd",    "time",
      "exec",   "timeout", "go",     "cargo",    "dotnet", "gradle",
      "mvn",    "rake",    "bundle", "composer", "nix",    "mise",
      "direnv", "pipenv",  "pdm",    "rye",      "pixi",   "doppler"};
  const auto name = fs::path{words.front()}.filename().string();
  if (std::ranges::find(takes_words, name) != takes_words.end()) return true;
  if (std::ranges::none_of(interpreters,
                           [&](const char* x) { return name.starts_with(x); }))
    return false;
  return words.size() < 2 || !words[1].starts_with('/');
}

/// Where a program looks for more than its words name.
bool is_relative_place(const std::string& variable, std::string_view value) {
  constexpr std::array places{"PATH",          "PYTHONPATH",      "PYTHONHOME",
                              "PYTHONSTARTUP", "NODE_PATH",       "BASH_ENV",
                              "ENV",           "PERL5LIB",        "RUBYLIB",
                              "CLASSPATH",     "LD_LIBRARY_PATH", "LD_PRELOAD",
                              "NODE_OPTIONS"};
  if (std::ranges::find(places, variable) == places.end()) return false;
  for (;;) {
    const auto one = value.substr(0, value.find_first_of(": "));
    if (!one.starts_with('/')) return true;
    if (one.size() == value.size()) return false;
    value.remove_prefix(one.size() + 1);
  }
}

/// Among those that it is given, or sees.
bool has_relative_place(const config::mcp_config& x) {
  const auto given = nlohmann::json::parse(x.variables.text, nullptr, false);
  if (given.is_object())
    for (const auto& [name, value] : given.items())
      if (value.is_string() &&
          is_relative_place(name, value.get_ref<const std::string&>()))
        return true;
  return std::ranges::any_of(x.env, [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value != nullptr && is_relative_place(name, value);
  });
}

/// "@a/b" of "@a/b@1.2".
std::string package_of(const std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].empty() || words[i].front() == '-') continue;
    return words[i].substr(0, words[i].find('@', 1));
  }
  return {};
}

/// Whether the project in a folder gives "npx" this package, instead of the
/// registry: installed, or its own.
bool gives_package(const fs::path& folder, const std::string& package) {
  if (package.empty()) return false;
  const auto modules = folder / "node_modules";
  if (is_there(modules / package) ||
      is_there(modules / ".bin" / fs::path{package}.filename()))
    return true;
  const auto about = read_within(folder / "package.json");
  return about && about->find('"' + package + '"') != about->npos;
}

/// The project whose programs a runner runs; empty: it takes none of a project.
fs::path project_of_runner(const std::vector<std::string>& words,
                           const fs::path& here) {
  const auto name = fs::path{words.front()}.filename().string();
  const auto is_one_of = [&](std::initializer_list<std::string_view> all) {
    return std::ranges::find(all, name) != all.end();
  };
  std::function<bool(const fs::path&)> counts;
  if (is_one_of({"npx", "pnpx", "bunx"}))
    counts = [package = package_of(words)](const fs::path& x) {
      return gives_package(x, package);
    };
  else if (is_one_of({"npm", "pnpm", "yarn", "bun"}))
    counts = [](const fs::path& x) { return is_there(x / "package.json"); };
  else if (is_one_of({"uv", "poetry", "hatch"}))
    counts = [](const fs::path& x) { return is_there(x / "pyproject.toml"); };
  else
    return {};
  for (auto at = here;; at = at.parent_path()) {
    if (counts(at)) return at;
    if (at == at.parent_path()) return {};
  }
}

/// Whether a folder of PATH that depends on this one has it.
bool is_in_path(const fs::path& folder, const std::string& program) {
  const char* path = std::getenv("PATH");
  if (path == nullptr || program.find('/') != program.npos) return false;
  for (std::string_view rest = path;;) {
    const auto one = rest.substr(0, rest.find(':'));
    if (!one.starts_with('/') && is_there(folder / one / program)) return true;
    if (one.size() == rest.size()) return false;
    rest.remove_prefix(one.size() + 1);
  }
}

/// The folder that decides what its words mean; empty: they mean the same
/// everywhere.
fs::path folder_that_counts(const config::mcp_config& x) {
  if (x.command.empty() || !x.cwd.empty()) return {};
  std::error_code ignored;
  const auto here = fs::current_path(ignored);
  const auto& program = x.command.front();
  const bool relative =
      program.find('/') != program.npos && !program.starts_with('/');
  if (relative || is_in_path(here, program) ||
      runs_what_it_is_told(x.command) || has_relative_place(x))
    return here;
  for (std::size_t i = 1; i < x.command.size(); ++i)
    for (const auto& part : parts_of(x.command[i]))
      if (is_in(here, part)) return here;
  return project_of_runner(x.command, here);
}

nlohmann::json words_of(const config::mcp_config& x) {
  return {{"command", x.command}, {"url", x.url}, {"cwd", x.cwd}};
}

}  // namespace

bool is_memory_of(const mcp::remembered& x, const config::mcp_config& of) {
  auto known = nlohmann::json::parse(x.identity, nullptr, false);
  if (!known.is_object()) return false;
  known.erase("folder");
  return known == words_of(of);
}

std::string mcp_identity(const config::mcp_config& x) {
  auto out = words_of(x);
  if (const auto folder = folder_that_counts(x); !folder.empty())
    out["folder"] = folder.string();
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string mcp_memory_name(const std::string& name,
                            const config::mcp_config& x) {
  const auto folder = folder_that_counts(x);
  if (folder.empty()) return name;
  return name + "@" + sha256(folder.string()).substr(0, digits_of_folder);
}

std::string why_not_here(const fs::path& memory, const std::string& name,
                         const config::mcp_config& x) {
  const auto mine = mcp_memory_name(name, x);
  if (mine == name || memory.empty()) return {};
  const auto here = mcp::recall(memory, mine);
  if (here.approved && here.identity == mcp_identity(x)) return {};
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator{memory, ignored}) {
    const auto other = file.path().stem().string();
    if (file.path().extension() != ".json" ||
        (other != name && !other.starts_with(name + "@")))
      continue;
    const auto known = mcp::recall(memory, other);
    if (known.approved && is_memory_of(known, x))
      return "its program is looked for in this folder, and was approved in "
             "another one: 'riffle mcp approve " +
             name + "' starts it to look at it here";
  }
  return {};
}

namespace {

/// What a login asks for counts at the next one.
bool has_same_tokens(const config::mcp_config& x, const config::mcp_config& y) {
  if (x.auth.grant == "login") return y.auth.grant == "login";
  return x.auth == y.auth && x.client_id == y.client_id &&
         x.client_secret_env == y.client_secret_env;
}

/// What runs, or what is reached. Rules about it count after a restart.
bool is_same_server(const config::mcp_config& x, const config::mcp_config& y) {
  return x.command == y.command && x.url == y.url && x.cwd == y.cwd &&
         x.env == y.env && x.variables == y.variables &&
         x.headers == y.headers && x.token_env == y.token_env &&
         has_same_tokens(x, y);
}

}  // namespace

void node::end_servers_not_in(const config::config& fresh) {
  if (!servers_) return;
  for (const auto& [name, old] : config_->mcp) {
    const auto now = fresh.mcp.find(name);
    const bool gone = now == fresh.mcp.end();
    const bool same = !gone && is_same_server(old, now->second);
    auto* const at = servers_->find(name);
    const bool ended = at->status().state == mcp::server_state::closed;
    if (same && ended)
      log_warn("mcp." + name, "it was ended, and counts after a restart");
    if (same || ended) continue;
    at->close();
    log_warn("mcp." + name,
             std::string{gone ? "it was taken out of the configuration"
                              : "the configuration has another one"} +
                 ": it ends with all of its processes, and its tools are gone" +
                 (gone ? "" : "; the other one counts after a restart"));
  }
  const std::lock_guard lock{pools_mutex_};
  set_served();
}

/// Without those of servers that were ended. With pools_mutex_ held.
void node::set_served() {
  auto all = served_;
  std::erase_if(all, [this](const tools::tool_ptr& x) {
    const auto of = config::server_of(*config_, x->spec().name);
    const auto* at = of ? servers_->find(*of) : nullptr;
    return at != nullptr && at->status().state == mcp::server_state::closed;
  });
  tools_->set_served(std::move(all));
}

}  // namespace riffle
