// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/model/dialect.hpp"
#include "runtime/model/openai_chunk.hpp"
#include "runtime/model/openai_state.hpp"
#include "runtime/model/sse_decoder.hpp"
#include "runtime/model/surrogate_joiner.hpp"

namespace riffle::model {

/// Limits of one answer, in bytes as received.
struct openai_limits {
  std::size_t event = sse_decoder::default_limit;
  std::size_t answer = 256u << 20;
};

/// Reads one answer of chat completions: server-sent events, or, from servers
/// that do not stream, one JSON document. The rules for odd streams are in
/// this folder's README.
class openai_decoder final : public decoder {
 public:
  explicit openai_decoder(openai_limits limits = {});

  void feed(std::string_view bytes, turn_delta& out) override;
  void end(turn_delta& out) override;
  [[nodiscard]] std::uint64_t kept() const noexcept override {
    return keeper_.kept();
  }

 private:
  /// What the first byte that is no white space tells.
  enum class body : std::uint8_t { unknown, events, json, html };

  void sniff();
  void feed_events(std::string_view bytes, turn_delta& out);
  void feed_json(std::string_view bytes, turn_delta& out);
  void on_event(const sse_event& x, turn_delta& out);
  void read_event(const sse_event& x, turn_delta& out);
  void on_odd_event(const sse_event& x, openai::chunk& chunk);
  bool read_any(std::string_view text, openai::chunk& chunk);
  void apply(const openai::chunk& chunk);
  void on_end_mark(turn_delta& out);
  void read_document(turn_delta& out);
  void give_state(turn_delta& out);
  void count_told(const turn_delta& out);
  void fail(turn_delta& out, error why);
  void fail_cut(turn_delta& out);

  openai_limits limits_;
  sse_decoder events_;
  openai::chunk_template template_;
  surrogate_joiner joiner_;
  openai::state_keeper keeper_;
  std::string head_;  ///< start of the body, for the log when nothing came
  std::string document_;
  std::optional<finish_reason> finish_;
  std::size_t received_ = 0;
  std::size_t told_ = 0;     ///< bytes of the turn's text
  std::size_t counted_ = 0;  ///< pieces of this read that are in it
  std::size_t finishes_ = 0;
  body body_ = body::unknown;
  bool any_event_ = false;
  bool halves_ = false;  ///< the newest chunk has some
  bool over_ = false;    ///< a failure or the end mark: nothing more is read
};

}  // namespace riffle::model
