// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/base/executor.hpp"
#include "runtime/service/notes.hpp"
#include "runtime/service/volleys.hpp"

namespace riffle::http {

/// The volleys of this server: which of them run, and on record which have not
/// ended, for between two runs of a task nothing else tells that. Thread-safe.
class volley_table : public std::enable_shared_from_this<volley_table> {
 public:
  /// `works`: for what blocks on the journal.
  volley_table(std::shared_ptr<storage::session_records> records,
               std::shared_ptr<executor> works)
      : notes_{std::move(records), "volleys"}, works_{std::move(works)} {}

  /// Hears of one volley; its id is set before that begins.
  class watch : public service::volley_listener {
   public:
    explicit watch(std::weak_ptr<volley_table> table)
        : table_{std::move(table)} {}
    void begun(std::size_t, const run_opened&) override {}
    void over(const task_result&) override {}
    void all_over(const std::optional<error>& failure) override;
    std::string id;

   private:
    std::weak_ptr<volley_table> table_;
  };
  std::shared_ptr<watch> listener() {
    return std::make_shared<watch>(weak_from_this());
  }

  /// From now on it is on record that it has not ended, until it has. Before it
  /// is stored itself: what is stored and not noted, nobody goes on with.
  /// Blocks.
  expected<void> add(const std::string& id);
  /// This process works on it now.
  void set(const std::string& id, std::weak_ptr<service::volley_run> x);
  /// Nothing is left of it. Blocks.
  void remove(const std::string& id);

  /// Null: this process does not work on it.
  std::shared_ptr<service::volley_run> find(const std::string& id) const;
  /// Whether this process works on it, or did and something is left to do.
  bool knows(const std::string& id) const;
  /// Those that this process works on.
  [[nodiscard]] std::vector<std::shared_ptr<service::volley_run>> living()
      const;
  /// Whether it has not ended and a server will go on with it: it is on record,
  /// and this process neither works on it nor has just ended it. Blocks.
  expected<bool> is_left(const std::string& id) const;
  /// Those on record. Blocks.
  expected<std::set<std::string>> unfinished() const;

 private:
  const service::notes notes_;
  const std::shared_ptr<executor> works_;
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<service::volley_run>> all_;
};

}  // namespace riffle::http
