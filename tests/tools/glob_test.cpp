// SPDX-License-Identifier: MIT
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/plain_user.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/search/search.hpp"

using namespace riffle;
using namespace riffle::tools;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct glob_fixture : testing::tool_fixture {
  tool_ptr glob = make_glob();

  tool_output get(const json& arguments) { return run(*glob, arguments); }
  std::string text(const json& arguments) {
    const auto result = get(arguments);
    CHECK_FALSE(result.err);
    return result.text;
  }
  std::string failure(const json& arguments) {
    const auto result = get(arguments);
    if (!result.err) return "no failure: " + result.text;
    return result.text;
  }
};

}  // namespace

TEST_CASE("glob lists what matches, sorted, and counts it") {
  glob_fixture x;
  for (const auto* name : {"b.rs", "a.rs", "src/z.rs", "src/a.rs", "src/a.c",
                           "a/b.rs", "a-b.rs", ".github/x.rs"})
    x.folder.write(name, "");
  const auto all = x.get({{"pattern", "**/*.rs"}});
  CHECK(all.text ==
        ".github/x.rs\na/b.rs\na-b.rs\na.rs\nb.rs\nsrc/a.rs\nsrc/z.rs");
  CHECK(json::parse(all.metadata) == json{{"matches", 7}});
  CHECK(x.text({{"pattern", "*.rs"}}) == "a-b.rs\na.rs\nb.rs");
  CHECK(x.text({{"pattern", "src/*.{c,h}"}}) == "src/a.c");
  CHECK(x.text({{"pattern", "*.c"}, {"path", "src"}}) == "src/a.c");
  CHECK(x.text({{"pattern", "*.c"}, {"path", "src/../src/"}}) == "src/a.c");
  CHECK(x.text({{"pattern", "*.c"},
                {"path", (x.folder.path() / "src").string()}}) == "src/a.c");
  CHECK(x.text({{"pattern", "s*/"}}) == "src/");
  CHECK(x.text({{"pattern", "**/"}}) == ".github/\na/\nsrc/");
  CHECK(x.text({{"pattern", "*.py"}}) == "[nothing matches]");
  CHECK(x.text({{"pattern", "gone/*.py"}}) == "[nothing matches]");
  CHECK(x.text({{"pattern", "a.rs/*"}}) == "[nothing matches]");
}

TEST_CASE("glob leaves out what is ignored unless asked for it") {
  glob_fixture x;
  x.folder.write(".gitignore", "build/\n");
  x.folder.write("build/a.o", "");
  x.folder.write("a.o", "");
  x.folder.write(".git/a.o", "");
  CHECK(x.text({{"pattern", "**/*.o"}}) == "a.o");
  CHECK(x.text({{"pattern", "**/*.o"}, {"include_ignored", true}}) ==
        "a.o\nbuild/a.o");
  CHECK(x.text({{"pattern", "*.o"}, {"path", "build"}}) == "build/a.o");
}

TEST_CASE("glob shows so many as asked for, and says how many more") {
  glob_fixture x;
  for (int i = 10; i < 30; ++i) x.folder.write(std::to_string(i), "");
  const auto result = x.get({{"pattern", "*"}, {"limit", 2}});
  CHECK(result.text ==
        "10\n11\n[... 18 more; narrow the pattern or the path, or raise "
        "limit]");
  CHECK(json::parse(result.metadata) ==
        json{{"matches", 20}, {"shown", 2}, {"truncated", true}});
  CHECK(x.text({{"pattern", "*"}, {"limit", 20}}).ends_with("\n29"));
  x.context.output_cap = 4096 + 6;  // beside the room for notes
  for (int i = 1000; i < 2000; ++i) x.folder.write(std::to_string(i), "");
  const auto capped = x.get({{"pattern", "*"}});
  CHECK(capped.text.size() < 4096);
  CHECK(json::parse(capped.metadata)["matches"] == 1020);
  CHECK(json::parse(capped.metadata)["shown"] < 1000);
}

