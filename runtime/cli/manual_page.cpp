// SPDX-License-Identifier: MIT
// The manual page, in the macros of man(7).
#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>
#include <utf8proc.h>

#include "runtime/api/version.hpp"
#include "runtime/cli/cli.hpp"
#include "runtime/cli/command_tree.hpp"

namespace riffle::cli {

namespace {

/// A hyphen that stays one, no line that looks like a request, and nothing but
/// ASCII, so that it reads the same in whatever locale.
std::string escaped(const std::string& text) {
  std::string out;
  const auto* rest = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t code = 0;
    const auto n =
        std::max<utf8proc_ssize_t>(1, utf8proc_iterate(rest, left, &code));
    rest += n;
    left -= n;
    if (code > 0x7f || code < 0) {
      std::array<char, 16> name{};
      std::snprintf(name.data(), name.size(), "\\[u%04X]",
                    code < 0 ? 0xfffdu : static_cast<unsigned>(code));
      out += name.data();
      continue;
    }
    const char c = static_cast<char>(code);
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\n')
      out += ' ';
    else
      out += c;
  }
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

/// Lines as they are.
std::string verbatim(const std::string& text) {
  std::string out = ".nf\n";
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);)
    out += line.empty() ? ".PP\n" : escaped(line) + "\n";
  return out + ".fi\n";
}

void add_options(std::string& out, const std::vector<option_node>& all) {
  for (const auto& x : all) {
    out += ".TP\n";
    for (const auto& name : x.names)
      out += (&name == &x.names.front() ? "\\fB" : ", \\fB") + escaped(name) +
             "\\fR";
    const bool argument = !x.names.front().starts_with('-');
    if (!x.value.empty() && !argument)
      out += " \\fI" + escaped(x.value) + "\\fR";
    out += "\n" + escaped(x.about) + "\n";
  }
}

std::string usage_of(const std::string& path, const command_node& x) {
  auto out = "\\fB" + escaped(path) + "\\fR";
  if (!x.commands.empty()) out += " \\fICOMMAND\\fR";
  if (!x.options.empty()) out += " [\\fIOPTIONS\\fR]";
  for (const auto& argument : x.arguments)
    out += " [\\fI" + escaped(argument.names.front()) + "\\fR]";
  return out;
}

void add_command(std::string& out, const std::string& path,
                 const command_node& x) {
  out += ".SS " + escaped(path) + "\n" + usage_of(path, x) + "\n.PP\n" +
         escaped(x.about) + ".\n";
  add_options(out, x.arguments);
  add_options(out, x.options);
  if (!x.footer.empty() && x.commands.empty())
    out += ".PP\n" + verbatim(x.footer);
  for (const auto& sub : x.commands)
    add_command(out, path + " " + sub.name, sub);
}

}  // namespace

std::string manual_page(const command_node& x) {
  std::string out =
      ".\\\" Made by: riffle completion man\n"
      ".TH RIFFLE 1 \"\" \"riffle " +
      std::string{version} +
      "\" \"User Commands\"\n"
      ".SH NAME\nriffle \\- runs LLM agents whose tools work while the answer "
      "streams\n"
      ".SH SYNOPSIS\n" +
      usage_of("riffle", x) + "\n.SH DESCRIPTION\n" + escaped(x.about) + "\n";
  add_options(out, x.options);
  out += ".SH COMMANDS\n";
  for (const auto& sub : x.commands)
    add_command(out, "riffle " + sub.name, sub);
  return out + ".SH NOTES\n" + verbatim(x.footer);
}

}  // namespace riffle::cli
