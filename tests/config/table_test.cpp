// SPDX-License-Identifier: MIT
// The folder's README says of every key who obeys it.
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "runtime/config/config.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

/// "models.default.retry", "base" -> "models.*.retry.base".
std::string general_name(const config::setting& s) {
  auto name = s.section + "." + s.key;
  for (const std::string table : {"models.", "agents.", "mcp."}) {
    const auto whole = table + "default.";
    if (name.starts_with(whole))
      name = table + "*." + name.substr(whole.size());
  }
  if (const auto at = name.find(".tools.one."); at != name.npos)
    name.replace(at, 11, ".tools.*.");
  return name;
}

/// What stands in backquotes in the first column of the README's table.
std::set<std::string> keys_of_table() {
  std::ifstream in{RIFFLE_SOURCE_DIR "/runtime/config/README.md"};
  std::set<std::string> out;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("| Key |")) inside = true;
    if (!inside || !line.starts_with("| `")) continue;
    std::istringstream cell{line.substr(2, line.find(" |", 2) - 2)};
    std::string piece;
    for (bool key = false; std::getline(cell, piece, '`'); key = !key)
      if (key) out.insert(piece);
  }
  return out;
}

}  // namespace

TEST_CASE("the README says of every key, and no other, who obeys it") {
  std::set<std::string> keys;
  config::config all;
  all.mcp["default"].tools["one"] = {};
  for (const auto& s : config::settings(all))
    if (!s.section.starts_with("tools.") || s.key == "allow" ||
        s.key == "read_only")
      keys.insert(general_name(s));
  CHECK(keys_of_table() == keys);
}
