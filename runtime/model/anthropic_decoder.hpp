// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/model/answer_reader.hpp"
#include "runtime/model/surrogate_joiner.hpp"

namespace riffle::model::anthropic {

/// Reads one answer of Anthropic's messages. A call is complete when its block
/// stops. What runs at the provider is kept for the next request and never
/// becomes a call.
class anthropic_decoder final : public answer_reader {
 public:
  [[nodiscard]] std::uint64_t kept() const noexcept override { return kept_; }

 protected:
  void on_event(const json& x, turn_delta& out) override;
  [[nodiscard]] std::span<const std::string_view> often(const json& x) override;
  void on_again(const std::string& text, turn_delta& out) override;
  [[nodiscard]] bool takes_halves(const json& x) const override;
  void on_document(const json& x, turn_delta& out) override;
  [[nodiscard]] bool finished() const override { return finish_.has_value(); }

 private:
  struct block {
    nlohmann::ordered_json value;  ///< as it goes back
    std::string type;
    std::string input;       ///< of a tool at the provider, as it came
    bool has_input = false;  ///< a call's input came in parts
    bool stopped = false;
    bool odd = false;  ///< it had what nobody knows: it cannot go back
  };

  enum class told : std::uint8_t { text, thinking, input };

  void add_told(std::uint64_t index, told what, const std::string& said,
                turn_delta& out);
  static std::optional<told> told_by(const json& event);
  void on_start(const json& message, turn_delta& out);
  void on_block(std::uint64_t index, const json& x, turn_delta& out);
  void on_delta(std::uint64_t index, const json& x, turn_delta& out);
  void on_stop(std::uint64_t index, turn_delta& out);
  void on_finish(const json& x, turn_delta& out);
  void give_state(turn_delta& out) const;
  void read_usage(const json& x, turn_delta& out);
  /// Names of the calls at the provider that have a result.
  using result_ids = std::set<std::string, std::less<>>;
  [[nodiscard]] result_ids results() const;
  [[nodiscard]] bool goes_back(const block& x, const result_ids& known) const;
  [[nodiscard]] std::string state() const;

  std::map<std::uint64_t, block> blocks_;
  waiting_halves<std::pair<std::uint64_t, told>> halves_;
  std::optional<std::string> id_;  ///< of the message
  std::optional<finish_reason> finish_;
  token_usage usage_;
  std::uint64_t kept_ = 0;
  std::size_t finishes_ = 0;
  std::uint64_t again_index_ = 0;  ///< of what `often` said last
  told again_ = told::text;
};

}  // namespace riffle::model::anthropic
