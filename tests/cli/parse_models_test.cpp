// SPDX-License-Identifier: MIT
#include "runtime/cli/parse.hpp"
#include "tests/cli/parsing.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;

TEST_CASE("a bell is rung where it is wanted") {
  CHECK_FALSE(parsed<run_command>({"run", "t"}).show.notify);
  CHECK(parsed<run_command>({"run", "--notify", "t"}).show.notify);
  CHECK(parsed<chat_command>({"chat", "--notify"}).each.show.notify);
}

TEST_CASE("the first steps arrive") {
  const auto plain = parsed<init_command>({"init"});
  CHECK((plain.provider.empty() && plain.model.empty()));
  CHECK_FALSE((plain.here || plain.force));
  const auto all = parsed<init_command>(
      {"init", "--provider", "p", "--model", "m", "--here", "--force"});
  CHECK(all.provider == "p");
  CHECK(all.model == "m");
  CHECK((all.here && all.force));
  CHECK(has(refused({"init", "--provider", ""}), "--provider"));
  CHECK(has(refused({"init", "x"}), "x"));
}

TEST_CASE("models and the form of an answer arrive") {
  using what = models_command::what;
  const auto list = parsed<models_command>({"models", "list"});
  CHECK(list.action == what::list);
  CHECK(list.name.empty());
  CHECK(parsed<models_command>({"models", "list", "groq"}).name == "groq");
  const auto check =
      parsed<models_command>({"models", "check", "groq/x", "--output", "json"});
  CHECK(check.action == what::check);
  CHECK(check.name == "groq/x");
  CHECK(check.common.output == output_kind::json);
  CHECK(has(refused({"models", "check"}), "NAME is required"));
  CHECK(has(refused({"models", "list", ""}), "must not be empty"));
  CHECK(has(refused({"models"}), "subcommand"));
  CHECK(parsed<models_command>({"models", "providers"}).action ==
        what::providers);

  CHECK(parsed<run_command>({"run", "-m", "groq/x", "t"}).choices.model ==
        "groq/x");
  CHECK(parsed<resume_command>({"sessions", "resume", "-m", "a", "s"})
            .choices.model == "a");
  CHECK(parsed<run_command>({"run", "--schema", "f.json", "t"}).schema_file ==
        "f.json");
  CHECK_FALSE(parsed<run_command>({"run", "t"}).schema_file);
  using files = std::vector<std::filesystem::path>;
  CHECK(parsed<run_command>({"run", "--attach", "a.png", "--attach", "b", "t"})
            .attachments == files{"a.png", "b"});
  CHECK(parsed<run_command>({"run", "--attach", "a.png", "t"}).task == "t");
  CHECK(parsed<run_command>({"run", "t"}).attachments.empty());
  CHECK(has(refused({"run", "--attach", "", "t"}), "--attach"));
  CHECK(has(refused({"run", "--schema", "", "t"}), "--schema"));
}
