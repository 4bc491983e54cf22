// SPDX-License-Identifier: MIT
#pragma once

// The rows of the tables: how they are keyed and what their checksums cover.
// Rows of a run lie side by side, by keys of (number of the run, place in it).

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "runtime/storage/journal.hpp"

namespace riffle::storage {

/// The owner of a run whose process ended as it was told to. No process has
/// this mark, so to others it is a run whose owner is gone.
inline constexpr std::string_view left_in_order = "left";

/// Something that was stored does not read back as it was; the text names
/// the run and what is wrong.
class damaged : public std::runtime_error {
 public:
  damaged(const std::string& whose, const std::string& what)
      : std::runtime_error{whose + " is damaged: " + what} {}
};

/// Numbers of runs are below 2^23, sequence numbers below 2^40, messages and
/// calls of a run below 2^32.
inline constexpr std::int64_t max_runs = std::int64_t{1} << 23;
inline constexpr int seq_bits = 40;
inline constexpr int part_bits = 32;

constexpr std::int64_t block_key(std::int64_t n, std::uint64_t first_seq) {
  return (n << seq_bits) | static_cast<std::int64_t>(first_seq);
}

constexpr std::int64_t part_key(std::int64_t n, std::uint64_t place) {
  return (n << part_bits) | static_cast<std::int64_t>(place);
}

/// A row of `runs`. The record is in `data`, also what stands beside it.
struct run_row {
  std::int64_t n = 0;
  std::string id;
  std::string session;
  std::uint64_t ordinal = 0;
  run_state state = run_state::active;
  std::string owner;
  std::string data;
};

/// What a run has: without it a lost row at the end would not be noticed.
struct head_row {
  std::uint64_t last_seq = 0;
  std::uint64_t messages = 0;
  std::uint64_t calls = 0;

  bool operator==(const head_row&) const = default;
};

/// Of a run whose end was in a row of the log of commits that is lost: it says
/// more than there can be, also to a program that does not know it.
inline constexpr head_row lost_head{
    std::uint64_t{1} << 62, std::uint64_t{1} << 62, std::uint64_t{1} << 62};

std::uint32_t crc_of(const run_row& x);
std::uint32_t crc_of(std::int64_t n, const head_row& x);
std::uint32_t crc_of_block(std::int64_t key, std::uint64_t last_seq,
                           std::string_view lines);
/// Of a message or a call (`table` tells which).
std::uint32_t crc_of_part(std::string_view table, std::int64_t key,
                          std::string_view data);
std::uint32_t crc_of_output(std::string_view id, std::string_view text);

/// The record of a row whose checksum was right. Throws `damaged`.
run_record record_of(const run_row& x);

}  // namespace riffle::storage
