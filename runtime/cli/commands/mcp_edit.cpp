// SPDX-License-Identifier: MIT
// riffle mcp add|remove|import: the tables [mcp.NAME] of a configuration.
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/clock.hpp"
#include "runtime/base/file_lock.hpp"
#include "runtime/base/text.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/cli/commands/mcp_commands.hpp"
#include "runtime/cli/terminal/read_text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/mcp_text.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/home.hpp"
#include "runtime/config/mcp_checks.hpp"
#include "runtime/config/model_checks.hpp"
#include "runtime/config/rule_warnings.hpp"
#include "runtime/config/trust.hpp"
#include "runtime/node/mcp_part.hpp"

namespace riffle::cli {

namespace {

namespace fs = std::filesystem;

/// The configuration in use, or the person's own one, which may not be there.
struct edited_file {
  config::source from;
  bool trusted = false;  ///< as it was before
  unique_fd lock{};      ///< one at a time reads it and writes it anew
};

/// Of the file's folder: the file itself is replaced. Who cannot lock it goes
/// on without.
unique_fd lock_of(const fs::path& file) {
  constexpr auto timeout = std::chrono::seconds{10};
  std::error_code ignored;
  auto real = fs::weakly_canonical(file, ignored);
  if (ignored) real = file;
  fs::create_directories(real.parent_path(), ignored);
  unique_fd fd{
      ::open(real.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (fd)
    static_cast<void>(lock_until(fd, lock_kind::exclusive,
                                 std::chrono::steady_clock::now() + timeout));
  return fd;
}

expected<fs::path> own_file() {
  return config::user_folder("XDG_CONFIG_HOME", "~/.config")
      .map([](const fs::path& x) { return x / "riffle" / "riffle.toml"; });
}

std::optional<edited_file> open_file(const mcp_command& x, console& io) {
  config::load_request request;
  request.file = x.common.config;
  auto where = config::find_source(request);
  auto own = own_file();
  if (!where) {
    report({where.error()}, io);
    return std::nullopt;
  }
  if (where->file.empty() && !own) {
    report(own.error(), io);
    return std::nullopt;
  }
  auto lock = lock_of(where->file.empty() ? *own : where->file);
  // Another one may have made it meanwhile.
  if (where->file.empty()) where = config::find_source(request);
  auto found = std::move(where).and_then(config::read_source);
  if (!found) {
    report({found.error()}, io);
    return std::nullopt;
  }
  const auto judged = config::judge_trust(*found);
  edited_file out{std::move(*found), judged && judged->trusted,
                  std::move(lock)};
  if (!out.from.file.empty()) return out;
  out.from.file = *own;
  out.from.text.clear();
  return out;
}

int write_failed(const fs::path& file, console& io) {
  io.complain("cannot write " + file.string() + ": " + std::strerror(errno));
  return usage;
}

/// Whole or not at all; what links to the file stays a link.
bool write_file(const fs::path& file, const std::string& text) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  auto real = fs::weakly_canonical(file, ignored);
  if (ignored) real = file;
  struct stat about{};
  const mode_t mode =
      ::stat(real.c_str(), &about) == 0 ? about.st_mode & 0777U : 0600U;
  const auto fresh = real.string() + "." + std::to_string(::getpid());
  const unique_fd fd{
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)};
  std::string_view rest = text;
  while (fd && !rest.empty()) {
    const auto n = ::write(fd.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  return fd && ::rename(fresh.c_str(), real.c_str()) == 0;
}

/// Variables that its tables name and that are not set here.
void tell_unset(const config::config& settings, const mcp_command& x,
                console& io) {
  for (const auto& text : config::rule_warnings(settings))
    if (text.find(" is not set here") != text.npos &&
        (x.name.empty() || text.find("mcp." + x.name + ".") != text.npos))
      io.complain("warning: " + safe_line(text, 1000));
}

/// Only what is valid is written; a file that was trusted stays so.
int save(const mcp_command& x, const edited_file& file, std::string text,
         const std::string& said, console& io) {
  auto changed = file.from;
  changed.text = std::move(text);
  config::load_request request;
  request.tools = config::builtin_tools();
  const auto made = load(request, changed);
  if (!made) return report(made.error(), io);
  if (!write_file(changed.file, changed.text))
    return write_failed(changed.file, io);
  if (x.action != mcp_command::what::remove) tell_unset(*made, x, io);
  if (file.trusted && changed.found_in_folder)
    if (const auto store = config::trust_store::of_user())
      static_cast<void>(store->trust(config::trust_name(changed.file),
                                     changed.text, system_wall_time()));
  const bool counts = file.trusted || !changed.found_in_folder;
  if (x.common.output != output_kind::text)
    io.out.write(
        nlohmann::json{{"file", changed.file.string()}, {"trusted", counts}}
            .dump() +
        "\n");
  else if (x.common.level != verbosity::quiet)
    io.complain(said + " " + changed.file.string());
  if (!counts)
    io.complain(safe_line(changed.file.string(), 4096) +
                " is not trusted, so nothing of it counts yet: look at it, and "
                "trust it with 'riffle config trust'");
  return io.out.good() ? completed : failed;
}

std::string appended(std::string text, const std::string& table) {
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (!text.empty()) text += '\n';
  return text + table;
}

config::mcp_config server_of(const mcp_command& x) {
  config::mcp_config out;
  out.command = x.words;
  out.url = x.url;
  out.agents =
      x.agents.empty() ? std::vector<std::string>{"default"} : x.agents;
  if (x.trusts) out.trust = "annotations";
  auto values = nlohmann::json::object();
  for (const auto& one : x.env) {
    const auto sign = one.find('=');
    if (sign == one.npos)
      out.env.push_back(one);
    else
      values[one.substr(0, sign)] = one.substr(sign + 1);
  }
  if (!values.empty()) out.variables.text = values.dump();
  auto headers = nlohmann::json::object();
  for (const auto& one : x.headers) {
    const auto sign = one.find_first_of("=:");
    headers[one.substr(0, sign)] =
        std::string{trimmed(std::string_view{one}.substr(sign + 1))};
  }
  if (!headers.empty()) out.headers.text = headers.dump();
  out.token_env = x.token_env;
  out.timeout = x.call_limit;
  return out;
}

/// What `--header` must not be; empty: they are good.
std::string mistake_in_headers(const mcp_command& x) {
  std::set<std::string> seen;
  for (const auto& one : x.headers) {
    const auto sign = one.find_first_of("=:");
    if (sign == one.npos || sign == 0)
      return "--header " + config::in_quotes(one) + " is no NAME=VALUE";
    const auto name = one.substr(0, sign);
    const std::string value{trimmed(std::string_view{one}.substr(sign + 1))};
    if (const auto wrong = config::mistake_in_mcp_header(name, value);
        !wrong.empty())
      return "--header: " + config::in_quotes(name) + " " + wrong;
    if (!seen.insert(lower(name)).second)
      return "--header: " + config::in_quotes(name) + " stands twice";
    if (config::names_secret(name) && one.find("${", sign) == one.npos)
      return "keys never stand in files: set a variable, and give its name, "
             "as in --header '" +
             safe_line(name, 64) + "=${NAME}'";
  }
  return {};
}

std::optional<config::config> loaded(const edited_file& file) {
  config::load_request request;
  request.tools = config::builtin_tools();
  auto made = load(request, file.from);
  if (!made) return std::nullopt;
  return *std::move(made);
}

/// In whichever form of TOML.
bool has_server(const edited_file& file, const std::string& name) {
  if (without_mcp_table(file.from.text, name)) return true;
  const auto all = loaded(file);
  return all && all->mcp.contains(name);
}

std::string join(const std::vector<std::string>& all) {
  std::string out;
  for (const auto& x : all) out += (out.empty() ? "" : ", ") + x;
  return out;
}

void tell_next(const std::vector<std::string>& names, const mcp_command& x,
               console& io) {
  if (x.common.level == verbosity::quiet) return;
  for (const auto& name : names)
    io.err.write("Next: 'riffle mcp approve " + name +
                 "' shows its tools before agents use them.\n");
}

/// Where a relative folder of another client's file begins: where the file is,
/// or the project around its own folder (".vscode").
fs::path project_of(const fs::path& file) {
  std::error_code ignored;
  const auto folder = fs::absolute(file, ignored).parent_path();
  return folder.filename().string().starts_with('.') ? folder.parent_path()
                                                     : folder;
}

/// The first mistake that a table would bring, or nothing.
std::string mistake_in(const edited_file& file, const std::string& text) {
  auto changed = file.from;
  changed.text = text;
  config::load_request request;
  request.tools = config::builtin_tools();
  const auto made = load(request, changed);
  return made || made.error().empty() ? "" : made.error().front().message;
}

std::string program_of(const config::mcp_config& x) {
  if (x.command.empty()) return x.url;
  std::string out;
  for (const auto& word : x.command) out += (out.empty() ? "" : " ") + word;
  return out;
}

}  // namespace

int mcp_add(const mcp_command& x, console& io) {
  auto wrong = config::mistake_in_mcp_name(x.name);
  if (wrong.empty()) wrong = mistake_in_headers(x);
  if (!wrong.empty()) {
    io.complain(wrong);
    return usage;
  }
  auto file = open_file(x, io);
  if (!file) return usage;
  if (has_server(*file, x.name)) {
    io.complain("there is a server " + config::in_quotes(x.name) + " in " +
                file->from.file.string() + ": 'riffle mcp remove " +
                safe_line(x.name, 64) + "' takes it out");
    return usage;
  }
  const int done =
      save(x, *file, appended(file->from.text, mcp_table(x.name, server_of(x))),
           "the server " + x.name + " stands in", io);
  if (done == completed) tell_next({x.name}, x, io);
  return done;
}

int mcp_remove(const mcp_command& x, console& io) {
  auto file = open_file(x, io);
  if (!file) return usage;
  auto text = without_mcp_table(file->from.text, x.name);
  if (!text) {
    const auto place =
        config::in_quotes(x.name) + " in " + file->from.file.string();
    io.complain(has_server(*file, x.name)
                    ? "the server " + place + " is no table [mcp." + x.name +
                          "], the form that is taken out: take it out by hand"
                    : "there is no server " + place);
    return usage;
  }
  const auto before = loaded(*file);
  const int done = save(x, *file, *std::move(text),
                        "the server " + x.name + " was taken out of", io);
  if (done == completed && before) forget_server(x, *before, io);
  if (done == completed && x.common.level != verbosity::quiet)
    io.err.write("A 'riffle serve' that runs ends it at SIGHUP.\n");
  return done;
}

int mcp_import(const mcp_command& x, console& io) {
  const auto text = read_file(x.file, "servers");
  if (!text) return report(text.error(), io);
  std::string mistake;
  const auto json = read_commented_json(*text, mistake);
  if (!json) {
    io.complain(x.file + ":" + mistake);
    return usage;
  }
  auto file = open_file(x, io);
  if (!file) return usage;
  auto found = read_mcp_servers(*json);
  auto out = file->from.text;
  if (auto before = mistake_in(*file, out); !before.empty()) {
    io.complain(file->from.file.string() + " has a mistake: " + before);
    return usage;
  }
  std::vector<std::string> names;
  for (auto& [name, server] : found.all) {
    if (has_server(*file, name)) {
      found.problems.push_back(name + ": there is a server with this name");
      continue;
    }
    if (!server.cwd.empty() && server.cwd.front() != '~')
      server.cwd = (project_of(x.file) / server.cwd).lexically_normal();
    auto with = appended(out, mcp_table(name, server));
    if (auto wrong = mistake_in(*file, with); !wrong.empty()) {
      found.problems.push_back(name + ": " + wrong);
      continue;
    }
    out = std::move(with);
    names.push_back(name);
    if (x.common.level != verbosity::quiet)
      io.err.write("+ " + name + "  " + safe_line(program_of(server), 4096) +
                   "\n");
  }
  for (const auto& note : found.notes)
    io.complain("warning: " + safe_line(note, 1000));
  for (const auto& problem : found.problems)
    io.complain("left out: " + safe_line(problem, 1000));
  if (names.empty() && found.problems.empty())
    io.complain("there are no servers in " + x.file);
  if (names.empty()) return usage;
  const int done = save(
      x, *file, std::move(out),
      join(names) + (names.size() == 1 ? " stands" : " stand") + " in", io);
  if (done == completed) tell_next(names, x, io);
  return done;
}

}  // namespace riffle::cli
