// SPDX-License-Identifier: MIT
#include "runtime/cli/view/init_text.hpp"

#include "runtime/config/providers.hpp"
#include "runtime/config/source.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using names = std::vector<std::string>;

namespace {

service::usable_provider usable(const std::string& name) {
  return {name, config::with_name(*config::find_provider(name), ""), false, {}};
}

}  // namespace

TEST_CASE("what is typed means a number, a name, or a part of names") {
  const names all{"gpt-4", "GPT-4-mini", "o3", "4"};
  CHECK(meant_by("", all) == names{"gpt-4"});
  CHECK(meant_by("  ", all) == names{"gpt-4"});
  CHECK(meant_by("3", all) == names{"o3"});
  CHECK(meant_by(" 1 ", all) == names{"gpt-4"});
  // A name before a number, and before a part.
  CHECK(meant_by("4", all) == names{"4"});
  CHECK(meant_by("gpt-4", all) == names{"gpt-4"});
  CHECK(meant_by("MINI", all) == names{"GPT-4-mini"});
  CHECK(meant_by("gpt", all) == names{"gpt-4", "GPT-4-mini"});
  for (const auto* none : {"0", "5", "99999999999999999999", "-1", "claude"}) {
    CAPTURE(none);
    CHECK(meant_by(none, all).empty());
  }
  CHECK(meant_by("", {}).empty());
}

TEST_CASE("a list of names is numbered, and says how long it is") {
  CHECK(numbered({"a", "b"}, 15) == "  1  a\n  2  b\n");
  const names many(10'000, "x");
  const auto text = numbered(many, 10);
  CHECK(text.starts_with("   1  x\n"));
  CHECK(text.find("  10  x\n  … and 9990 more") != std::string::npos);
  CHECK(numbered({"a\x1b[2J"}, 15).find('\x1b') == std::string::npos);
}

TEST_CASE("the first configuration is valid and says where the key is") {
  for (const auto& known : config::providers()) {
    auto x = usable(known.name);
    for (const bool moved : {false, true}) {
      CAPTURE(known.name, moved);
      x.moved = moved;
      if (moved) x.settings.base_url = "http://127.0.0.1:9/v1";
      const auto text = first_config(x, "odd \"name\"\\");
      CHECK(std::ranges::count(text, '\n') <= 11);
      const auto made = config::load({{}, {}, {}}, {"riffle.toml", text});
      REQUIRE(made);
      const auto& model = made->models.at("default");
      CHECK(model.provider == known.name);
      CHECK(model.model == "odd \"name\"\\");
      CHECK(model.base_url == x.settings.base_url);
      CHECK(model.api_key_env == known.settings.api_key_env);
      CHECK(made->agents.at("default").model == "default");
      CHECK(made->approvals.mode == "wait");
      CHECK((known.settings.api_key_env.empty() ||
             text.find("$" + known.settings.api_key_env) != std::string::npos));
    }
  }
}

TEST_CASE("a provider is shown with its key or its models, and its place") {
  CHECK(provider_text(usable("groq")) == "groq (key in $GROQ_API_KEY)");
  auto x = usable("ollama");
  x.models = {"qwen3"};
  CHECK(provider_text(x) == "ollama (running here, 1 model)");
  x.moved = true;
  x.settings.base_url = "http://127.0.0.1:5";
  CHECK(provider_text(x) ==
        "ollama (running here, 1 model, at http://127.0.0.1:5)");
  const auto none = no_provider_text({"A_API_KEY", "B_API_KEY"});
  CHECK(none.find("  A_API_KEY\n  B_API_KEY\n") != std::string::npos);
}
