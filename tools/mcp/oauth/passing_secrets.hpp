// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>

#include "runtime/base/expired_secrets.hpp"
#include "runtime/base/secrets.hpp"

namespace riffle::mcp::oauth {

/// Secrets that others soon take the place of, each of them a secret of the
/// process (secrets.hpp). A server that runs for months must not look for each
/// of them in every text: the oldest are forgotten.
class passing_secrets {
 public:
  /// Those that somebody may still hold.
  static constexpr std::size_t most = 16;

  void add(const std::string& value) {
    if (value.empty()) return;
    std::erase(all_, value);
    all_.push_back(value);
    add_secret(value);
    if (all_.size() <= most) return;
    forget_secret(all_.front());
    all_.pop_front();
  }

 private:
  std::deque<std::string> all_;
};

}  // namespace riffle::mcp::oauth
