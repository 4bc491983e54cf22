// SPDX-License-Identifier: MIT
#include "runtime/base/metrics.hpp"

#include <set>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

struct kept final : metric_reader {
  void on(const metric_about& what, double value,
          std::initializer_list<metric_label> labels) noexcept override {
    std::string line{what.name};
    line += " " + std::to_string(static_cast<int>(value));
    for (const auto& x : labels)
      line.append(" ").append(x.key).append("=").append(x.value);
    lines.push_back(std::move(line));
  }
  std::vector<std::string> lines;
};

}  // namespace

TEST_CASE("what is measured goes to the reader, and to nobody without one") {
  CHECK_FALSE(metrics_are_read());
  measure(metric::plan_duration, 1, {});  // nobody
  const auto reader = std::make_shared<kept>();
  read_metrics(reader);
  CHECK(metrics_are_read());
  measure(metric::tool_duration, 2, {{"gen_ai.tool.name", "read"}});
  read_metrics(nullptr);
  CHECK_FALSE(metrics_are_read());
  measure(metric::tool_duration, 3, {});
  CHECK(reader->lines ==
        std::vector<std::string>{
            "gen_ai.execute_tool.duration 2 gen_ai.tool.name=read"});
  CHECK(reader.use_count() == 1);
}

TEST_CASE("every metric stands at its place in the table, with all words") {
  std::size_t i = 0;
  for (const auto& x : metrics_table()) {
    CHECK(static_cast<std::size_t>(x.what) == i++);
    CHECK_FALSE(x.name.empty());
    CHECK_FALSE(x.unit.empty());
    CHECK(x.description.ends_with('.'));
    CHECK_FALSE(x.place.empty());
  }
}
