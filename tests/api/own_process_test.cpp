// SPDX-License-Identifier: MIT
// What a runtime does to the process of an application: nothing, unless the
// application says that the process is the runtime's own.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

#include "runtime/api/riffle.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

bool environment_shows_key() {
  return text_of("/proc/self/environ").find("sk-canary-of-an-application") !=
         std::string::npos;
}

bool adopts_orphans() {
  int on = -1;
  return ::prctl(PR_GET_CHILD_SUBREAPER, &on) == 0 && on != 0;
}

bool file_limit_kills() {
  struct sigaction now{};
  ::sigaction(SIGXFSZ, nullptr, &now);
  return now.sa_handler == SIG_DFL;
}

/// What there is to see of this process.
std::string what_it_is() {
  std::string out;
  if (std::getenv("RIFFLE_TEST_OWN_KEY") != nullptr) out += "key ";
  if (environment_shows_key()) out += "environ ";
  if (::prctl(PR_GET_DUMPABLE) == 1) out += "dumpable ";
  if (file_limit_kills()) out += "file-limit ";
  if (adopts_orphans()) out += "orphans ";
  return out;
}

/// Starts this program once more, for the case below; what it saw of itself.
std::string seen_by_a_process(const std::string& that_owns) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto file = std::filesystem::temp_directory_path() /
                    ("riffle-own-" + std::to_string(::getpid()));
  const auto command =
      "RIFFLE_TEST_OWN_KEY=sk-canary-of-an-application RIFFLE_TEST_OWNS=" +
      that_owns + " '" + self + "' '[.own]' > '" + file.string() + "'";
  const int status = std::system(command.c_str());
  const auto said = text_of(file);
  std::filesystem::remove(file);
  INFO(said);
  REQUIRE(status == 0);
  const auto from = said.find("saw: ");
  REQUIRE(from != std::string::npos);
  return said.substr(from, said.find('\n', from) - from);
}

}  // namespace

// What a process is it stays: the test needs a new one.
TEST_CASE("an application's process, run by the tests", "[.own]") {
  config::config settings;
  auto& model = settings.models["default"];
  model.dialect = "scripted";
  model.api_key_env = "RIFFLE_TEST_OWN_KEY";
  runtime_options options;
  options.scripts["default"] = "[[steps]]\ntext = \"answered\"\n";
  options.journal = storage::make_memory_journal();
  const char* owns = std::getenv("RIFFLE_TEST_OWNS");
  if (owns != nullptr && *owns == '1') options.owns_process = true;
  const auto before = what_it_is();
  {
    auto made = runtime::create(settings, options);
    REQUIRE(made);
    const auto end = made->execute({.task = "go"});
    REQUIRE(end);
    CHECK(end->answer == "answered");
  }
  std::puts(("saw: " + before + "| " + what_it_is()).c_str());
}

TEST_CASE("a runtime leaves the process of an application as it is") {
  CHECK(seen_by_a_process("0") ==
        "saw: key environ dumpable file-limit | "
        "key environ dumpable file-limit ");
}

TEST_CASE(
    "a process that is the runtime's own gives up its keys, is closed to "
    "others, adopts orphans and outlives its file limit") {
#ifdef __SANITIZE_ADDRESS__
  const std::string open = "dumpable ";  // it traces itself at the end
#else
  const std::string open;
#endif
  CHECK(seen_by_a_process("1") ==
        "saw: key environ dumpable file-limit | " + open + "orphans ");
}
