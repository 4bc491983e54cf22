// SPDX-License-Identifier: MIT
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/digest.hpp"
#include "runtime/base/write_all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/plain_user.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/ask.hpp"
#include "tools/builtin/files/files.hpp"
#include "tools/builtin/files/replace_file.hpp"

using namespace riffle;
using namespace riffle::tools;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct write_fixture : testing::tool_fixture {
  tool_ptr write = make_write();

  tool_output put(const std::string& path, const std::string& content) {
    return run(*write, {{"path", path}, {"content", content}});
  }
  std::string failure(const std::string& path) {
    const auto result = put(path, "new");
    if (!result.err) return "no failure: " + result.text;
    CHECK(result.err->op == "write");
    return result.text;
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    return testing::slurp(folder.path() / name);
  }
  /// Names in a folder: nothing is left behind.
  [[nodiscard]] std::size_t count(const std::string& name = ".") const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator{folder.path() / name},
                      fs::directory_iterator{}));
  }
  [[nodiscard]] mode_t mode(const std::string& name) const {
    struct stat info{};
    REQUIRE(::stat((folder.path() / name).c_str(), &info) == 0);
    return info.st_mode & 07777U;
  }
};

}  // namespace

TEST_CASE("write makes a file and the folders on the way") {
  write_fixture x;
  const auto result = x.put("a/b/c.txt", "one\r\ntwo");
  CHECK_FALSE(result.err);
  CHECK(result.text == "Made a/b/c.txt (2 lines, 8 B)");
  CHECK(x.content("a/b/c.txt") == "one\r\ntwo");
  CHECK(x.count("a/b") == 1);
  CHECK(json::parse(result.metadata) ==
        json{{"path", "a/b/c.txt"},
             {"lines", 2},
             {"bytes", 8},
             {"created", true},
             {"added", 2},
             {"removed", 0},
             {"digest_after", "sha256 " + sha256("one\r\ntwo")},
             {"diff",
              "--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\r\n+two\n"
              "\\ No newline at end of file\n"}});
  CHECK(x.put("./a/../d//e", "").text == "Made ./a/../d//e (0 lines, 0 B)");
  CHECK(x.content("d/e").empty());
  CHECK(x.put((x.folder.path() / "f").string(), "f").text ==
        "Made f (1 line, 1 B)");
}

