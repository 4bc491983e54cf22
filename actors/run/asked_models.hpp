// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/model_refusal.hpp"
#include "actors/run/conversation.hpp"
#include "actors/run/run_spec.hpp"

namespace riffle {

/// Names of the parameters that a request has, and the keys of its `extra`.
[[nodiscard]] std::vector<std::string> sent_parameters(
    const model::request_options& x);

/// These, and what the dialect adds by itself.
[[nodiscard]] std::vector<std::string> sent_parameters(
    const model::request_options& x, const model::dialect& dialect);

/// The same request without one of them.
[[nodiscard]] model::request_options without_parameter(model::request_options x,
                                                       const std::string& name);

/// The same request, after which the model has to call `complete`. `forces`:
/// the server is told so; else there is no other tool to call.
[[nodiscard]] model::request_options completing_request(
    const run_spec& spec, model::request_options x, bool forces);

/// The models that a run may ask, the first choice first, and what each of
/// them would be told: all hear everything, one is asked. No actor, no clock.
class asked_models {
 public:
  asked_models() = default;
  /// `main`: with its fallbacks.
  explicit asked_models(const run_spec_ptr& main);

  // To all of them, see `conversation`.
  void say_system(const std::string& text);
  void say_summary(const std::string& text);
  void begin_task();
  void say_user(const std::string& text, const shown_files& files = {});
  void say_model(const core::new_message& message);
  void settle(storage::call_record call, const shown_files& files = {});
  core::made_room compact();

  // Of the one that is asked.
  [[nodiscard]] const run_spec_ptr& spec() const { return now().spec; }
  [[nodiscard]] std::string request(const std::string& note) const {
    return now().chat.request(note);
  }
  [[nodiscard]] std::uint64_t estimate(const std::string& note) const {
    return now().chat.estimate(note);
  }
  [[nodiscard]] std::uint64_t tokens(const std::string& note) const {
    return now().chat.tokens(note);
  }
  void on_counted(std::uint64_t counted) { now().chat.on_counted(counted); }

  /// Its server does not make an answer of the form that is asked for.
  [[nodiscard]] bool completes_by_tool() const {
    return spec()->completing && now().request.response_schema.empty();
  }
  /// From now on the models may do nothing but `complete`; or all, again.
  void ask_to_complete(bool alone);

  /// The model is asked anew, by the run's own rules.
  void begin_turn() { before_ = {}; }

  /// After a turn that failed before anything of its answer came: what was
  /// changed so that asking once more makes sense, in words; nothing: it is a
  /// failure like any.
  std::optional<std::string> try_again(const error& why);

 private:
  struct candidate {
    run_spec_ptr spec;
    model::request_options request;
    conversation chat;
    bool forces = true;  ///< its server takes `tool_choice`
  };

  [[nodiscard]] const candidate& now() const { return all_[asked_]; }
  [[nodiscard]] candidate& now() { return all_[asked_]; }
  [[nodiscard]] model::request_options options_of(const candidate& x) const;
  std::optional<std::string> leave_out(const std::string& parameter,
                                       const error& why);
  std::optional<std::string> make_room();
  std::string ask_next(const error& why);
  /// The next model for which the conversation is not too long.
  [[nodiscard]] std::optional<std::size_t> next_with_room() const;

  std::vector<candidate> all_;
  std::size_t asked_ = 0;
  bool completing_ = false;  ///< see `ask_to_complete`
  core::second_tries before_;
};

}  // namespace riffle
