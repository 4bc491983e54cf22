// SPDX-License-Identifier: MIT
// docs/keys.md: every key, its default, and what it does.
#include <fstream>
#include <map>
#include <string>

#include "runtime/config/config.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

constexpr std::string_view one = "one";  // of each table with a name

/// "models.default.retry", "base" -> "models.*.retry.base".
std::string general_name(const config::setting& s) {
  auto name = s.section + "." + s.key;
  for (const std::string table :
       {"models.default.", "agents.default.", "mcp.one.", "tools.one.",
        "server.tokens.one."}) {
    if (!name.starts_with(table)) continue;
    const auto begin = table.rfind('.', table.size() - 2) + 1;
    name.replace(begin, table.size() - 1 - begin, "*");
  }
  if (const auto at = name.find(".tools.one."); at != name.npos)
    name.replace(at, 11, ".tools.*.");
  return name;
}

/// "'{}'" of an empty table is "{}" for people; a long text is cut.
std::string shown(std::string value) {
  if (value == "'{}'") return "{}";
  if (value.starts_with("\"You are ")) return "\"You are …\"";
  return value;
}

/// Key and default of each row; what it does must not be missing.
std::map<std::string, std::string> rows_of_page() {
  std::ifstream in{RIFFLE_SOURCE_DIR "/docs/keys.md"};
  std::map<std::string, std::string> out;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("| `")) continue;
    CAPTURE(line);
    const auto key = line.find('`', 3);
    const auto begin = line.find('`', key + 1);
    const auto end = line.find("` | ", begin);
    REQUIRE(end != line.npos);
    CHECK(line.size() > end + 8);
    CHECK(out.emplace(line.substr(3, key - 3),
                      line.substr(begin + 1, end - begin - 1))
              .second);
  }
  return out;
}

std::map<std::string, std::string> rows_of_program() {
  config::config all;
  all.mcp[std::string{one}].tools[std::string{one}] = {};
  all.server.tokens[std::string{one}] = {};
  all.tools.by_name[std::string{one}].type = "command";
  std::map<std::string, std::string> out;
  for (const auto& s : config::settings(all)) {
    const bool own = s.section.starts_with("tools.");
    // The table of a tool has all keys of [tools], which stand there.
    static const std::string further =
        " type command description parameters effect title env cwd allow "
        "read_only ";
    if (own && further.find(" " + s.key + " ") == further.npos) continue;
    out.emplace(general_name(s), shown(s.value));
  }
  out["tools.*.type"] = "\"\"";  // with it the others are there at all
  return out;
}

}  // namespace

TEST_CASE("the page of keys has every key, and no other, with its default") {
  const auto page = rows_of_page();
  const auto program = rows_of_program();
  REQUIRE(page.size() > 100);
  std::string wrong;
  for (const auto& [key, value] : program)
    if (const auto x = page.find(key); x == page.end())
      wrong += "it lacks " + key + " = " + value + "\n";
    else if (x->second != value)
      wrong += key + " is " + value + ", it says " + x->second + "\n";
  for (const auto& [key, value] : page)
    if (!program.contains(key)) wrong += "there is no " + key + "\n";
  CHECK(wrong == "");
}
