// SPDX-License-Identifier: MIT
// The installed package as an application uses it: found by CMake, built,
// run. Also from another place than it was installed to.
#include <filesystem>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/patience.hpp"
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
  const auto end = run.wait(rt::patiently(240s));
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
                    package.string() + "' -DCMAKE_CXX_FLAGS='-Wall -Wextra'");
  shell(folder, "ninja -C build " + targets);
}

void check_sample(const rt::work_folder& folder) {
  rt::program run{folder.path() / "build" / "sample", folder, {}};
  const auto end = run.wait(rt::patiently(60s));
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(end.err == "It has 6 words, and hello from bash.\n");
  const auto events = rt::checked_events(end.out);
  CHECK(rt::of_type(events, "tool_result").size() == 2);
}

}  // namespace

TEST_CASE("an application is built with the installed package and runs") {
  if (is_sanitized) return rt::skip("the package is for plain programs");
  const rt::work_folder folder;
  const auto package = rt::installed_riffle().parent_path().parent_path();
  build(folder, package, "sample tool_test");
  check_sample(folder);
  shell(folder, "build/tool_test");
}

TEST_CASE("the package works where it was moved to") {
  if (is_sanitized) return rt::skip("the package is for plain programs");
  const rt::work_folder folder;
  const auto package = moved_package(folder);
  for (const char* file :
       {"bin/riffle", "include/riffle/riffle.hpp", "include/riffle/testing.hpp",
        "lib/cmake/riffle/riffleConfig.cmake",
        "lib/cmake/riffle/riffleConfigVersion.cmake",
        "share/riffle/default.toml", "share/riffle/demo.toml",
        "share/riffle/demo.script.toml", "share/doc/riffle/README.md",
        "share/doc/riffle/LICENSE"}) {
    INFO(file);
    CHECK(fs::is_regular_file(package / file));
  }
  build(folder, package, "sample");
  check_sample(folder);
}

TEST_CASE("no file of the package names the place where it was built") {
  const rt::work_folder folder;
  const auto package = moved_package(folder);
  CHECK(shell(folder, "grep -rlIF -e '" RIFFLE_SOURCE_DIR "' -e '" +
                          (folder.path() / "stage").string() +
                          "' moved || true") == "");
}

TEST_CASE(
    "a program that cannot be a guard is told so, and not started again") {
  const rt::work_folder folder;
  const auto binary = fs::path{RIFFLE_BINARY_DIR} / "tests/riffle_unguarded";
  rt::program run{binary, folder, {"starts.txt"}};
  const auto end = run.wait(rt::patiently(60s));
  CHECK(end.status == 3);
  INFO(end.err);
  CHECK(end.err.find("invalid_config: agents.default.tools: `bash`") !=
        std::string::npos);
  CHECK(end.err.find("call riffle::worker_main(argc, argv) first in main") !=
        std::string::npos);
  CHECK(folder.lines("starts.txt").size() == 1);

  rt::program isolated{binary, folder, {"starts.txt", "no bash", "isolated"}};
  const auto refused = isolated.wait(rt::patiently(60s));
  CHECK(refused.status == 2);
  CHECK(refused.err.find("invalid_config: tools.read.isolation: \"process\"") !=
        std::string::npos);
  CHECK(
      refused.err.find("call riffle::worker_main(argc, argv) first in main") !=
      std::string::npos);
  CHECK(folder.lines("starts.txt").size() == 2);

  rt::program without{binary, folder, {"starts.txt", "no bash"}};
  CHECK(without.wait(rt::patiently(60s)).out == "answered\n");
  CHECK(folder.lines("starts.txt").size() == 3);
}
