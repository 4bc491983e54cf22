// SPDX-License-Identifier: MIT
// [tools.NAME] with type = "command": what arrives, and every mistake.
#include <fstream>

#include "runtime/config/config.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

struct command_fixture {
  command_fixture() {
    namespace fs = std::filesystem;
    folder.write("sub/look.sh", "#!/bin/sh\n");
    folder.write("sub/plain.txt", "no program");
    fs::permissions(folder.path() / "sub/look.sh", fs::perms::owner_all);
  }

  tl::expected<config::config, std::vector<config::mistake>> load(
      const std::string& text) const {
    folder.write("r.toml", text);
    const testing::scoped_directory there{folder.path()};
    return config::load({"r.toml", {}, config::builtin_tools()});
  }

  std::string mistakes_of(const std::string& text) const {
    const auto x = load(text);
    if (x) return "none";
    std::string out;
    for (const auto& m : x.error()) out += config::render(m) + "\n";
    for (const auto& hidden : {folder.path().string() + "/"})
      for (auto at = out.find(hidden); at != out.npos; at = out.find(hidden))
        out.erase(at, hidden.size());
    return out;
  }

  testing::temp_folder folder;
};

constexpr const char* whole = R"(
[agents.default]
tools = ["look"]
[tools.look]
type = "command"
command = ["./look.sh", "-v"]
description = "looks"
parameters = { type = "object", properties = { id = { type = "string" }, n = { type = "integer", maximum = 3 } } }
effect = "read_only"
title = "Looking at {id}"
env = ["LOOK_URL"]
cwd = "sub"
keys = ["/id", "/n"]
idempotent = true
timeout = "3s"
)";

}  // namespace

TEST_CASE("a command of the file is a tool with all of its keys") {
  const command_fixture x;
  const auto loaded = x.load(whole);
  REQUIRE(loaded);
  const auto& tool = loaded->tools.of("look");
  CHECK(tool.type == "command");
  CHECK(tool.program.command == std::vector<std::string>{"./look.sh", "-v"});
  CHECK(tool.program.description == "looks");
  CHECK(tool.program.parameters.text ==
        R"({"properties":{"id":{"type":"string"},"n":{"maximum":3,)"
        R"("type":"integer"}},"type":"object"})");
  CHECK(tool.program.effect == "read_only");
  CHECK(tool.program.title == "Looking at {id}");
  CHECK(tool.program.env == std::vector<std::string>{"LOOK_URL"});
  CHECK(tool.program.cwd == x.folder.path() / "sub");
  CHECK(tool.keys == std::vector<std::string>{"/id", "/n"});
  CHECK(tool.idempotent);
  CHECK(tool.timeout == std::chrono::seconds{3});
}

TEST_CASE("what is shown of a command reads back to the same") {
  const command_fixture x;
  for (const std::string schema :
       {R"('{"type":"object","properties":{"a":{"default":null}}}')",
        R"("{\"type\":\"object\",\"title\":\"it's\\n\"}")",
        R"({ type = "object", additionalProperties = false })"}) {
    CAPTURE(schema);
    const auto loaded = x.load(
        "[tools.look]\ntype = \"command\"\ncommand = [\"sh\"]\n"
        "description = \"d\"\nparameters = " +
        schema + "\n");
    REQUIRE(loaded);
    const auto again =
        config::load({{}, {}, config::builtin_tools(), to_toml(*loaded)});
    REQUIRE(again);
    CHECK(config::settings(*again) == config::settings(*loaded));
    CHECK(again->tools.of("look").program.parameters ==
          loaded->tools.of("look").program.parameters);
  }
}

TEST_CASE("all that a command lacks is said at once") {
  const command_fixture x;
  CHECK(x.mistakes_of("[tools.look]\ntype = \"command\"\n") ==
        "r.toml:1:1: tools.look.command: is missing: the program and its "
        "first arguments, such as [\"./lookup.py\"]\n"
        "r.toml:1:1: tools.look.description: is missing: what the tool does, "
        "for the model\n"
        "r.toml:1:1: tools.look.parameters: is missing: the arguments' JSON "
        "Schema; for none: { type = \"object\" }\n");
}

