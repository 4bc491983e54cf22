// SPDX-License-Identifier: MIT
// Completions, judged by the shells themselves; the manual page by groff.
#include <cstdlib>
#include <filesystem>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;

namespace {

bool there_is(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null").c_str()) == 0;
}

/// What a shell prints; the installed program is in its PATH.
finished shell(const work_folder& folder, const std::string& name,
               const std::string& text) {
  folder.write("script", text);
  const auto path = installed_riffle().parent_path().string() + ":" +
                    std::string{std::getenv("PATH")};
  program x{"/usr/bin/env", folder, {name, "script"}, {{"PATH", path}}};
  return x.wait();
}

/// The words that bash offers for a line whose last word is open.
std::string offered(const work_folder& folder, const std::string& line) {
  const auto end = shell(folder, "bash",
                         "source <(riffle completion bash)\n"
                         "COMP_WORDS=(" +
                             line +
                             ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                             "_riffle\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
  INFO(end.err);
  CHECK(end.status == 0);
  return "\n" + end.out;
}

bool has_line(const std::string& lines, const std::string& line) {
  return lines.find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("bash completes commands, options, values and names") {
  const work_folder folder;
  http_server server{
      [](const http_request&) { return respond_sse(answer("fine")); }};
  folder.configure(server.url("/v1"));
  REQUIRE(riffle::testing::riffle(folder, {"run", "go", "--session", "mine"})
              .status == 0);
  const auto top = offered(folder, "riffle ''");
  for (const std::string name : {"run", "sessions", "tools", "completion"})
    CHECK(has_line(top, name));
  CHECK(has_line(offered(folder, "riffle se"), "sessions"));
  CHECK(has_line(offered(folder, "riffle sessions ''"), "resume"));
  const auto options = offered(folder, "riffle run --w");
  CHECK(has_line(options, "--workers"));
  CHECK_FALSE(has_line(options, "--model"));
  CHECK(has_line(offered(folder, "riffle run --output ''"), "jsonl"));
  CHECK(has_line(offered(folder, "riffle sessions show ''"), "mine"));
  CHECK_FALSE(has_line(offered(folder, "riffle sessions resume ''"), "mine"));
  CHECK(has_line(offered(folder, "riffle run --session m"), "mine"));
  CHECK(has_line(offered(folder, "riffle run --agent ''"), "default"));
  CHECK(has_line(offered(folder, "riffle run --model ''"), "default"));
  CHECK(has_line(offered(folder, "riffle tools call re"), "read"));
  folder.write("notes.toml", "");
  CHECK(has_line(offered(folder, "riffle run --config no"), "notes.toml"));
}

TEST_CASE("bash takes names as they are, whoever gave them") {
  const work_folder folder;
  http_server server{
      [](const http_request&) { return respond_sse(answer("fine")); }};
  folder.configure(server.url("/v1"));
  for (const std::string name :
       {"$(touch${IFS}pwned1)", "`touch pwned2`", "a b", "*"})
    REQUIRE(riffle::testing::riffle(folder, {"run", "go", "--session", name})
                .status == 0);
  const auto names = offered(folder, "riffle sessions show ''");
  CHECK(has_line(names, "\\$\\(touch\\$\\{IFS\\}pwned1\\)"));
  CHECK(has_line(names, "a\\ b"));
  CHECK(has_line(names, "\\*"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "pwned1"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "pwned2"));
  folder.write("no tes.toml", "");
  CHECK(has_line(offered(folder, "riffle run --config no"), "no tes.toml"));
}

TEST_CASE("zsh and fish take their scripts") {
  const work_folder folder;
  for (const std::string name : {"zsh", "fish"}) {
    if (!there_is(name)) {
      skip(name + " is not there");
      continue;
    }
    const auto script = riffle::testing::riffle(folder, {"completion", name});
    REQUIRE(script.status == 0);
    folder.write("script", script.out);
    program check{"/usr/bin/env", folder, {name, "-n", "script"}};
    const auto end = check.wait();
    CAPTURE(name, end.err);
    CHECK(end.status == 0);
    CHECK(end.err.empty());
  }
}

TEST_CASE("fish completes what the script says") {
  const work_folder folder;
  if (!there_is("fish")) return skip("fish is not there");
  const auto end = shell(folder, "fish",
                         "riffle completion fish | source\n"
                         "complete -C 'riffle sessions re'\n"
                         "complete -C 'riffle run --output j'\n");
  INFO(end.err);
  CHECK(end.out.find("resume") != std::string::npos);
  CHECK(end.out.find("jsonl") != std::string::npos);
  CHECK(end.out.find("retract") == std::string::npos);
}

namespace {

/// What is offered in zsh for a line whose last word is open: its own words of
/// completion print here, instead of drawing a menu.
std::string offered_by_zsh(const work_folder& folder, const std::string& line) {
  const auto end = shell(folder, "zsh",
                         R"(autoload -Uz compinit
compinit -u -D
source <(riffle completion zsh)
compadd() {
  local x all=0
  for x in "$@"; do
    if (( all )); then print -r -- "$x"; elif [[ $x == -- ]]; then all=1; fi
  done
}
_describe() { local list=${@[-1]}; print -rl -- "${(@P)list%%:*}"; }
_files() { print -r -- FILES; }
[[ $_comps[riffle] == _riffle ]] || exit 7
words=()" + line + R"()
CURRENT=$#words
_riffle
exit 0
)");
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(end.err.empty());
  return "\n" + end.out;
}

}  // namespace

TEST_CASE("zsh completes commands, options, values and names") {
  const work_folder folder;
  if (!there_is("zsh")) return skip("zsh is not there");
  http_server server{
      [](const http_request&) { return respond_sse(answer("fine")); }};
  folder.configure(server.url("/v1"));
  REQUIRE(riffle::testing::riffle(folder, {"run", "go", "--session", "mine"})
              .status == 0);
  const auto offers = [&](const std::string& line) {
    return offered_by_zsh(folder, line);
  };
  CHECK(has_line(offers("riffle ''"), "sessions"));
  CHECK(has_line(offers("riffle sessions ''"), "resume"));
  const auto options = offers("riffle run --w");
  CHECK(has_line(options, "--workers"));
  CHECK_FALSE(has_line(options, "resume"));
  CHECK(has_line(offers("riffle run --output ''"), "jsonl"));
  CHECK(has_line(offers("riffle sessions resume --on-error ''"), "retry"));
  CHECK(has_line(offers("riffle sessions show ''"), "mine"));
  CHECK(has_line(offers("riffle run --model ''"), "default"));
  CHECK(has_line(offers("riffle tools call ''"), "read"));
  CHECK(has_line(offers("riffle run --config ''"), "FILES"));
}

TEST_CASE("fish completes the names of sessions, models and tools") {
  const work_folder folder;
  if (!there_is("fish")) return skip("fish is not there");
  http_server server{
      [](const http_request&) { return respond_sse(answer("fine")); }};
  folder.configure(server.url("/v1"));
  REQUIRE(riffle::testing::riffle(folder, {"run", "go", "--session", "mine"})
              .status == 0);
  const auto end = shell(folder, "fish",
                         "riffle completion fish | source\n"
                         "complete -C 'riffle sessions show '\n"
                         "complete -C 'riffle run --model '\n"
                         "complete -C 'riffle tools call '\n"
                         "complete -C 'riffle run --w'\n");
  INFO(end.out << end.err);
  // Each name, with what it is about behind a tab.
  const auto all = "\n" + end.out;
  for (const std::string name : {"mine", "default", "read", "--workers"}) {
    CAPTURE(name);
    CHECK((all.find("\n" + name + "\t") != std::string::npos ||
           has_line(all, name)));
  }
}

TEST_CASE("the manual page is one") {
  const work_folder folder;
  const auto page = riffle::testing::riffle(folder, {"completion", "man"});
  REQUIRE(page.status == 0);
  folder.write("riffle.1", page.out);
  if (!there_is("groff")) return skip("groff is not there");
  program groff{
      "/usr/bin/env", folder, {"groff", "-man", "-ww", "-Tutf8", "riffle.1"}};
  const auto end = groff.wait();
  CHECK(end.status == 0);
  CHECK(end.err.empty());
  CHECK(end.out.find("riffle sessions resume") != std::string::npos);
}
