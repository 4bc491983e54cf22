// SPDX-License-Identifier: MIT
// The installed package as an application uses it: found by CMake or by
// pkg-config, built, run; also from another place than it was installed to.
// And the sources inside of another project.
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

namespace fs = std::filesystem;
namespace rt = riffle::testing;
using namespace std::chrono_literals;

namespace {

const fs::path sample = fs::path{RIFFLE_SOURCE_DIR} / "tests" / "sample";

/// What a sanitizer adds to a library it must find in the program, too.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

std::string shell(const rt::work_folder& folder, const std::string& command) {
  rt::program run{"/bin/sh", folder, {"-c", command + " 2>&1"}};
  const auto end = run.wait(240s);
  INFO(command << "\n" << end.out);
  REQUIRE(end.status == 0);
  return end.out;
}

/// Installs into `folder`/stage and moves it to `folder`/moved.
fs::path moved_package(const rt::work_folder& folder) {
  shell(folder, "DESTDIR='" + (folder.path() / "stage").string() +
                    "' cmake --install '" RIFFLE_BINARY_DIR
                    "' --prefix /opt/some/where");
  fs::rename(folder.path() / "stage/opt/some/where", folder.path() / "moved");
  CHECK(fs::is_empty(folder.path() / "stage/opt/some"));
  return folder.path() / "moved";
}

/// Builds targets of the sample against the package.
void build(const rt::work_folder& folder, const fs::path& package,
           const std::string& targets) {
  fs::copy(sample, folder.path() / "sample");
  shell(folder, "cmake -G Ninja -S sample -B build -DCMAKE_PREFIX_PATH='" +
                    package.string() +
                    "' -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "
                    "-DCMAKE_CXX_FLAGS='-Wall -Wextra -Wpedantic -Werror'");
  const auto commands = folder.read("build/compile_commands.json");
  CHECK(commands.find("sample/main.cpp") != std::string::npos);
  CHECK(commands.find(" -D") == std::string::npos);
  shell(folder, "ninja -C build " + targets);
}

void check_sample(const rt::work_folder& folder) {
  rt::program run{folder.path() / "build" / "sample", folder, {}};
  const auto end = run.wait(60s);
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(end.err == "It has 6 words, and hello from bash.\n");
  const auto events = rt::checked_events(end.out);
  CHECK(rt::of_type(events, "tool_result").size() == 2);
}

const std::string strict = "-Wall -Wextra -Wpedantic -Werror";

/// Whether a text names this place: the whole path, not a part of a longer one
/// ("include/riffle" does not name "/riffle").
bool names_place(std::string_view text, std::string_view place) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
           c == '.' || c == '-' || c == '}' || c == ')' || c == '~' || c == '>';
  };
  for (auto at = text.find(place); at != std::string_view::npos;
       at = text.find(place, at + 1)) {
    const auto before = text.substr(0, at);
    const bool begins = before.empty() || !is_part(before.back()) ||
                        before.ends_with("-I") || before.ends_with("-L");
    const auto behind = text.substr(at + place.size());
    const bool ends = behind.empty() || !is_part(behind.front());
    if (begins && ends) return true;
  }
  return false;
}

/// The texts of a package, which have no NUL.
std::map<fs::path, std::string> texts_of(const fs::path& package) {
  std::map<fs::path, std::string> all;
  for (const auto& x : fs::recursive_directory_iterator{package}) {
    if (!x.is_regular_file()) continue;
    std::ifstream in{x.path(), std::ios::binary};
    std::string text{std::istreambuf_iterator<char>{in}, {}};
    if (text.find('\0') == std::string::npos)
      all.emplace(x.path(), std::move(text));
  }
  return all;
}

/// Configures tests/consumer with Riffle inside.
void configure_consumer(const rt::work_folder& folder,
                        const std::string& options) {
  shell(folder, "cmake -G Ninja -S '" RIFFLE_SOURCE_DIR
                "/tests/consumer' -B build -DRIFFLE_SOURCE='" RIFFLE_SOURCE_DIR
                "' " +
                    options);
}

}  // namespace

