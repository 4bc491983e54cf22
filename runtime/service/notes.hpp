// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::service {

/// Texts by key that a program keeps in the journal beside all sessions, under
/// a name that no session can have. Thread-safe. Blocks on the journal.
class notes {
 public:
  notes(std::shared_ptr<storage::session_records> records,
        const std::string& name)
      : records_{std::move(records)}, place_{"riffle:" + name} {}

  [[nodiscard]] expected<std::map<std::string, std::string>> all() const {
    return records_->load_state(place_);
  }
  /// On record when it comes back; an empty text takes it away.
  [[nodiscard]] expected<void> set(const std::string& key,
                                   std::string text) const {
    return records_->set_state({place_, key, std::move(text)});
  }

 private:
  std::shared_ptr<storage::session_records> records_;
  session_id place_;
};

}  // namespace riffle::service