TEST_CASE("write replaces a file in one step and keeps its mode") {
  write_fixture x;
  x.folder.write("f", "old\n");
  const auto file = x.folder.path() / "f";
  REQUIRE(::chmod(file.c_str(), 0741) == 0);
  struct stat before{};
  REQUIRE(::stat(file.c_str(), &before) == 0);
  const auto result = x.put("f", "new\n");
  CHECK(result.text == "Replaced f (1 line, 4 B; +1 -1 lines)");
  CHECK(x.content("f") == "new\n");
  CHECK(x.mode("f") == 0741);
  struct stat after{};
  REQUIRE(::stat(file.c_str(), &after) == 0);
  CHECK(after.st_ino != before.st_ino);
  CHECK(x.count() == 1);
  CHECK(json::parse(result.metadata)["created"] == false);
  CHECK(json::parse(result.metadata)["diff"] ==
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\n");
}

TEST_CASE("write goes through a link inside the workspace and keeps it") {
  write_fixture x;
  x.folder.write("docs/f", "old");
  fs::create_symlink("docs/f", x.folder.path() / "link");
  fs::create_symlink("../docs/new", x.folder.path() / "docs/dangling");
  CHECK_FALSE(x.put("link", "new").err);
  CHECK(fs::is_symlink(x.folder.path() / "link"));
  CHECK(x.content("docs/f") == "new");
  CHECK_FALSE(x.put("docs/dangling", "made").err);
  CHECK(x.content("docs/new") == "made");
}

TEST_CASE("write leaves other hard links as they are") {
  write_fixture x;
  x.folder.write("ws/f", "old");
  fs::create_hard_link(x.folder.path() / "ws/f", x.folder.path() / "outside");
  x.context.workspace = x.folder.path() / "ws";
  CHECK_FALSE(x.put("f", "new").err);
  CHECK(x.content("ws/f") == "new");
  CHECK(x.content("outside") == "old");
}

TEST_CASE("write refuses what is no file, and says so") {
  write_fixture x;
  x.folder.write("src/a", "");
  REQUIRE(::mkfifo((x.folder.path() / "pipe").c_str(), 0600) == 0);
  fs::create_symlink("loop", x.folder.path() / "loop");
  CHECK(x.failure("src") == "src is a folder; it holds: a");
  CHECK(x.failure("src/") == "src/ names a folder, not a file");
  CHECK(x.failure("new/..") == "new/.. names a folder, not a file");
  CHECK(x.failure(".") == ". names a folder, not a file");
  CHECK(x.failure("pipe").starts_with("pipe is no regular file"));
  CHECK(
      x.failure("src/a/b").ends_with("a part of its path is a file, not a "
                                     "folder"));
  CHECK(x.failure("loop").starts_with("loop is a symbolic link"));
  fs::create_directory_symlink("gone", x.folder.path() / "nowhere");
  CHECK(x.failure("nowhere/x")
            .ends_with("nowhere is a symbolic link to a "
                       "place that does not exist"));
  CHECK(x.failure("~/x").ends_with("~ means nothing"));
  CHECK(x.failure(std::string(300, 'n')).starts_with("cannot "));
  CHECK(x.count() == 4);
  x.context.workspace = x.folder.path() / "gone";
  CHECK(x.failure("f").starts_with("the workspace "));
}

TEST_CASE("write respects a file that may not be written") {
  write_fixture x;
  x.folder.write("f", "old");
  REQUIRE(::chmod((x.folder.path() / "f").c_str(), 0444) == 0);
  const testing::plain_user user{x.folder.path()};
  CHECK(x.failure("f") == "permission denied: the program may not write f");
  CHECK(x.content("f") == "old");
}

TEST_CASE("write that is stopped leaves everything as it was") {
  write_fixture x;
  x.folder.write("f", "old");
  x.stop.request_stop();
  const auto result = x.put("f", "new");
  REQUIRE(result.err);
  CHECK(result.err->code == errc::cancelled);
  CHECK(x.content("f") == "old");
  CHECK(x.count() == 1);
}

TEST_CASE("a person sees the diff before a file is written") {
  write_fixture x;
  x.folder.write("f", "old\n");
  const auto preview = [&](const std::string& path, const std::string& text) {
    return x.write
        ->preview({{"path", path}, {"content", text}}, x.folder.path())
        .text;
  };
  CHECK(preview("f", "new\n") == "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\n");
  CHECK(preview("f", "old\n") == "Leaves the file as it is");
  CHECK(preview("g/h", "") == "Makes an empty file");
  CHECK(preview("../f", "x") ==
        "This cannot be done: ../f leads out of the workspace, which is not "
        "allowed");
  CHECK(x.write->preview({{"path", "../f"}, {"content", "x"}}, x.folder.path())
            .impossible->code == errc::invalid_arguments);
  // Where something is hidden, why a path fails may tell of it.
  CHECK_FALSE(
      make_write({.rules = {{"secret/*", core::approval_policy::deny}}})
          ->preview({{"path", "../f"}, {"content", "x"}}, x.folder.path())
          .impossible);
  x.folder.write("bin", std::string("\0", 1));
  CHECK(preview("bin", "a\n") == "Replaces bin by 1 line, 2 B");
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "line " + std::to_string(i) + "\n";
  const auto cut = preview("f", many);
  CHECK(cut.find("\n+line 4999\n") != cut.npos);
  many.clear();
  for (int i = 0; i < 50'000; ++i) many += "line " + std::to_string(i) + "\n";
  const auto part = preview("f", many);
  CHECK(part.size() < 256u << 10);
  CHECK(part.size() > 200u << 10);
  CHECK(part.find("\n-old\n+line 0\n+line 1\n") != part.npos);
  const auto shown = std::count(part.begin(), part.end(), '\n') - 5;
  CHECK(part.ends_with("\n[... not shown: +" + std::to_string(50'000 - shown) +
                       " -0 lines; in all +50000 -1 lines]\n"));
  CHECK(x.content("f") == "old\n");
  CHECK_FALSE(x.folder.has("g"));
}

TEST_CASE("a write of what is there asks nobody, and leaves the file alone") {
  write_fixture x;
  x.folder.write("f", "old\n");
  x.folder.write("secret/key", "KEY=abc\n");
  const auto impossible = [&](const tool_ptr& write, const std::string& path,
                              const std::string& text) {
    return write->preview({{"path", path}, {"content", text}}, x.folder.path())
        .impossible;
  };
  const auto why = impossible(x.write, "f", "old\n");
  REQUIRE(why);
  CHECK(why->code == errc::invalid_arguments);
  CHECK(why->message == "f holds exactly this already: nothing to do");
  CHECK_FALSE(impossible(x.write, "f", "old"));
  CHECK_FALSE(impossible(x.write, "g", ""));
  CHECK(impossible(x.write, "secret/key", "KEY=abc\n"));
  // What may not be read is no oracle: each guess is a question to a person.
  const auto kept =
      make_write({.rules = {{"secret/*", core::approval_policy::deny}}});
  CHECK(impossible(kept, "f", "old\n"));
  CHECK_FALSE(impossible(kept, "secret/key", "KEY=abc\n"));

  // Where nobody would have been asked it is no change, either.
  const auto file = x.folder.path() / "f";
  struct stat before{};
  REQUIRE(::stat(file.c_str(), &before) == 0);
  const auto result = x.put("f", "old\n");
  CHECK_FALSE(result.err);
  CHECK(result.text == "f holds exactly this already: it was left as it is");
  struct stat after{};
  REQUIRE(::stat(file.c_str(), &after) == 0);
  CHECK(after.st_ino == before.st_ino);
  CHECK(after.st_mtim.tv_sec == before.st_mtim.tv_sec);
  CHECK(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
}

TEST_CASE("an approved write replaces what was shown, and nothing else") {
  write_fixture x;
  x.folder.write("f", "old\n");
  const json arguments = {{"path", "f"}, {"content", "new\n"}};
  const auto look = [&] {
    return x.write->preview(arguments, x.folder.path());
  };
  x.context.basis = look().basis;
  REQUIRE_FALSE(x.context.basis.empty());
  SECTION("as it was shown") {
    CHECK_FALSE(x.put("f", "new\n").err);
    CHECK(x.content("f") == "new\n");
  }
  SECTION("written again with the same content") {
    x.folder.write("f", "old\n");
    CHECK_FALSE(x.put("f", "new\n").err);
  }
  SECTION("changed") {
    x.folder.write("f", "other\n");
    CHECK(look().basis != x.context.basis);
    const auto result = x.put("f", "new\n");
    REQUIRE(result.err);
    CHECK(result.text.find("changed by something else") != std::string::npos);
    CHECK(x.content("f") == "other\n");
    CHECK(x.count() == 1);
  }
  SECTION("gone") {
    fs::remove(x.folder.path() / "f");
    REQUIRE(x.put("f", "new\n").err);
    CHECK_FALSE(x.folder.has("f"));
  }
  SECTION("written by an attempt before this one") {
    x.folder.write("f", "new\n");
    CHECK(x.put("f", "new\n").err);
    x.context.attempt = 2;
    CHECK_FALSE(x.put("f", "new\n").err);
  }
}

TEST_CASE("an approved write of a new file makes one, or does nothing") {
  write_fixture x;
  const json arguments = {{"path", "g/f"}, {"content", "new\n"}};
  x.context.basis = x.write->preview(arguments, x.folder.path()).basis;
  const bool there = GENERATE(false, true);
  if (there) x.folder.write("g/f", "mine\n");
  CHECK(x.put("g/f", "new\n").err.has_value() == there);
  CHECK(x.content("g/f") == (there ? "mine\n" : "new\n"));
}

TEST_CASE("an approved write goes to the place that was shown") {
  write_fixture x;
  fs::create_directory(x.folder.path() / "one");
  fs::create_directory(x.folder.path() / "two");
  fs::create_directory_symlink("one", x.folder.path() / "way");
  const bool there = GENERATE(false, true);
  for (const auto* folder : {"one/f", "two/f"})
    if (there) x.folder.write(folder, "old\n");
  const json arguments = {{"path", "way/f"}, {"content", "new\n"}};
  x.context.basis = x.write->preview(arguments, x.folder.path()).basis;
  fs::remove(x.folder.path() / "way");
  fs::create_directory_symlink("two", x.folder.path() / "way");
  CHECK(x.put("way/f", "new\n").err);
  CHECK(x.content("two/f") == (there ? "old\n" : ""));
  fs::remove(x.folder.path() / "way");
  fs::create_directory_symlink("one", x.folder.path() / "way");
  CHECK_FALSE(x.put("way/f", "new\n").err);
}

TEST_CASE("a new file replaces nothing that came meanwhile") {
  testing::temp_folder folder;
  auto target = find_target("write", folder.path(), "f");
  REQUIRE(target);
  const auto come = [&](int) {
    folder.write("f", "mine\n");
    return 0;
  };
  const auto put = [](int fd) { return write_all(fd, "new\n"); };
  CHECK(replace_file(*target, put, come) == ESTALE);
  CHECK(testing::slurp(folder.path() / "f") == "mine\n");
}

TEST_CASE("what was shown to fail does nothing, also if it could by now") {
  write_fixture x;
  fs::create_directory(x.folder.path() / "f");
  const json arguments = {{"path", "f"}, {"content", "new\n"}};
  const auto seen = x.write->preview(arguments, x.folder.path());
  CHECK(seen.text.starts_with("This cannot be done: "));
  x.context.basis = seen.basis;
  fs::remove(x.folder.path() / "f");
  CHECK(x.put("f", "new\n").err);
  CHECK_FALSE(x.folder.has("f"));
}

TEST_CASE("write tells what it does and what it touches") {
  const auto write = make_write();
  const json arguments = {{"path", "a/../b"}, {"content", ""}};
  CHECK(write->title(arguments) == "Writing a/../b");
  CHECK(write->keys(arguments, "/ws") == std::vector<std::string>{"/ws/b"});
  CHECK(write->spec().eff == effect::mutating);
  CHECK(write->spec().idempotent);
}

TEST_CASE("a call in a folder that is gone fails, and says so plainly") {
  const testing::temp_folder folder;
  const auto there = folder.path() / "there";
  std::filesystem::create_directory(there);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(there);
  std::filesystem::remove(there);
  const auto tool = make_write();
  const json arguments{{"path", "a"}, {"content", "x"}};
  const auto why = [](const auto& x) {
    return x ? std::string{} : x.error().message;
  };
  const std::vector<std::string> all{
      why(ask_keys(*tool, arguments, ".")),
      why(ask_subject(*tool, arguments, ".")),
      why(ask_preview(*tool, arguments, ".")),
      why(ask_only_reads(*tool, arguments, "."))};
  std::filesystem::current_path(before);
  for (const auto& x : all)
    CHECK(x ==
          "the folder that it would work in is gone, so the call was not "
          "executed");
  CHECK(all.size() == 4);
  // Where the folder is known nobody has to ask for it.
  CHECK(ask_keys(*tool, arguments, folder.path()));
}
