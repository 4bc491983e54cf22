// SPDX-License-Identifier: MIT
// The folder that holds sessions: where it is, and who may look into it.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/plain_user.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

mode_t mode_of(const fs::path& x) {
  struct stat about{};
  REQUIRE(::stat(x.c_str(), &about) == 0);
  return about.st_mode & 07777;
}

/// A run whose output is kept in a file; two sessions.
void fill(const work_folder& folder) {
  http_server server{[](const http_request& request) {
    if (!tool_messages(request).empty()) return respond_sse(answer("Done."));
    return respond_sse(calls(
        {{"bash", {{"command", "head -c 2000000 /dev/zero | tr '\\0' x"}}}}));
  }};
  folder.configure(server.url("/v1"), "[tools.bash]\napproval = \"allow\"\n");
  const auto end =
      riffle::testing::riffle(folder, {"run", "go", "--session", "s1"});
  INFO(end.err);
  REQUIRE(end.status == 0);
}

/// Nobody may write there any more.
void freeze(const fs::path& data) {
  for (const auto& x : fs::recursive_directory_iterator{data})
    ::chmod(x.path().c_str(), x.is_directory() ? 0500 : 0400);
  ::chmod(data.c_str(), 0500);
}

void thaw(const fs::path& data) {
  ::chmod(data.c_str(), 0700);
  for (const auto& x : fs::recursive_directory_iterator{data})
    ::chmod(x.path().c_str(), x.is_directory() ? 0700 : 0600);
}

/// Each folder above it can be entered by anybody.
bool is_open_to_all(const fs::path& program) {
  for (auto x = program.parent_path(); x != x.root_path(); x = x.parent_path())
    if ((fs::status(x).permissions() & fs::perms::others_exec) ==
        fs::perms::none)
      return false;
  return true;
}

}  // namespace

TEST_CASE("without a home, the key that says where data lies is named") {
  const work_folder folder;
  const auto riffle = installed_riffle().string();
  const auto homeless = [&](std::vector<std::string> arguments) {
    std::vector<std::string> all = {"-u", "HOME", "-u", "XDG_STATE_HOME",
                                    riffle};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return program{"/usr/bin/env", folder, all}.wait();
  };
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"run", "go"},
                                             {"sessions", "list"},
                                             {"sessions", "resume", "s"},
                                             {"proposals", "list"},
                                             {"proposals", "approve", "p"}}) {
    const auto end = homeless(arguments);
    CAPTURE(arguments, end.err);
    CHECK(end.status == 2);
    CHECK_THAT(end.err, Contains("runtime.data_dir") &&
                            Contains("--set runtime.data_dir="));
  }
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"tools", "list"},
           {"config", "show"},
           {"config", "init"},
           {"sessions", "list", "--set", "runtime.data_dir=data"}}) {
    const auto end = homeless(arguments);
    CAPTURE(arguments, end.err);
    CHECK(end.status == 0);
  }
  const auto other = homeless(
      {"sessions", "list", "--set", "runtime.data_dir=~nobody/riffle"});
  CHECK(other.status == 2);
  CHECK_THAT(other.err, Contains("homes of other users"));
  for (const auto& x : fs::directory_iterator{folder.path()})
    CHECK_FALSE(x.path().filename().string().starts_with('~'));
}

TEST_CASE("what sessions hold is made for its owner only") {
  const work_folder folder;
  fill(folder);
  const auto data = folder.path() / "data";
  CHECK(mode_of(data) == 0700);
  std::size_t files = 0;
  for (const auto& x : fs::recursive_directory_iterator{data}) {
    CAPTURE(x.path());
    CHECK(mode_of(x.path()) == (x.is_directory() ? 0700 : 0600));
    files += x.is_directory() ? 0 : 1;
  }
  CHECK(files >= 2);  // the database and a kept output
}

TEST_CASE("a folder that others can look into is told of and closed inside") {
  const work_folder folder;
  fill(folder);
  const auto data = folder.path() / "data";
  for (const auto& x : fs::recursive_directory_iterator{data})
    ::chmod(x.path().c_str(), x.is_directory() ? 0755 : 0644);
  ::chmod(data.c_str(), 0755);
  folder.write("log-wal", "");
  const auto end = riffle::testing::riffle(folder, {"sessions", "list"});
  CHECK(end.status == 0);
  CHECK_THAT(end.err, Contains("others can look into the data folder") &&
                          Contains("chmod 700"));
  CHECK(mode_of(data) == 0755);  // somebody made it so
  for (const auto& x : fs::recursive_directory_iterator{data}) {
    CAPTURE(x.path());
    CHECK(mode_of(x.path()) == (x.is_directory() ? 0700 : 0600));
  }
  ::chmod(data.c_str(), 0700);
  CHECK(riffle::testing::riffle(folder, {"sessions", "list"}).err.empty());
}

TEST_CASE("a data folder that cannot be written can be looked at") {
  if (::geteuid() == 0 && !is_open_to_all(installed_riffle()))
    return skip("the program lies where only root may go");
  const work_folder folder;
  fill(folder);
  const auto data = folder.path() / "data";
  const bool killed = GENERATE(false, true);
  CAPTURE(killed);
  if (killed) {
    // It leaves a write-ahead log with its index.
    http_server server{[](const http_request&) {
      return http_reply::sse().send(say("Wait.")).pause(60s);
    }};
    folder.configure(server.url("/v1"), "[tools.bash]\napproval = \"allow\"\n");
    program run{installed_riffle(), folder, {"run", "go", "--session", "s2"}};
    REQUIRE(eventually([&] { return !server.requests().empty(); }));
    run.signal(SIGKILL);
    run.wait();
    REQUIRE(fs::exists(data / "riffle.db-wal"));
  }
  const plain_user user{folder.path()};
  freeze(data);
  const auto look = [&](std::vector<std::string> arguments) {
    auto end = riffle::testing::riffle(folder, std::move(arguments));
    CAPTURE(end.err);
    CHECK(end.status == 0);
    return end.out;
  };
  CHECK_THAT(look({"sessions", "list"}), Contains("s1"));
  CHECK_THAT(look({"sessions", "show", "s1"}), Contains("Done."));
  CHECK_FALSE(checked_events(look({"sessions", "events", "s1"})).empty());
  look({"proposals", "list", "--all"});
  if (killed) CHECK_THAT(look({"sessions", "list"}), Contains("s2"));
  const auto removed =
      riffle::testing::riffle(folder, {"sessions", "delete", "s1"});
  CHECK(removed.status == 1);
  CHECK_THAT(removed.err, Contains("Permission denied"));
  thaw(data);
}

TEST_CASE("a key that is more than one word never becomes a request") {
  http_server server{
      [](const http_request&) { return respond_sse(answer("No.")); }};
  const work_folder folder;
  folder.configure(server.url("/v1"));
  for (const std::string key :
       {"secret\n", "secret\r\nX-Other: 1", "\tsecret", "sec\x7fret", "sec ret",
        " secret", "secret "}) {
    const auto end = riffle::testing::riffle(folder, {"run", "go"},
                                             {{"OPENAI_API_KEY", key}});
    CAPTURE(key);
    CHECK(end.status == 2);
    CHECK_THAT(end.err, Contains("OPENAI_API_KEY") && Contains("line end"));
    CHECK_THAT(end.err, !Contains("sec"));
  }
  CHECK(server.requests().empty());
}
