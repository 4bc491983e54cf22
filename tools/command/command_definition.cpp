// SPDX-License-Identifier: MIT
#include "tools/command/command_definition.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tools/builtin/shell/program_basis.hpp"
#include "tools/process/content_digest.hpp"
#include "tools/process/find_program.hpp"

namespace riffle::tools {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

void add_file(json& files, const std::string& word, const fs::path& file) {
  if (auto digest = content_digest(file); !digest.empty())
    files.push_back({word, file.string(), std::move(digest)});
}

/// The command as a line of a shell.
std::string line_of(const std::vector<std::string>& command) {
  std::string out;
  for (const auto& word : command) {
    out += out.empty() ? "'" : " '";
    for (const char c : word) out += c == '\'' ? "'\"'\"'" : std::string{c};
    out += '\'';
  }
  return out;
}

}  // namespace

std::string definition_of(const std::vector<std::string>& command,
                          const std::filesystem::path& folder,
                          const std::vector<std::string>& env) {
  auto files = json::array();
  for (std::size_t i = 0; i < command.size(); ++i) {
    const auto& word = command[i];
    if (i == 0) {
      add_file(files, word, find_program(word, folder));
      continue;
    }
    add_file(files, word, folder / word);
    if (const auto sign = word.find('='); sign != std::string::npos)
      add_file(files, word, folder / word.substr(sign + 1));
  }
  return json{{"command", command},
              {"folder", folder.string()},
              {"env", env},
              {"files", std::move(files)},
              {"runs", program_basis(line_of(command), folder)}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace riffle::tools
