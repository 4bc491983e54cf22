// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/base/timer.hpp"
#include "runtime/model/rate_limiter.hpp"
#include "runtime/model/transport.hpp"

namespace riffle::model {

/// Where monotonic time comes from; nothing: the steady clock.
using time_source = std::function<time_point()>;

/// Told how many requests may be open at once, each time that this changes;
/// `rate_limiter::no_limit`: any number; 0: none now, it is told when this is
/// over. On any thread, one call at a time: must not block or throw, nor call
/// the transport.
using capacity_listener = std::function<void(std::uint32_t)>;

/// A transport that obeys limits: what may not start yet waits, first come,
/// first served; the rest goes through unchanged. Without a limit it is
/// `inner` itself. With `paced`, what the server says of its limits is obeyed
/// for all requests, in this one place: its headers about what is left, its
/// refusals (429), and how long it wants to be left alone (`Retry-After`). What
/// it has refused goes first (`transport_request::again`).
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
    time_source now = {}, capacity_listener on_capacity = {});

}  // namespace riffle::model
