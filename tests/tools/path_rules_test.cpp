// SPDX-License-Identifier: MIT
// Rules about paths see where the effect goes, and it goes nowhere else.

#include <atomic>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "actors/core/approval_rules.hpp"
#include "runtime/base/unique_fd.hpp"
#include "tests/support/catch.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/files/files.hpp"
#include "tools/builtin/files/place.hpp"
#include "tools/builtin/search/search.hpp"

using namespace riffle;
using namespace riffle::tools;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

using core::approval_policy;

/// `docs` may be changed; nothing else.
const std::vector<core::approval_rule> only_docs = {
    {"docs/*", approval_policy::allow}};

struct workspace : testing::tool_fixture {
  workspace() {
    folder.write("ws/docs/plain", "docs");
    folder.write("ws/docs/swap/f", "docs");
    folder.write("ws/docs-other/f", "other");
    folder.write("ws/src/f", "src");
    folder.write("ws/.git/hooks/sample", "hook");
    folder.write("outside/f", "outside");
    context.workspace = folder.path() / "ws";
  }

  [[nodiscard]] fs::path at(const std::string& name) const {
    return context.workspace / name;
  }

  [[nodiscard]] std::string place(const std::string& path) const {
    const auto subject = path_subject(context.workspace, path);
    CHECK(subject.place);
    return subject.known ? subject.text : "unknown";
  }

  /// What a dispatcher does with a call: judge, act there, judge again.
  tool_output act(tool& x, const json& arguments) {
    for (int tries = 0; tries < 4; ++tries) {
      const auto subject = x.subject(arguments, context.workspace);
      if (core::policy_of(subject, approval_policy::deny, only_docs) !=
          approval_policy::allow) {
        ++denied;
        return {.text = "denied", .err = error{errc::approval_denied, "", ""}};
      }
      context.judged = subject.text;
      auto result = run(x, arguments);
      if (!result.moved) return result;
      CHECK(result.err);
      ++moved;
    }
    return {.text = "gave up", .err = error{errc::internal, "", ""}};
  }

  [[nodiscard]] bool intact() const {
    return testing::slurp(at("src/f")) == "src" &&
           testing::slurp(at("docs-other/f")) == "other" &&
           testing::slurp(folder.path() / "outside/f") == "outside" &&
           names("src") == 1 && names("docs-other") == 1 &&
           names(".git/hooks") == 1 && names(".") == 4;
  }
  [[nodiscard]] std::ptrdiff_t names(const std::string& name) const {
    return std::distance(fs::directory_iterator{at(name)},
                         fs::directory_iterator{});
  }

  int denied = 0;
  int moved = 0;
};

void exchange(const fs::path& a, const fs::path& b) {
  ::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(),
            RENAME_EXCHANGE);
}

}  // namespace

TEST_CASE("a place is where the effect goes, also where nothing is yet") {
  workspace x;
  fs::create_symlink("../.git/hooks/pre-commit", x.at("docs/note.md"));
  fs::create_symlink("note.md", x.at("docs/twice"));
  fs::create_symlink("../new/deep/file", x.at("docs/far"));
  fs::create_directory_symlink("../src", x.at("docs/in"));
  fs::create_directory_symlink("../gone", x.at("docs/nowhere"));
  fs::create_symlink("../../outside/new", x.at("docs/out"));
  fs::create_symlink(x.at("src/new"), x.at("docs/absolute"));
  fs::create_directory_symlink("/proc/self/root", x.at("docs/magic"));
  fs::create_symlink("loop", x.at("docs/loop"));
  fs::create_symlink("\xff", x.at("docs/bytes"));
  CHECK(x.place("docs/note.md") == ".git/hooks/pre-commit");
  CHECK(x.place("docs/twice") == ".git/hooks/pre-commit");
  CHECK(x.place("docs/far") == "new/deep/file");
  CHECK(x.place("docs/in/f") == "src/f");
  CHECK(x.place("docs/in/new/deep") == "src/new/deep");
  CHECK(x.place("docs/in/../f") == "f");  // ".." of where the link leads
  CHECK(x.place("docs/in/") == "src");
  CHECK(x.place("docs/new/../f") == "docs/f");
  CHECK(x.place("docs/new/../../src/new") == "src/new");
  CHECK(x.place("docs//./f/") == "docs/f");
  CHECK(x.place("DOCS/f") == "DOCS/f");  // another folder here
  CHECK(x.place(x.at("docs/in/f").string()) == "src/f");
  for (const auto* path :
       {"docs/out", "docs/absolute", "docs/magic/etc/passwd", "docs/loop",
        "docs/nowhere/f", "docs/bytes", "docs/plain/", "docs/plain/..",
        "docs/new/../../../outside/f", "../ws-other/f", "/proc/self/root"}) {
    CAPTURE(path);
    CHECK(x.place(path) == "unknown");
  }
  CHECK(x.place(std::string("docs/\0/../../src", 16)) == "unknown");
  CHECK(x.place(std::string(5000, 'a')) == "unknown");
}

