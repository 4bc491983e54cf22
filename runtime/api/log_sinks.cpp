// SPDX-License-Identifier: MIT
#include "runtime/api/log_sinks.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace riffle {

namespace {

using sink_ptr = std::shared_ptr<log_sink>;

struct sink_list {
  std::mutex mutex;
  std::vector<sink_ptr> all;

  /// With the lock. The log gets a list of its own: it calls sinks under its
  /// own lock, and must not want ours.
  void publish() const {
    if (all.empty()) return set_log_sink({});
    set_log_sink([all = all](const log_line& line) {
      for (const auto& sink : all) (*sink)(line);
    });
  }
};

/// Never destroyed: handles may go after static objects have.
sink_list& sinks() {
  static auto* const list = new sink_list;  // NOLINT
  return *list;
}

}  // namespace

std::shared_ptr<void> add_log_sink(log_sink sink) {
  auto added = std::make_shared<log_sink>(std::move(sink));
  {
    const std::lock_guard lock{sinks().mutex};
    sinks().all.push_back(added);
    sinks().publish();
  }
  return {added.get(), [added](void* /*same*/) {
            const std::lock_guard lock{sinks().mutex};
            std::erase(sinks().all, added);
            sinks().publish();
          }};
}

}  // namespace riffle
