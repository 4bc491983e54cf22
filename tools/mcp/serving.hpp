// SPDX-License-Identifier: MIT
#pragma once

// Riffle's other side of the protocol: a server with tools and resources, for
// clients of both eras. A value: messages come in, effects go out.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/mcp/protocol.hpp"

namespace riffle::mcp {

struct serving_options {
  std::string name = "riffle";
  std::string version{};
  std::vector<json> tools{};  ///< as `tools/list` has them
  /// All resources, as `resources/list` has them.
  std::function<json()> list{};
  /// The text of one; nothing: there is none.
  std::function<std::optional<std::string>(const std::string& uri)> read{};
  std::size_t most_calls = 64;  ///< at once
  /// As `resources/templates/list` has them.
  json templates = json::array();
  /// Each message may be of another client, who began elsewhere (HTTP). Then
  /// none is a batch.
  bool has_begun = false;
  std::string spoken{};  ///< the version that such a client says it speaks
};

struct begin_call {
  std::uint64_t key = 0;
  std::string tool;
  json arguments;
  std::string trace{};  ///< the client's traceparent; empty: it sent none
};
/// The client gave it up: what comes of it is not told.
struct stop_call {
  std::uint64_t key = 0;
};
using serving_effect = std::variant<send_text, begin_call, stop_call>;
using serving_effects = std::vector<serving_effect>;

/// Why a message is refused in which a key stands twice.
std::string twice_in(const std::string& key);

class serving_core {
 public:
  explicit serving_core(serving_options options)
      : options_{std::move(options)},
        spoken_{options_.spoken},
        began_{options_.has_begun} {}

  void on_text(std::string_view text, serving_effects& out);

  /// Told only to who asked for it, and only if it grows.
  void on_progress(std::uint64_t key, double progress,
                   const std::string& message, serving_effects& out);
  /// The result of `tools/call`, once.
  void on_done(std::uint64_t key, json result, serving_effects& out);
  /// The client is gone: all that runs is stopped.
  void on_closed(serving_effects& out);

  [[nodiscard]] std::size_t calls() const noexcept { return calls_.size(); }

 private:
  struct call {
    json id;
    json token;
    bool modern = false;
    double progress = -1;
    std::uint64_t batch = 0;  ///< that it came in; 0: alone
  };
  /// Answered together, once all of it is.
  struct batch {
    json answers = json::array();
    std::size_t open = 0;
  };

  void on_message(const json& x, serving_effects& out);
  void on_batch(const json& all, serving_effects& out);
  void end_in_batch(std::uint64_t number, serving_effects& out);
  void on_request(const json& x, serving_effects& out);
  void on_notification(const json& x, serving_effects& out);
  void begin(const json& x, bool modern, serving_effects& out);
  std::variant<json, rpc_error> answer_to(const std::string& method,
                                          const json& params);
  std::variant<json, rpc_error> read(const json& params) const;
  json initialize(const json& params);
  json discovery() const;
  json capabilities() const;

  serving_options options_;
  std::map<std::uint64_t, call> calls_;
  std::map<std::uint64_t, batch> batches_;
  std::uint64_t last_ = 0;
  std::uint64_t last_batch_ = 0;
  std::string spoken_;  ///< the version that `initialize` agreed on
  bool began_ = false;  ///< by `initialize`
};

}  // namespace riffle::mcp
