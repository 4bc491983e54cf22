// SPDX-License-Identifier: MIT
#pragma once

// Plays scripts in tests: a transport in manual time, and what came of it.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/message_assembler.hpp"
#include "actors/core/tool_call_assembler.hpp"
#include "runtime/model/dialect.hpp"
#include "runtime/model/scripted_transport.hpp"
#include "tests/model/manual_timer.hpp"

namespace riffle::testing {

struct recording_listener final : model::transfer_listener {
  void on_bytes(std::string bytes) override {
    reads.push_back(std::move(bytes));
  }
  void on_end(model::transport_end x) override {
    ++ends;
    end = std::move(x);
  }

  std::vector<std::string> reads;
  std::optional<model::transport_end> end;
  int ends = 0;
};

/// What a decoder and the assemblers made of an answer.
struct understood {
  core::message_assembler message;
  core::tool_call_assembler calls;
};

/// Decodes the reads, each cut into pieces of at most `piece` bytes.
understood understand(const std::vector<std::string>& reads,
                      std::size_t piece = 1u << 20);

class script_player {
 public:
  explicit script_player(std::string_view toml);

  /// Opens a transfer; nothing has been delivered then.
  std::shared_ptr<recording_listener> open(std::string body,
                                           std::size_t credit = 1u << 20);
  /// Opens one and lets enough time pass for it to end.
  std::shared_ptr<recording_listener> play(std::string body);

  manual_timer clock;
  std::unique_ptr<model::transport> transport;
  model::transfer_id last_id = 0;
};

/// A request of the openai dialect with these messages.
std::string request_with(const std::vector<std::string>& messages,
                         bool streaming = true);

/// Messages of a conversation.
std::string user(std::string_view text);
std::string assistant(const std::vector<std::string>& tools = {});
std::string tool_result(std::string_view text);

}  // namespace riffle::testing
