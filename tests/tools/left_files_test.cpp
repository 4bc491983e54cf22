// SPDX-License-Identifier: MIT
// What a process leaves in a folder that is killed within a write.
#include "tools/builtin/files/left_files.hpp"

#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <string>

#include "runtime/base/unique_fd.hpp"
#include "tests/support/catch.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/files/files.hpp"

using namespace riffle;
using namespace riffle::tools;
namespace fs = std::filesystem;

namespace {

struct left_files_fixture : testing::tool_fixture {
  tool_ptr write = make_write();

  /// A file in the folder that was written to so long ago.
  void leave(const std::string& name, std::chrono::seconds ago) const {
    folder.write(name, "part");
    fs::last_write_time(folder.path() / name,
                        fs::file_time_type::clock::now() - ago);
  }
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> out;
    for (const auto& x : fs::directory_iterator{folder.path()})
      out.insert(x.path().filename().string());
    return out;
  }
};

constexpr auto old = std::chrono::seconds{120};
constexpr auto fresh = std::chrono::seconds{0};

}  // namespace

TEST_CASE("a temporary file has a name by which it is known") {
  CHECK(is_temporary_name(temporary_name()));
  CHECK(temporary_name() != temporary_name());
  for (const auto* other :
       {".riffle-0123456789abcde.tmp", ".riffle-0123456789abcdef0.tmp",
        ".riffle-0123456789abcdeg.tmp", ".riffle-0123456789ABCDEF.tmp",
        "riffle-0123456789abcdef.tmp0", ".riffle-.tmp", ""})
    CHECK_FALSE(is_temporary_name(other));
}

TEST_CASE("the next write to a folder removes what a killed one left there") {
  left_files_fixture x;
  x.leave(".riffle-0000000000000001.tmp", old);
  x.leave(".riffle-0000000000000002.tmp", fresh);
  x.leave(".riffle-0000000000000003.tmp", old);
  x.leave(".riffle-000000000000000x.tmp", old);
  x.leave("linked", old);
  fs::create_hard_link(x.folder.path() / "linked",
                       x.folder.path() / ".riffle-0000000000000004.tmp");
  fs::create_symlink("linked",
                     x.folder.path() / ".riffle-0000000000000005.tmp");
  fs::create_directory(x.folder.path() / ".riffle-0000000000000006.tmp");
  // Of a process that lives, and has not written for long.
  const unique_fd used{
      ::open((x.folder.path() / ".riffle-0000000000000003.tmp").c_str(),
             O_RDWR | O_CLOEXEC)};
  mark_used(used.get());
  x.folder.write("sub/.riffle-0000000000000007.tmp", "another folder");
  const auto result = x.run(*x.write, {{"path", "a.txt"}, {"content", "text"}});
  CHECK_FALSE(result.err);
  CHECK(x.names() ==
        std::set<std::string>{
            ".riffle-0000000000000002.tmp", ".riffle-0000000000000003.tmp",
            ".riffle-0000000000000004.tmp", ".riffle-0000000000000005.tmp",
            ".riffle-0000000000000006.tmp", ".riffle-000000000000000x.tmp",
            "a.txt", "linked", "sub"});
}

TEST_CASE("a folder is looked at once for many writes") {
  left_files_fixture x;
  const auto writes = [&](const std::string& name) {
    return !x.run(*x.write, {{"path", name}, {"content", "text"}}).err;
  };
  REQUIRE(writes("a.txt"));
  const std::string left = ".riffle-0000000000000001.tmp";
  x.leave(left, old);
  CHECK(writes("b.txt"));
  CHECK(x.names() == std::set<std::string>{left, "a.txt", "b.txt"});
}
