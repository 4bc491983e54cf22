// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/chat_files.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>

#include "runtime/cli/commands/new_file.hpp"
#include "runtime/cli/terminal/chat_prompt.hpp"
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

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace

TEST_CASE("of a file that is named with lines these are attached") {
  const text_place there;
  const auto whole = text_place::context_of("see @f:1.txt.");
  CHECK(whole == "File f:1.txt:\none\ntwo\nthree\nfour");
  CHECK(text_place::context_of("@f:1.txt:2") == "File f:1.txt, line 2:\ntwo\n");
  CHECK(text_place::context_of("@f:1.txt:2-3, and more") ==
        "File f:1.txt, lines 2 to 3:\ntwo\nthree\n");
  CHECK(text_place::context_of("@f:1.txt:4-400") ==
        "File f:1.txt, line 4:\nfour");
  CHECK(text_place::context_of("(@f:1.txt:3-9)") ==
        "File f:1.txt, lines 3 to 4:\nthree\nfour");
  CHECK(text_place::context_of("@f:1.txt:5") ==
        "f:1.txt has no line 5: it has 4");
  for (const auto* none : {"@f:1.txt:0", "@f:1.txt:3-2", "@f:1.txt:x", "@:3",
                           "@f:1.txt:2-", "@g.txt:1"}) {
    CAPTURE(none);
    CHECK(text_place::context_of(none).empty());
    CHECK((not_attached(none).size() == 1 || std::string{none} == "@:3"));
  }
}

TEST_CASE("lines of a name with blanks, and of a file of any size") {
  const text_place there;
  there.folder.write("a b.txt", "one\ntwo\nthree\n");
  CHECK(text_place::context_of("see @\"a b.txt\":2-3, please") ==
        "File a b.txt, lines 2 to 3:\ntwo\nthree\n");
  std::string large;
  for (int i = 1; i <= 1'200'000; ++i) large += std::to_string(i) + " ab\n";
  REQUIRE(large.size() > (8u << 20));
  there.folder.write("large.txt", large);
  CHECK(text_place::context_of("@large.txt:1199999-1300000") ==
        "File large.txt, lines 1199999 to 1200000:\n1199999 ab\n1200000 ab\n");
  CHECK(text_place::context_of("@large.txt:1300000") ==
        "large.txt has no line 1300000: it has 1200000");
  CHECK(text_place::context_of("@large.txt:1-200000")
            .starts_with("large.txt is larger than 256 KiB"));
  CHECK(text_place::context_of("@large.txt").find("8 MiB") !=
        std::string::npos);
}

TEST_CASE("what nobody attached is said as it is") {
  const text_place there;
  there.folder.write("d/x", "x");
  const auto said = [](const std::string& word) {
    const auto all = not_attached(word);
    return all.size() == 1 ? all[0] : std::string{};
  };
  CHECK(
      said("@f:1.txt:3-2,") ==
      "@f:1.txt:3-2: there are no such lines (write @f:1.txt:10-20), so it is "
      "sent as text");
  CHECK(said("(@none:1-2)") ==
        "@none:1-2: there is no such file, so it is sent as text");
  CHECK(said("@d:1-2").starts_with("@d:1-2 is a folder"));
  REQUIRE(::mkfifo((there.folder.path() / "p").c_str(), 0600) == 0);
  for (const auto* pipe : {"@p", "@p:1-2"})
    CHECK(said(pipe) == std::string{pipe} +
                            " is a pipe or a device, not a file, so it is "
                            "sent as text");
  using words = std::vector<std::string>;
  // These speak to somebody, or are no names at all.
  CHECK(not_attached("@you: hello") == words{});
  CHECK(not_attached("@you, (@me:) at @noon:3pm, git log @{u}..") == words{});
  CHECK(not_attached("@d/you: hello") ==
        words{"@d/you: there is no such file, so it is sent as text"});
  CHECK(not_attached("@you and @me") ==
        words{"no file you: sent as text", "no file me: sent as text"});
}

