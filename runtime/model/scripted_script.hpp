// SPDX-License-Identifier: MIT
#pragma once

// A script: what a model that is none says, step by step. The file's form is
// described in this folder's README.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "messages/error.hpp"
#include "messages/time.hpp"
#include "messages/turn.hpp"

namespace riffle::model {

/// Text in chunks. Texts of a script may hold `{{…}}` references.
struct script_say {
  piece_kind kind = piece_kind::text;
  std::string text;
  std::size_t chunk = 0;  ///< characters an event; 0: all in one
  duration delay{};       ///< between two chunks
};

struct script_call {
  std::string tool;
  /// An object whose strings may hold references, or a string: raw text.
  nlohmann::json arguments;
  std::string id;         ///< empty: made from step and place
  std::size_t chunk = 0;  ///< characters of the arguments an event; 0: all
  duration delay{};       ///< between two fragments
};

struct script_pause {
  duration length{};
};

/// How an error inside a stream looks.
enum class error_shape : std::uint8_t { openai, vllm, openrouter, event };

/// Ends the answer. `status` set: instead of a stream (0: no connection);
/// else an event of that shape inside it.
struct script_error {
  std::optional<int> status;
  error_shape shape = error_shape::openai;
  std::string message = "scripted error";
  std::string type = "server_error";
  std::string code;
  std::optional<duration> retry_after;
  std::uint32_t times = 0;  ///< only for so many equal requests; 0: always
};

/// The connection is lost here, or (`clean`) closed without an end.
struct script_cut {
  bool clean = false;
  bool half_event = false;  ///< after the first half of one more event
  std::uint32_t times = 0;
};

using script_event = std::variant<script_say, script_call, script_pause,
                                  script_error, script_cut>;

struct script_step {
  std::vector<script_event> events;
  /// Nothing: "tool_calls" if there are calls, else "stop". Empty: none sent.
  std::optional<std::string> finish;
  std::optional<token_usage> usage;
  bool done = true;  ///< the end mark is sent
};

/// Steps for tasks that contain a text.
struct script_case {
  std::string match;
  std::vector<script_step> steps;
};

struct script {
  std::vector<script_step> steps;
  std::vector<script_case> cases;  ///< the first that matches is played
  std::size_t bytes_per_read = 0;  ///< 0: each event is one read
  /// Steps are counted from the conversation's start, not from the last user
  /// message.
  bool whole_session = false;
};

/// A longer script is refused.
inline constexpr std::size_t largest_script = std::size_t{64} << 20;
/// Each costs many times its bytes once it is read.
inline constexpr std::size_t most_script_items = std::size_t{1} << 20;

/// Reads a script file; TOML, or JSON if its name ends in ".json". Errors are
/// `invalid_config` (`not_found` if it cannot be read), all at once, each with
/// file and, for TOML, line and column.
expected<script> load_script(const std::filesystem::path& path);

enum class script_format : std::uint8_t { toml, json };

/// The same from a text; `name` stands in errors.
expected<script> parse_script(std::string_view text, script_format format,
                              const std::string& name);

}  // namespace riffle::model