TEST_CASE("no path gets past a rule about folders") {
  workspace x;
  fs::create_symlink("../.git/hooks/pre-commit", x.at("docs/note.md"));
  fs::create_symlink("../src/f", x.at("docs/link"));
  fs::create_symlink("link", x.at("docs/twice"));
  fs::create_symlink("../src/new", x.at("docs/dangling"));
  fs::create_directory_symlink("../src", x.at("docs/in"));
  fs::create_directory_symlink("..", x.at("docs/up"));
  fs::create_directory_symlink("/proc/self/root", x.at("docs/magic"));
  fs::create_directory_symlink("/proc/self/cwd", x.at("docs/here"));
  const auto write = make_write();
  const auto edit = make_edit();
  const auto read = make_read();
  for (const std::string& path : {std::string{"docs/note.md"},
                                  std::string{"docs/link"},
                                  std::string{"docs/twice"},
                                  std::string{"docs/dangling"},
                                  std::string{"docs/in/f"},
                                  std::string{"docs/in/new"},
                                  std::string{"docs/in/new/deep"},
                                  std::string{"docs/up/src/f"},
                                  std::string{"docs/../src/f"},
                                  std::string{"docs/new/../../src/new"},
                                  std::string{"docs/in/../src/new"},
                                  std::string{"docs-other/f"},
                                  std::string{"docs"},
                                  std::string{"docs/"},
                                  std::string{"docs/."},
                                  std::string{"DOCS/new"},
                                  std::string{"d\xc3\xb3"
                                              "cs/new"},
                                  std::string{"~/docs/f"},
                                  x.at("src/f").string(),
                                  x.at("docs/../src/f").string(),
                                  std::string{"docs/magic/etc/passwd"},
                                  std::string{"docs/here/src/f"},
                                  std::string{"/proc/self/root/etc"},
                                  "docs/magic" + x.at("src/f").string(),
                                  std::string("docs/\0/../../src/f", 18)}) {
    CAPTURE(path);
    CHECK(x.act(*write, {{"path", path}, {"content", "broken"}}).err);
    CHECK(
        x.act(*edit,
              {{"path", path}, {"old_string", "src"}, {"new_string", "broken"}})
            .err);
    CHECK(x.act(*read, {{"path", path}}).err);
  }
  CHECK(x.moved == 0);
  CHECK(x.intact());
  // A hard link has no "real" name: writing makes a new file of it.
  fs::create_hard_link(x.at("src/f"), x.at("docs/hard"));
  CHECK_FALSE(
      x.act(*write, {{"path", "docs/hard"}, {"content", "broken"}}).err);
  CHECK(testing::slurp(x.at("docs/hard")) == "broken");
  CHECK(x.intact());
}

