// SPDX-License-Identifier: MIT
// Commands that only read need nobody's consent; all others do.
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

struct asked_command {
  finished end;
  std::string told;  ///< what the model was told of its call
};

/// A run in which the model calls bash once, and nobody can be asked.
asked_command run_command(const work_folder& folder, const std::string& command,
                          std::string_view more = {}) {
  http_server server{[&](const http_request& request) {
    if (tool_messages(request).empty())
      return respond_sse(calls({{"bash", {{"command", command}}}}));
    return respond_sse(answer("done"));
  }};
  folder.configure(server.url("/v1"), more);
  asked_command out{riffle::testing::riffle(folder, {"run", "go"}), {}};
  const auto requests = server.requests();
  if (requests.size() > 1)
    out.told = tool_messages(requests.back()).back().at("content");
  return out;
}

constexpr int denied_calls = 3;

void make_repository(const work_folder& folder, const std::string& config) {
  fs::create_directories(folder.path() / ".git" / "objects");
  fs::create_directories(folder.path() / ".git" / "refs" / "heads");
  folder.write(".git/HEAD", "ref: refs/heads/topic\n");
  folder.write(".git/config",
               "[core]\n\trepositoryformatversion = 0\n" + config);
}

}  // namespace

TEST_CASE("a command that only reads needs nobody's consent") {
  const work_folder folder;
  folder.write("notes.txt", "first\nsecond\n");
  const auto x = run_command(folder, "head -n 1 notes.txt");
  CAPTURE(x.end.err);
  CHECK(x.end.status == 0);
  CHECK_THAT(x.told, Contains("first") && !Contains("second"));
}

TEST_CASE("a command that only reads counts as that, behind earlier writes") {
  const work_folder folder;
  folder.write("notes.txt", "old\n");
  http_server server{[&](const http_request& request) {
    if (!tool_messages(request).empty()) return respond_sse(answer("done"));
    return respond_sse(
        calls({{"bash", {{"command", "sleep 0.3; echo new > notes.txt"}}},
               {"bash", {{"command", "cat notes.txt"}}}}));
  }};
  folder.configure(server.url("/v1"));
  const auto end = riffle::testing::riffle(
      folder, {"run", "--approve", "all", "--output", "jsonl", "go"});
  INFO(end.out);
  REQUIRE(end.status == 0);
  const auto told = tool_messages(server.requests().back());
  REQUIRE(told.size() == 2);
  CHECK_THAT(told[1].at("content").get<std::string>(),
             Contains("new") && !Contains("old"));
  std::vector<std::string> effects;
  std::istringstream lines{end.out};
  for (std::string line; std::getline(lines, line);) {
    const auto x = nlohmann::json::parse(line);
    if (x.at("event_type") == "tool_call")
      effects.push_back(x.at("data").at("effect"));
  }
  CHECK(effects == std::vector<std::string>{"mutating", "read_only"});
}

TEST_CASE("what does more than read is asked about as before") {
  const work_folder folder;
  folder.write("notes.txt", "first\n");
  for (const auto* command :
       {"head -n 1 notes.txt > copy", "cat notes.txt; touch copy",
        "find . -name notes.txt -delete", "cat *", "cat /etc/passwd",
        "cat ../x", "./notes.txt"}) {
    CAPTURE(command);
    CHECK(run_command(folder, command).end.status == denied_calls);
  }
  CHECK(folder.read("notes.txt") == "first\n");
  CHECK_FALSE(fs::exists(folder.path() / "copy"));
}

TEST_CASE("a link that leads out of the workspace is no place to read") {
  const work_folder folder;
  fs::create_symlink("/etc/passwd", folder.path() / "link");
  fs::create_symlink("/etc", folder.path() / "up");
  CHECK(run_command(folder, "cat link").end.status == denied_calls);
  CHECK(run_command(folder, "ls up").end.status == denied_calls);
  CHECK(run_command(folder, "head up/passwd").end.status == denied_calls);
  CHECK(run_command(folder, "ls").end.status == 0);
  for (const auto* command :
       {"sed -n 1p link", "sort link", "diff link link", "realpath link",
        "readlink link", "sha256sum up/passwd", "du up"}) {
    CAPTURE(command);
    CHECK(run_command(folder, command).end.status == denied_calls);
  }
}

TEST_CASE("what follows links in a folder gets files alone") {
  const work_folder folder;
  fs::create_directories(folder.path() / "a");
  fs::create_directories(folder.path() / "b");
  folder.write("passwd", "mine\n");
  fs::create_symlink("/etc/passwd", folder.path() / "a/passwd");
  folder.write("b/passwd", "other\n");
  for (const auto* command : {"diff a b", "diff a passwd", "diff passwd a"}) {
    CAPTURE(command);
    CHECK(run_command(folder, command).end.status == denied_calls);
  }
  const auto x = run_command(folder, "diff passwd b/passwd");
  CHECK_THAT(x.told, Contains("< mine") && Contains("> other"));
}

