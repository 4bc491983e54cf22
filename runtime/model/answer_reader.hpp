// SPDX-License-Identifier: MIT
#pragma once

// What the decoders of most dialects share: a body of server-sent events,
// whose data are JSON objects, or of one JSON document.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "runtime/model/dialect.hpp"
#include "runtime/model/sse_decoder.hpp"
#include "runtime/model/text_template.hpp"

namespace riffle::model {

class answer_reader : public decoder {
 public:
  void feed(std::string_view bytes, turn_delta& out) final;
  void end(turn_delta& out) final;

 protected:
  using json = nlohmann::ordered_json;

  /// One event's data, an object that reports no error.
  virtual void on_event(const json& x, turn_delta& out) = 0;
  /// Of an event that `on_event` got: where its one string stands (names of
  /// members), if it brought nothing else and many will follow. Empty: nowhere.
  [[nodiscard]] virtual std::span<const std::string_view> often(const json&) {
    return {};
  }
  /// Another event like the last one for which `often` said a place, with this
  /// text.
  virtual void on_again(const std::string&, turn_delta&) {}
  /// Whether `on_event` takes texts of this event as pieces of longer ones, and
  /// so also halves of characters in them (surrogate_joiner.hpp).
  [[nodiscard]] virtual bool takes_halves(const json&) const { return false; }
  /// The event that is read has some.
  [[nodiscard]] bool has_halves() const noexcept { return halves_; }
  /// The same for the body of a server that does not stream.
  virtual void on_document(const json& x, turn_delta& out) = 0;
  /// A body that ends now is complete.
  [[nodiscard]] virtual bool finished() const = 0;

  /// Nothing more is read.
  void fail(turn_delta& out, error why);
  void be_done(turn_delta& out);

 private:
  enum class body : std::uint8_t { unknown, events, document, page };

  void sniff();
  void read_event(const sse_event& x, turn_delta& out);
  void read_document(turn_delta& out);

  sse_decoder events_;
  text_template template_;
  std::string text_;  ///< of the event that is read
  std::string head_;  ///< start of the body, to tell what it is
  std::string document_;
  std::size_t received_ = 0;
  body body_ = body::unknown;
  bool halves_ = false;
  bool over_ = false;
};

namespace answer {

/// The member, or null for whatever cannot be had.
const nlohmann::ordered_json& member(const nlohmann::ordered_json& x,
                                     const char* key);
/// Empty for what is no text.
std::string text_at(const nlohmann::ordered_json& x, const char* key);
/// A member that counts; nothing: it is none.
std::optional<std::uint64_t> count_at(const nlohmann::ordered_json& x,
                                      const char* key);
/// Retryable, as whatever broke on its way.
error interrupted(std::string message, std::string cause = {});
/// Printable, for a log line.
std::string printable(std::string_view text);

}  // namespace answer

}  // namespace riffle::model