TEST_CASE("of a whole file its lines are told") {
  const text_place there;
  run_request x;
  x.task = "see @f:1.txt, and @f:1.txt:2";
  CHECK(attach_mentioned(x) == "f:1.txt (4 lines), f:1.txt, line 2");
}

TEST_CASE("of what is attached it is said what the model does not get") {
  const text_place there;
  there.folder.write("old.txt", "caf\xE9\nna\xEFve\nplain\n");
  const auto said = [](const std::string& task) {
    run_request x;
    x.task = task;
    const auto names = attach_mentioned(x);
    return names ? *names : names.error().message;
  };
  CHECK(said("@old.txt") ==
        "old.txt (3 lines; 2 places are not UTF-8, the model gets U+FFFD "
        "there)");
  CHECK(said("@old.txt:1") ==
        "old.txt, line 1 (1 place is not UTF-8, the model gets U+FFFD there)");
  CHECK(said("@old.txt:3") == "old.txt, line 3");
  there.folder.write("empty.txt", "");
  CHECK(said("@empty.txt") == "\"empty.txt\" is empty");
  there.folder.write("blank.txt", "\n \n");
  CHECK(said("@blank.txt") == "\"blank.txt\" holds no text");
}

TEST_CASE("a word is sent as it is where there is no such file") {
  using words = std::vector<std::string>;
  CHECK(not_attached("ask @nothere") == words{"no file nothere: sent as text"});
  CHECK(not_attached("class a {\n  @nothere\n}").empty());
}

TEST_CASE("what closes a word stands right behind one that was completed") {
  const auto typed = [](const std::string& before, const std::string& now,
                        const char* text) {
    line_editor x;
    x.insert(now);
    const key pressed{key_kind::text, text};
    close_completed_word(x, before, pressed);
    x.on(pressed);
    return x.take();
  };
  CHECK(typed("see @docs/pl", "see @docs/plans.md ", ":") ==
        "see @docs/plans.md:");
  CHECK(typed("see @docs/pl", "see @docs/plans.md ", ":1-5") ==
        "see @docs/plans.md:1-5");
  CHECK(typed("see @docs/pl", "see @docs/plans.md ", "a") ==
        "see @docs/plans.md a");
  CHECK(typed("see @docs/pl", "see @docs/plans.md ", ".") ==
        "see @docs/plans.md .");
  CHECK(typed("@\"a ", "@\"a b.md\" ", ":2") == "@\"a b.md\":2");
  // A command's word is closed by its blank alone.
  CHECK(typed("/sav", "/save ", "./n.md") == "/save ./n.md");
  CHECK(typed("/sav", "/save ", ":") == "/save :");
  // Nothing was completed.
  CHECK(typed("", "see this ", ":") == "see this :");
  CHECK(typed("see this ", "see this ", ":") == "see this :");
}

TEST_CASE("a line far within a huge file is not looked for") {
  const text_place there;
  const auto file = there.folder.write("huge.log", "one\ntwo\n");
  std::filesystem::resize_file(file, 300u << 20);
  CHECK(text_place::context_of("@huge.log:2") ==
        "File huge.log, line 2:\ntwo\n");
  CHECK(text_place::context_of("@huge.log:5")
            .starts_with("huge.log is too large: line 5 is not within its "
                         "first 256 MiB"));
}

TEST_CASE("what is saved makes a new file, whole or not at all") {
  const riffle::testing::temp_folder folder;
  const auto file = folder.path() / "it.md";
  SECTION("not where something is") {
    folder.write("it.md", "mine\n");
    CHECK(make_file(file, "text\n") == EEXIST);
    CHECK(text_of(file) == "mine\n");
  }
  SECTION("not where a link leads") {
    std::filesystem::create_symlink(folder.path() / "far", file);
    CHECK(make_file(file, "text\n") == EEXIST);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "far"));
  }
  SECTION("not a part of it") {
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit few{3, before.rlim_max};
    const auto old = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &few);
    const int problem = make_file(file, "text\n");
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, old);
    CHECK(problem == EFBIG);
    CHECK_FALSE(std::filesystem::exists(file));
    CHECK(make_file(file, "text\n") == 0);
    CHECK(text_of(file) == "text\n");
  }
}
