// SPDX-License-Identifier: MIT
// Every way out of the workspace, for every file tool.

#include <atomic>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include "runtime/base/unique_fd.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/files/files.hpp"
#include "tools/builtin/search/search.hpp"

using namespace riffle;
using namespace riffle::tools;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A workspace `ws` beside what must not be seen or changed.
struct prison : testing::tool_fixture {
  prison() {
    context.workspace = folder.path() / "ws";
    folder.write("ws/in/file", "inside");
    folder.write("ws-other/secret", "secret");
    folder.write("secret", "secret");
    const auto ws = context.workspace;
    fs::create_symlink("../secret", ws / "link");
    fs::create_symlink(folder.path() / "secret", ws / "absolute");
    fs::create_symlink("link", ws / "twice");
    fs::create_directory_symlink("..", ws / "up");
    fs::create_directory_symlink(folder.path(), ws / "absolute_up");
    fs::create_directory_symlink("../../ws-other", ws / "in/round");
    fs::create_directory_symlink("/proc/self/root", ws / "magic");
    fs::create_directory_symlink("/proc/self/cwd", ws / "here");
    fs::create_symlink("../new", ws / "dangling");
  }

  /// Whether all is as it was around the workspace.
  [[nodiscard]] bool intact() const {
    return testing::slurp(folder.path() / "secret") == "secret" &&
           testing::slurp(folder.path() / "ws-other/secret") == "secret" &&
           !folder.has("new") && !folder.has("ws-other/new") &&
           std::distance(fs::directory_iterator{folder.path()},
                         fs::directory_iterator{}) == 3;
  }

  std::string read(const std::string& path) {
    return text(*make_read(), {{"path", path}});
  }
  std::string write(const std::string& path) {
    return text(*make_write(), {{"path", path}, {"content", "broken"}});
  }
  std::string edit(const std::string& path) {
    return text(
        *make_edit(),
        {{"path", path}, {"old_string", "secret"}, {"new_string", "broken"}});
  }
  std::string glob(const std::string& path) {
    return text(*make_glob(), {{"path", path}, {"pattern", "**"}});
  }
  std::string grep(const std::string& path) {
    return text(*make_grep(), {{"path", path}, {"pattern", "secret"}});
  }

  /// The result, marked if it was no failure.
  std::string text(tool& x, const json& arguments) {
    const auto result = run(x, arguments);
    return (result.err ? "" : "OK: ") + result.text;
  }
};

bool refused(const std::string& text) {
  return text.find("leads out of the workspace") != text.npos ||
         text.find("NUL byte") != text.npos ||
         text.find("~ means nothing") != text.npos ||
         text.starts_with("no such file") || text.starts_with("no folder");
}

const std::vector<std::string>& files_outside(const prison& x) {
  static std::vector<std::string> result;
  result = {"../secret",
            "in/../../secret",
            "in/../../ws/../secret",
            "../ws-other/secret",
            (x.folder.path() / "secret").string(),
            x.context.workspace.string() + "-other/secret",
            x.context.workspace.string() + "/../secret",
            "/etc/passwd",
            "~/secret",
            "link",
            "absolute",
            "twice",
            "up/secret",
            "absolute_up/secret",
            "in/round/secret",
            "magic" + (x.folder.path() / "secret").string(),
            "here/secret",
            "/proc/self/root" + (x.folder.path() / "secret").string(),
            std::string("in/file\0/../../../secret", 23)};
  return result;
}

}  // namespace

TEST_CASE("no file tool reads, changes or makes a file outside") {
  prison x;
  for (const auto& path : files_outside(x)) {
    CAPTURE(path);
    for (const auto& text :
         {x.read(path), x.edit(path), x.write(path), x.grep(path)}) {
      CAPTURE(text);
      CHECK(refused(text));
      CHECK(text.find("OK: ") == std::string::npos);
    }
  }
  for (const std::string path :
       {"dangling", "up/new", "up/new/deep/file", "in/round/new", "../new",
        "absolute_up/new", "in/../../new", "up/ws-other/new"}) {
    CAPTURE(path);
    CHECK(refused(x.write(path)));
  }
  CHECK(x.intact());
}

