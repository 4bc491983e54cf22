// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/http/message.hpp"
#include "runtime/http/tokens.hpp"

namespace riffle::http {

/// Which streams are open, and whose. Thread-safe; permits may outlive it.
class permits {
 public:
  permits(std::uint32_t most, std::uint32_t most_of_one)
      : book_{std::make_shared<book>()},
        most_{most},
        most_of_one_{most_of_one} {}

  /// Null: there are as many as there may be, of this token or of all.
  /// `cookie`: that it was asked for with; empty: a token.
  std::shared_ptr<stream_permit> give(caller_ptr who, std::string cookie = {});

  /// Withdraws those of whom `keeps` does not hold.
  void withdraw_unless(const std::function<bool(const caller&)>& keeps);
  /// Those that were asked for with this cookie.
  void withdraw_cookie(const std::string& cookie);

 private:
  struct held;
  struct book {
    std::mutex mutex;
    std::list<held*> all;
    std::map<std::string, std::uint32_t> of_token;
  };

  const std::shared_ptr<book> book_;
  const std::uint32_t most_;
  const std::uint32_t most_of_one_;
};

}  // namespace riffle::http
