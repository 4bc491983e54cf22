// SPDX-License-Identifier: MIT
// Which volleys a server has still to go on with.
#include "runtime/http/volley_table.hpp"

#include <deque>

#include "runtime/storage/journal.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::http;

namespace {

class later final : public executor {
 public:
  using executor::submit;
  void submit(job work, queue_ticket, job) override {
    jobs.push_back(std::move(work));
  }
  std::deque<job> jobs;
};

}  // namespace

TEST_CASE("a volley that this server just ended is left for no other") {
  const std::shared_ptr<storage::journal> kept = storage::make_memory_journal();
  const auto works = std::make_shared<later>();
  const auto here = std::make_shared<volley_table>(kept, works);
  REQUIRE(here->add("volley_1"));
  // As the next process sees it.
  const auto next = std::make_shared<volley_table>(kept, works);
  CHECK(next->is_left("volley_1").value());
  CHECK_FALSE(here->is_left("volley_1").value());
  const auto watch = here->listener();
  watch->id = "volley_1";
  watch->all_over({});
  REQUIRE(works->jobs.size() == 1);
  CHECK(here->unfinished()->contains("volley_1"));
  CHECK_FALSE(here->is_left("volley_1").value());
  works->jobs.front()();
  CHECK_FALSE(here->is_left("volley_1").value());
  CHECK_FALSE(next->is_left("volley_1").value());
  CHECK_FALSE(here->knows("volley_1"));
  works->jobs.clear();  // they hold it
}