TEST_CASE("a path is named as a whole or not at all") {
  CHECK(names_place("-I/riffle/include", "/riffle"));
  CHECK(names_place("set(x \"/riffle\")", "/riffle"));
  CHECK(names_place("/riffle", "/riffle"));
  CHECK(names_place("a=/riffle;b", "/riffle"));
  CHECK(names_place("from:/riffle/messages/ids.hpp", "/riffle"));
  CHECK(names_place("/tmp/x\n /riffle ", "/riffle"));
  for (const auto* text :
       {"#include <riffle/riffle.hpp>", "include/riffle", "./riffle.toml",
        "${_IMPORT_PREFIX}/riffle", "~/riffle", "/riffles", "/riffle.toml",
        "https://x.y/riffle", "riffle::riffle", "/opt/riffle/bin"}) {
    CAPTURE(text);
    CHECK_FALSE(names_place(text, "/riffle"));
  }
}

TEST_CASE("an application is built with the installed package and runs") {
  if (is_sanitized) return rt::skip("the package is for plain programs");
  const rt::work_folder folder;
  const auto package = rt::installed_riffle().parent_path().parent_path();
  build(folder, package, "sample tool_test several");
  check_sample(folder);
  shell(folder, "build/tool_test");
  rt::program several{folder.path() / "build" / "several", folder, {}};
  const auto end = several.wait(60s);
  CAPTURE(end.out, end.err);
  CHECK(end.status == 0);
  CHECK(end.out.find("0: I did: one\n") != std::string::npos);
  CHECK(end.out.find("1: I did: two\n") != std::string::npos);
  CHECK(end.out.ends_with(
      "bash ended\nI did: Tell what was found\n\ndone\nI did: three\n"));
}

TEST_CASE("the package works where it was moved to") {
  if (is_sanitized) return rt::skip("the package is for plain programs");
  const rt::work_folder folder;
  const auto package = moved_package(folder);
  for (const char* file : {"bin/riffle",
                           "include/riffle/riffle.hpp",
                           "include/riffle/testing.hpp",
                           "lib/cmake/riffle/riffleConfig.cmake",
                           "lib/cmake/riffle/riffleConfigVersion.cmake",
                           "lib/pkgconfig/riffle.pc",
                           "include/riffle/version.hpp",
                           "share/riffle/default.toml",
                           "share/riffle/demo.toml",
                           "share/riffle/demo.script.toml",
                           "share/riffle/demo/play.sh",
                           "share/riffle/demo/riffle.toml",
                           "share/doc/riffle/README.md",
                           "share/doc/riffle/docs/tools.md",
                           "share/doc/riffle/docs/benchmarks.md",
                           "share/doc/riffle/LICENSE",
                           "include/riffle/volley.hpp",
                           "share/man/man1/riffle.1",
                           "share/bash-completion/completions/riffle",
                           "share/zsh/site-functions/_riffle",
                           "share/fish/vendor_completions.d/riffle.fish"}) {
    INFO(file);
    CHECK(fs::is_regular_file(package / file));
  }
  build(folder, package, "sample");
  check_sample(folder);
}

TEST_CASE("no file of the package names the place where it was built") {
  const rt::work_folder folder;
  const auto texts = texts_of(moved_package(folder));
  REQUIRE(texts.size() > 20);
  // Also where the sources lie in a folder that is named as ours are.
  for (const std::string& place :
       {std::string{RIFFLE_SOURCE_DIR}, std::string{RIFFLE_BINARY_DIR},
        (folder.path() / "stage").string(), std::string{"/riffle"}})
    for (const auto& [file, text] : texts) {
      CAPTURE(file, place);
      CHECK_FALSE(names_place(text, place));
    }
}

