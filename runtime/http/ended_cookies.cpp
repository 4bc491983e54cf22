// SPDX-License-Identifier: MIT
#include "runtime/http/ended_cookies.hpp"

#include <charconv>
#include <utility>
#include <vector>

#include "runtime/base/digest.hpp"
#include "runtime/base/log.hpp"

namespace riffle::http {

ended_cookies::ended_cookies(std::shared_ptr<storage::session_records> records)
    : notes_{std::move(records), "logout"} {
  const auto kept = notes_.all();
  if (!kept) {
    log_error("server", "which cookies were logged out cannot be read: " +
                            render(kept.error()));
    return;
  }
  for (const auto& [digest, text] : *kept) {
    std::int64_t until = 0;
    std::from_chars(text.data(), text.data() + text.size(), until);
    all_.emplace(digest, wall_time{until});
  }
}

bool ended_cookies::contains(std::string_view cookie) const {
  const auto digest = sha256(cookie);
  const std::lock_guard lock{mutex_};
  return all_.contains(digest);
}

/// What has run out goes when one is added.
expected<void> ended_cookies::add(std::string_view cookie, wall_time until,
                                  wall_time now) {
  const auto digest = sha256(cookie);
  std::vector<std::string> over;
  {
    const std::lock_guard lock{mutex_};
    all_.insert_or_assign(digest, until);
    std::erase_if(all_, [&](const auto& x) {
      if (x.second.us > now.us) return false;
      over.push_back(x.first);
      return true;
    });
  }
  for (const auto& one : over)
    if (auto ok = notes_.set(one, ""); !ok) return ok;
  return notes_.set(digest, std::to_string(until.us));
}

}  // namespace riffle::http
