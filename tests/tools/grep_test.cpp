// SPDX-License-Identifier: MIT
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/locked_files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/time_scale.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/search/search.hpp"

using namespace riffle;
using namespace riffle::tools;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct grep_fixture : testing::tool_fixture {
  tool_ptr grep = make_grep();

  tool_output get(const json& arguments) { return run(*grep, arguments); }
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

TEST_CASE("grep gives matching lines with path and number, and counts them") {
  grep_fixture x;
  x.folder.write("b.txt", "one\ntwo\nthree");
  x.folder.write("a/x.c", "int two;\r\nint one;\r\n");
  const auto result = x.get({{"pattern", "t[wo]+;?$"}});
  CHECK(result.text == "a/x.c:1:int two;\nb.txt:2:two");
  CHECK(json::parse(result.metadata) ==
        json{{"matches", 2}, {"files", 2}, {"searched", 2}});
  CHECK(x.text({{"pattern", "^th"}}) == "b.txt:3:three");
  CHECK(x.text({{"pattern", "TWO"}}) == "[nothing matches in 2 files]");
  CHECK(x.text({{"pattern", "TWO"}, {"case_insensitive", true}}) ==
        "a/x.c:1:int two;\nb.txt:2:two");
  CHECK(x.text({{"pattern", "t.o"}, {"literal", true}}) ==
        "[nothing matches in 2 files]");
  CHECK(x.text({{"pattern", "two"}, {"path", "a"}}) == "a/x.c:1:int two;");
  CHECK(x.text({{"pattern", "two"}, {"path", "b.txt"}}) == "b.txt:2:two");
}

TEST_CASE("grep chooses files by name, or by path inside its folder") {
  grep_fixture x;
  for (const auto* name : {"a.c", "s/a.c", "s/t/a.c", "s/a.h"})
    x.folder.write(name, "x");
  CHECK(x.text({{"pattern", "x"}, {"glob", "*.c"}, {"output", "files"}}) ==
        "a.c\ns/a.c\ns/t/a.c");
  CHECK(
      x.text({{"pattern", "x"}, {"glob", "s/*.{c,h}"}, {"output", "files"}}) ==
      "s/a.c\ns/a.h");
  CHECK(x.text({{"pattern", "x"},
                {"glob", "t/*"},
                {"path", "s"},
                {"output", "files"}}) == "s/t/a.c");
  CHECK(x.failure({{"pattern", "x"}, {"glob", "[a"}})
            .starts_with("glob: the pattern can match nothing"));
}

TEST_CASE("grep counts by file, and lists files") {
  grep_fixture x;
  x.folder.write("a", "x\nx\ny\n");
  x.folder.write("b", "y\n");
  x.folder.write("c", "x\n");
  const auto count = x.get({{"pattern", "x"}, {"output", "count"}});
  CHECK(count.text == "a:2\nc:1");
  CHECK(json::parse(count.metadata)["matches"] == 3);
  const auto files = x.get({{"pattern", "x"}, {"output", "files"}});
  CHECK(files.text == "a\nc");
  CHECK(json::parse(files.metadata)["matches"] == 2);
  const auto cut = x.get({{"pattern", "x"}, {"output", "files"}, {"limit", 1}});
  CHECK(cut.text.starts_with("a\n[... 1 more in 2 files;"));
}

TEST_CASE("lines around a match are shown once, groups are set apart") {
  grep_fixture x;
  x.folder.write("a", "1\n2\nx3\n4\nx5\n6\n7\n8\n9\nx10\n");
  x.folder.write("b", "x1\n2\n");
  CHECK(x.text({{"pattern", "x"}, {"context", 1}}) ==
        "a-2-2\na:3:x3\na-4-4\na:5:x5\na-6-6\n--\na-9-9\na:10:x10\n--\n"
        "b:1:x1\nb-2-2");
  CHECK(x.text({{"pattern", "10"}, {"context", 2}}) ==
        "a-8-8\na-9-9\na:10:x10");
}

TEST_CASE("grep shows so many as asked for, and says how many more") {
  grep_fixture x;
  std::string all;
  for (int i = 0; i < 500; ++i) all += "x" + std::to_string(i) + "\n";
  x.folder.write("a", all);
  x.folder.write("b", "x");
  const auto result = x.get({{"pattern", "x"}, {"limit", 2}});
  CHECK(result.text ==
        "a:1:x0\na:2:x1\n[... 499 more in 2 files; narrow the pattern, the "
        "path or glob, or raise limit]");
  const auto metadata = json::parse(result.metadata);
  CHECK(metadata["matches"] == 501);
  CHECK(metadata["shown"] == 2);
  CHECK(metadata["truncated"] == true);
  CHECK(json::parse(x.get({{"pattern", "x"}}).metadata)["shown"] == 200);
  CHECK_FALSE(json::parse(x.get({{"pattern", "x"}, {"limit", 501}}).metadata)
                  .contains("truncated"));
  x.context.output_cap = 6200;
  const auto capped = x.get({{"pattern", "x"}, {"limit", 501}});
  CHECK(capped.text.size() < 6200);
  CHECK(json::parse(capped.metadata)["matches"] == 501);
  CHECK(json::parse(capped.metadata)["truncated"] == true);
}

TEST_CASE("grep leaves out what is ignored, binary files and links") {
  grep_fixture x;
  x.folder.write(".gitignore", "out/\n");
  x.folder.write("out/a", "x");
  x.folder.write(".git/a", "x");
  x.folder.write("a", "x");
  x.folder.write("bin", std::string("x\0x", 3));
  fs::create_symlink("a", x.folder.path() / "link");
  REQUIRE(::mkfifo((x.folder.path() / "pipe").c_str(), 0600) == 0);
  const auto result = x.get({{"pattern", "x"}});
  CHECK(result.text == "a:1:x\n[skipped: 1 binary file]");
  CHECK(json::parse(result.metadata)["binary_files"] == 1);
  CHECK(x.text({{"pattern", "x"}, {"include_ignored", true}}) ==
        "a:1:x\nout/a:1:x\n[skipped: 1 binary file]");
  CHECK(x.text({{"pattern", "x"}, {"path", "out"}}) == "out/a:1:x");
  CHECK(x.text({{"pattern", "x"}, {"path", "link"}}) == "link:1:x");
  CHECK(x.failure({{"pattern", "x"}, {"path", "pipe"}})
            .starts_with("pipe is no regular file"));
}

TEST_CASE("a file is searched up to binary data in it, and the text says so") {
  grep_fixture x;
  x.folder.write("log", "x1\n" + std::string(10'000, '-') + "\n" +
                            std::string("x2\0\nx3\n", 7));
  CHECK(x.text({{"pattern", "x"}}) ==
        "log:1:x1\n[log is searched up to line 3 only: binary data follows]");
}

TEST_CASE("bytes that are not UTF-8 are matched around and shown as U+FFFD") {
  grep_fixture x;
  x.folder.write("f", "caf\xe9 x\n");
  CHECK(x.text({{"pattern", "x$"}}) == "f:1:caf\ufffd x");
}

TEST_CASE("grep says what is wrong with an expression") {
  grep_fixture x;
  CHECK(x.failure({{"pattern", "(a"}}) ==
        "the pattern is wrong: missing ): (a; it is an RE2 expression (no "
        "look-around, no back-references); set literal to search for plain "
        "text");
  CHECK(x.get({{"pattern", "(?=a)"}}).err->code == errc::invalid_arguments);
  CHECK(x.failure({{"pattern", "a"}, {"path", "gone"}})
            .starts_with("no such file: gone"));
}

TEST_CASE("long lines show the part with the match, wherever it lies") {
  grep_fixture x;
  x.folder.write("f", std::string(5000, '-') + "needle" +
                          std::string(5000, '-') + "\nsecond\n");
  const auto text = x.text({{"pattern", "needle"}});
  CHECK(text.size() < 600);
  CHECK(text.starts_with("f:1:\u2026---"));
  CHECK(text.find("needle") != text.npos);
  CHECK(text.ends_with("---\u2026"));
  CHECK(x.text({{"pattern", "second"}}) == "f:2:second");
}

TEST_CASE("a line of any length is searched in bounded memory") {
  grep_fixture x;
  constexpr std::size_t megabyte = 1u << 20;
  for (const std::size_t before :
       {megabyte - 3, megabyte, 2 * megabyte + 77, 9 * megabyte}) {
    CAPTURE(before);
    std::ofstream file{x.folder.path() / "f", std::ios::binary};
    const std::string block(megabyte, '-');
    for (auto left = before; left > 0;) {
      const auto size = std::min(left, megabyte);
      file.write(block.data(), static_cast<std::streamsize>(size));
      left -= size;
    }
    file << "needle" << block << block << "\nsecond needle\n";
    file.close();
    testing::reset_peak_memory();
    const auto used = testing::peak_memory();
    const auto result = x.get({{"pattern", "needle"}});
    CHECK(json::parse(result.metadata)["matches"] == 2);
    CHECK(result.text.ends_with("\nf:2:second needle"));
    CHECK(result.text.find("-needle-") != result.text.npos);
    CHECK(json::parse(x.get({{"pattern", "^needle"}}).metadata)["matches"] ==
          0);
    CHECK(json::parse(x.get({{"pattern", "^-+$"}}).metadata)["matches"] == 0);
    CHECK(testing::peak_memory() < used + 32 * megabyte);
  }
}

TEST_CASE("holes of a sparse file end the search in it at once") {
  grep_fixture x;
  x.folder.write("f", std::string(9000, 'a') + "\nx\n");
  REQUIRE(::truncate((x.folder.path() / "f").c_str(), off_t{1} << 40) == 0);
  CHECK(x.text({{"pattern", "x"}}).starts_with("f:2:x\n[f is searched up to"));
}

TEST_CASE("grep reports matches while it searches, and stops when asked") {
  grep_fixture x;
  std::string all;
  for (int i = 0; i < 5000; ++i) all += "x" + std::to_string(i) + "\n";
  x.folder.write("f", all);
  const auto result = x.get({{"pattern", "x"}, {"limit", 5000}});
  std::string reported;
  for (const auto& report : x.reports()) reported += report.message;
  CHECK(reported == result.text + "\n");
  CHECK(x.reports().size() > 2);
  x.folder.write("g", std::string(4u << 20, 'y'));
  x.context.progress = [&](const tool_progress_report&) {
    x.stop.request_stop();
  };
  const auto stopped = x.get({{"pattern", "x"}});
  REQUIRE(stopped.err);
  CHECK(stopped.err->code == errc::cancelled);
}

TEST_CASE("grep tells what it does and what it touches") {
  const auto grep = make_grep();
  CHECK(grep->title({{"pattern", "a+"}, {"path", "src"}}) ==
        "Searching for a+ in src");
  using keys = std::vector<std::string>;
  CHECK(grep->keys({{"pattern", "a"}}, "/ws") == keys{"/ws"});
  CHECK(grep->keys({{"pattern", "a"}, {"path", "b"}}, "/ws") == keys{"/ws/b"});
  CHECK(grep->spec().eff == effect::read_only);
  CHECK(grep->spec().idempotent);
}

TEST_CASE("grep passes over the files of the journal") {
  grep_fixture x;
  x.folder.write("data/riffle.db", "a word");
  x.folder.write("a.txt", "a word");
  const auto file = (x.folder.path() / "data/riffle.db").string();
  hold_locked(file);
  const auto found = x.text({{"pattern", "word"}});
  CHECK(found.starts_with("a.txt:1:a word"));
  CHECK(found.find("riffle.db") == std::string::npos);
  release_locked(file);
  CHECK(x.text({{"pattern", "word"}}).find("riffle.db") != std::string::npos);
}
