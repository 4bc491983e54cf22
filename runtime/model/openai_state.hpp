// SPDX-License-Identifier: MIT
#pragma once

// What servers of the openai dialect want back with a message, beside what
// every message has: `reasoning_details`, and unknown fields beside a call.

#include <cstddef>
#include <cstdint>
#include <map>
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
  /// Bytes of memory, about, of all that came.
  [[nodiscard]] std::uint64_t kept() const noexcept { return kept_; }
  /// All of it; see `turn_state::text`.
  std::string take();

 private:
  void read_detail(const nlohmann::json& x);
  void read_call(const nlohmann::json& x, std::size_t position);
  [[nodiscard]] std::size_t place_of(const std::string& id,
                                     std::uint64_t at) const;

  nlohmann::ordered_json details_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json calls_ = nlohmann::ordered_json::array();
  std::map<std::string, std::size_t> by_id_;    ///< places in `calls_`
  std::map<std::uint64_t, std::size_t> by_at_;  ///< the first of each index
  std::uint64_t kept_ = 0;
  bool changed_ = false;
};

/// An object; empty if the text is none.
nlohmann::ordered_json parse_state(std::string_view text);

/// The unknown fields of a turn's call, by its id, else by its place.
nlohmann::ordered_json more_of_call(const nlohmann::ordered_json& state,
                                    std::size_t position, std::string_view id);

}  // namespace riffle::model::openai
