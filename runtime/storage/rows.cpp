// SPDX-License-Identifier: MIT
#include "runtime/storage/rows.hpp"

#include <new>

#include "runtime/storage/crc32c.hpp"
#include "runtime/storage/record_json.hpp"

namespace riffle::storage {

std::uint32_t crc_of(const run_row& x) {
  return row_crc{}
      .add(static_cast<std::uint64_t>(x.n))
      .add(x.id)
      .add(x.session)
      .add(x.ordinal)
      .add(static_cast<std::uint64_t>(x.state))
      .add(x.owner)
      .add(x.data)
      .value();
}

std::uint32_t crc_of(std::int64_t n, const head_row& x) {
  return row_crc{}
      .add("head")
      .add(static_cast<std::uint64_t>(n))
      .add(x.last_seq)
      .add(x.messages)
      .add(x.calls)
      .value();
}

std::uint32_t crc_of_block(std::int64_t key, std::uint64_t last_seq,
                           std::string_view lines) {
  return row_crc{}
      .add(static_cast<std::uint64_t>(key))
      .add(last_seq)
      .add(lines)
      .value();
}

std::uint32_t crc_of_part(std::string_view table, std::int64_t key,
                          std::string_view data) {
  return row_crc{}
      .add(table)
      .add(static_cast<std::uint64_t>(key))
      .add(data)
      .value();
}

std::uint32_t crc_of_output(std::string_view id, std::string_view text) {
  return row_crc{}.add(id).add(text).value();
}

run_record record_of(const run_row& x) {
  try {
    auto record = run_from_json(x.data);
    if (record.id.value == x.id && record.session.value == x.session &&
        record.ordinal == x.ordinal && record.state == x.state)
      return record;
  } catch (const std::bad_alloc&) {
    throw;  // that says nothing of the row
  } catch (const std::exception& problem) {
    throw damaged{"run " + x.id, problem.what()};
  }
  throw damaged{"run " + x.id, "its record contradicts its row"};
}

}  // namespace riffle::storage
