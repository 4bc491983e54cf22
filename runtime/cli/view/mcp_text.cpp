// SPDX-License-Identifier: MIT
#include "runtime/cli/view/mcp_text.hpp"

#include <algorithm>

#include "messages/duration_text.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/model_checks.hpp"

namespace riffle::cli {

namespace {

std::string list_of(const std::vector<std::string>& all) {
  std::string out = "[";
  for (const auto& x : all)
    out += (out.size() > 1 ? ", " : "") + config::in_quotes(x);
  return out + "]";
}

std::string table_of(const std::string& object) {
  std::string out;
  const auto x = mcp::json::parse(object, nullptr, false);
  if (!x.is_object()) return "{}";
  for (const auto& [key, value] : x.items())
    if (value.is_string())
      out += (out.empty() ? "" : ", ") + config::in_quotes(key) + " = " +
             config::in_quotes(value.get<std::string>());
  return "{ " + out + " }";
}

std::string text_at(const mcp::json& x, const char* key) {
  const auto found = x.find(key);
  if (found == x.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

/// "${env:NAME}" of editors is "${NAME}".
std::string with_plain_variables(std::string text) {
  constexpr std::string_view marked = "${env:";
  for (auto at = text.find(marked); at != text.npos; at = text.find(marked))
    text.erase(at + 2, marked.size() - 2);
  return text;
}

bool is_variable(const std::string& text) {
  return text.find("${") != text.npos && text.find("${input:") == text.npos;
}

/// NAME of "${NAME}", and nothing else around it.
std::string only_variable(const std::string& text) {
  if (!text.starts_with("${") || !text.ends_with('}')) return {};
  return text.substr(2, text.size() - 3);
}

bool holds_secret(const std::string& variable) {
  const auto name = lower(variable);
  return config::names_secret(variable) || name.ends_with("token") ||
         name.ends_with("_key");
}

void read_env(const std::string& name, const mcp::json& x,
              config::mcp_config& out, imported_servers& told) {
  auto values = mcp::json::object();
  for (const auto& [key, value] : x.items()) {
    const auto text = with_plain_variables(
        value.is_string() ? value.get<std::string>() : value.dump());
    if (only_variable(text) == key) {
      out.env.push_back(key);
    } else if (text.find("${") != text.npos) {
      told.problems.push_back(name + ": the variable " + key +
                              " is made from others; set it yourself");
    } else if (holds_secret(key) && !text.empty()) {
      out.env.push_back(key);
      told.problems.push_back(name + ": what " + key +
                              " holds, as keys never stand in files: put it "
                              "into a variable of this name");
    } else {
      values[key] = text;
    }
  }
  if (!values.empty()) out.variables.text = values.dump();
}

void read_headers(const std::string& name, const mcp::json& x,
                  config::mcp_config& out, std::vector<std::string>& problems) {
  auto values = mcp::json::object();
  for (const auto& [key, value] : x.items()) {
    const auto text = with_plain_variables(
        value.is_string() ? value.get<std::string>() : value.dump());
    if (is_variable(text))
      values[key] = text;
    else
      problems.push_back(name + ": the header " + key +
                         " is left out, as keys never stand in files: put it "
                         "into a variable and write \"${NAME}\"");
  }
  if (!values.empty()) out.headers.text = values.dump();
}

/// Comments, and commas behind which nothing comes, as blanks: places stay.
std::string without_comments(std::string text) {
  bool quoted = false;
  auto comma = text.npos;  // the last one, if only blanks came since
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (quoted) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        quoted = false;
      continue;
    }
    if (text[i] == '/' && (next == '/' || next == '*')) {
      const auto end =
          next == '/' ? text.find('\n', i) : text.find("*/", i + 2);
      const auto stop = end == text.npos ? text.size()
                        : next == '/'    ? end
                                         : end + 2;
      for (; i < stop; ++i)
        if (text[i] != '\n') text[i] = ' ';
      --i;
      continue;
    }
    if ((text[i] == '}' || text[i] == ']') && comma != text.npos)
      text[comma] = ' ';
    if (text[i] == ',')
      comma = i;
    else if (trimmed(std::string_view{text}.substr(i, 1)) != "")
      comma = text.npos;
    quoted = text[i] == '"';
  }
  return text;
}

std::string as_name(std::string name) {
  for (auto& c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      (c >= '0' && c <= '9') || c == '-';
    if (!fits) c = '_';
  }
  for (auto at = name.find("__"); at != name.npos; at = name.find("__"))
    name.erase(at, 1);
  name = name.substr(0, 32);
  while (name.ends_with('_')) name.pop_back();  // "a_" beside "a" confuses
  return name;
}

std::string problem_of(const mcp::server_status& x) {
  if (x.state == mcp::server_state::starting && x.last_error.empty())
    return "it has not answered yet, and is not waited for any longer "
           "(startup_timeout)";
  return x.last_error;
}

bool names_table(std::string_view line, const std::string& name) {
  line = trimmed(line);
  while (line.starts_with('[')) line.remove_prefix(1);
  line = trimmed(line);
  for (const auto& head : {"mcp." + name, "mcp.\"" + name + "\""})
    if (line.starts_with(head) && line.size() > head.size() &&
        (line[head.size()] == ']' || line[head.size()] == '.'))
      return true;
  return false;
}

}  // namespace

std::string mcp_table(const std::string& name, const config::mcp_config& x) {
  std::string out = "[mcp." + name + "]\n";
  if (!x.command.empty()) out += "command = " + list_of(x.command) + "\n";
  if (!x.url.empty()) out += "url = " + config::in_quotes(x.url) + "\n";
  if (!x.agents.empty()) out += "agents = " + list_of(x.agents) + "\n";
  if (!x.env.empty()) out += "env = " + list_of(x.env) + "\n";
  if (x.variables.text != "{}")
    out += "variables = " + table_of(x.variables.text) + "\n";
  if (!x.cwd.empty()) out += "cwd = " + config::in_quotes(x.cwd) + "\n";
  if (x.headers.text != "{}")
    out += "headers = " + table_of(x.headers.text) + "\n";
  if (!x.token_env.empty())
    out += "token_env = " + config::in_quotes(x.token_env) + "\n";
  if (!x.client_id.empty())
    out += "client_id = " + config::in_quotes(x.client_id) + "\n";
  if (x.timeout > duration{})
    out += "timeout = " + config::in_quotes(duration_text(x.timeout)) + "\n";
  if (x.trust != "none") out += "trust = " + config::in_quotes(x.trust) + "\n";
  return out;
}

std::optional<std::string> without_mcp_table(const std::string& text,
                                             const std::string& name) {
  std::string out;
  bool found = false;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line{text.data() + at, end - at};
    const auto plain = trimmed(line);
    if (plain.starts_with('[') && plain.find(']') != plain.npos &&
        plain.find("[\"") == plain.npos)
      inside = names_table(plain, name);
    found = found || inside;
    if (!inside) out += line;
    at = end;
  }
  if (!found) return std::nullopt;
  return out;
}

