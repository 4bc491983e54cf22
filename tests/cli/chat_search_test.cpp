// SPDX-License-Identifier: MIT
// Sessions are found by their titles at a pseudo-terminal, however many.
#include "runtime/storage/journal.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/repetitions.hpp"
#include "tests/support/skip.hpp"

using namespace riffle;
using riffle::testing::temp_folder;
using riffle::testing::terminal_program;

namespace {

/// With the four all that is looked at, in the end.
const int others = riffle::testing::repetitions(40, 400, 9'996);

/// A folder whose data has one old session called "Fix the tax report", two
/// about tea, one of another folder, and many others above them.
struct place {
  place() {
    folder.write("s.toml", "[[steps]]\ntext = \"You said: {{task}}\"\n");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
    const auto journal = storage::open_sqlite_journal(
        folder.path() / "data", storage::durability::process);
    REQUIRE(journal);
    add(**journal, "first", "Fix the tax report");
    add(**journal, "green", "Tea, green");
    add(**journal, "black", "Tea, black");
    add(**journal, "far", "Ärger mit dem Zoll", "/some/where/else");
    // One that stands in no list.
    add(**journal, "plan_call_0001", "A single call");
    for (int i = 0; i < others; ++i)
      add(**journal, "s" + std::to_string(i), "Task " + std::to_string(i));
  }
  static void add(storage::journal& journal, const std::string& id,
                  const std::string& task, const std::string& folder = {}) {
    storage::run_record x;
    x.id = {"run_" + id};
    x.session = {id};
    x.task = task;
    x.agent = "default";
    if (!folder.empty()) x.settings = R"({"folder":")" + folder + R"("})";
    auto opened = journal.open_run(x);
    REQUIRE(opened);
    opened->run.state = storage::run_state::completed;
    journal.append({x.id, {}, {opened->run}}, [](const auto&) {});
  }
  temp_folder folder;
};

}  // namespace

TEST_CASE("a session is gone on with by words of its title") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 200};
  REQUIRE(at.read_next("/help shows"));
  at.type("/resume TAX fix\r");
  REQUIRE(at.read_next("Session first, model default (s)."));
  at.type("/resume ZOLL ärger\r");
  REQUIRE(at.read_next("Session far, model default (s)."));
  REQUIRE(
      at.read_next("Its last task worked in /some/where/else; the next one "
                   "works here, in /"));
  // A whole id is not looked for among all the others.
  at.type("/resume plan_call_0001\r");
  REQUIRE(at.read_next("Session plan_call_0001, model default (s)."));
  at.type("/resume no such thing\r");
  REQUIRE(at.read_next("No session is called so: no such thing."));
  at.type("/resume tea\r");
  REQUIRE(at.read_next("> black"));
  REQUIRE(at.read_next("green"));
  REQUIRE(at.read_next("Esc: none"));
  at.type("gre");
  REQUIRE(at.read_next("> green"));
  REQUIRE(at.read_next("\"gre\": "));
  at.type("\r");
  REQUIRE(at.read_next("Session green, model default (s)."));
  at.type("/quit\r");
  CHECK(at.finish() == 0);
}

TEST_CASE("a task of a session of another folder says where it works") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  terminal_program at{
      here.folder.path(), {"run", "--session", "far", "go"}, 200};
  REQUIRE(
      at.read_next("session far worked in /some/where/else until now; this "
                   "task works here, in /"));
  REQUIRE(at.read_next("You said: go"));
  CHECK(at.finish() == 0);
}

TEST_CASE("the list that opens has all sessions, and narrows as one types") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place here;
  terminal_program at{here.folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  at.type("/resume\r");
  REQUIRE(at.read_next("1 of " + std::to_string(others + 4) + "."));
  REQUIRE(at.read_next("Esc: none"));
  at.type("report");
  REQUIRE(at.read_next("Fix the tax report"));
  REQUIRE(at.read_next("\"report\": "));
  at.type("\r");
  REQUIRE(at.read_next("Session first, model default (s)."));
  at.type("/quit\r");
  CHECK(at.finish() == 0);
}
