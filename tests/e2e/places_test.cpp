// SPDX-License-Identifier: MIT
// Every command where the ground is missing: a deleted working folder, an
// output that takes nothing, no files to open, no standard descriptors.
#include <set>
#include <sstream>

#include "tests/e2e/command_table.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

using words = std::vector<std::string>;

constexpr auto script = R"toml(
[[steps]]
calls = [{ tool = "read", arguments = { path = "a.txt" } },
         { tool = "write", arguments = { path = "b.txt", content = "b" } }]
[[steps]]
text = "All is seen."
)toml";

/// A folder in which all of them succeed, and what to put in.
struct place {
  place() {
    folder.write("s.toml", script);
    folder.write("a.txt", "A\n");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"" +
                     (folder.path() / "data").string() +
                     "\"\n[models.default]\ndialect = \"scripted\"\n"
                     "model = \"s\"\nscript = \"s.toml\"\n"
                     "[approvals]\nmode = \"propose\"\n"
                     "[mcp.self]\ncommand = [\"" +
                     installed_riffle().string() +
                     "\", \"mcp\", \"serve\", \"--config\", "
                     "\"riffle.toml\"]\n");
    folder.write("plan.json", R"({"steps":[{"tool":"read","arguments":)"
                              R"({"path":"a.txt"}}]})");
    folder.write("servers.json",
                 R"({"mcpServers":{"imported":{"command":"true"}}})");
    REQUIRE(
        riffle::testing::riffle(folder, {"cluster", "init", "authority", "n1"})
            .status == 0);
    const auto end = riffle::testing::riffle(
        folder, {"run", "go", "--session", "s1", "--approve", "ask", "--output",
                 "jsonl"});
    REQUIRE(end.status == 0);
    folder.write("published", end.out);
    for (const auto& e : checked_events(end.out)) {
      if (e.at("event_type") == "tool_result" &&
          e.at("data").at("tool") == "read")
        call = e.at("data").at("id");
      if (e.at("event_type") == "proposal")
        proposal = e.at("data").at("proposal_id");
    }
    REQUIRE(!call.empty());
    REQUIRE(!proposal.empty());
  }

  /// As a shell reads it.
  [[nodiscard]] std::string line(const words& arguments) const {
    std::string out = "'" + installed_riffle().string() + "'";
    for (auto x : arguments) {
      if (x == "CALL") x = call;
      if (x == "PROP") x = proposal;
      out += " '" + x + "'";
    }
    return out;
  }

  finished shell(const std::string& text) const {
    return program{"/bin/sh", folder, {"-c", text}}.wait();
  }

  work_folder folder;
  std::string call;
  std::string proposal;
};

std::string text_of(const words& x) {
  std::string out;
  for (const auto& word : x) out += word + " ";
  return out;
}

/// Calls `f(place, command)` for each command.
template <class F>
void for_each_command(F f) {
  const place shared;
  for (const auto& x : all_commands()) {
    CAPTURE(text_of(x.arguments));
    if (x.spends)
      f(place{}, x);
    else
      f(shared, x);
  }
}

void check_ended(const finished& end) {
  // No signal, no shell; with very few files the loader gives up first.
  const bool loads =
      end.err.find("error while loading shared libraries") == std::string::npos;
  CHECK((end.status < 126 || (end.status == 127 && !loads)));
  CHECK(end.err.find("terminate") == std::string::npos);
  CHECK(end.err.find("something went wrong inside") == std::string::npos);
}

/// A server where something is missing, told to end once it says that it
/// listens. `begin` stands before its line.
finished serve_once(const place& at, const std::string& name,
                    const std::string& begin, const std::string& to) {
  const words more = name == "serve" ? words{"--listen", "127.0.0.1:0"}
                                     : words{"--insecure", "--set",
                                             "cluster.listen=\"127.0.0.1:0\"",
                                             "--set", "node.tools=[\"read\"]"};
  words all{name};
  all.insert(all.end(), more.begin(), more.end());
  program running{
      "/bin/sh", at.folder, {"-c", begin + "exec " + at.line(all) + " " + to}};
  CHECK(eventually([&] {
    const auto said = running.out() + running.err();
    return running.has_ended() ||
           said.find("http://127.0.0.1:") != std::string::npos ||
           said.find("listens on 127.0.0.1:") != std::string::npos ||
           said.find("cannot be written") != std::string::npos;
  }));
  running.signal(SIGTERM);
  return running.wait();
}

}  // namespace

