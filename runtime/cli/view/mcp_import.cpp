// SPDX-License-Identifier: MIT
// Servers of another client's file. What is not taken over is said.
#include <algorithm>
#include <set>
#include <string_view>

#include "runtime/base/text.hpp"
#include "runtime/cli/view/mcp_text.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/mcp_checks.hpp"
#include "runtime/config/model_checks.hpp"

namespace riffle::cli {

namespace {

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

/// A file that holds a key is none. In base64 there is a '/', but no '.'.
bool is_place(std::string_view x) {
  const bool begins =
      x.starts_with('/') || x.starts_with('.') || x.starts_with("~/");
  return begins || (x.find('/') != x.npos && x.find('.') != x.npos);
}

bool names_key(const std::string& name) {
  const auto low = lower(name);
  return low == "authorization" || low == "cookie" || holds_secret(name);
}

bool is_key(std::string_view value) {
  return !value.empty() && !is_place(value) && value.find("${") == value.npos;
}

/// The name in a word that holds a key: "TOKEN=x", "--token=x", "Header: x",
/// "--env=TOKEN=x", "--header=Name: x".
std::string key_in(const std::string& word) {
  const auto begin = std::min(word.find_first_not_of('-'), word.size());
  for (auto from = begin; from < word.size();) {
    const auto sign = word.find_first_of("=:", from);
    if (sign == word.npos) return {};
    const auto value = trimmed(std::string_view{word}.substr(sign + 1));
    if (names_key(word.substr(from, sign - from)) && is_key(value))
      return word.substr(0, sign);
    from = sign + 1;
  }
  return {};
}

/// The word of a command line that holds a key, by its name: those of `key_in`,
/// "--api-key x", "scheme://user:x@host"; empty: none does.
std::string word_with_key(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (config::holds_user(word))
      return word.substr(0, word.find("://")) + "://…";
    if (auto found = key_in(word); !found.empty()) return found;
    const auto name = word.find_first_not_of('-');
    if (name == 0 || name == word.npos || i + 1 == words.size()) continue;
    const auto& next = words[i + 1];
    if (names_key(word.substr(name)) && !next.starts_with('-') && is_key(next))
      return word;
  }
  return {};
}

/// Program and arguments.
void read_command(const std::string& name, const mcp::json& server,
                  config::mcp_config& out, imported_servers& told) {
  const auto program = text_at(server, "command");
  if (program.empty()) return;
  out.command.push_back(program);
  if (program.find(' ') != program.npos)
    told.notes.push_back(name + ": its command " + config::in_quotes(program) +
                         " counts as the name of one program, with its "
                         "blanks; arguments stand in args");
  for (const auto& word : server.value("args", mcp::json::array())) {
    if (word.is_string())
      out.command.push_back(word.get<std::string>());
    else if (word.is_number() || word.is_boolean())
      out.command.push_back(word.dump());
    else
      told.notes.push_back(name + ": of args, " + word.dump() +
                           " is no text, and left out");
    if (word.is_string() && out.command.back().find("${") != std::string::npos)
      told.notes.push_back(name + ": the argument " +
                           config::in_quotes(out.command.back()) +
                           " names a variable, which is not read there");
  }
}

/// Members that nothing here is made of.
void tell_left_out(const std::string& name, const mcp::json& server,
                   imported_servers& told) {
  static const std::set<std::string> read{
      "command",       "args",     "url",     "serverUrl", "httpUrl",
      "cwd",           "env",      "headers", "type",      "transport",
      "transportType", "disabled", "enabled", "name",      "description"};
  std::string all;
  for (const auto& [key, ignored] : server.items())
    if (!read.contains(key)) all += (all.empty() ? "" : ", ") + key;
  if (!all.empty()) told.notes.push_back(name + ": not taken over: " + all);
}

/// Why it cannot be one of ours; empty: it can.
std::string why_not_taken(const config::mcp_config& x) {
  if (x.url.find("${") != x.url.npos)
    return "its url is made from variables, which are not read there: write it "
           "yourself";
  if (x.command.empty() && x.url.empty())
    return "it has neither a command nor a url";
  if (const auto word = word_with_key(x.command); !word.empty())
    return "its argument " + word +
           " holds a key, and keys never stand in files: add the server "
           "yourself with a command that reads a variable, such as [\"sh\", "
           "\"-c\", \"exec PROGRAM … $NAME\"], and env = [\"NAME\"]";
  return {};
}

/// Its name here, or nothing: then it is said why.
std::string free_name(const std::string& name, std::set<std::string>& taken,
                      imported_servers& told) {
  auto as = as_name(name);
  if (as.empty())
    told.problems.push_back("\"" + name +
                            "\": " + config::mistake_in_mcp_name(as));
  else if (!taken.insert(as).second)
    told.problems.push_back(name + ": another one of the file is called " + as +
                            ", too, as names have letters, digits, - and _");
  else
    return as;
  return {};
}

}  // namespace

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
  std::set<std::string> taken;
  for (const auto& [name, server] : all->items()) {
    if (!server.is_object()) {
      out.problems.push_back(name + ": it is no object");
      continue;
    }
    if (server.value("disabled", mcp::json()) == true ||
        server.value("enabled", mcp::json()) == false) {
      out.problems.push_back(name + ": it is disabled there");
      continue;
    }
    config::mcp_config one;
    read_command(name, server, one, out);
    for (const auto* key : {"httpUrl", "serverUrl", "url"})
      if (auto url = text_at(server, key); !url.empty())
        one.url = std::move(url);
    one.cwd = text_at(server, "cwd");
    if (server.value("env", mcp::json()).is_object() && !one.command.empty())
      read_env(name, server.at("env"), one, out);
    if (server.value("headers", mcp::json()).is_object() && one.command.empty())
      read_headers(name, server.at("headers"), one, out.problems);
    tell_left_out(name, server, out);
    one.agents = {"default"};
    if (auto why = why_not_taken(one); !why.empty()) {
      out.problems.push_back(name + ": " + why);
      continue;
    }
    if (auto as = free_name(name, taken, out); !as.empty())
      out.all.emplace_back(std::move(as), std::move(one));
  }
  return out;
}

}  // namespace riffle::cli