TEST_CASE("a judged call acts at its place, or says that it moved") {
  workspace x;
  x.context.judged = "docs/swap/f";
  const auto write = make_write();
  const json arguments = {{"path", "docs/swap/f"}, {"content", "new"}};
  SECTION("nothing changed") {
    const auto result = x.run(*write, arguments);
    CHECK_FALSE(result.err);
    CHECK_FALSE(result.moved);
    CHECK(testing::slurp(x.at("docs/swap/f")) == "new");
  }
  SECTION("a folder on the way became a link") {
    fs::create_directory_symlink("../src", x.at("docs/link"));
    exchange(x.at("docs/swap"), x.at("docs/link"));
    const auto result = x.run(*write, arguments);
    CHECK(result.moved);
    REQUIRE(result.err);
    CHECK(result.text.find("nothing was done") != std::string::npos);
    CHECK(x.run(*make_edit(), {{"path", "docs/swap/f"},
                               {"old_string", "src"},
                               {"new_string", "broken"}})
              .moved);
    CHECK(x.run(*make_read(), {{"path", "docs/swap/f"}}).moved);
    CHECK(
        x.run(*make_grep(), {{"path", "docs/swap/f"}, {"pattern", "s"}}).moved);
    CHECK(
        x.run(*make_glob(), {{"path", "docs/swap/f"}, {"pattern", "*"}}).moved);
  }
  SECTION("the file became a link") {
    fs::remove(x.at("docs/swap/f"));
    fs::create_symlink("../../src/f", x.at("docs/swap/f"));
    CHECK(x.run(*write, arguments).moved);
    CHECK(x.run(*make_read(), {{"path", "docs/swap/f"}}).moved);
  }
  SECTION("folders to be made meet a link") {
    x.context.judged = "docs/new/deep/f";
    fs::create_directory_symlink("../src", x.at("docs/new"));
    CHECK(x.run(*write, {{"path", "docs/new/deep/f"}, {"content", "x"}}).moved);
  }
  SECTION("it led nowhere when it was judged") {
    x.context.judged = "";
    CHECK(x.run(*write, arguments).moved);
    CHECK(x.run(*make_read(), {{"path", "docs/swap/f"}}).moved);
    CHECK(x.run(*make_grep(), {{"pattern", "s"}}).moved);
    CHECK(x.run(*make_glob(), {{"pattern", "*"}}).moved);
    const auto out = x.run(*write, {{"path", "../f"}, {"content", "x"}});
    CHECK_FALSE(out.moved);
    CHECK(out.text.find("leads out") != std::string::npos);
  }
  CHECK(x.intact());
}

namespace {

/// Links change all the time between what is allowed and what is not.
void swap_and_act(int tries) {
  workspace x;
  x.folder.write("ws/docs/file", "docs");
  fs::create_directory_symlink("../src", x.at("docs/b"));
  fs::create_symlink("../src/f", x.at("docs/c"));
  fs::create_symlink("../.git/hooks/pre-commit", x.at("docs/d"));
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> swaps{0};
  std::thread swapper{[&] {
    while (!done) {
      exchange(x.at("docs/swap"), x.at("docs/b"));
      exchange(x.at("docs/file"), x.at("docs/c"));
      exchange(x.at("docs/plain"), x.at("docs/d"));
      ++swaps;
    }
  }};
  const auto write = make_write();
  const auto edit = make_edit();
  const std::vector<std::string> paths = {"docs/swap/f", "docs/file",
                                          "docs/plain", "docs/swap/new/deep"};
  int worked = 0;
  int escaped = 0;
  for (int i = 0; i < tries; ++i) {
    const auto& path = paths[static_cast<std::size_t>(i) % paths.size()];
    const auto result =
        i % 8 < 4
            ? x.act(*write, {{"path", path}, {"content", "docs"}})
            : x.act(*edit, {{"path", path},
                            {"old_string", i % 16 < 8 ? "docs" : "d0cs"},
                            {"new_string", i % 16 < 8 ? "d0cs" : "docs"}});
    worked += result.err ? 0 : 1;
    if (i % 64 == 0 && !x.intact()) ++escaped;
  }
  done = true;
  swapper.join();
  CAPTURE(tries, worked, x.denied, x.moved, swaps.load());
  CHECK(escaped == 0);
  CHECK(x.intact());
  CHECK(worked > tries / 20);
  CHECK(x.denied > tries / 20);
}

}  // namespace

TEST_CASE("links that are swapped all the time lead no call past a rule") {
  swap_and_act(2000);
}

TEST_CASE("ten thousand swaps lead no call past a rule", "[torture]") {
  swap_and_act(10'000);
}
