// SPDX-License-Identifier: MIT
// What was approved and could not be executed at once: whoever approves it is
// told, sees it in the list, and executes it later.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;

namespace {

constexpr auto writes_and_goes_on = R"toml(
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "made", content = "x" }
[[steps]]
events = [{ text = "I go on. " }, { delay = "100s" }, { text = "End." }]
[[cases]]
match = "It is executed now."
[[cases.steps]]
text = "It was done."
)toml";

constexpr auto commands = R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch a; while [ -e a ]; do sleep 0.05; done" }
[[steps.calls]]
tool = "write"
arguments = { path = "made", content = "x" }
[[steps]]
text = "That is all."
[[cases]]
match = "It is executed now."
[[cases.steps]]
text = "It was done."
)toml";

struct proposing_place {
  explicit proposing_place(const char* script = writes_and_goes_on) {
    folder.write("s.toml", script);
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[approvals]\nmode = \"propose\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n");
  }
  /// What `riffle proposals WORDS` says.
  int proposals(std::vector<std::string> words) {
    words.insert(words.begin(), "proposals");
    terminal_program x{folder.path(), words, 300};
    const int status = x.finish();
    said = x.written();
    return status;
  }
  [[nodiscard]] bool says(const std::string& part) const {
    return said.find(part) != std::string::npos;
  }
  /// The one whose line has this text.
  std::string proposal_about(const std::string& text) {
    REQUIRE(proposals({"list", "--output", "jsonl"}) == 0);
    auto at = said.find(text);
    REQUIRE(at != std::string::npos);
    at = said.rfind("prop_", at);
    REQUIRE(at != std::string::npos);
    return said.substr(at, said.find('"', at) - at);
  }
  [[nodiscard]] bool is_made() const {
    return std::filesystem::exists(folder.path() / "made");
  }
  temp_folder folder;
  std::string said;
};

}  // namespace

TEST_CASE("an approval that a busy session holds back says so, and is listed") {
  if (!has_terminals()) return skip(no_terminals);
  proposing_place x;
  terminal_program busy{x.folder.path(), {"run", "--no-color", "go"}, 100};
  REQUIRE(busy.read_next("I go"));
  REQUIRE(x.proposals({"list", "--output", "jsonl"}) == 0);
  const auto begin = x.said.find("prop_");
  REQUIRE(begin != std::string::npos);
  const auto id = x.said.substr(begin, x.said.find('"', begin) - begin);

  CHECK(x.proposals({"approve", id}) == 1);
  CAPTURE(x.said);
  CHECK(x.says("is approved by user, but nothing was executed"));
  CHECK(x.proposals({"list"}) == 0);
  CHECK(x.says("approved"));
  CHECK(x.says("not executed yet: riffle proposals approve " + id));
  // Nor does a no execute it.
  CHECK(x.proposals({"deny", id}) == 1);
  CHECK(x.says("too late: proposal " + id + " is approved by user"));
  CHECK_FALSE(x.is_made());

  busy.type("\x03");
  CHECK(busy.finish() == 130);
  CHECK_FALSE(x.is_made());
  CHECK(x.proposals({"approve", id}) == 0);
  CHECK(x.says("was approved by user before, and is executed now"));
  CHECK(x.says("write: made ("));
  CHECK_FALSE(x.says("riffle: proposal"));
  CHECK_FALSE(x.says("too late"));
  CHECK(x.is_made());
  CHECK(x.proposals({"list"}) == 0);
  CHECK(x.says("nothing waits for a decision"));
  // Who names none sees the newest.
  CHECK(x.proposals({"show"}) == 0);
  CHECK(x.says("outcome:  ok"));
}

TEST_CASE("an execution that was killed is listed, and how to end it") {
  if (!has_terminals()) return skip(no_terminals);
  proposing_place x{commands};
  terminal_program made{x.folder.path(), {"run", "--no-color", "go"}, 100};
  REQUIRE(made.finish() == 0);
  const auto id = x.proposal_about("touch a");
  const auto behind = x.proposal_about("\"tool\":\"write\"");
  {
    terminal_program runs{x.folder.path(), {"proposals", "approve", id}, 200};
    REQUIRE(eventually(
        [&] { return std::filesystem::exists(x.folder.path() / "a"); }));
    CHECK(x.proposals({"approve", id}) == 1);
    CHECK(x.says("and is executed now, by another process"));
    CHECK(x.proposals({"list"}) == 0);
    CHECK_FALSE(x.says(id));
    runs.signal(SIGKILL);
    runs.finish();
  }
  CHECK(x.proposals({"list"}) == 0);
  CHECK(x.says(id.substr(id.size() - 6) + "  "));  // by its ending
  CHECK_FALSE(x.says(id));
  CHECK(x.says("interrupted: "));
  CHECK(x.says("riffle sessions resume ses_"));
  CHECK(x.proposals({"show", id}) == 0);
  CHECK(x.says("outcome:  interrupted: "));
  CHECK(x.proposals({"show", id, "--output", "json"}) == 0);
  CHECK(x.says("\"interrupted\":true"));
  CHECK(x.proposals({"approve", id}) == 1);
  CHECK(x.says("its execution was interrupted"));
  // Nobody works there, so nobody waits for it to end.
  CHECK(x.proposals({"edit", behind, "--arguments",
                     R"({"path":"made","content":"y"})"}) != 0);
  CHECK(
      x.says("was not decided: an earlier run of its session was "
             "interrupted (riffle sessions resume ses_"));
  CHECK(x.proposals({"approve", behind}) == 1);
  CHECK(x.says("an earlier run of its session was interrupted"));
  CHECK_FALSE(x.says("busy"));
  CHECK(x.proposals({"list"}) == 0);
  CHECK(x.says("not executed yet: riffle sessions resume ses_"));
  CHECK(x.says(", then riffle proposals approve " + behind));
  std::filesystem::remove(x.folder.path() / "a");
  const auto at = x.said.find("ses_");
  const auto session =
      x.said.substr(at, x.said.find_first_of(", \r\n", at) - at);
  terminal_program ends{
      x.folder.path(), {"sessions", "resume", session, "--no-color"}, 200};
  CHECK(ends.finish() == 1);  // nobody knows what came of the call
  CHECK(x.proposals({"approve", behind}) == 0);
  CHECK(x.is_made());
}

