// SPDX-License-Identifier: MIT
#include <filesystem>

#include "runtime/config/config.hpp"
#include "runtime/model/scripted_script.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

TEST_CASE("the demo's script has no mistakes and five steps") {
  const auto file =
      std::filesystem::path{RIFFLE_SOURCE_DIR} / "configs" / "demo.toml";
  const auto settings = config::load({file, {}, config::builtin_tools()});
  REQUIRE(settings);
  const auto script = model::load_script(settings->models.at("default").script);
  INFO((script ? "" : script.error().message));
  REQUIRE(script);
  CHECK(script->steps.size() == 5);
  // Three reads in one step: they are what works while the text streams.
  CHECK(script->steps[1].events.size() == 4);
}