TEST_CASE("some lines of a file, sorted and counted ones need no consent") {
  const work_folder folder;
  folder.write("notes.txt", "c\nb\na\n");
  CHECK_THAT(run_command(folder, "sed -n '2,$p' notes.txt").told,
             Contains("b\na") && !Contains("c\n"));
  CHECK_THAT(run_command(folder, "sort notes.txt").told, Contains("a\nb\nc"));
  CHECK(run_command(folder, "sort -o notes.txt notes.txt").end.status ==
        denied_calls);
  CHECK(run_command(folder, "uniq notes.txt copy").end.status == denied_calls);
  CHECK(folder.read("notes.txt") == "c\nb\na\n");
  CHECK_FALSE(fs::exists(folder.path() / "copy"));
}

TEST_CASE("a sort that would write files of its own says so") {
  const work_folder folder;
  std::string line = "sort -m";
  for (int i = 0; i < 20; ++i) {
    folder.write("f" + std::to_string(i), "a\n");
    line += " f" + std::to_string(i);
  }
  CHECK_THAT(run_command(folder, line).told,
             Contains("sort: cannot create temporary file"));
}

TEST_CASE("rules of bash and of read stand above the list") {
  const work_folder folder;
  folder.write("a", "public");
  folder.write(".env", "secret");
  CHECK(run_command(folder, "cat a", "[tools.bash]\napproval = \"ask\"\n")
            .end.status == denied_calls);
  CHECK(run_command(folder, "cat a", "[tools.bash]\nread_only = []\n")
            .end.status == denied_calls);
  CHECK(run_command(folder, "cat a",
                    "[tools.bash]\nrules = [{ match = \"cat *\", approval = "
                    "\"deny\" }]\n")
            .told.find("public") == std::string::npos);
  constexpr auto hidden =
      "[tools.read]\nrules = [{ match = \".env*\", approval = \"deny\" }]\n";
  CHECK(run_command(folder, "cat a", hidden).end.status == 0);
  CHECK(run_command(folder, "cat .env", hidden).end.status == denied_calls);
  CHECK(run_command(folder, "grep -r s .", hidden).end.status == denied_calls);
  CHECK(run_command(folder, "./a", "[tools.bash]\nread_only = [\"./a\"]\n")
            .end.status == 2);
}

TEST_CASE(
    "a program that lies in the workspace is not taken for one that reads") {
  const work_folder folder;
  fs::create_directory(folder.path() / "bin");
  folder.write("bin/cat", "#!/bin/sh\necho run > ran\n");
  fs::permissions(folder.path() / "bin/cat", fs::perms::owner_all);
  folder.write("a", "text");
  http_server server{[](const http_request& request) {
    if (tool_messages(request).empty())
      return respond_sse(calls({{"bash", {{"command", "cat a"}}}}));
    return respond_sse(answer("done"));
  }};
  folder.configure(server.url("/v1"));
  const auto path =
      (folder.path() / "bin").string() + ":" + std::getenv("PATH");
  for (const auto& before : {path, ".:" + path}) {
    const auto end =
        riffle::testing::riffle(folder, {"run", "go"}, {{"PATH", before}});
    CHECK(end.status == denied_calls);
  }
  CHECK_FALSE(fs::exists(folder.path() / "ran"));
}

TEST_CASE("git reads only where the repository names no program") {
  const work_folder folder;
  make_repository(folder, {});
  const auto plain = run_command(folder, "git status");
  CAPTURE(plain.end.err);
  CHECK(plain.end.status == 0);
  CHECK_THAT(plain.told, Contains("topic"));
  folder.write("hook", "#!/bin/sh\ntouch \"" +
                           (folder.path() / "ran").string() + "\"\n");
  fs::permissions(folder.path() / "hook", fs::perms::owner_all);
  make_repository(folder, "\tfsmonitor = ./hook\n");
  CHECK(run_command(folder, "git status").end.status == denied_calls);
  make_repository(folder, "[include]\n\tpath = ../other\n");
  CHECK(run_command(folder, "git log").end.status == denied_calls);
  CHECK_FALSE(fs::exists(folder.path() / "ran"));
  make_repository(folder, {});
  folder.write(".git/commondir", "../elsewhere\n");
  CHECK(run_command(folder, "git status").end.status == denied_calls);
}
