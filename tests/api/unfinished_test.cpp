// SPDX-License-Identifier: MIT
// Which runs an application can offer to resume.
#include "runtime/api/riffle.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;
using testing::scaled;

TEST_CASE("the library names the runs that have not ended") {
  config::config config;
  config.runtime.log.level = "off";
  config.models["default"].dialect = "scripted";
  config.agents["default"].tools.clear();
  runtime_options options;
  options.journal = storage::make_memory_journal();
  options.scripts["default"] =
      "chunk = 1\ndelay = \"100ms\"\n[[steps]]\ntext = \"" +
      std::string(10'000, 'x') + "\"\n";
  auto rt = runtime::create(std::move(config), std::move(options));
  REQUIRE(rt);
  CHECK(rt->unfinished()->empty());
  const auto run = rt->start({.task = "talk", .session = session_id{"ses_1"}});
  REQUIRE(run);
  const auto found = rt->unfinished();
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  CHECK(found->front().run.id == run->id());
  CHECK(found->front().run.session == run->session());
  CHECK(found->front().run.task == "talk");
  CHECK(found->front().run.started.us > 0);
  CHECK(found->front().owner == run_owner::here);
  CHECK(rt->unfinished(0)->empty());
  run->cancel();
  REQUIRE(run->wait(scaled(10s)));
  CHECK(rt->unfinished()->empty());
}
