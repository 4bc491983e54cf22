// SPDX-License-Identifier: MIT
#pragma once

// What a scripted model answers to a request, as bytes, pauses and an end.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "messages/time.hpp"
#include "runtime/model/scripted_reference.hpp"
#include "runtime/model/scripted_script.hpp"
#include "runtime/model/transport.hpp"

namespace riffle::model {

/// Bytes to deliver, a pause, or the end (always the last one).
using scripted_action = std::variant<std::string, duration, transport_end>;

/// What a script needs to know of a request.
struct scripted_request {
  std::string model;
  bool streaming = true;
  bool wants_usage = false;
  std::size_t step = 0;  ///< how many the model has answered already
  script_scope scope;
};

/// Reads the body of an openai request.
expected<scripted_request> read_scripted_request(std::string_view body,
                                                 bool whole_session);

/// Whether an error that happens `times` times (0: always) happens now;
/// `place` tells the errors of a step apart. Counts.
using fault_counter =
    std::function<bool(std::size_t place, std::uint32_t times)>;

/// The whole answer. What the script cannot say (it is at its end, a
/// reference finds nothing) is an error of status 400.
std::vector<scripted_action> make_scripted_answer(const script& what,
                                                  std::string_view body,
                                                  const fault_counter& happens);

}  // namespace riffle::model
