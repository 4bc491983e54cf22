// SPDX-License-Identifier: MIT
// Completions for bash, zsh and fish. Names that change (sessions, models, …)
// are asked of the program itself: riffle completion --names KIND.
#include <functional>

#include "runtime/cli/command_tree.hpp"

namespace riffle::cli {

namespace {

using visitor =
    std::function<void(const std::string& path, const command_node& x)>;

void each_command(const command_node& x, const std::string& path,
                  const visitor& f) {
  f(path, x);
  for (const auto& sub : x.commands)
    each_command(sub, path + " " + sub.name, f);
}

/// In single quotes, for bash and zsh.
std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& x : words) out += (out.empty() ? "" : " ") + x;
  return out;
}

std::string names_of(const command_node& x) {
  std::vector<std::string> out;
  for (const auto& option : x.options)
    out.insert(out.end(), option.names.begin(), option.names.end());
  return joined(out);
}

std::string commands_of(const command_node& x) {
  std::vector<std::string> out;
  for (const auto& sub : x.commands) out.push_back(sub.name);
  return joined(out);
}

/// "'riffle run'|'riffle tools'": all commands below the top.
std::string all_paths(const command_node& x) {
  std::string out;
  each_command(x, "riffle", [&](const auto& path, const auto&) {
    if (path != "riffle") out += (out.empty() ? "" : "|") + shell_quoted(path);
  });
  return out;
}

/// What offers the values of an option or of an argument; `words` offers a
/// list, `ask` what the program knows, `files` files.
struct offers {
  std::function<std::string(const std::string&)> words;
  std::function<std::string(const std::string&)> ask;
  std::string files;
};

std::string offer(const offers& how, const std::string& path,
                  const option_node& x) {
  if (const auto words = choices_of(x.value); !words.empty())
    return how.words(joined(words));
  for (const auto& name : x.names) {
    const auto kind = kind_of(path, name);
    if (kind == "files") return how.files;
    if (!kind.empty()) return how.ask(kind);
  }
  if (x.value == "FILE") return how.files;
  return "return";
}

/// case "$at:$before" in … of options with a value.
std::string value_cases(const command_node& x, const offers& how) {
  std::string out;
  each_command(x, "riffle", [&](const auto& path, const auto& command) {
    for (const auto& option : command.options) {
      if (option.value.empty()) continue;
      std::string patterns;
      for (const auto& name : option.names)
        patterns +=
            (patterns.empty() ? "" : "|") + shell_quoted(path + ":" + name);
      out +=
          "    " + patterns + ") " + offer(how, path, option) + "; return ;;\n";
    }
  });
  return out;
}

std::string argument_offers(const command_node& x, const std::string& path,
                            const offers& how) {
  std::string out;
  for (const auto& argument : x.arguments)
    if (const auto text = offer(how, path, argument); text != "return")
      out += "      " + text + "\n";
  return out;
}

}  // namespace

std::string bash_completion(const command_node& x) {
  const offers how{
      [](const std::string& words) {
        return "COMPREPLY+=($(compgen -W '" + words + "' -- \"$cur\"))";
      },
      [](const std::string& kind) { return "_riffle_names " + kind; },
      "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f "
      "-- \"$cur\")"};
  // The words of `compgen -W` are expanded by the shell: a session whose name
  // is $(…) would run it. So names are taken as they are, and quoted.
  std::string out =
      "# bash completion of riffle; made by: riffle completion bash\n"
      "_riffle_names() {\n"
      "  local name\n"
      "  while IFS= read -r name; do\n"
      "    [[ $name == \"$cur\"* ]] &&\n"
      "      COMPREPLY+=(\"$(printf %q \"$name\")\")\n"
      "  done < <(riffle completion --names \"$1\" 2>/dev/null)\n"
      "}\n"
      "_riffle() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} "
      "before=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local at=riffle i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"$at ${COMP_WORDS[i]}\" in\n"
      "      " +
      all_paths(x) +
      ") at=\"$at ${COMP_WORDS[i]}\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$at:$before\" in\n" +
      value_cases(x, how) +
      "  esac\n"
      "  case \"$at\" in\n";
  each_command(x, "riffle", [&](const auto& path, const auto& command) {
    out += "    " + shell_quoted(path) + ")\n";
    out += "      if [[ $cur == -* ]]; then " + how.words(names_of(command)) +
           "; return; fi\n";
    if (!command.commands.empty())
      out += "      " + how.words(commands_of(command)) + "\n";
    out += argument_offers(command, path, how);
    out += "      ;;\n";
  });
  return out +
         "  esac\n"
         "}\n"
         "complete -F _riffle riffle\n";
}

