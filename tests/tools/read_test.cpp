// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/locked_files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/time_scale.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/files/files.hpp"

using namespace riffle;
using namespace riffle::tools;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

struct read_fixture : testing::tool_fixture {
  tool_ptr read = make_read();

  tool_output get(const json& arguments) { return run(*read, arguments); }
  std::string failure(const std::string& path) {
    const auto result = get({{"path", path}});
    if (!result.err) return "no failure: " + result.text;
    CHECK(result.text == result.err->message);
    return result.text;
  }
};

}  // namespace

TEST_CASE("a file is read as it is, and the metadata tells its size") {
  read_fixture x;
  const std::string text = "a \u00e4\u20ac\U0001F600\r\nb\n\nlast";
  x.folder.write("dir/f.txt", text);
  const auto result = x.get({{"path", "dir/f.txt"}});
  CHECK_FALSE(result.err);
  CHECK(result.text == text);
  CHECK(json::parse(result.metadata) ==
        json{{"path", "dir/f.txt"}, {"lines", 4}, {"bytes", text.size()}});
  CHECK(x.reports().empty());
  const auto same = x.get({{"path", (x.folder.path() / "dir/f.txt").string()}});
  CHECK(same.text == text);
  CHECK(json::parse(same.metadata)["path"] == "dir/f.txt");
}

TEST_CASE("offset and limit choose lines, and a note says how to go on") {
  read_fixture x;
  x.folder.write("f", "1\n2\n3\n4\n");
  const auto part = x.get({{"path", "f"}, {"offset", 2}, {"limit", 2}});
  CHECK(part.text == "2\n3\n[the file goes on; next: offset 4]");
  const auto metadata = json::parse(part.metadata);
  CHECK(metadata["truncated"] == true);
  CHECK(metadata["next_offset"] == 4);
  CHECK(metadata["lines"] == 2);
  CHECK(x.get({{"path", "f"}, {"offset", 3}, {"limit", 2}}).text == "3\n4\n");
  const auto beyond = x.get({{"path", "f"}, {"offset", 5}});
  REQUIRE(beyond.err);
  CHECK(beyond.text == "the offset 5 is beyond the end: f has 4 lines");
}

TEST_CASE("an empty file is no failure") {
  read_fixture x;
  x.folder.write("f", "");
  const auto result = x.get({{"path", "f"}});
  CHECK_FALSE(result.err);
  CHECK(result.text == "[the file is empty]");
}

TEST_CASE("output is capped at a line, and the rest can be asked for") {
  read_fixture x;
  std::string all;
  for (int i = 1; i <= 3000; ++i) all += "line " + std::to_string(i) + "\n";
  x.folder.write("f", all);
  x.context.output_cap = 4096;
  std::string joined;
  int rounds = 0;
  for (std::uint64_t offset = 1; offset != 0 && rounds < 100; ++rounds) {
    const auto result = x.get({{"path", "f"}, {"offset", offset}});
    REQUIRE_FALSE(result.err);
    CHECK(result.text.size() <= 4096);
    const auto metadata = json::parse(result.metadata);
    joined += result.text.substr(0, metadata["bytes"]);
    offset = metadata.value("next_offset", std::uint64_t{0});
  }
  CHECK(joined == all);
  CHECK(rounds > 5);
}

