// SPDX-License-Identifier: MIT
#include "runtime/service/vitals.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "runtime/base/log.hpp"

namespace riffle::service {

void vitals::on_death(const std::string& what, const std::string& why) {
  std::vector<std::weak_ptr<subscriber>> readers;
  error reason;
  {
    const std::lock_guard lock{mutex_};
    if (!watching_ || failure_) return;
    failure_ =
        reason = {errc::internal, "runtime",
                  "the " + what + " failed, so the runtime has ended (" + why +
                      "); nothing that was stored is lost: a new start "
                      "finishes the runs"};
    readers.swap(readers_);
    if (end_all_) end_all_();
  }
  log_error("runtime", render_chain(reason));
  for (const auto& reader : readers) {
    try {
      if (const auto who = reader.lock()) who->closed(reason);
    } catch (const std::exception& problem) {  // the others are told too
      log_error("runtime", problem.what());
    }
  }
}

void vitals::stop_watching() {
  const std::lock_guard lock{mutex_};
  watching_ = false;
  end_all_ = nullptr;
}

std::optional<error> vitals::failure() const {
  const std::lock_guard lock{mutex_};
  return failure_;
}

bool vitals::add(const subscriber_ptr& reader) {
  if (!reader) return true;
  std::optional<error> why;
  {
    const std::lock_guard lock{mutex_};
    why = failure_;
    if (!why) {
      if (readers_.size() >= sweep_at_) {
        std::erase_if(readers_, [](const auto& x) { return x.expired(); });
        sweep_at_ = std::max<std::size_t>(64, 2 * readers_.size());
      }
      readers_.push_back(reader);
    }
  }
  if (why) reader->closed(why);
  return !why;
}

}  // namespace riffle::service
