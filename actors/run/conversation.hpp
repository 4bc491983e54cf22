// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/context_window.hpp"
#include "actors/core/step_effects.hpp"
#include "runtime/model/dialect.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle {

/// What the model is told, as the dialect writes it: each message is written
/// once and appended, so a request is a concatenation. Only when it gets near
/// the model's limit old tool outputs are replaced by notes. No actor, no
/// clock: the same words give the same requests.
class conversation {
 public:
  struct settings {
    std::shared_ptr<const model::dialect> dialect;
    model::request_options request;
    std::uint64_t window = 0;  ///< tokens that the model takes; 0: any number
    std::string maker{};       ///< who answers; see `turn_state`
  };

  conversation() = default;
  explicit conversation(settings x);

  void say_system(const std::string& text);
  void say_user(const std::string& text);
  /// The model's message; it is told once all its calls have settled.
  void say_model(core::new_message x);
  /// A settled call. Results are told in the order of the calls ("two orders").
  void settle(storage::call_record x);

  /// What is done before each request. Gives back how many outputs it removed
  /// to make room.
  std::size_t compact();

  /// The same, whatever the model's window: all outputs but those of the newest
  /// step. For who was told that it is too long.
  std::size_t make_room();

  /// From now on with other parameters; the model and its tools stay.
  void ask_with(model::request_options x);

  /// The whole request. `note`: what stands at its end, so that its beginning
  /// stays as it was in the last one; empty: nothing.
  [[nodiscard]] std::string request(const std::string& note) const;

  /// About the tokens of a request with this note, by its text alone.
  [[nodiscard]] std::uint64_t estimate(const std::string& note) const;
  /// The same, but what the provider counted for the last request, if it did,
  /// and an estimate of what came since.
  [[nodiscard]] std::uint64_t tokens(const std::string& note) const;

  /// `counted` by the provider for the request that was made of what is told
  /// up to now.
  void on_counted(std::uint64_t counted);

 private:
  /// Where a tool's output stands in `messages_`.
  struct output {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string provider_id;
    std::string tool;
    std::string note;
    core::told_output size;
  };

  void write_frame();
  void tell(const std::string& message);
  void tell_results(const std::vector<call_id>& calls);
  void end_user_turn();
  void tell_last();
  void tell_result(const storage::call_record& x);
  void trim(std::size_t count);

  settings settings_;
  model::cache_mark mark_{};
  std::string head_;
  std::string tail_;
  std::uint64_t head_tokens_ = 0;
  std::string messages_;            ///< joined by ','
  bool joined_ = false;             ///< a ',' comes before the next one
  bool paused_ = false;             ///< the model's own message is the last one
  std::vector<std::size_t> turns_;  ///< ends of the user's last two
  std::uint64_t tokens_ = 0;        ///< of `messages_`, estimated
  std::optional<core::new_message> last_;
  std::map<call_id, storage::call_record> results_;  ///< not told yet
  std::vector<output> outputs_;  ///< told, not trimmed, in order
  std::size_t old_outputs_ = 0;  ///< those before the newest step
  /// What the provider counted, and `tokens_` as it was then.
  std::optional<std::uint64_t> counted_;
  std::uint64_t counted_at_ = 0;
};

/// Why a request of so many tokens is not made.
[[nodiscard]] error context_full(std::uint64_t tokens, std::uint64_t window,
                                 const std::string& model);

}  // namespace riffle
