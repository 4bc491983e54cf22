// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "runtime/base/executor.hpp"
#include "runtime/model/transport.hpp"

namespace riffle::model {

/// What to do about a key that a server does not take (any more).
class key_renewal {
 public:
  virtual ~key_renewal() = default;

  /// Puts the key of now into a request that may be of before. Cheap.
  virtual void put_key(transport_request& request) = 0;

  /// After a 401: gets another key and puts it into the request. May block,
  /// until asked to stop; false: there is no other one.
  virtual bool renew(transport_request& request,
                     const std::stop_token& stop) = 0;
};

/// A transport that asks once more with a new key where a server answers 401.
/// The key is got on `where`; a cancel stops that. Each request is kept until
/// its answer begins. As for `inner`, no listener may own the transport.
std::shared_ptr<transport> make_renewing_transport(
    std::shared_ptr<transport> inner, std::shared_ptr<key_renewal> keys,
    std::shared_ptr<executor> where);

}  // namespace riffle::model
