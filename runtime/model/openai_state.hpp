// SPDX-License-Identifier: MIT
#pragma once

// What servers of the openai dialect want back with a message, beside what
// every message has: `reasoning_details`, parts of content that are no text,
// and unknown fields beside a call.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include <nlohmann/json.hpp>

namespace riffle::model::openai {

/// Gathers it from the chunks of one answer that have any.
class state_keeper {
 public:
  /// `told`: bytes of the turn's text before this chunk. `halves`: characters
  /// in it stand for halves of one (surrogate_joiner.hpp).
  void read(const nlohmann::ordered_json& event, std::size_t told, bool halves);

  /// Something came since `take`.
  [[nodiscard]] bool changed() const noexcept { return changed_; }
  /// Bytes of memory, about, of all that came.
  [[nodiscard]] std::uint64_t kept() const noexcept { return kept_; }
  /// All of it; see `turn_state::text`.
  std::string take();

 private:
  void read_detail(const nlohmann::ordered_json& x);
  void read_content(const nlohmann::ordered_json& parts, bool whole,
                    std::size_t told);
  void read_part(const nlohmann::ordered_json& x, bool whole, std::size_t told);
  void read_call(const nlohmann::ordered_json& x, std::size_t position);
  [[nodiscard]] std::size_t place_of(const std::string& id,
                                     std::uint64_t at) const;

  nlohmann::ordered_json details_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json calls_ = nlohmann::ordered_json::array();
  /// `{"after": bytes of text, "part": …}`
  nlohmann::ordered_json content_ = nlohmann::ordered_json::array();
  std::map<std::string, std::size_t> by_id_;    ///< places in `calls_`
  std::map<std::uint64_t, std::size_t> by_at_;  ///< the first of each index
  std::uint64_t kept_ = 0;
  bool changed_ = false;
  bool halves_ = false;
};

/// An object; empty if the text is none.
nlohmann::ordered_json parse_state(std::string_view text);

/// The content of a turn that had parts which are no text: these, and the text
/// around them. Null: it had none.
nlohmann::ordered_json content_of(const nlohmann::ordered_json& state,
                                  std::string_view text);

/// The unknown fields of a turn's calls. Refers to the state.
class more_of_calls {
 public:
  explicit more_of_calls(const nlohmann::ordered_json& state);

  /// Those of a call, by its id, else by its place; empty: it has none.
  [[nodiscard]] nlohmann::ordered_json of(std::size_t position,
                                          std::string_view id) const;

 private:
  std::unordered_map<std::string, const nlohmann::ordered_json*> by_id_;
  std::unordered_map<std::uint64_t, const nlohmann::ordered_json*> by_place_;
};

}  // namespace riffle::model::openai
