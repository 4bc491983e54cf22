// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "runtime/model/dialect.hpp"
#include "runtime/model/surrogate_joiner.hpp"
#include "runtime/model/text_template.hpp"

namespace riffle::model::ollama {

/// Reads one answer of Ollama's own interface: a JSON object a line. Calls
/// come complete; an error may come in any line.
class ollama_decoder final : public decoder {
 public:
  void feed(std::string_view bytes, turn_delta& out) override;
  void end(turn_delta& out) override;
  [[nodiscard]] std::uint64_t kept() const noexcept override { return weight_; }

 private:
  void on_line(std::string_view line, turn_delta& out);
  void learn(std::string_view line, const nlohmann::ordered_json& x);
  std::optional<nlohmann::ordered_json> parse(std::string_view line);
  void add(turn_delta& out, piece_kind kind, std::string text);
  void on_message(const nlohmann::ordered_json& x, turn_delta& out);
  void on_call(const nlohmann::ordered_json& x, turn_delta& out);
  void keep_more(const nlohmann::ordered_json& call);
  void on_done(const nlohmann::ordered_json& x, turn_delta& out);
  void fail(turn_delta& out, error why);

  std::string line_;  ///< begun, not ended
  text_template template_;
  piece_kind again_ = piece_kind::text;  ///< what its lines bring
  std::string text_;                     ///< of the line that is read
  bool has_halves_ = false;              ///< so has that
  waiting_halves<piece_kind> halves_;
  nlohmann::ordered_json kept_ = nlohmann::ordered_json::array();
  std::uint64_t weight_ = 0;  ///< of it, in bytes
  std::size_t received_ = 0;
  std::uint32_t calls_ = 0;
  bool over_ = false;
};

}  // namespace riffle::model::ollama
