// SPDX-License-Identifier: MIT
#include "tools/builtin/files/path_confinement.hpp"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/files/place.hpp"

using namespace riffle;
using namespace riffle::tools;
namespace fs = std::filesystem;

namespace {

struct path_confinement {
  path_confinement() {
    folder.write("secret", "secret");
    folder.write("ws/in/file", "inside");
    folder.write("ws-other/file", "secret");
    const auto ws = folder.path() / "ws";
    fs::create_symlink("in/file", ws / "good");
    fs::create_symlink("in", ws / "good_folder");
    fs::create_symlink("../in/file", ws / "in/round");
    fs::create_symlink("../secret", ws / "bad");
    fs::create_symlink("..", ws / "bad_folder");
    fs::create_symlink(folder.path() / "secret", ws / "bad_absolute");
    fs::create_symlink("/proc/self/root", ws / "bad_magic");
    fs::create_symlink("loop", ws / "loop");
    fs::create_symlink("bad", ws / "in/../bad_twice");
    root = unique_fd{::open(ws.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  }

  /// What is read through a path, or the errno's name.
  [[nodiscard]] std::string read(const std::string& path, resolver how) const {
    const auto fd = open_beneath(root.get(), path, O_RDONLY | O_NONBLOCK, how);
    if (!fd) return ::strerrorname_np(fd.error());
    char text[64];
    const auto count = ::read(fd->get(), text, sizeof(text));
    return count < 0 ? ::strerrorname_np(errno)
                     : std::string(text, static_cast<std::size_t>(count));
  }

  testing::temp_folder folder;
  unique_fd root;
};

}  // namespace

TEST_CASE("rules see where a path leads, or that nobody can tell") {
  const path_confinement x;
  const auto ws = x.folder.path() / "ws";
  const auto seen = [&](const std::string& path) {
    const auto subject = path_subject(ws, path);
    CHECK_FALSE(subject.shell);
    return subject.known ? subject.text : "unknown";
  };
  CHECK(seen("in/file") == "in/file");
  CHECK(seen("./in/../in//file") == "in/file");
  CHECK(seen((ws / "in/file").string()) == "in/file");
  CHECK(seen("good") == "in/file");
  CHECK(seen("good_folder/new/file") == "in/new/file");
  CHECK(seen("in/new/") == "in/new");
  CHECK(seen(".") == ".");
  for (const auto* path :
       {"..", "../secret", "/etc/passwd", "bad", "bad_folder/secret",
        "bad_absolute", "bad_magic/etc", "loop", "bad_twice", ""})
    CHECK(seen(path) == "unknown");
}

TEST_CASE("paths lead to what is in the workspace, and nowhere else") {
  const path_confinement x;
  for (const auto how : {resolver::automatic, resolver::walk}) {
    CAPTURE(how == resolver::walk);
    CHECK(x.read("in/file", how) == "inside");
    CHECK(x.read("./in//file", how) == "inside");
    CHECK(x.read("in/../in/file", how) == "inside");
    CHECK(x.read("good", how) == "inside");
    CHECK(x.read("good_folder/file", how) == "inside");
    CHECK(x.read("in/round", how) == "inside");
    CHECK(x.read("good_folder/round", how) == "inside");
    CHECK(x.read("..", how) == "EXDEV");
    CHECK(x.read("../secret", how) == "EXDEV");
    CHECK(x.read("in/../../secret", how) == "EXDEV");
    CHECK(x.read("in/../../ws/in/file", how) == "EXDEV");
    CHECK(x.read("../ws-other/file", how) == "EXDEV");
    CHECK(x.read("/etc/passwd", how) == "EXDEV");
    CHECK(x.read("/proc/self/root/etc/passwd", how) == "EXDEV");
    CHECK(x.read("bad", how) == "EXDEV");
    CHECK(x.read("bad_twice", how) == "EXDEV");
    CHECK(x.read("bad_folder/secret", how) == "EXDEV");
    CHECK(x.read("bad_absolute", how) == "EXDEV");
    CHECK(x.read("bad_magic/etc/passwd", how) == "EXDEV");
    CHECK(x.read("loop", how) == "ELOOP");
    CHECK(x.read("in/file/x", how) == "ENOTDIR");
    CHECK(x.read("~/secret", how) == "ENOENT");
    CHECK(x.read("IN/FILE", how) == "ENOENT");
    CHECK(x.read("in", how) == "EISDIR");
  }
}

TEST_CASE("a link that is swapped all the time never leads out") {
  const path_confinement x;
  const auto ws = x.folder.path() / "ws";
  fs::create_directory(ws / "swap_a");
  x.folder.write("ws/swap_a/secret", "inside");
  fs::create_symlink("..", ws / "swap_b");
  std::atomic<bool> done{false};
  std::thread swapper{[&] {
    const auto a = ws / "swap_a";
    const auto b = ws / "swap_b";
    while (!done)
      ::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(),
                RENAME_EXCHANGE);
  }};
  int inside = 0;
  int refused = 0;
  int escaped = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto how = i % 2 == 0 ? resolver::automatic : resolver::walk;
    const auto text = x.read("swap_a/secret", how);
    if (text == "inside")
      ++inside;
    else if (text == "secret")
      ++escaped;
    else
      ++refused;
  }
  done = true;
  swapper.join();
  CAPTURE(inside, refused);
  CHECK(escaped == 0);
}

TEST_CASE("paths from a model become relative, or are refused") {
  const fs::path ws = "/home/me/ws";
  const auto of = [&](std::string_view path) {
    const auto result = relative_path(ws, path);
    return result ? *result : "refused: " + result.error().message;
  };
  CHECK(of("a/b") == "a/b");
  CHECK(of("../a") == "../a");  // refused when it is opened
  CHECK(of("/home/me/ws/a") == "a");
  CHECK(of("/home/me/ws") == ".");
  CHECK(of("/home/me/ws//") == ".");
  CHECK(of("/home/me/ws-other/a").find(" leads out of the workspace") !=
        std::string::npos);
  CHECK(of("/etc/passwd")
            .starts_with("refused: /etc/passwd leads out of the workspace"));
  CHECK(of("") == "refused: the path is empty");
  CHECK(of(std::string_view{"a\0b", 3}) ==
        "refused: the path holds a NUL byte");
}

TEST_CASE("keys of paths are absolute and without detours") {
  CHECK(path_key("/ws", "a/../b/./c") == "/ws/b/c");
  CHECK(path_key("/ws", "/ws/b/c") == "/ws/b/c");
  CHECK(path_key("/ws", "a/") == "/ws/a");
  CHECK(path_key("/ws", ".") == "/ws");
  // Plain ones are joined as text, which is to be no other key.
  for (const std::string root : {"/", "/ws", "/ws/", "/ws/.", "/ws/..", "/a//b",
                                 "/a/./b", "/a/.b", "/a/.b/."})
    for (const std::string path :
         {"x", "x/y", "x/", "x//y", "./x", "../x", "x/..", "x/.", ".x", "x/.y",
          "..x", "x..", "/x", "//x", ".", "..", "x./y"}) {
      auto whole =
          (std::filesystem::path{root} / path).lexically_normal().string();
      while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
      INFO(root << " and " << path);
      CHECK(path_key(root, path) == whole);
    }
}
