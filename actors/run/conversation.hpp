// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/core/context_window.hpp"
#include "actors/core/step_effects.hpp"
#include "runtime/model/dialect.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle {

/// Files beside a text, with their bytes; null: they are lost.
using shown_files = std::vector<model::told_file>;

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
    std::vector<std::string> file_types{};  ///< MIME; what the model is shown
    std::uint64_t most_file_bytes = 0;      ///< at a time; 0: any number
  };

  conversation() = default;
  explicit conversation(settings x);

  void say_system(const std::string& text);
  /// What stands for all that was said before: no task's, so it stays.
  void say_summary(const std::string& text);
  /// What is said from now on belongs to another task: of what was said before
  /// long texts may be shortened, and whole tasks may go.
  void begin_task();
  /// Of files that the model cannot be shown it is told.
  void say_user(const std::string& text, const shown_files& files = {});
  /// The model's message; it is told once all its calls have settled.
  void say_model(core::new_message x);
  /// A settled call. Results are told in the order of the calls ("two orders").
  /// A file that a result shows again is not sent again.
  void settle(storage::call_record x, const shown_files& files = {});

  /// What is done before each request: outputs and files go near the window,
  /// files of a person's last. What is over the window loses more of earlier
  /// tasks: all outputs, then long texts, the oldest first, then the oldest
  /// tasks.
  core::made_room compact();

  /// The same, whatever the model's window: all outputs but those of the newest
  /// step, and long texts of earlier tasks; else these tasks. For who was told
  /// that it is too long.
  core::made_room make_room();

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
  /// Where a tool's output, a message with files, or a long text stands in
  /// `messages_`.
  struct output {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string note;  ///< the message instead of it
    core::told_output size{};
    std::vector<attachment> files{};
    bool of_person = false;
    bool is_text = false;
  };

  /// Where a task begins.
  struct task_begin {
    std::size_t at = 0;        ///< in `messages_`
    std::uint64_t tokens = 0;  ///< of what stands before it
  };

  struct result {
    storage::call_record call;
    shown_files files;
  };

  /// Files that are shown, and words about all others.
  struct choice {
    shown_files files;
    std::string words;
  };

  void write_frame();
  void tell(const std::string& message, std::uint64_t tokens);
  void tell(const std::string& message);
  void tell_user(const std::string& text, choice x, bool of_person);
  template <class Write>
  void tell_text(const std::string& text, Write write);
  choice choose(const shown_files& files, bool of_person);
  void keep_output(output x);
  [[nodiscard]] std::vector<std::size_t> old_outputs() const;
  void drop_bytes(const std::vector<std::size_t>& old,
                  std::vector<bool>& drop) const;
  void tell_results(const std::vector<call_id>& calls);
  void end_user_turn();
  void tell_last();
  void tell_result(const result& x, choice& later);
  void leave_out_skipped(core::new_message& x);
  core::made_room trim(const std::vector<bool>& drop);
  core::made_room fit();
  core::made_room drop_tasks(std::uint64_t wanted);
  void begin_with(std::size_t task);
  [[nodiscard]] std::size_t outputs_before(std::size_t at) const;
  [[nodiscard]] std::size_t task_at() const {
    return tasks_.empty() ? 0 : tasks_.back().at;
  }
  [[nodiscard]] bool has_room() const;
  void forget(const output& x);
  void forget_files(const output& x);

  settings settings_;
  model::cache_mark mark_{};
  std::string head_;
  std::string tail_;
  std::uint64_t head_tokens_ = 0;
  std::string messages_;            ///< joined by ','
  bool joined_ = false;             ///< a ',' comes before the next one
  bool paused_ = false;             ///< the model's own message is the last one
  bool results_last_ = false;       ///< a turn's results are
  std::vector<std::size_t> turns_;  ///< ends of the user's last two
  std::uint64_t tokens_ = 0;        ///< of `messages_`, estimated
  std::size_t front_ = 0;           ///< end of what no task said
  std::uint64_t front_tokens_ = 0;
  std::vector<task_begin> tasks_;
  std::size_t forgotten_ = 0;  ///< tasks that are told no more
  std::optional<core::new_message> last_;
  std::unordered_map<call_id, result> results_;  ///< not told yet
  std::vector<output> outputs_;               ///< told, not trimmed, in order
  std::size_t old_outputs_ = 0;               ///< those before the newest step
  std::map<std::string, std::size_t> shown_;  ///< digest -> how often
  std::uint64_t file_bytes_ = 0;              ///< of all that are shown
  std::uint64_t step_bytes_ = 0;              ///< of the newest step
  /// What the provider counted, and `tokens_` as it was then.
  std::optional<std::uint64_t> counted_;
  std::uint64_t counted_at_ = 0;
};

/// Why a request of so many tokens is not made.
[[nodiscard]] error context_full(std::uint64_t tokens, std::uint64_t window,
                                 const std::string& model);

/// The failure of a turn for which no room could be made, with what a person
/// may do; any other as it is.
[[nodiscard]] error with_way_out(error why);

}  // namespace riffle
