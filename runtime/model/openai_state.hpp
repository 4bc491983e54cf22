// SPDX-License-Identifier: MIT
#pragma once

// What servers of the openai dialect want back with a message, beside what
// every message has: `reasoning_details`, parts of content that are no text,
// and unknown fields beside a call.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace riffle::model::openai {

/// Gathers it from the chunks of one answer that have any.
class state_keeper {
 public:
  /// `told`: bytes of the turn's text before this chunk. `halves`: characters
  /// in it stand for halves of one (surrogate_joiner.hpp).
  void read(const nlohmann::json& event, std::size_t told, bool halves);

  /// Something came since `take`.
  [[nodiscard]] bool changed() const noexcept { return changed_; }
  /// All of it; see `turn_state::text`.
  std::string take();

 private:
  void read_detail(const nlohmann::json& x);
  void read_content(const nlohmann::json& parts, bool whole, std::size_t told);
  void read_part(const nlohmann::json& x, bool whole, std::size_t told);
  void read_call(const nlohmann::json& x, std::size_t position);

  nlohmann::ordered_json details_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json calls_ = nlohmann::ordered_json::array();
  /// `{"after": bytes of text, "part": …}`
  nlohmann::ordered_json content_ = nlohmann::ordered_json::array();
  bool changed_ = false;
  bool halves_ = false;
};

/// An object; empty if the text is none.
nlohmann::ordered_json parse_state(std::string_view text);

/// The content of a turn that had parts which are no text: these, and the text
/// around them. Null: it had none.
nlohmann::ordered_json content_of(const nlohmann::ordered_json& state,
                                  std::string_view text);

/// The unknown fields of a turn's call, by its id, else by its place.
nlohmann::ordered_json more_of_call(const nlohmann::ordered_json& state,
                                    std::size_t position, std::string_view id);

}  // namespace riffle::model::openai