TEST_CASE("mistakes in a command's table name their place") {
  const command_fixture x;
  struct sample {
    std::string from;  ///< in the text above …
    std::string to;    ///< … is this instead
    std::string message;
  };
  const std::vector<sample> samples = {
      {"\"command\"", "\"script\"",
       "5:8: tools.look.type: \"script\" is not known; allowed: command"},
      {"\"./look.sh\", \"-v\"", "\"./gone.sh\"",
       "6:11: tools.look.command: there is no file \"sub/./gone.sh\""},
      {"./look.sh", "./plain.txt",
       "6:11: tools.look.command: \"sub/./plain.txt\" is not executable: "
       "chmod +x it"},
      {"./look.sh", "no-such-program-anywhere",
       "6:11: tools.look.command: there is no program "
       "\"no-such-program-anywhere\" in $PATH; a file needs a folder before "
       "its name, such as \"./no-such-program-anywhere\""},
      {"type = \"object\", prop", "type = \"objekt\", prop",
       "8:14: tools.look.parameters: no usable JSON Schema: "},
      {"maximum = 3", "maximum = 1979-05-27",
       "8:14: tools.look.parameters: properties: n: maximum: JSON has no "
       "dates and times; write a text"},
      {"parameters = {", "parameters = \"{\" #",
       "8:14: tools.look.parameters: is no JSON object: "},
      {"parameters = {", "parameters = 3 #",
       "8:14: tools.look.parameters: must be a table, or a text that holds a "
       "JSON object, not a whole number"},
      {"read_only", "none",
       "9:10: tools.look.effect: \"none\" is not known; allowed: read_only, "
       "mutating"},
      {"LOOK_URL", "LOOK-URL",
       "11:7: tools.look.env: item 1: must be the name of an environment "
       "variable, not a key itself"},
      {"cwd = \"sub\"", "cwd = \"gone\"",
       "12:7: tools.look.cwd: there is no folder \"gone\""},
      {"\"/n\"", "\"n\"",
       "13:8: tools.look.keys: item 2: \"n\" must be a JSON pointer, such as "
       "/path"},
      {"\"/n\"", "\"/~n\"",
       "13:8: tools.look.keys: item 2: \"/~n\" must be a JSON pointer, such "
       "as /path"},
      {"\"/n\"", "\"/m/0\"",
       "13:8: tools.look.keys: \"/m/0\" leads to no argument; parameters "
       "has: id, n"},
      {"title =", "titel =",
       "10:1: tools.look.titel: unknown key; did you mean \"title\"?"},
  };
  for (const auto& [from, to, message] : samples) {
    std::string text = whole;
    REQUIRE(text.find(from) != text.npos);
    text.replace(text.find(from), from.size(), to);
    CAPTURE(text);
    const auto found = x.mistakes_of(text);
    CHECK(found.find("r.toml:" + message) == 0);
  }
}

TEST_CASE("keys of commands are mistakes on all other tools") {
  const command_fixture x;
  for (const std::string key : {"command", "description", "parameters",
                                "effect", "title", "env", "cwd"}) {
    const std::string value = key == "parameters" ? "{}"
                              : key == "effect"   ? "\"mutating\""
                              : key == "command" || key == "env" ? "[]"
                                                                 : "\"x\"";
    CHECK(x.mistakes_of("[tools.bash]\n" + key + " = " + value + "\n")
              .ends_with(": tools.bash." + key +
                         ": a built-in tool has no such key\n"));
    if (key == "parameters") continue;  // a table: the name of a tool
    CHECK(x.mistakes_of("[tools]\n" + key + " = " + value + "\n")
              .find("r.toml:2:1: tools." + key + ": ") == 0);
  }
  CHECK(x.mistakes_of("[tools.mine]\ndescription = \"x\"\n") ==
        "r.toml:1:1: tools.mine: there is no tool \"mine\"; known: read, glob, "
        "grep, bash, write, edit, fetch, manage_plan, seek_approval, "
        "set_phase, complete\n"
        "r.toml:2:15: tools.mine.description: only a tool with type = "
        "\"command\" has this key\n");
  CHECK(x.mistakes_of("[tools.bash]\ntype = \"command\"\n") ==
        "r.toml:2:8: tools.bash.type: there is a built-in tool with this "
        "name; choose another\n");
  CHECK(x.mistakes_of("[tools.read]\nkeys = [\"/path\"]\n") ==
        "r.toml:2:8: tools.read.keys: only a tool with type = \"command\" has "
        "keys that can be set\n");
}