TEST_CASE("pkg-config tells a compiler and a linker all that they need") {
  if (is_sanitized) return rt::skip("the package is for plain programs");
  const rt::work_folder folder;
  if (std::system("pkg-config --version > /dev/null 2>&1") != 0)
    return rt::skip("no pkg-config");
  const auto package = moved_package(folder);
  const auto pc = "PKG_CONFIG_PATH='" + (package / "lib/pkgconfig").string() +
                  "' pkg-config ";
  const auto flags = shell(folder, pc + "--cflags riffle");
  CHECK(flags.find("-D") == std::string::npos);
  CHECK(flags.find("include") != std::string::npos);
  const fs::path source{RIFFLE_SOURCE_DIR "/tests/consumer/aggregates.cpp"};
  shell(folder, "g++ -std=c++20 -O0 " + strict + " '" + source.string() +
                    "' -o consumer $(" + pc + "--cflags --libs riffle)");
  CHECK(shell(folder, "./consumer") ==
        shell(folder, pc + "--modversion riffle"));
  CHECK(shell(folder, pc + "--static --libs riffle") ==
        shell(folder, pc + "--libs riffle"));
}

TEST_CASE("the sources inside of a project give it the library and no more") {
  if (is_sanitized) return rt::skip("the package is for plain programs");
  const bool fetched = GENERATE(false, true);
  CAPTURE(fetched);
  const rt::work_folder folder;
  // The project's own checks stop this: flags, tests, targets that leak.
  configure_consumer(folder, fetched ? "-DRIFFLE_FETCH=ON" : "");
  shell(folder, "ninja -C build CMakeFiles/consumer.dir/aggregates.cpp.o");
  const auto commands = folder.read("build/compile_commands.json");
  const auto at = commands.find("aggregates.cpp.o -c");
  REQUIRE(at != std::string::npos);
  const auto line = commands.substr(commands.rfind("\"command\"", at),
                                    at - commands.rfind("\"command\"", at));
  CHECK(line.find(" -D") == std::string::npos);
  for (const std::string include : {"-I", "-isystem "})  // our folders
    CHECK(line.find(include + RIFFLE_SOURCE_DIR " ") == std::string::npos);
  // The libraries are those of this build, which came of the same sources; to
  // compile them once more is for `--full`. The linker gets its own command.
  const std::string library =
      fetched ? "build/_deps/riffle-build" : "build/riffle";
  if (std::getenv("RIFFLE_TEST_FULL") != nullptr) {
    shell(folder, "ninja -C build consumer");
  } else {
    shell(folder, "cp '" RIFFLE_BINARY_DIR "'/libriffle_*.a " + library);
    shell(folder,
          "cd build && sh -c \"$(ninja -t commands consumer | tail -n 1)\"");
  }
  CHECK(shell(folder, "build/consumer").find('.') != std::string::npos);
}

TEST_CASE(
    "a program that cannot be a guard is told so, and not started again") {
  const rt::work_folder folder;
  const auto binary = fs::path{RIFFLE_BINARY_DIR} / "tests/riffle_unguarded";
  rt::program run{binary, folder, {"starts.txt"}};
  const auto end = run.wait(60s);
  CHECK(end.status == 3);
  INFO(end.err);
  CHECK(end.err.find("invalid_config: agents.default.tools: `bash`") !=
        std::string::npos);
  CHECK(end.err.find("call riffle::worker_main(argc, argv) first in main") !=
        std::string::npos);
  CHECK(folder.lines("starts.txt").size() == 1);

  rt::program isolated{binary, folder, {"starts.txt", "no bash", "isolated"}};
  const auto refused = isolated.wait(60s);
  CHECK(refused.status == 2);
  CHECK(refused.err.find("invalid_config: tools.read.isolation: \"process\"") !=
        std::string::npos);
  CHECK(
      refused.err.find("call riffle::worker_main(argc, argv) first in main") !=
      std::string::npos);
  CHECK(folder.lines("starts.txt").size() == 2);

  rt::program without{binary, folder, {"starts.txt", "no bash"}};
  CHECK(without.wait(60s).out == "answered\n");
  CHECK(folder.lines("starts.txt").size() == 3);
}
