// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "runtime/storage/sqlite_journal.hpp"

namespace riffle::testing {

/// A folder of its own that goes with the object.
class scratch_folder {
 public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

storage::run_record make_run(const std::string& session, const std::string& id);

/// Lines that differ by run and number, about `size` bytes each.
std::string make_line(const std::string& run, std::uint64_t seq,
                      std::size_t size = 80);
storage::event_block make_block(const std::string& run, std::uint64_t first,
                                std::uint64_t last, std::size_t size = 80);
/// Lines `first` to `last`, joined.
std::string make_lines(const std::string& run, std::uint64_t first,
                       std::uint64_t last, std::size_t size = 80);

/// A call with every member set to something.
storage::proposal_record make_proposal(const storage::run_record& run,
                                       const std::string& id);
storage::decision_record make_decision(
    const std::string& id,
    events::proposal_outcome how = events::proposal_outcome::approved);
storage::call_record make_call(const std::string& run, const std::string& id);
storage::message_record make_message(const storage::run_record& run,
                                     const std::string& text);

/// Appends and waits, at most some seconds.
std::optional<error> store(storage::journal& to, storage::commit_unit unit);

/// All lines of a run, in pages of `page` bytes; fails if blocks do not fit.
expected<std::string> read_all(storage::journal& from, const std::string& run,
                               std::uint64_t after = 0,
                               std::size_t page = 1000);

/// Runs SQL on the file, as somebody else would.
void change_file(const std::filesystem::path& folder, const std::string& sql);

/// Makes of a closed file what an older version (1 to 7) would have written.
void make_older(const std::filesystem::path& folder, int version);

/// Opens with notes collected in `notes`.
std::unique_ptr<storage::sqlite_journal> open_store(
    const std::filesystem::path& folder,
    std::vector<std::string>* notes = nullptr);

}  // namespace riffle::testing
