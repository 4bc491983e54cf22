// SPDX-License-Identifier: MIT
// Where a command line may stand, and what leads a word there past links.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/led_words.hpp"

using namespace riffle;
namespace fs = std::filesystem;

namespace {

/// A variable of the environment, for a while.
class variable {
 public:
  variable(const char* name, const std::string& value) : name_{name} {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~variable() { ::setenv(name_, old_.c_str(), 1); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
  std::string old_;
};

/// Links to a program: w/l, w/sub/k, w/sub/a.c and "w/x y/a.c".
struct place {
  place() {
    home = fs::canonical(folder.path());
    zap = home / "x" / "bin" / "zap";
    for (const auto* x : {"w/sub", "w/x y", "x/bin", "w/other"})
      fs::create_directories(home / x);
    folder.write("x/bin/zap", "");
    for (const auto* x : {"w/l", "w/sub/k", "w/sub/a.c", "w/x y/a.c"})
      fs::create_symlink(zap, home / x);
    fs::create_symlink("/dev/stdin", home / "w" / "q");
  }

  [[nodiscard]] core::led_words of(const std::string& line) const {
    return tools::find_led_words(line, home / "w");
  }

  /// What is said of it is that it leads there, or that nobody knows.
  [[nodiscard]] bool holds(const std::string& line) const {
    const auto found = of(line);
    if (!found.all) return true;
    for (const auto* all : {&found.to, &found.taken_in})
      for (const auto& [word, to] : *all)
        for (const auto& x : to)
          if (x.ends_with(zap.string())) return true;
    return false;
  }

  testing::temp_folder folder;
  fs::path home;
  fs::path zap;
};

}  // namespace

TEST_CASE("what changes with who looks is in doubt") {
  const place x;
  for (const std::string line :
       {"/proc/self/cwd/l c", "cat /proc/self/cwd/l > y", "/dev/fd/../cwd/l c",
        "/dev/../proc/self/cwd/l c", "cat /proc/1/cwd/l > y",
        "cat /dev/shm/../../proc/self/cwd/l > y", "cat /proc/self/status",
        "python3 q", "cat < q > y", "cat q*/x > y", "cat ~+/l > y",
        "cat ~-/l > y", "dd if=~+/l of=y", "cat ~root/l > y",
        "curl -s file:///proc/self/cwd/l -o y"}) {
    CAPTURE(line);
    CHECK_FALSE(x.of(line).all);
  }
  for (const std::string line :
       {"cat /proc/cpuinfo", "grep x /proc/meminfo", "ls -l /proc/self/fd",
        "cat x > /dev/null 2>&1", "cat /dev/stdin", "echo x > /dev/fd/2",
        "tee /dev/stderr", "head -c 9 /dev/urandom", "cat ~/x", "git diff ~",
        "cat HEAD~2", "cat 'x~'"}) {
    CAPTURE(line);
    CHECK(x.of(line).all);
  }
}

TEST_CASE("a folder that is not there yet is one to come from") {
  const place x;
  for (const std::string line :
       {"mkdir new; cd new; ../l ../c", "(mkdir new && cd new && ../l ../c)",
        "mkdir -p new/b && cd new/b && cat ../../l > y",
        "install -d new; pushd new; ../l ../c",
        "mkdir new; git -C new hash-object -w ../l"}) {
    CAPTURE(line);
    CHECK(x.holds(line));
  }
  CHECK_FALSE(x.holds("mkdir new; cd new; cat ../canary > y"));
}

TEST_CASE("a word is looked at from each folder, wherever it stands") {
  const place x;
  for (const auto& line : std::vector<std::string>{
           "ls() { ./k ../c; }; cd sub; ls", "f() { cat k > y; }; cd sub; f",
           "for i in 1 2; do ./k ../c; cd " + (x.home / "w/sub").string() +
               "; done",
           "while :; do ./k ../c; cd sub; done",
           "for i in 1 2; { ./k ../c; cd sub; }",
           "set -- a; for i do cd s?b; ./k ../c; done",
           "ls() { ./k ../c; }; cd s?b; ls", "ls() { ./k ../c; }; ls; cd s?b",
           "for i in 1 2; do ./k; cd s?b; echo for; done",
           "for i in 1 2; do ./k ../c; cd s?b; case x in for) ;; esac; done",
           "for i in 1 2 3; do ./k ../c; cd sub; X=1 for; done",
           "for i in 1 2 3; do ./k ../c; cd sub; command for; done",
           "while ! ./k ../c; do cd sub || break; X=1 until; done",
           "ls ( \\\n) { ./k ../c; }; cd s?b; ls", "'cd' s?b; ./k",
           "ls() { cat \"$1\"; }; ls /proc/self/cwd/l > y",
           "cmake -E chdir sub ./k ../c"}) {
    CAPTURE(line);
    CHECK(x.holds(line));
  }
  for (const std::string line :
       {"for f in a b; do echo $f; done; cd sub && make x",
        "{ date; ls; } > out; cd sub && cat x",
        "echo waiting for server; cd sub && make x", "cat x; cd -",
        "cd sub && for f in *.h; do echo $f; done && make x",
        "cd sub && wc -l u && cd ../other && wc -l u"}) {
    CAPTURE(line);
    CHECK_FALSE(x.holds(line));
  }
}

TEST_CASE("a shell goes up by the name that it came by") {
  const place x;
  fs::create_directories(x.home / "far" / "away");
  fs::create_directory_symlink(x.home / "far" / "away",
                               x.home / "w" / "sub" / "there");
  CHECK(x.holds("cd sub/there; cd ..; ./k ../c"));
  CHECK_FALSE(x.holds("cd other; cd ..; ./k ../c"));
}

TEST_CASE("an option's folder that only the shell knows is in doubt") {
  const place x;
  for (const std::string line :
       {"git -C ./s?b hash-object -w k", "ninja -C ./s?b k",
        "env -C ./s?b cat k", "timeout 5 git -C ./s?b hash-object -w k"}) {
    CAPTURE(line);
    CHECK_FALSE(x.of(line).all);
  }
  for (const std::string line :
       {"git -C sub hash-object -w k", "ninja -C sub k", "env -C sub cat k"}) {
    CAPTURE(line);
    CHECK(x.of(line).all);
    CHECK(x.holds(line));
  }
  CHECK(x.of("tar czf x.tgz Code other/*.md").all);
}

TEST_CASE("a very long way to a link is one to it") {
  const place x;
  std::string way;
  while (way.size() < 4080) way += "./";
  CHECK(x.holds(way + "l c"));
  CHECK_FALSE(x.holds(way + "c"));
  CHECK(x.of("git commit -m '" + std::string(5000, 'x') + "'").all);
}

TEST_CASE("escapes, braces and options in one word hide no link") {
  const place x;
  const variable home{"HOME", x.home.string()};
  for (const auto& line : std::vector<std::string>{
           "cat su\\b/*.c > y", "cat ~/w/sub/*.c > y", "cat x\\ y/*.c > y",
           "cat su{b,}/k > y", "cat {sub/k,x} > y", "curl -Tl file:///x",
           "curl -sTl file:///x", "curl -d @l x", "cat sub/[a]* > y",
           "curl file://" + (x.home / "w/l").string(),
           "curl file://localhost" + (x.home / "w/l").string()}) {
    CAPTURE(line);
    CHECK(x.holds(line));
  }
  for (const std::string line : {"cp config{,.bak}", "curl -sS http://h/x",
                                 "cat x\\ y/*.h", "gcc -DX=1 -Wextra -c o.c"}) {
    CAPTURE(line);
    CHECK_FALSE(x.holds(line));
  }
}

TEST_CASE("programs are known by their folder and as hard links") {
  const place x;
  const variable path{"PATH", (x.home / "x/bin").string() + ":/nowhere"};
  fs::create_hard_link(x.zap, x.home / "w" / "hard");
  for (const std::string line :
       {"./hard c", "cat hard > y", "cat h?rd > y", "cat ../x/b?n/*ap > y",
        "cd ../x; cat b?n/*ap > y", "cd ../x/bin; cat zap > y"}) {
    CAPTURE(line);
    CHECK(x.holds(line));
  }
  CHECK_FALSE(x.holds("cat " + x.zap.string()));  // as it says
}

TEST_CASE("a pattern of many files is no doubt if it is read once") {
  const place x;
  for (int i = 0; i < 12'000; ++i)
    std::ofstream{x.home / "w" / "other" / (std::to_string(i) + ".c")};
  CHECK(x.of("wc -l other/*.c other/*.h").all);
}