TEST_CASE("no search looks outside") {
  prison x;
  for (const std::string path :
       {"..", "in/../..", "../ws-other", "up", "absolute_up", "in/round",
        "up/ws-other", "magic", "here", "/", "/etc", "../ws"}) {
    CAPTURE(path);
    CHECK(refused(x.glob(path)));
    CHECK(refused(x.grep(path)));
  }
  CHECK(refused(x.glob(x.context.workspace.string() + "-other")));
  CHECK(x.glob(".") ==
        "OK: absolute\nabsolute_up\ndangling\nhere\nin/file\nin/round\nlink\n"
        "magic\ntwice\nup");
  CHECK(x.grep(".") == "OK: [nothing matches in 1 file]");
  const auto through = [&](const std::string& pattern) {
    return x.text(*make_glob(), {{"pattern", pattern}});
  };
  CHECK(through("up/*") ==
        "up leads out of the workspace, which is not allowed");
  CHECK(through("{up,in}/*") == "OK: in/file\nin/round");
  CHECK(through("u[p]/*") == "OK: [nothing matches]");
}

TEST_CASE("a hard link is a file of the workspace, and is never written to") {
  prison x;
  fs::create_hard_link(x.folder.path() / "secret",
                       x.context.workspace / "hard");
  CHECK(x.read("hard") == "OK: secret");
  CHECK(x.grep("hard") == "OK: hard:1:secret");
  CHECK(x.edit("hard").starts_with("OK: "));
  CHECK(testing::slurp(x.context.workspace / "hard") == "broken");
  CHECK(x.write("hard").starts_with("OK: "));
  CHECK(x.intact());
}

TEST_CASE("pipes, sockets and devices stop no file tool") {
  prison x;
  const auto pipe = x.context.workspace / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const unique_fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto name = (x.context.workspace / "socket").string();
  REQUIRE(name.size() < sizeof(address.sun_path));
  name.copy(address.sun_path, name.size());
  REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address),
                 sizeof(address)) == 0);
  for (const std::string path : {"pipe", "socket"}) {
    CAPTURE(path);
    for (const auto& text :
         {x.read(path), x.write(path), x.edit(path), x.grep(path)})
      CHECK(text.find(" is no regular file") != std::string::npos);
    CHECK(x.glob(path) ==
          path + " is no folder; give the folder that it is in");
  }
  CHECK(x.grep(".") == "OK: [nothing matches in 1 file]");
  x.context.workspace = "/dev";
  for (const auto& text :
       {x.read("zero"), x.write("null"), x.edit("zero"), x.grep("zero")})
    CHECK(text.find(" is no regular file") != std::string::npos);
}

TEST_CASE("links that are swapped all the time lead no file tool out") {
  prison x;
  const auto ws = x.context.workspace;
  // `a` is now a folder (and `b` a link out of the workspace), now the link;
  // the same for the file `f` and the link `g`.
  x.folder.write("ws/a/secret", "inside");
  fs::create_directory_symlink("..", ws / "b");
  x.folder.write("ws/f", "inside");
  fs::create_symlink("../secret", ws / "g");
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> swaps{0};
  std::thread swapper{[&] {
    const auto swap = [&](const char* from, const char* to) {
      ::syscall(SYS_renameat2, AT_FDCWD, (ws / from).c_str(), AT_FDCWD,
                (ws / to).c_str(), RENAME_EXCHANGE);
      ++swaps;
    };
    while (!done) {
      swap("a", "b");
      swap("f", "g");
    }
  }};
  const auto read = make_read();
  const auto write = make_write();
  const auto edit = make_edit();
  const auto glob = make_glob();
  const auto grep = make_grep();
  int escapes = 0;
  int worked = 0;
  const auto attempt = [&](tool& tried, const json& arguments,
                           const char* never) {
    const auto result = x.run(tried, arguments);
    worked += result.err ? 0 : 1;
    if (!result.err && result.text.find(never) != std::string::npos) ++escapes;
  };
  for (int i = 0; i < 2000; ++i) {
    const std::string path = i % 2 == 0 ? "a/secret" : "f";
    attempt(*read, {{"path", path}}, "secret");
    attempt(*write, {{"path", path}, {"content", "broken"}}, "\x01");
    attempt(
        *edit,
        {{"path", path}, {"old_string", "secret"}, {"new_string", "broken"}},
        "Edited");
    attempt(*glob, {{"pattern", "**/ws-other/**"}}, "ws-other");
    attempt(*grep, {{"pattern", "^secret"}}, ":secret");
  }
  done = true;
  swapper.join();
  CAPTURE(worked, swaps.load());
  CHECK(escapes == 0);
  CHECK(worked > 2000);
  CHECK(x.intact());
}
