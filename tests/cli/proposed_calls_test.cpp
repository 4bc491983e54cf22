// SPDX-License-Identifier: MIT
// What was approved and could not be executed at once: whoever approves it is
// told, sees it in the list, and executes it later.
#include <filesystem>

#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;

namespace {

struct proposing_place {
  proposing_place() {
    folder.write("s.toml", R"toml(
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
)toml");
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
  CHECK_FALSE(x.says("too late"));
  CHECK(x.is_made());
  CHECK(x.proposals({"list"}) == 0);
  CHECK(x.says("nothing waits for a decision"));
  // Who names none sees the newest.
  CHECK(x.proposals({"show"}) == 0);
  CHECK(x.says("outcome:  ok"));
}