TEST_CASE("the table has every command that the program has") {
  const work_folder folder;
  std::set<std::string> known;
  for (const auto& x : all_commands()) {
    known.insert(x.arguments.at(0));
    if (x.arguments.size() > 1)
      known.insert(x.arguments[0] + " " + x.arguments[1]);
  }
  // They run until they are told to end: below.
  for (const auto& name : long_lived_commands()) known.insert(name);
  const auto top = names_in_help(folder, {});
  CHECK(top.size() >= 6);
  for (const auto& name : top) {
    CAPTURE(name);
    CHECK(known.contains(name));
    for (const auto& sub : names_in_help(folder, {name})) {
      CAPTURE(sub);
      CHECK(known.contains(name + " " + sub));
    }
  }
}

TEST_CASE("each command of the table succeeds where nothing is missing") {
  for_each_command([](const place& at, const listed_command& x) {
    const auto end = at.shell(at.line(x.arguments));
    INFO(end.err);
    CHECK(end.status == x.status);
    CHECK(end.out.empty() != x.prints);
  });
}

TEST_CASE("each command says that its working folder is gone") {
  const place at;
  for (const auto& x : all_commands()) {
    CAPTURE(text_of(x.arguments));
    const auto end =
        at.shell("mkdir gone; cd gone; rmdir ../gone; " + at.line(x.arguments));
    INFO(end.err);
    check_ended(end);
    if (x.arguments.back() == "--help" || x.arguments[0] == "--version") {
      CHECK(end.status == 0);
      continue;
    }
    CHECK(end.status != 0);
    CHECK(end.err.find("cd to one that exists") != std::string::npos);
    CHECK(end.out.empty());
  }
}

TEST_CASE("each command says that its output takes nothing") {
  for (const std::string to : {"> /dev/full", ">&-"}) {
    for_each_command([&](const place& at, const listed_command& x) {
      CAPTURE(to);
      const auto end = at.shell(at.line(x.arguments) + " " + to);
      INFO(end.err);
      check_ended(end);
      if (!x.prints) return;
      CHECK(end.status != 0);
      CHECK(end.err.find("standard output cannot be written: ") !=
            std::string::npos);
    });
  }
}

TEST_CASE("each command does without standard input and standard error") {
  for (const std::string without : {"<&-", "2>&-", "<&- 2>&-"}) {
    for_each_command([&](const place& at, const listed_command& x) {
      CAPTURE(without);
      const auto end = at.shell(at.line(x.arguments) + " " + without);
      INFO(end.err);
      check_ended(end);
      CHECK(end.status == x.status);
      CHECK(end.out.empty() != x.prints);
    });
  }
}

TEST_CASE("each command ends well with few files to open") {
  for (const std::string few : {"6", "8", "10", "12"}) {
    for_each_command([&](const place& at, const listed_command& x) {
      CAPTURE(few);
      if (x.retries && few != "8") return;
      const auto end =
          at.shell("ulimit -n " + few + "; exec " + at.line(x.arguments));
      INFO(end.err);
      check_ended(end);
      // What fails says so; some commands list what does on standard output.
      if (end.status != 0) CHECK_FALSE((end.err + end.out).empty());
      if (end.status == 0) CHECK(end.out.empty() != x.prints);
    });
  }
}

TEST_CASE("servers end well where something is missing") {
  const place at;
  for (const auto& name : long_lived_commands()) {
    CAPTURE(name);
    const auto good = serve_once(at, name, "", "");
    INFO(good.err);
    CHECK(good.status == 0);
    const auto gone =
        serve_once(at, name, "mkdir gone; cd gone; rmdir ../gone; ", "");
    INFO(gone.err);
    check_ended(gone);
    CHECK(gone.status != 0);
    CHECK(gone.err.find("cd to one that exists") != std::string::npos);
    for (const std::string to : {"> /dev/full", ">&-"}) {
      CAPTURE(to);
      const auto end = serve_once(at, name, "", to);
      INFO(end.err);
      check_ended(end);
      CHECK(end.status != 0);
      CHECK(end.err.find("standard output cannot be written: ") !=
            std::string::npos);
    }
    for (const std::string few : {"6", "8", "10", "12", "16"}) {
      CAPTURE(few);
      const auto end = serve_once(at, name, "ulimit -n " + few + "; ", "");
      INFO(end.err);
      check_ended(end);
      if (end.status != 0) CHECK_FALSE(end.err.empty());
      CHECK(end.err.find("choose another port") == std::string::npos);
    }
  }
}
