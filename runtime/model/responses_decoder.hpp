// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/model/answer_reader.hpp"
#include "runtime/model/surrogate_joiner.hpp"

namespace riffle::model::responses {

/// Reads one answer of OpenAI's responses. Items are known by their place, not
/// by their ids, which change with some servers. What came as text counts; the
/// items of the last object are looked at only where none came before it, as
/// some leave them out there.
class responses_decoder final : public answer_reader {
 public:
  [[nodiscard]] std::uint64_t kept() const noexcept override {
    return kept_ + items_.size() * sizeof(decltype(items_)::value_type);
  }

 protected:
  void on_event(const json& x, turn_delta& out) override;
  [[nodiscard]] std::span<const std::string_view> often(const json& x) override;
  void on_again(const std::string& text, turn_delta& out) override;
  [[nodiscard]] bool takes_halves(const json& x) const override;
  void on_document(const json& x, turn_delta& out) override;
  [[nodiscard]] bool finished() const override { return finished_; }

 private:
  struct item {
    std::string type;
    std::string arguments;         ///< of a call, as told so far
    std::string text;              ///< of a message, as told so far
    nlohmann::ordered_json value;  ///< of a thought that nobody can read
    bool thought = false;          ///< a part of its summary was told
    bool closed = false;
  };

  enum class told : std::uint8_t { none, text, refusal, thought, arguments };

  static told told_by(std::string_view type);
  void add_told(std::uint64_t index, told what, const std::string& said,
                turn_delta& out);
  void give_up_halves(std::uint64_t index, turn_delta& out);
  void on_item(std::uint64_t index, const json& x, turn_delta& out);
  void keep_more(item& call, const json& x);
  void on_item_done(std::uint64_t index, const json& x, turn_delta& out);
  void on_arguments_done(std::uint64_t index, const std::string& all,
                         turn_delta& out);
  void add_text(item& x, const std::string& text, turn_delta& out);
  void tell_rest(item& x, const json& value, turn_delta& out);
  void on_end(const json& response, turn_delta& out);
  [[nodiscard]] std::string state() const;

  std::map<std::uint64_t, item> items_;
  waiting_halves<std::pair<std::uint64_t, told>> halves_;
  std::uint64_t kept_ = 0;
  bool finished_ = false;
  std::uint64_t again_index_ = 0;  ///< of what `often` said last
  told again_ = told::none;
};

}  // namespace riffle::model::responses
