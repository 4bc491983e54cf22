// SPDX-License-Identifier: MIT
#pragma once

// The wire format of a model provider: pure codecs, no I/O, no clock.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/attachment.hpp"
#include "messages/error.hpp"
#include "messages/turn.hpp"

namespace riffle::model {

/// A tool as the model is told of it.
struct tool_description {
  std::string name;
  std::string description;
  std::string parameters;  ///< JSON Schema, compact text
};

/// What stays the same in all requests of a run. What is not set is left to the
/// provider.
struct request_options {
  std::string model;
  std::string system;  ///< the system prompt, wherever it stands
  std::optional<double> temperature;
  bool streaming = true;
  std::vector<tool_description> tools;
  std::optional<double> top_p;
  std::optional<std::uint64_t> max_output_tokens;
  std::vector<std::string> stop;
  std::optional<std::int64_t> seed;
  std::string reasoning_effort;
  std::optional<std::uint64_t> thinking_budget;  ///< tokens; 0: no thinking
  std::string tool_choice;  ///< auto, required, none, or a tool's name
  std::optional<bool> parallel_tool_calls;
  std::string keep_alive{};          ///< "10m"; "-1": for ever
  std::string extra;                 ///< JSON object, merged into the body
  std::uint64_t context_window = 0;  ///< tokens; 0: nobody knows
  std::string response_schema;       ///< JSON Schema of the answer; empty: none
  std::vector<std::string> left_out{};  ///< of `dialect::additions`

  [[nodiscard]] bool leaves_out(std::string_view addition) const noexcept;
};

/// What is odd about a provider, as plain data.
struct quirks {
  std::string max_tokens_name = "max_tokens";
  std::string seed_name = "seed";
  std::vector<std::string> refuses;  ///< names of parameters
  /// What it wants back with its messages, beside unknown fields of calls:
  /// reasoning_content (in each message, empty where another made it),
  /// reasoning_details, thinking_chunks, thought_signature (with Google's
  /// placeholder where another made the calls).
  std::vector<std::string> returns{};
  /// It refuses fields that it does not know, also those that it sent itself:
  /// nothing goes back that nobody knows.
  bool strict = false;
  /// Ids of calls: any, or nine (letters or digits).
  std::string call_ids = "any";
  /// Messages of tools may hold pictures, and no user's message may follow
  /// them: see `dialect::behind_results`.
  bool results_show_files = false;
};

/// Whether requests of a dialect have a place for a parameter, by its name in
/// `request_options`.
[[nodiscard]] bool can_express(std::string_view dialect,
                               std::string_view parameter) noexcept;

/// Whether a dialect has a place for files of a MIME type.
[[nodiscard]] bool can_show(std::string_view dialect,
                            std::string_view type) noexcept;

/// A picture or a file beside a text.
struct told_file {
  attachment about;
  attachment_bytes bytes;  ///< never null; of a type that `can_show`
};

using told_files = std::span<const told_file>;

/// One call of an assistant message, as it goes back to the model.
struct told_call {
  std::string provider_id;
  std::string tool;
  std::string arguments;  ///< JSON object text, as it ran or as it was sent
};

/// An assistant message, as it goes back to the model.
struct told_turn {
  std::string text;
  std::string reasoning;
  std::vector<told_call> calls;
  std::string state;  ///< of a `decoder` of the same dialect
  bool own = false;   ///< the model that is asked made it
};

/// What stands around the results of one assistant message.
struct results_frame {
  std::string_view begin;
  std::string_view end;
};

/// What is put into the last two turns of the user, so that the provider keeps
/// what it made of all before.
struct cache_mark {
  std::string_view text;     ///< empty: nothing
  std::size_t from_end = 0;  ///< of the turn's text, in bytes
};

/// Reads one answer. Any split of the bytes gives the same deltas, joined.
class decoder {
 public:
  virtual ~decoder() = default;

  /// Appends to `out` what the bytes brought. After a failure or the end mark
  /// further bytes are ignored.
  virtual void feed(std::string_view bytes, turn_delta& out) = 0;

  /// The body ended cleanly. Sets `out.failure` (stream_interrupted,
  /// retryable) if the answer is not complete by the dialect's rules.
  virtual void end(turn_delta& out) = 0;

  /// Bytes of memory, about, that it keeps of the answer, to send them back.
  /// Never less than before.
  [[nodiscard]] virtual std::uint64_t kept() const noexcept { return 0; }
};

/// Writes requests and reads answers of one dialect.
///
/// The conversation is kept as serialised messages, each made once, so that
/// a request is a concatenation: `head + join(messages, ",") + tail`. An empty
/// message is left out.
class dialect {
 public:
  virtual ~dialect() = default;

  /// Path below the provider's base URL, e.g. "/chat/completions".
  [[nodiscard]] virtual std::string_view path() const noexcept = 0;

  /// Headers without credentials; `api_key` empty: none is sent.
  [[nodiscard]] virtual std::vector<std::string> headers(
      std::string_view api_key) const = 0;

  [[nodiscard]] virtual std::string request_head(
      const request_options& options) const = 0;
  [[nodiscard]] virtual std::string request_tail(
      const request_options& options) const = 0;

  /// Names of what these requests have although nobody asked for it, and can
  /// do without: see `request_options::left_out`.
  [[nodiscard]] virtual std::vector<std::string> additions(
      const request_options&) const {
    return {};
  }

  /// Empty: it stands in the head.
  [[nodiscard]] virtual std::string system_message(
      std::string_view text) const = 0;
  [[nodiscard]] std::string user_message(std::string_view text) const {
    return user_message(text, {});
  }
  [[nodiscard]] virtual std::string user_message(std::string_view text,
                                                 told_files files) const = 0;
  [[nodiscard]] virtual std::string assistant_message(
      const told_turn& x) const = 0;
  [[nodiscard]] std::string tool_message(std::string_view provider_id,
                                         std::string_view tool,
                                         std::string_view text) const {
    return tool_message(provider_id, tool, text, {});
  }
  /// `files`: none, unless `results_show_files`.
  [[nodiscard]] virtual std::string tool_message(std::string_view provider_id,
                                                 std::string_view tool,
                                                 std::string_view text,
                                                 told_files files) const = 0;

  /// False: files of a turn's results stand in a user's message behind them.
  [[nodiscard]] virtual bool results_show_files() const noexcept = 0;

  /// Around the `tool_message`s of a turn, which are joined by ','.
  [[nodiscard]] virtual results_frame frame_of_results() const noexcept {
    return {};
  }
  /// What has to stand between a turn's results and a user's message; empty:
  /// nothing.
  [[nodiscard]] virtual std::string_view behind_results() const noexcept {
    return {};
  }
  /// For a user's message and for framed results.
  [[nodiscard]] virtual cache_mark mark_of_cache() const noexcept { return {}; }

  [[nodiscard]] virtual std::unique_ptr<decoder> make_decoder() const = 0;
};

/// The dialect of OpenAI's chat completions and of all who speak it.
std::unique_ptr<dialect> make_openai_dialect(quirks x = {});

/// Anthropic's messages.
std::unique_ptr<dialect> make_anthropic_dialect();

/// OpenAI's responses: nothing is stored at the provider.
std::unique_ptr<dialect> make_responses_dialect();

/// Ollama's own.
std::unique_ptr<dialect> make_ollama_dialect();

/// By its name: openai, anthropic, responses, ollama. Null: there is none.
std::unique_ptr<dialect> make_dialect(std::string_view name, quirks x = {});

}  // namespace riffle::model
