// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "runtime/base/timer.hpp"
#include "runtime/model/scripted_script.hpp"
#include "runtime/model/transport.hpp"

namespace riffle::model {

/// A transport that needs no network: it plays a script as the bytes that a
/// provider of the openai dialect would send, so that nobody behind it can
/// tell. It keeps no conversation: the request's messages say which step is
/// asked for, also after a restart. Only errors with `times` are counted here.
///
/// All calls of listeners come from `clock`, which must outlive the transport;
/// the destructor cancels what still plays. The time limits of a request are
/// not watched.
std::unique_ptr<transport> make_scripted_transport(script what, timer& clock);

}  // namespace riffle::model