namespace {

/// The case of one command: its options, its commands, its arguments.
std::string zsh_case(const std::string& path, const command_node& command,
                     const offers& how) {
  const auto described = [](const std::string& name, const std::string& about) {
    return shell_quoted(name + ":" + about);
  };
  std::string out = "    " + shell_quoted(path) +
                    ")\n      if [[ $cur == -* ]]; then\n"
                    "        found=(";
  for (const auto& option : command.options)
    for (const auto& name : option.names)
      out += described(name, option.about) + " ";
  out += ")\n        _describe -o option found\n        return\n      fi\n";
  if (!command.commands.empty()) {
    out += "      found=(";
    for (const auto& sub : command.commands)
      out += described(sub.name, sub.about) + " ";
    out += ")\n      _describe command found\n";
  }
  return out + argument_offers(command, path, how) + "      ;;\n";
}

}  // namespace

std::string zsh_completion(const command_node& x) {
  const offers how{
      [](const std::string& words) { return "compadd -- " + words; },
      [](const std::string& kind) {
        return "compadd -- ${(f)\"$(riffle completion --names " + kind +
               " 2>/dev/null)\"}";
      },
      "_files"};
  std::string out =
      "#compdef riffle\n"
      "# zsh completion of riffle; made by: riffle completion zsh\n"
      "_riffle() {\n"
      "  local at=riffle before=${words[CURRENT-1]} cur=${words[CURRENT]} i\n"
      "  local -a found\n"
      "  for ((i = 2; i < CURRENT; i++)); do\n"
      "    case \"$at ${words[i]}\" in\n"
      "      " +
      all_paths(x) +
      ") at=\"$at ${words[i]}\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$at:$before\" in\n" +
      value_cases(x, how) +
      "  esac\n"
      "  case \"$at\" in\n";
  each_command(x, "riffle", [&](const auto& path, const auto& command) {
    out += zsh_case(path, command, how);
  });
  return out +
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _riffle ]; then _riffle \"$@\"; else "
         "compdef "
         "_riffle riffle; fi\n";
}

namespace {

/// Fish takes a backslash before a quote.
std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_values(const std::string& path, const option_node& x) {
  if (const auto words = choices_of(x.value); !words.empty())
    return " -x -a " + fish_quoted(joined(words));
  for (const auto& name : x.names) {
    const auto kind = kind_of(path, name);
    if (kind == "files") return " -r -F";
    if (!kind.empty())
      return " -x -a '(riffle completion --names " + kind + " 2>/dev/null)'";
  }
  if (x.value == "FILE") return " -r -F";
  return " -x";
}

std::string fish_option(const std::string& line, const std::string& path,
                        const option_node& x) {
  auto out = line;
  for (const auto& name : x.names)
    out += name.starts_with("--") ? " -l " + name.substr(2)
                                  : " -s " + name.substr(1);
  if (!x.value.empty()) out += fish_values(path, x);
  return out + " -d " + fish_quoted(x.about) + "\n";
}

}  // namespace

std::string fish_completion(const command_node& x) {
  std::string out =
      "# fish completion of riffle; made by: riffle completion fish\n"
      "function __riffle_at\n"
      "    set -l at riffle\n"
      "    for word in (commandline -opc)[2..]\n"
      "        switch \"$at $word\"\n"
      "            case";
  each_command(x, "riffle", [&](const auto& path, const auto&) {
    if (path != "riffle") out += " " + fish_quoted(path);
  });
  out +=
      "\n"
      "                set at \"$at $word\"\n"
      "        end\n"
      "    end\n"
      "    test \"$at\" = \"$argv[1]\"\n"
      "end\n"
      "complete -c riffle -f\n";
  each_command(x, "riffle", [&](const auto& path, const auto& command) {
    const auto line = "complete -c riffle -n \"__riffle_at '" + path + "'\"";
    for (const auto& sub : command.commands)
      out += line + " -a " + sub.name + " -d " + fish_quoted(sub.about) + "\n";
    for (const auto& option : command.options)
      out += fish_option(line, path, option);
    for (const auto& argument : command.arguments) {
      const auto values = fish_values(path, argument);
      if (values == " -r -F")
        out += line + " -F\n";
      else if (values != " -x")
        out += line + values.substr(3) + "\n";
    }
  });
  return out;
}

}  // namespace riffle::cli
