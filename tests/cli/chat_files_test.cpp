// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/chat_files.hpp"

#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

struct text_place {
  text_place() { folder.write("f:1.txt", "one\ntwo\nthree\nfour"); }

  /// What the model gets, or why it does not.
  static std::string context_of(const std::string& task) {
    run_request x;
    x.task = task;
    const auto names = attach_mentioned(x);
    return names ? x.context : names.error().message;
  }

  riffle::testing::temp_folder folder;
  riffle::testing::scoped_directory there{folder.path()};
};

}  // namespace

TEST_CASE("of a file that is named with lines these are attached") {
  const text_place there;
  const auto whole = text_place::context_of("see @f:1.txt.");
  CHECK(whole == "File f:1.txt:\none\ntwo\nthree\nfour");
  CHECK(text_place::context_of("@f:1.txt:2") == "File f:1.txt, line 2:\ntwo\n");
  CHECK(text_place::context_of("@f:1.txt:2-3, and more") ==
        "File f:1.txt, lines 2 to 3:\ntwo\nthree\n");
  CHECK(text_place::context_of("@f:1.txt:4-400") ==
        "File f:1.txt, lines 4 to 400:\nfour");
  CHECK(text_place::context_of("@f:1.txt:5") == "f:1.txt has no line 5");
  for (const auto* none : {"@f:1.txt:0", "@f:1.txt:3-2", "@f:1.txt:x", "@:3",
                           "@f:1.txt:2-", "@g.txt:1"}) {
    CAPTURE(none);
    CHECK(text_place::context_of(none).empty());
    CHECK((not_attached(none).size() == 1 || std::string{none} == "@:3"));
  }
}
