// SPDX-License-Identifier: MIT
// What of a command's basis stays the same for other calls of its program.
#include <filesystem>
#include <string>
#include <tuple>

#include "runtime/base/call_identity.hpp"
#include "tests/support/catch.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/shell/bash.hpp"
#include "tools/registry.hpp"

using namespace riffle;
namespace fs = std::filesystem;

TEST_CASE("a file that a command runs is told apart from its words") {
  const testing::temp_folder folder;
  const auto bash = tools::make_bash({});
  folder.write("run.sh", "one\n");
  folder.write("x.py", "one\n");
  fs::permissions(folder.path() / "run.sh", fs::perms::owner_all);
  const auto program = [&](const std::string& command) {
    return program_of_basis(
        bash->preview({{"command", command}}, folder.path()).basis);
  };
  for (const auto& [one, other, file] :
       {std::tuple{"./run.sh fast", "./run.sh slow x", "run.sh"},
        std::tuple{"python3 x.py", "python3 x.py -v", "x.py"}}) {
    const auto before = program(one);
    CHECK_FALSE(before.empty());
    CHECK(program(other) == before);
    folder.write(file, "two\n");
    CHECK(program(one) != before);
    CHECK(program(other) == program(one));
  }
  for (const auto* line :
       {"./none.sh fast", "make", "cat x.py", "/bin/ls x", "./run.sh; ls"})
    CHECK(program(line).empty());
}

TEST_CASE("what a command is for may be said, and changes nothing") {
  testing::tool_fixture x;
  const auto bash = tools::make_bash({});
  const auto result =
      x.run(*bash, {{"command", "echo a"}, {"description", "Says a"}});
  CHECK(result.text == "a\n");
  const auto schema = nlohmann::json::parse(bash->spec().parameters);
  CHECK(schema["properties"].contains("description"));
  CHECK(schema["required"] == nlohmann::json{"command"});
  // Approvals and the search for loops see one call, however it is told.
  tools::registry all;
  REQUIRE(all.add(tools::make_bash({})));
  const auto plain = all.check("bash", R"({"command": "echo a"})");
  const auto told = all.check(
      "bash", R"({"command": "echo a", "description": "Says it again"})");
  REQUIRE(plain);
  REQUIRE(told);
  CHECK(told->text == plain->text);
  CHECK(told->value == plain->value);
  CHECK_FALSE(all.check("bash", R"({"command": "a", "description": 7})"));
}
