// SPDX-License-Identifier: MIT
// The one log of the real program: where its lines go, and who decides how
// many there are.
#include <fstream>
#include <sstream>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

constexpr auto script = R"toml(
[[steps]]
text = "I look. "
[[steps.calls]]
tool = "read"
arguments = { path = "a.txt" }
[[steps.calls]]
tool = "bash"
arguments = { command = "echo $$ > pid; sleep $(cat pause)" }
[[steps]]
text = "All is seen."
)toml";

void prepare(const work_folder& folder, std::string_view pause = "0") {
  folder.write("s.toml", script);
  folder.write("a.txt", "A\n");
  folder.write("pause", pause);
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n[tools.bash]\napproval = \"allow\"\n");
}

/// A store whose write-ahead log lost commits: opening it is a warning.
void damage(const work_folder& folder) {
  prepare(folder, "60");
  {
    const program killed{installed_riffle(), folder, {"run", "go"}};
    REQUIRE(eventually([&] { return !folder.lines("pid").empty(); }));
  }  // SIGKILL
  const auto log = folder.path() / "data" / "riffle.db-wal";
  std::fstream file{log, std::ios::in | std::ios::out | std::ios::binary};
  file.seekp(200);
  file.put('x').put('y').put('z');
  REQUIRE(file.good());
}

std::size_t lines_with(const std::string& text, const std::string& part) {
  std::istringstream in{text};
  std::size_t n = 0;
  for (std::string line; std::getline(in, line);)
    n += line.find(part) != std::string::npos;
  return n;
}

}  // namespace

TEST_CASE("a warning of the store is on standard error, as the log is set up") {
  const std::vector<std::string> list{"sessions", "list", "--output", "jsonl"};
  const auto with = [&](std::vector<std::string> more) {
    const work_folder folder;
    damage(folder);
    auto arguments = list;
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto end = riffle::testing::riffle(folder, arguments);
    INFO(end.err);
    CHECK(end.out.find("warn") == std::string::npos);
    CHECK(end.out.find("riffle.db-wal") == std::string::npos);
    return end.err;
  };
  const auto text = with({});
  CHECK(lines_with(text, " warn journal: ") == 1);
  CHECK(lines_with(text, "riffle.db-wal") == 1);
  const auto as_json = with({"--set", "runtime.log.format=json"});
  CHECK(json::parse(as_json).at("op") == "journal");
  CHECK(json::parse(as_json).at("level") == "warn");
  CHECK(with({"-q"}).empty());
  CHECK(with({"--set", "runtime.log.level=error"}).empty());
  CHECK(with({"--set", "runtime.log.level=off"}).empty());
}

TEST_CASE("the same warning in a run leaves its standard output alone") {
  const work_folder folder;
  damage(folder);
  folder.write("pause", "0");
  const auto end = riffle::testing::riffle(
      folder, {"run", "go", "--session", "s2", "--output", "jsonl"});
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(lines_with(end.err, " warn journal: ") == 1);
  CHECK(of_type(checked_events(end.out), "run_finished").size() == 1);
}

TEST_CASE("a run is quiet in the log unless more is asked for") {
  const auto err_of = [](std::vector<std::string> more) {
    const work_folder folder;
    prepare(folder);
    more.insert(more.begin(), {"run", "go"});
    const auto end = riffle::testing::riffle(folder, more);
    INFO(end.err);
    CHECK(end.status == 0);
    CHECK(end.out == "All is seen.\n");
    return end.err;
  };
  CHECK(lines_with(err_of({}), " run: ") == 0);
  CHECK(err_of({"-q"}).empty());
  const auto traced = err_of({"-v"});
  CHECK(lines_with(traced, " info run: ") == 0);
  CHECK(lines_with(traced, "[CALL] read ") == 1);
  {
    const auto err = err_of({"--set", "runtime.log.level=info"});
    CHECK(lines_with(err, " begins: session ") == 1);
    CHECK(lines_with(err, " ended: completed in ") == 1);
    CHECK(lines_with(err, " begins: read (read_only), step 1") == 1);
    CHECK(lines_with(err, " ended: read ok in ") == 1);
    CHECK(lines_with(err, " ended: bash ok in ") == 1);
    CHECK(lines_with(err, " debug ") == 0);
  }
  const auto err = err_of(
      {"--set", "runtime.log.level=debug", "--set", "runtime.log.format=json"});
  std::istringstream in{err};
  std::size_t phases = 0;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("{\"timestamp\""))
      phases += json::parse(line).at("message").get<std::string>().find(
                    "streaming -> settling") != std::string::npos;
  CHECK(phases == 1);
}
