// SPDX-License-Identifier: MIT
#include "runtime/cli/view/tool_call_view.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/duration_text.hpp"
#include "messages/event_line.hpp"
#include "messages/utf8.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/id_source.hpp"
#include "runtime/base/timer.hpp"
#include "runtime/cli/terminal/interrupts.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/output_text.hpp"
#include "runtime/cli/view/run_output.hpp"
#include "tools/ask.hpp"

namespace riffle::cli {

namespace {

/// Carries reports and the result from the tool's thread to the terminal's.
class call_channel {
 public:
  /// Of many reports the newest stay.
  void report(tool_progress_report x) {
    constexpr std::size_t most = 256;
    const std::lock_guard lock{mutex_};
    if (reports_.size() == most) reports_.pop_front();
    reports_.push_back(std::move(x));
    changed_.notify_one();
  }
  void finish(tools::tool_output x) {
    const std::lock_guard lock{mutex_};
    result_ = std::move(x);
    changed_.notify_one();
  }
  /// What came, waiting up to `limit`; the result once no report is left.
  std::deque<tool_progress_report> take(duration limit) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, limit,
                      [this] { return result_ || !reports_.empty(); });
    return std::exchange(reports_, {});
  }
  std::optional<tools::tool_output> result() {
    const std::lock_guard lock{mutex_};
    return reports_.empty() ? std::exchange(result_, {}) : std::nullopt;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<tool_progress_report> reports_;
  std::optional<tools::tool_output> result_;
};

/// A folder for the output's file, removed at the end.
class private_folder {
 public:
  private_folder() {
    std::error_code ignored;
    auto name =
        (std::filesystem::temp_directory_path(ignored) / "riffle-call-XXXXXX")
            .string();
    if (::mkdtemp(name.data())) path_ = name;
  }
  ~private_folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  private_folder(const private_folder&) = delete;
  private_folder& operator=(const private_folder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

tools::tool_output run_guarded(tools::tool& tool, const nlohmann::json& x,
                               tools::tool_context& context) {
  const auto died = [&](const std::string& why) {
    return tools::tool_output{{},
                              error{errc::tool_execution_error,
                                    tool.spec().name, "the tool died: " + why},
                              {}};
  };
  try {
    return tool.run(x, context);
  } catch (const std::exception& e) {
    return died(e.what());
  } catch (...) {
    return died("unknown exception");
  }
}

/// Shows the call as the events that a run would have.
class call_view {
 public:
  call_view(const common_options& options, console& io)
      : options_{options},
        io_{io},
        view_{view_of(options, {}, io.out, io.err)} {}

  void on(events::body body) {
    event x{++seq_, run_id{"none"}, std::move(body), system_wall_time()};
    if (options_.output == output_kind::jsonl) io_.out.write(to_line(x));
    write(view_.on(x, std::chrono::steady_clock::now(), io_.err.columns()));
  }
  void tick() {
    write(view_.tick(std::chrono::steady_clock::now(), io_.err.columns()));
  }
  void cancelling() { view_.cancelling(); }
  void finish() { write(view_.finish(std::nullopt)); }

 private:
  void write(const screen_writes& all) {
    for (const auto& x : all) (x.to_out ? io_.out : io_.err).write(x.bytes);
  }

  const common_options& options_;
  console& io_;
  live_view view_;
  std::uint64_t seq_ = 0;
};

outcome outcome_of(const tools::tool_output& x, bool late, bool cancelled) {
  if (!x.err && !late && !cancelled) return outcome::ok;
  if (cancelled) return outcome::cancelled;
  if (late || x.err->code == errc::timeout) return outcome::timed_out;
  return outcome::failed;
}

int status_for(outcome how) {
  switch (how) {
    case outcome::ok: return completed;
    case outcome::timed_out: return out_of_time;
    case outcome::cancelled: return interrupted_by_user;
    default: return failed;
  }
}

/// One call: the tool on a thread of its own, its reports on this one.
class call_job {
 public:
  call_job(tools::tool& tool, const tools::checked_arguments& arguments,
           const config::config& settings)
      : tool_{tool}, arguments_{arguments} {
    id_source ids;
    context_.call = ids.next<call_id>();
    context_.stop = stop_.get_token();
    context_.workspace =
        std::filesystem::absolute(settings.tools.defaults.workspace);
    context_.progress = [this](tool_progress_report x) {
      channel_.report(std::move(x));
    };
    if (!folder_.path().empty()) {
      context_.output_file = folder_.path() / "output";
    }
    const auto& own = settings.tools.of(tool.spec().name);
    limit_ = own.timeout;
    context_.kill_grace = own.kill_grace;
  }

  /// Runs it to its end; shows what happens.
  void run(call_view& view, console& io) {
    interrupts signals;
    signals.on_stop([this](const char*) { stop_.request_stop(); });
    thread_timer clock;
    if (limit_ > duration{}) {
      clock.after(limit_, [this] {
        late_ = true;
        stop_.request_stop();
      });
    }
    view.on(begin());
    std::jthread worker{[this] {
      channel_.finish(run_guarded(tool_, arguments_.value, context_));
    }};
    while (!output_) {
      for (auto& x : channel_.take(screen::between_drawings)) {
        view.on(events::tool_progress{context_.call, tool_.spec().name,
                                      std::move(x)});
      }
      if (signals.asked_to_stop()) view.cancelling();
      if (!io.out.good()) stop_.request_stop();
      view.tick();
      output_ = channel_.result();
    }
    cancelled_ = signals.asked_to_stop();
    signals.on_stop({});
  }

  [[nodiscard]] events::tool_result result(std::size_t output_limit) const {
    const auto took = std::chrono::steady_clock::now() - began_;
    events::tool_result x;
    x.id = context_.call;
    x.tool = tool_.spec().name;
    x.how = outcome_of(*output_, late_, cancelled_);
    x.output = first_characters(output_->text, output_limit);
    x.truncated = x.output.size() < output_->text.size();
    x.duration_ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
    x.attempts = 1;
    x.err = output_->err;
    if (x.how == outcome::timed_out) {
      x.err = error{errc::timeout,
                    x.tool,
                    "over its time limit of " + duration_text(limit_) +
                        " (tools." + x.tool + ".timeout)",
                    false,
                    {}};
    }
    x.metadata = output_->metadata;
    return x;
  }

  [[nodiscard]] whole_output whole() const {
    return {context_.output_file, output_->text};
  }

 private:
  [[nodiscard]] events::tool_call begin() const {
    events::tool_call x;
    x.id = context_.call;
    x.tool = tool_.spec().name;
    x.title =
        tools::ask_title(tool_, arguments_.value).value_or(tool_.spec().name);
    x.arguments = arguments_.canonical;
    x.eff = tool_.spec().eff;
    return x;
  }

  tools::tool& tool_;
  const tools::checked_arguments& arguments_;
  const private_folder folder_;
  call_channel channel_;
  std::stop_source stop_;
  tools::tool_context context_;
  duration limit_{};
  std::atomic<bool> late_ = false;
  bool cancelled_ = false;
  std::optional<tools::tool_output> output_;
  std::chrono::steady_clock::time_point began_ =
      std::chrono::steady_clock::now();
};

}  // namespace

int call_tool(const tools::tool_ptr& tool,
              const tools::checked_arguments& arguments,
              const common_options& options, const config::config& settings,
              console& io) {
  call_view view{options, io};
  call_job job{*tool, arguments, settings};
  job.run(view, io);
  const auto result = job.result(settings.publish.output_limit);
  view.on(result);
  view.finish();
  if (options.output == output_kind::json) {
    write_json(job.whole(), json_head(result), io.out);
  } else if (options.output == output_kind::text) {
    write_text(job.whole(), io.out);
  }
  return io.out.good() ? status_for(result.how) : failed;
}

}  // namespace riffle::cli