TEST_CASE("binary files are named with size and hint") {
  read_fixture x;
  x.folder.write("logo.png",
                 std::string("\x89PNG\0\0", 6) + std::string(12'000, 'x'));
  CHECK(x.failure("logo.png") ==
        "logo.png is a binary file of 11.7 KB, which has no lines to read; a "
        "program may show what is in it, e.g. `file` or `xxd`");
  x.folder.write("late", std::string(8192, 'x') + std::string("\0", 1));
  CHECK_FALSE(x.get({{"path", "late"}}).err);
}

TEST_CASE("bytes that are not UTF-8 are replaced, and the text says so") {
  read_fixture x;
  x.folder.write("f", "caf\xe9\n");
  CHECK(x.get({{"path", "f"}}).text ==
        "caf\ufffd\n[some bytes were not UTF-8; they are shown as U+FFFD]");
}

TEST_CASE("what is missing is answered with what is there") {
  read_fixture x;
  x.folder.write("README.md", "");
  x.folder.write("src/main.cpp", "");
  std::filesystem::create_directory(x.folder.path() / "empty");
  std::filesystem::create_symlink("gone", x.folder.path() / "dangling");
  CHECK(x.failure("REDME.md") ==
        "no such file: REDME.md; similar: "
        "README.md");
  CHECK(x.failure("scr/main.cpp") ==
        "no such file: scr/main.cpp; the workspace holds no scr; there are: "
        "README.md, dangling, empty/, src/");
  CHECK(x.failure("src/man.cpp") ==
        "no such file: src/man.cpp; src holds no man.cpp; similar: main.cpp");
  CHECK(x.failure("empty/x") ==
        "no such file: empty/x; empty holds no x; it is empty");
  CHECK(x.failure("dangling") ==
        "no such file: dangling; dangling is a symbolic link to a place that "
        "does not exist");
  CHECK(x.failure("~/x").ends_with("~ means nothing"));
  CHECK(x.get({{"path", "x"}}).err->code == errc::not_found);
}

TEST_CASE("folders, pipes and devices are refused without opening them") {
  read_fixture x;
  x.folder.write("src/main.cpp", "");
  x.folder.write("src/lib/x", "");
  CHECK(x.failure("src") == "src is a folder; it holds: lib/, main.cpp");
  CHECK(x.failure(".") == ". is a folder; it holds: src/");
  const auto pipe = x.folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(x.failure("pipe").starts_with("pipe is no regular file"));
  x.context.workspace = "/dev";
  CHECK(x.failure("zero").starts_with("zero is no regular file"));
}

TEST_CASE("read does not leave the workspace") {
  read_fixture x;
  x.folder.write("ws/file", "inside");
  x.folder.write("secret", "secret");
  std::filesystem::create_symlink("../secret", x.folder.path() / "ws/link");
  x.context.workspace /= "ws";
  CHECK(x.failure("../secret") ==
        "../secret leads out of the workspace, which is not allowed");
  CHECK(x.failure("link").starts_with("link leads out of the workspace"));
  CHECK(x.failure((x.folder.path() / "secret").string())
            .find("/secret leads out of the workspace, which is not "
                  "allowed; give a path relative to it") != std::string::npos);
  CHECK(x.failure(std::string("file\0x", 6)) == "the path holds a NUL byte");
  CHECK(x.get({{"path", "../secret"}}).err->code == errc::invalid_arguments);
}

TEST_CASE("a file without the right to read it is told as that") {
  read_fixture x;
  x.folder.write("f", "text");
  std::filesystem::permissions(x.folder.path() / "f", {});
  std::filesystem::permissions(x.folder.path(), std::filesystem::perms::all);
  const bool root = ::geteuid() == 0;  // this thread as nobody
  if (root) ::syscall(SYS_setfsuid, 65534);
  const auto text = x.failure("f");
  if (root) ::syscall(SYS_setfsuid, 0);
  CHECK(text == "permission denied: the program may not read f");
}

TEST_CASE("a large file is read in bounded memory, with progress") {
  read_fixture x;
  constexpr std::size_t lines = 400'000;
  std::string all;
  for (std::size_t i = 1; i <= lines; ++i)
    all += "this is line " + std::to_string(i) + " of many\n";
  x.folder.write("big", all);
  const auto size = static_cast<double>(all.size());
  all = {};

  const auto second = x.get({{"path", "big"}, {"offset", 2}, {"limit", 1}});
  CHECK(second.text ==
        "this is line 2 of many\n[the file goes on; next: offset 3]");
  CHECK(x.reports().empty());

  testing::reset_peak_memory();
  const auto before = testing::peak_memory();
  const auto last = x.get({{"path", "big"}, {"offset", lines}});
  CHECK(last.text == "this is line 400000 of many\n");
  CHECK(testing::peak_memory() < before + (4u << 20));
  const auto reports = x.reports();
  REQUIRE(reports.size() > 5);
  double done = 0;
  for (const auto& report : reports) {
    CHECK(*report.progress > done);
    CHECK(*report.total == size);
    done = *report.progress;
  }
  CHECK(done == size);
}

TEST_CASE("holes of a sparse file cost no time, and are read as zeros") {
  read_fixture x;
  const auto file = x.folder.path() / "big";
  x.folder.write("big", std::string(9000, 'a') + "\nsecond\n");
  REQUIRE(::truncate(file.c_str(), off_t{1} << 30) == 0);
  std::ofstream{file, std::ios::app} << "\nlast\n";
  REQUIRE(::truncate(file.c_str(), (off_t{1} << 30) + 100'000) == 0);

  const auto begin = std::chrono::steady_clock::now();
  const auto last = x.get({{"path", "big"}, {"offset", 4}});
  CHECK(last.text.substr(0, 10) == std::string("last\n\0\0\0\0\0", 10));
  CHECK(last.text.ends_with(" [... the line goes on for 83610 bytes]"));
  const auto third = x.get({{"path", "big"}, {"offset", 3}, {"limit", 1}});
  CHECK(third.text.find("goes on for 1073716432 bytes]\n[") !=
        std::string::npos);
  CHECK(std::chrono::steady_clock::now() - begin < riffle::testing::scaled(3s));
}

TEST_CASE("a stop ends a long read") {
  read_fixture x;
  x.folder.write("big", std::string(4u << 20, 'a'));
  x.context.progress = [&](const tool_progress_report&) {
    x.stop.request_stop();
  };
  const auto result = x.get({{"path", "big"}, {"offset", 2}});
  REQUIRE(result.err);
  CHECK(result.err->code == errc::cancelled);
}

TEST_CASE("read tells what it does and what it touches") {
  const auto read = make_read();
  CHECK(read->title({{"path", "src/main.cpp"}}) == "Reading src/main.cpp");
  CHECK(read->keys({{"path", "a/../b"}}, "/ws") ==
        std::vector<std::string>{"/ws/b"});
  CHECK(read->spec().eff == effect::read_only);
  CHECK_FALSE(read->spec().guarded);
  CHECK(read->spec().description.starts_with("Reads a text file"));
}

TEST_CASE("a file of the journal is not opened, and a look says why") {
  read_fixture x;
  x.folder.write("data/riffle.db", "text");
  const auto file = (x.folder.path() / "data/riffle.db").string();
  hold_locked(file);
  CHECK(x.failure("data/riffle.db") ==
        "data/riffle.db belongs to the journal of this program, whose files no "
        "tool opens; 'riffle sessions' shows what is in it");
  release_locked(file);
  CHECK(x.get({{"path", "data/riffle.db"}}).text == "text");
}
