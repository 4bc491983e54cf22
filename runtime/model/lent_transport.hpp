// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "runtime/model/transport.hpp"

namespace riffle::model {

/// A transport that an application gave, which may outlive whoever uses it and
/// need not be as careful as ours.
///
/// What `open` of it throws ends the transfer as `model_error`; a second end
/// is dropped, and so is what comes behind the first. After `close` no
/// listener is called any more: what is open ended with `cancelled` before
/// `close` returned, later ones end at once. Thread-safe, `close` too; but no
/// listener may call it.
class lent_transport : public transport {
 public:
  virtual void close() = 0;
};

std::shared_ptr<lent_transport> make_lent_transport(
    std::shared_ptr<transport> inner);

}  // namespace riffle::model