TEST_CASE("glob follows no symbolic links, so loops are no matter") {
  glob_fixture x;
  x.folder.write("a/b/c", "");
  fs::create_directory_symlink("..", x.folder.path() / "a/loop");
  fs::create_directory_symlink("a", x.folder.path() / "link");
  CHECK(x.text({{"pattern", "**"}}) == "a/b/c\na/loop\nlink");
  CHECK(x.text({{"pattern", "b/*"}, {"path", "link"}}) == "link/b/c");
}

TEST_CASE("names of any bytes are shown in one line each") {
  glob_fixture x;
  for (const auto* name :
       {"two\nlines", "bad\xff", "tab\t", "quote\"", "\"q", "\u00e4\n"})
    x.folder.write(name, "");
  CHECK(x.text({{"pattern", "*"}}) ==
        "\"\\\"q\"\n\"bad\\377\"\nquote\"\n\"tab\\t\"\n\"two\\nlines\"\n"
        "\"\u00e4\\n\"");
  CHECK(x.text({{"pattern", "bad?"}}) == "\"bad\\377\"");
}

TEST_CASE("glob says what is wrong and what to do") {
  glob_fixture x;
  x.folder.write("src/a", "");
  CHECK(
      x.failure({{"pattern", "/etc/*"}}).starts_with("a pattern is relative"));
  CHECK(x.failure({{"pattern", "[a"}}).starts_with("the pattern can match"));
  CHECK(x.failure({{"pattern", "*"}, {"path", "scr"}}) ==
        "no such file: scr; there are: src/");
  CHECK(x.failure({{"pattern", "*"}, {"path", "src/a"}}) ==
        "src/a is no folder; give the folder that it is in");
  CHECK(x.get({{"pattern", "*"}, {"path", "src/a"}}).err->op == "glob");
}

TEST_CASE("glob names folders that it may not read") {
  glob_fixture x;
  x.folder.write("closed/a", "");
  x.folder.write("open/a", "");
  const auto closed = x.folder.path() / "closed";
  const testing::plain_user user{x.folder.path()};
  fs::permissions(closed, fs::perms::none);
  const auto result = x.get({{"pattern", "**"}});
  fs::permissions(closed, fs::perms::owner_all);
  CHECK(result.text ==
        "open/a\n[not readable, so not looked into: 1 folder: closed]");
  CHECK(json::parse(result.metadata)["unreadable_folders"] == 1);
}

TEST_CASE("glob reports what it finds while it looks, and stops when asked") {
  glob_fixture x;
  for (int i = 0; i < 2000; ++i)
    x.folder.write("d" + std::to_string(i / 100) + "/" + std::to_string(i), "");
  const auto result = x.get({{"pattern", "**"}, {"limit", 2000}});
  std::string reported;
  for (const auto& report : x.reports()) reported += report.message;
  CHECK(reported == result.text + "\n");
  CHECK(x.reports().size() >= 2);
  CHECK(x.reports().front().message == "d0/0\n");
  x.context.progress = [&](const tool_progress_report&) {
    x.stop.request_stop();
  };
  const auto stopped = x.get({{"pattern", "**"}});
  REQUIRE(stopped.err);
  CHECK(stopped.err->code == errc::cancelled);
}

TEST_CASE("glob tells what it does and what it touches") {
  const auto glob = make_glob();
  CHECK(glob->title({{"pattern", "**/*.rs"}}) == "Finding **/*.rs");
  CHECK(glob->title({{"pattern", "*"}, {"path", "src"}}) == "Finding * in src");
  using keys = std::vector<std::string>;
  CHECK(glob->keys({{"pattern", "*"}}, "/ws") == keys{"/ws"});
  CHECK(glob->keys({{"pattern", "*"}, {"path", "a"}}, "/ws") == keys{"/ws/a"});
  CHECK(glob->spec().eff == effect::read_only);
  CHECK(glob->spec().idempotent);
}
