// SPDX-License-Identifier: MIT
#pragma once

// A rate-limited transport over one that does what a test says, in simulated
// time.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runtime/model/rate_limited_transport.hpp"
#include "tests/model/fake_transport.hpp"
#include "tests/model/manual_timer.hpp"

namespace riffle::testing {

using namespace std::chrono_literals;
using model::transfer_id;
using model::transport_end;

/// What one transfer told.
class ear final : public model::transfer_listener {
 public:
  void on_bytes(std::string bytes) override { heard += bytes; }
  void on_held(std::optional<duration> next) override {
    held += next ? std::to_string(*next / 1ms) + " " : "? ";
  }
  void on_sent() override { held += "sent"; }
  void on_end(transport_end x) override {
    ++ends;
    end = std::move(x);
  }
  [[nodiscard]] std::string code() const {
    if (ends != 1) return std::to_string(ends) + " ends";
    return end.failure ? std::string{to_string(end.failure->code)} : "ok";
  }

  std::string heard;
  std::string held;
  int ends = 0;
  transport_end end;
};

struct limited_world {
  explicit limited_world(model::transport_limits limits)
      : limited{model::make_rate_limited_transport(
            inner, limits, clock, [this] { return time_point{} + clock.now(); },
            [this](std::uint32_t most) { capacity = most; })} {}

  struct asked {
    transfer_id id;
    std::shared_ptr<ear> said;
  };
  asked open(const std::string& name, duration total = 10min,
             bool again = false) {
    model::transport_request request;
    request.again = again;
    request.url = name;
    request.timeouts.total = total;
    request.credit = 100;
    auto said = std::make_shared<ear>();
    return {limited->open(std::move(request), said), said};
  }
  void settle() { clock.pass(0s); }

  manual_timer clock;
  std::shared_ptr<fake_transport> inner = std::make_shared<fake_transport>();
  std::shared_ptr<model::transport> limited;
  std::optional<std::uint32_t> capacity;  ///< as it was reported last
};

inline transport_end refusal(duration retry_after) {
  transport_end end;
  end.http_status = 429;
  end.retry_after = retry_after;
  end.failure = error{errc::model_rate_limited, "x", "slow down", true, {}};
  return end;
}

inline transport_end answered() {
  transport_end end;
  end.http_status = 200;
  return end;
}

}  // namespace riffle::testing
