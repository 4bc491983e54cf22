// SPDX-License-Identifier: MIT
#pragma once

// Every journal that there is, each with the same face, for the tests of what
// the port promises.

#include <memory>
#include <optional>
#include <string>

#include "runtime/storage/memory_journal.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/test_journal.hpp"

namespace riffle::testing {

struct sqlite_kind {
  scratch_folder folder;
  std::unique_ptr<storage::sqlite_journal> j = open_store(folder.path());
  std::optional<error> put(storage::commit_unit x) {
    return store(*j, std::move(x));
  }
  void settle() {}
};

struct memory_kind {
  std::unique_ptr<storage::journal> j = storage::make_memory_journal();
  std::optional<error> put(storage::commit_unit x) {
    return store(*j, std::move(x));
  }
  void settle() {}
};

struct test_kind {
  std::shared_ptr<test_journal> j = std::make_shared<test_journal>();
  std::optional<error> put(storage::commit_unit x) {
    std::optional<error> answer =
        error{errc::timeout, "test", "no completion came", false, {}};
    j->append(std::move(x), [&](auto failure) { answer = std::move(failure); });
    j->release_all();
    return answer;
  }
  void settle() { j->release_all(); }
};

/// A unit of event lines and nothing else.
inline storage::commit_unit log_unit(const std::string& run,
                                     std::uint64_t first, std::uint64_t last) {
  return {{run}, make_block(run, first, last), {}};
}

}  // namespace riffle::testing

#define EVERY_JOURNAL                                         \
  riffle::testing::sqlite_kind, riffle::testing::memory_kind, \
      riffle::testing::test_kind