std::optional<nlohmann::json> read_commented_json(const std::string& text,
                                                  std::string& mistake) {
  const auto plain = without_comments(text);
  try {
    return nlohmann::json::parse(plain);
  } catch (const nlohmann::json::parse_error& e) {
    const auto at = std::min(e.byte == 0 ? 0 : e.byte - 1, plain.size());
    const auto before = std::string_view{plain}.substr(0, at);
    const auto line = std::ranges::count(before, '\n') + 1;
    const auto begin = before.rfind('\n');
    const auto column = begin == before.npos ? at : at - begin - 1;
    mistake = std::to_string(line) + ":" + std::to_string(column + 1) +
              ": this is no JSON from here on";
    return std::nullopt;
  }
}

imported_servers read_mcp_servers(const mcp::json& x) {
  imported_servers out;
  const mcp::json* all = nullptr;
  for (const auto* key : {"mcpServers", "servers"})
    if (x.is_object() && x.contains(key) && x.at(key).is_object())
      all = &x.at(key);
  if (all == nullptr) {
    out.problems.emplace_back("there is no object \"mcpServers\" in it");
    return out;
  }
  for (const auto& [name, server] : all->items()) {
    config::mcp_config one;
    if (!server.is_object()) {
      out.problems.push_back(name + ": it is no object");
      continue;
    }
    if (server.value("disabled", mcp::json()) == true) {
      out.problems.push_back(name + ": it is disabled there");
      continue;
    }
    if (const auto program = text_at(server, "command"); !program.empty()) {
      one.command.push_back(program);
      if (program.find(' ') != program.npos)
        out.notes.push_back(name + ": its command " +
                            config::in_quotes(program) +
                            " counts as the name of one program, with its "
                            "blanks; arguments stand in args");
      for (const auto& word : server.value("args", mcp::json::array()))
        if (word.is_string()) one.command.push_back(word);
    }
    one.url = text_at(server, "url");
    one.cwd = text_at(server, "cwd");
    if (server.value("env", mcp::json()).is_object() && !one.command.empty())
      read_env(name, server.at("env"), one, out);
    if (server.value("headers", mcp::json()).is_object() && one.command.empty())
      read_headers(name, server.at("headers"), one, out.problems);
    one.agents = {"default"};
    if (one.url.find("${") != one.url.npos) {
      out.problems.push_back(name +
                             ": its url is made from variables, which are not "
                             "read there: write it yourself");
      continue;
    }
    if (one.command.empty() && one.url.empty())
      out.problems.push_back(name + ": it has neither a command nor a url");
    else
      out.all.emplace_back(as_name(name), std::move(one));
  }
  return out;
}

