// SPDX-License-Identifier: MIT
// What people read of a store that cannot be used.
#include <cerrno>
#include <system_error>

#include "runtime/storage/sqlite.hpp"
#include "runtime/storage/storage_error.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using Catch::Matchers::EndsWith;

namespace {

std::string text_of(int code, int number) {
  return storage::describe_problem(
             "open", "/data/riffle.db",
             storage::sqlite::failure{
                 code, "unable to open database file: " +
                           std::generic_category().message(number)})
      .message;
}

}  // namespace

TEST_CASE("the advice is about what happened, not about where") {
  CHECK_THAT(text_of(SQLITE_CANTOPEN, EACCES),
             EndsWith(": check who may write there"));
  for (const int number : {EMFILE, ENFILE})
    CHECK_THAT(text_of(SQLITE_CANTOPEN, number),
               EndsWith(": let the process open more files (ulimit -n)"));
}
