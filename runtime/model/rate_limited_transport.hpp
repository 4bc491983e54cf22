// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "runtime/base/timer.hpp"
#include "runtime/model/rate_limiter.hpp"
#include "runtime/model/transport.hpp"

namespace riffle::model {

/// Where monotonic time comes from; nothing: the steady clock.
using time_source = std::function<time_point()>;

/// A transport that obeys limits: what may not start yet waits, first come,
/// first served; the rest goes through unchanged. Without a limit it is
/// `inner` itself.
///
/// A request waits for `timeouts.total` at most (10 min if there is none),
/// then it ends with a retryable `timeout`; the limits of the transfer itself
/// run from its start. Beyond 65536 that wait, a new one ends at once with a
/// retryable `model_rate_limited`. Listeners hear of these ends, and of a
/// cancelled wait, from the timer's thread; of the rest from `inner`'s.
///
/// The timer outlives the last call of a listener. The destructor ends what
/// waits and what is open with `cancelled`. As for `inner`, no listener may own
/// the transport.
std::shared_ptr<transport> make_rate_limited_transport(
    std::shared_ptr<transport> inner, transport_limits limits, timer& clock,
    time_source now = {});

}  // namespace riffle::model
