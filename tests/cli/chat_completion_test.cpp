// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/chat_completion.hpp"

#include <chrono>

#include "runtime/cli/commands/chat_offers.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::cli;

namespace {

struct tree {
  tree() {
    for (const auto* file :
         {"actors/core/restart_policy.cpp", "actors/core/restart_policy.hpp",
          "actors/core/a b.txt", "docs/Plans.md", "build/restart_policy.o",
          ".cache/restart_policy", "top.txt"})
      folder.write(file, "x");
    folder.write(".gitignore", "build/\n");
  }

  riffle::testing::temp_folder folder;
  riffle::testing::scoped_directory there{folder.path()};
};

chat_prompt::completion completed(std::string_view before,
                                  look_bounds bounds = {}) {
  const auto names = [](std::string_view command) {
    if (command == "agent")
      return std::vector<named_choice>{
          {"default", ""}, {"reviewer", ""}, {"reader", ""}};
    if (command == "resume")
      return std::vector<named_choice>{{"Fix the restart policy", ""},
                                       {"Other", ""}};
    return command == "model" ? std::vector<named_choice>{{"default", ""}}
                              : std::vector<named_choice>{};
  };
  chat_offers known{{names, [] { return std::vector<named_choice>{}; }},
                    bounds};
  return complete_chat(before, 80, {}, [&](std::string_view x) {
    return known.offer_within(x, std::chrono::seconds{20});
  });
}

/// The line after a Tab.
std::string after(const std::string& before) {
  const auto x = completed(before);
  return before.substr(0, before.size() - x.replaces) + x.by;
}

}  // namespace

TEST_CASE("a path that begins so is completed first") {
  const tree there;
  CHECK(after("see @to") == "see @top.txt ");
  CHECK(after("@act") == "@actors/");
  CHECK(after("@actors/core/a") == "@\"actors/core/a b.txt\" ");
}

TEST_CASE("a name anywhere in the folder is completed, unless it is ignored") {
  const tree there;
  CHECK(after("see @restart_pol") == "see @actors/core/restart_policy.");
  CHECK(completed("@actors/core/restart_policy.").choices ==
        "  actors/core/restart_policy.cpp\n"
        "  actors/core/restart_policy.hpp\n");
  CHECK(after("@policy.h") == "@actors/core/restart_policy.hpp ");
  CHECK(after("@plans") == "@docs/Plans.md ");
  CHECK(after("@core/a") == "@\"actors/core/a b.txt\" ");
  CHECK(completed("@nowhere").choices == "  nothing here is called nowhere\n");
  CHECK(completed("@nowhere").by.empty());
  CHECK(completed("@/nowhere/x").by.empty());
}

TEST_CASE("a path that is named from here is found anywhere, too") {
  const tree there;
  CHECK(after("@./to") == "@./top.txt ");
  CHECK(after("@./plans") == "@./docs/Plans.md ");
  CHECK(after("@./core/a") == "@\"./actors/core/a b.txt\" ");
  CHECK(after("@./restart_pol") == "@./actors/core/restart_policy.");
  CHECK(completed("@./actors/core/restart_policy.").choices ==
        "  ./actors/core/restart_policy.cpp\n"
        "  ./actors/core/restart_policy.hpp\n");
  CHECK(after("/save ./plans") == "/save ./docs/Plans.md ");
}

TEST_CASE("what was not looked at is not counted as not there") {
  const tree there;
  constexpr auto told = "  (not all of this folder was looked at)\n";
  for (int i = 0; i < 200; ++i)
    there.folder.write("many/draft_note_" + std::to_string(i), "x");
  // Of more than are listed what they have in common.
  CHECK(after("@_note") == "@many/draft_note_");
  const look_bounds few{.most_seen = 20};
  const auto many = completed("@_note", few);
  CHECK(many.by.empty());
  CHECK(many.choices.ends_with(told));
  // A folder with more names than are read.
  const look_bounds narrow{.most_names = 100};
  const auto one = completed("@plans", narrow);
  CHECK(one.by.empty());
  CHECK(one.choices == std::string{"  docs/Plans.md\n"} + told);
  CHECK(completed("@nowhere", narrow).choices ==
        std::string{"  nothing was found that is called nowhere\n"} + told);
  CHECK(completed("@many/nowhere", narrow).choices.ends_with(told));
}

TEST_CASE("a look that takes too long is no answer, and is said") {
  const tree there;
  const auto x = complete_chat("@to", 80, {}, [](std::string_view) {
    return typed_offer{.replaces = 3,
                       .entries = {{"top.txt", "", "@top.txt"}},
                       .best = 1,
                       .common = "@top.txt",
                       .pending = true};
  });
  CHECK(x.by.empty());
  CHECK(x.choices == "  top.txt\n  (not all of this folder was looked at)\n");
}

TEST_CASE("Tab has what the list has, the best of it") {
  const tree there;
  there.folder.write("docs/top_of_all.txt", "x");
  // Those of the folder that is named come before all others.
  CHECK(after("@to") == "@top.txt ");
  CHECK(after("@TOP_") == "@docs/top_of_all.txt ");
  there.folder.write("bad\nname", "x");
  CHECK(after("@bad") == "@bad");
}

TEST_CASE("what stands behind a command is completed") {
  const tree there;
  CHECK(after("/agent rev") == "/agent reviewer ");
  CHECK(completed("/agent re").choices == "  reviewer\n  reader\n");
  CHECK(completed("/agent none").choices == "  nothing here is called none\n");
  CHECK(after("/model ") == "/model default ");
  CHECK(after("/resume polic") == "/resume Fix the restart policy ");
  CHECK(after("/save actors/co") == "/save actors/core/");
  CHECK(after("/save plans") == "/save docs/Plans.md ");
  // Others take words, and a path behind "@".
  CHECK(completed("/title re").by.empty());
  CHECK(after("/title see @to") == "/title see @top.txt ");
}