std::string prompt_text(const server_prompt& x, std::size_t columns) {
  constexpr std::size_t longest = 200;
  auto out = "/" + safe_line(x.name, longest);
  for (const auto& one : x.arguments) {
    const auto name = safe_line(one.name, longest);
    out += one.required ? " " + name : " [" + name + "]";
  }
  if (!x.about.empty()) out += "  " + safe_line(x.about, longest);
  return "  " + fit(out, columns > 4 ? columns - 3 : 1) + "\n";
}

std::string mcp_line(const shown_server& server) {
  const auto& x = server.now;
  std::string out = server.name;
  out.resize(std::max<std::size_t>(out.size() + 1, 16), ' ');
  auto state = std::string{to_string(x.state)};
  state.resize(std::max<std::size_t>(state.size() + 1, 15), ' ');
  out += state;
  if (x.has) {
    out += std::string{to_string(x.has->about.speaks)} + " " +
           x.has->about.version + "  " + std::to_string(x.has->tools.size()) +
           " tools";
    if (!x.has->about.name.empty())
      out += "  " + safe_line(x.has->about.name, 60) + " " +
             safe_line(x.has->about.server_version, 40);
  }
  out += server.seen.approved ? "  approved" : "  not approved";
  if (server.seen.held > 0)
    out += ", " + counted(server.seen.held, "tool") + " changed since";
  if (x.restarts > 0) out += "  " + std::to_string(x.restarts) + " restarts";
  if (const auto why = problem_of(x); !why.empty())
    out += "\n  ✗ " + safe_line(why, 400);
  return out + "\n";
}

nlohmann::ordered_json mcp_facts(const shown_server& server) {
  const auto& x = server.now;
  nlohmann::ordered_json out = {{"name", server.name},
                                {"state", to_string(x.state)}};
  if (x.has) {
    out["era"] = to_string(x.has->about.speaks);
    out["version"] = x.has->about.version;
    out["server"] = x.has->about.name;
    out["server_version"] = x.has->about.server_version;
    out["tools"] = x.has->tools.size();
  }
  out["approved"] = server.seen.approved;
  if (server.seen.held > 0) out["changed"] = server.seen.held;
  out["restarts"] = x.restarts;
  if (const auto why = problem_of(x); !why.empty()) out["last_error"] = why;
  return out;
}

}  // namespace riffle::cli
