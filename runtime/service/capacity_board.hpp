// SPDX-License-Identifier: MIT
#pragma once

// How much the servers of models take now, for whoever begins work.

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace riffle::service {

inline constexpr auto no_limit = std::numeric_limits<std::uint32_t>::max();

class capacity_listener {
 public:
  virtual ~capacity_listener() = default;
  /// So many requests of the model at once; 0: none now; `no_limit`: any
  /// number. Must not block and must not throw.
  virtual void on_capacity(const std::string& model, std::uint32_t most) = 0;
};

/// The limiters of the models report here. Thread-safe.
class capacity_board {
 public:
  void report(const std::string& model, std::uint32_t most);
  /// What its configuration says, before anything was reported.
  void expect(const std::string& model, std::uint32_t most);
  /// From now on; it is told at once what is known.
  void add(const std::shared_ptr<capacity_listener>& who);

 private:
  std::mutex mutex_;
  std::map<std::string, std::uint32_t> of_model_;
  std::vector<std::weak_ptr<capacity_listener>> listeners_;
};

}  // namespace riffle::service
