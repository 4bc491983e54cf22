// SPDX-License-Identifier: MIT
// Opening a folder in which something else stands, in which another process
// stands still, or of which a part is another user's.
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/storage/owner.hpp"
#include "runtime/storage/read_only_journal.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/log_lines.hpp"
#include "tests/support/skip.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

namespace fs = std::filesystem;

/// Says what it looked at if it is not there.
void check_says(const std::string& text, const std::string& part) {
  CAPTURE(text, part);
  CHECK(text.find(part) != text.npos);
}

constexpr uid_t nobody = 65534;

uid_t user_of(const fs::path& x) {
  struct stat about{};
  REQUIRE(::lstat(x.c_str(), &about) == 0);
  return about.st_uid;
}

/// What `describe_owner` says to a user who is not root, and whether he is told
/// that it lives.
std::string asked_by_nobody(const fs::path& folder, const std::string& id) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const auto pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    const bool is_user = ::geteuid() != 0 || ::setuid(nobody) == 0;
    const auto text =
        (storage::owner_lives(folder, id) ? "lives: " : "gone: ") +
        storage::describe_owner(folder, id);
    const auto n = is_user ? ::write(ends[1], text.data(), text.size()) : 0;
    ::_exit(n > 0 ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text(500, '\0');
  const auto n = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

}  // namespace

TEST_CASE("what is no file is not waited for, in the place of a file") {
  const scratch_folder folder;
  const std::string name =
      GENERATE("riffle.db", "riffle.db-wal", "riffle.db-shm");
  CAPTURE(name);
  if (name != "riffle.db") REQUIRE(open_store(folder.path()));
  const auto file = folder.path() / name;
  std::string kind;
  SECTION("a pipe") {
    kind = "a pipe";
    REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  }
  SECTION("a folder") {
    kind = "a folder";
    fs::create_directory(file);
  }
  const auto why = file.string() + " is " + kind;
  const auto written = storage::sqlite_journal::open(folder.path(), {});
  REQUIRE_FALSE(written);
  check_says(written.error().message, why);
  const auto looked = storage::open_read_only_journal(folder.path());
  REQUIRE_FALSE(looked);
  check_says(looked.error().message, why);
}

TEST_CASE("a pipe among the marks of life is none") {
  const scratch_folder folder;
  REQUIRE(open_store(folder.path()));
  const auto mark = folder.path() / "owners" / "own_pipe";
  REQUIRE(::mkfifo(mark.c_str(), 0600) == 0);
  REQUIRE(open_store(folder.path()));
  CHECK_FALSE(fs::exists(mark));
}

TEST_CASE("who stands still while it opens a folder is named, and waited for") {
  const scratch_folder folder;
  const auto other =
      storage::lock_folder(folder.path(), std::chrono::milliseconds{0});
  REQUIRE(other);
  storage::sqlite_options options;
  options.timeout = std::chrono::milliseconds{30};
  const auto why = storage::sqlite_journal::open(folder.path(), options);
  REQUIRE_FALSE(why);
  CHECK(why.error().code == errc::storage_unavailable);
  CHECK(why.error().retryable);
  check_says(why.error().message, "process");
  check_says(why.error().message, "is opening " + folder.path().string());
  // Where the system shows who holds a lock.
  const auto said = why.error().message;
  const bool is_named = said.starts_with("process ");
  if (is_named)
    CHECK(said.starts_with("process " + std::to_string(::getpid()) + " "));
}

TEST_CASE("root in a user's folder gives nothing away, and says so") {
  if (::geteuid() != 0) return skip("only root could give files away");
  const scratch_folder folder;
  const scratch_folder elsewhere;
  const testing::log_lines lines{"warn"};
  REQUIRE(::chown(folder.path().c_str(), nobody, nobody) == 0);
  // Whose folder it is may have put a link there.
  fs::create_directory_symlink(elsewhere.path(), folder.path() / "owners");
  const auto journal = storage::sqlite_journal::open(folder.path(), {});
  CHECK(user_of(elsewhere.path()) == 0);
  for (const auto& x : fs::directory_iterator{elsewhere.path()})
    CHECK(user_of(x.path()) == 0);
  CHECK(lines.text().find("root works in " + folder.path().string() +
                          ", which is of user 65534") != std::string::npos);
}

TEST_CASE("an owner that cannot be asked is not said to be gone") {
  const scratch_folder folder;
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  std::ofstream{folder.path() / "own_1"} << "12\n";
  REQUIRE(::chmod((folder.path() / "own_1").c_str(), 0) == 0);
  const auto user =
      ::geteuid() == 0 ? "root" : "user " + std::to_string(::geteuid());
  const auto said = asked_by_nobody(folder.path(), "own_1");
  check_says(said, "lives: a process of " + user);
  check_says(said, "Permission denied");
  CHECK(asked_by_nobody(folder.path(), "own_2") ==
        "gone: a process that is gone");
}
