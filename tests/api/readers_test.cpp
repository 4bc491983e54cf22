// SPDX-License-Identifier: MIT
// Who reads a run gets each event once, whatever comes while he reads pages.
#include "runtime/api/readers.hpp"

#include <functional>

#include "runtime/node/node.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_journal.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

/// Lets the test act before a page is read.
struct slow_journal final : test_journal {
  expected<storage::event_page> read_events(const run_id& run,
                                            std::uint64_t after,
                                            std::size_t bytes) override {
    if (first) std::exchange(first, {})();
    return test_journal::read_events(run, after, bytes);
  }
  std::function<void()> first;
};

storage::event_block block_of(std::uint64_t seq) {
  return {
      seq, seq,
      std::make_shared<const std::string>("{\"seq\":" + std::to_string(seq) +
                                          ",\"event_type\":\"status\"}\n")};
}

}  // namespace

TEST_CASE("what is offered while a page is read comes once") {
  const temp_folder folder;
  const auto journal = std::make_shared<slow_journal>();
  config::config config;
  config.runtime.data_dir = (folder.path() / "data").string();
  config.models["default"].dialect = "scripted";
  node_parts parts;
  parts.journal = journal;
  auto made = node::create(std::move(config), std::move(parts));
  INFO((made ? "" : render(made.error())));
  REQUIRE(made);

  storage::run_record record;
  record.id = {"run_1"};
  record.session = {"s1"};
  REQUIRE(journal->open_run(record, {}));
  const auto store = [&](const storage::event_block& x) {
    journal->append({record.id, x, {}}, [](const std::optional<error>&) {});
    journal->release_all();
  };
  store(block_of(1));

  const auto stream = std::make_shared<event_stream::state>(
      std::make_shared<runtime_link>(**made), record.id, 0);
  journal->first = [&] {
    store(block_of(2));
    // Taken or refused: the page that is read now has it.
    stream->offer(block_of(1));
    stream->offer(block_of(2));
    stream->closed(error{errc::internal, "runtime", "it failed"});
  };
  std::vector<std::uint64_t> got;
  while (auto batch = stream->next(scaled(20s)))
    got.push_back(batch->last_seq());
  CHECK(got == std::vector<std::uint64_t>{1, 2});
  CHECK(stream->finished);
  // It had no end: that it failed is told.
  REQUIRE(stream->failure);
  CHECK(stream->failure->message == "it failed");
}
