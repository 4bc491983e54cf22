// SPDX-License-Identifier: MIT
// What is read of files that somebody names: pipes, folders, nothing, and
// texts that were made to break a parser.
#include <sys/stat.h>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;

namespace {

/// A command line of a shell in which $riffle is the program.
finished shell(const work_folder& folder, const std::string& line) {
  return program{"/bin/bash",
                 folder,
                 {"-c", line},
                 {{"riffle", installed_riffle().string()}}}
      .wait();
}

std::string repeat(std::string_view x, std::size_t n) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += x;
  return out;
}

}  // namespace

TEST_CASE("a configuration may come through a pipe") {
  const work_folder folder;
  const std::string shown = " | grep -q 'max_steps = 7  # '";
  const std::string text = "'agents.default.max_steps = 7'";
  for (const auto& line :
       {"$riffle config show --config <(echo " + text + ")" + shown,
        "$riffle config show --config <(sleep 0.2; echo " + text + ")" + shown,
        "echo " + text + " | $riffle config show --config /dev/stdin" + shown,
        "$riffle config show --config /dev/stdin <<<" + text + shown}) {
    const auto end = shell(folder, line);
    CAPTURE(line, end.err);
    CHECK(end.status == 0);
  }
  CHECK(shell(folder, "$riffle config check --config /dev/null").status == 0);
}

TEST_CASE("a configuration that cannot be read is an error that says why") {
  const work_folder folder;
  REQUIRE(::mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
  folder.write("large.toml", "# " + std::string(2 << 20, 'x'));
  const std::vector<std::pair<std::string, std::string>> all = {
      {"--config pipe", "did not come to its end within 5000 ms"},
      {"--config .", "is a folder, not a file"},
      {"--config none.toml", "No such file or directory"},
      {"--config ''", "must not be empty"},
      {"--config=", "nothing stands behind"},
      {"--config large.toml", "is larger than 1 MiB"},
      {"--config /dev/zero", "is larger than 1 MiB"},
      {"--config /proc/self/mem", "Input/output error"}};
  for (const auto& [option, why] : all) {
    const auto end = shell(folder, "$riffle run " + option + " go");
    CAPTURE(option, end.err);
    CHECK(end.status == 2);
    CHECK_THAT(end.err, Contains(why));
  }
  const auto context =
      shell(folder, "$riffle run --context-file pipe --config /dev/null go");
  CHECK(context.status == 2);
  CHECK_THAT(context.err, Contains("did not come to its end within 5000 ms"));
}

TEST_CASE("no TOML takes the program away, wherever it stands") {
  const work_folder folder;
  const auto deep = repeat("a.", 9999) + "a";
  const std::vector<std::string> texts = {
      deep + " = 1",
      "[" + deep + "]",
      "[[" + deep + "]]",
      "a = " + repeat("[", 10000) + repeat("]", 10000),
      "a = " + repeat("{a=", 10000) + "1" + repeat("}", 10000),
      "a = " + repeat("{a.a.a.a.a.a.a.a=", 5000),
      "[" + repeat("a.", 60) + "a]\n" + repeat("a.", 60) +
          "a = " + repeat("[", 100)};
  for (const auto& text : texts) {
    folder.write("deep.toml", text);
    const auto end = riffle::testing::riffle(
        folder, {"config", "check", "--config", "deep.toml"});
    CAPTURE(text.substr(0, 40), end.err);
    CHECK(end.status == 2);
    CHECK_THAT(end.err, Contains("nests deeper than 64 levels"));
    CHECK_THAT(end.err, Contains("deep.toml:"));
    const auto script = riffle::testing::riffle(
        folder,
        {"run", "--config", "/dev/null", "--set",
         "models.default.dialect=scripted", "--set", "runtime.data_dir=data",
         "--set", "models.default.script=deep.toml", "go"});
    CAPTURE(script.err);
    CHECK(script.status == 2);
    CHECK_THAT(script.err, Contains("nests deeper than 128 levels"));
  }
  for (const auto& set : {deep + "=1", "a." + deep + "=x",
                          "agents.default.tools=" + repeat("[", 10000),
                          "models.default.model=" + repeat("{a=", 10000)}) {
    const auto end = riffle::testing::riffle(
        folder, {"config", "check", "--config", "/dev/null", "--set", set});
    CAPTURE(set.substr(0, 40), end.err);
    CHECK(end.status == 2);
    CHECK_THAT(end.err, Contains("nests deeper than 64 levels"));
  }
}

TEST_CASE("many names cost little") {
  const work_folder folder;
  std::string text;
  for (int i = 0; text.size() < 1'000'000; ++i)
    text += "[tools.t" + std::to_string(i) + "]\n";
  folder.write("many.toml", text);
  const auto end = riffle::testing::riffle(
      folder, {"config", "check", "--config", "many.toml"});
  CHECK(end.status == 2);
  CHECK_THAT(end.err, Contains("holds more than 4096 keys and items"));
}
