// SPDX-License-Identifier: MIT
#pragma once

// What servers of the openai dialect want back with a message, beside what
// every message has: `reasoning_details`, and unknown fields beside a call.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace riffle::model::openai {

/// Gathers it from the chunks of one answer that have any.
class state_keeper {
 public:
  void read(const nlohmann::json& event);

  /// Something came since `take`.
  [[nodiscard]] bool changed() const noexcept { return changed_; }
  /// All of it; see `turn_state::text`.
  std::string take();

 private:
  void read_detail(const nlohmann::json& x);
  void read_call(const nlohmann::json& x, std::size_t position);

  nlohmann::ordered_json details_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json calls_ = nlohmann::ordered_json::array();
  bool changed_ = false;
};

/// An object; empty if the text is none.
nlohmann::ordered_json parse_state(std::string_view text);

/// The unknown fields of a turn's call, by its id, else by its place.
nlohmann::ordered_json more_of_call(const nlohmann::ordered_json& state,
                                    std::size_t position, std::string_view id);

}  // namespace riffle::model::openai