TEST_CASE("a call that was approved and killed at work is interrupted") {
  if (!has_terminals()) return skip(no_terminals);
  proposing_place x{commands};
  {
    terminal_program runs{
        x.folder.path(),
        {"run", "--no-color", "--set", "approvals.mode=wait", "go"},
        100};
    REQUIRE(runs.read_next("[?] > "));
    runs.answer("y");
    REQUIRE(eventually(
        [&] { return std::filesystem::exists(x.folder.path() / "a"); }));
    CHECK(x.proposals({"list"}) == 0);
    CHECK_FALSE(x.says("touch a"));
    runs.signal(SIGKILL);
    runs.finish();
  }
  std::filesystem::remove(x.folder.path() / "a");
  CHECK(x.proposals({"list"}) == 0);
  CHECK(x.says("touch a"));
  CHECK(x.says("interrupted: riffle sessions resume ses_"));
  const auto id = x.proposal_about("touch a");
  CHECK(x.proposals({"show", id}) == 0);
  CHECK(x.says("outcome:  interrupted: riffle sessions resume ses_"));
  CHECK(x.proposals({"approve", id}) == 1);
  CHECK(x.says("and its run was interrupted; this ends it:"));
}

TEST_CASE("arguments that can only fail use no proposal up") {
  if (!has_terminals()) return skip(no_terminals);
  proposing_place x{commands};
  terminal_program made{x.folder.path(), {"run", "--no-color", "go"}, 100};
  REQUIRE(made.finish() == 0);
  const auto id = x.proposal_about("\"tool\":\"write\"");
  CHECK(x.proposals({"edit", id, "--arguments",
                     R"({"path":"/etc/x","content":"x"})"}) != 0);
  CHECK(x.says("leads out of the workspace"));
  CHECK(x.proposals({"edit", id, "--arguments",
                     R"({"path":"made","content":"y"})"}) == 0);
  CHECK(x.is_made());
}

TEST_CASE("what was written in the editor is not lost with its decision") {
  if (!has_terminals()) return skip(no_terminals);
  proposing_place x{commands};
  terminal_program made{x.folder.path(), {"run", "--no-color", "go"}, 100};
  REQUIRE(made.finish() == 0);
  const auto id = x.proposal_about("\"tool\":\"write\"");
  x.folder.write("ed.sh",
                 "echo '{\"path\":\"/etc/x\",\"content\":\"mine\"}' > \"$1\"");
  const scoped_env editor{"VISUAL",
                          "sh " + (x.folder.path() / "ed.sh").string()};
  const scoped_env place{"TMPDIR", x.folder.path().string()};
  CHECK(x.proposals({"edit", id}) != 0);
  constexpr std::string_view words = "what you have written is in ";
  const auto at = x.said.find(words);
  REQUIRE(at != std::string::npos);
  const auto begin = at + words.size();
  std::ifstream kept{
      x.said.substr(begin, x.said.find_first_of("\r\n", begin) - begin)};
  const std::string text{std::istreambuf_iterator<char>{kept}, {}};
  CHECK(text.find("mine") != std::string::npos);
}

TEST_CASE("who decides in another terminal is told about what, in short") {
  if (!has_terminals()) return skip(no_terminals);
  proposing_place x{commands};
  terminal_program asks{
      x.folder.path(),
      {"run", "--no-color", "--set", "approvals.mode=wait", "go"},
      100};
  REQUIRE(asks.read_next("[s]top, [?] > "));
  const auto id = x.proposal_about("touch a");
  CHECK(x.proposals({"deny", id, "no"}) == 0);
  CAPTURE(x.said);
  CHECK(x.says("bash: touch a; "));
  CHECK(x.says("; its run goes on"));
  CHECK_FALSE(x.says("riffle: "));
  CHECK_FALSE(x.says(id));
  REQUIRE(asks.read_next("[s]top, [?] > "));
  asks.type("\x03");
  asks.finish();
}
