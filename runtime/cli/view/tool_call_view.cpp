// SPDX-License-Identifier: MIT
#include "runtime/cli/view/tool_call_view.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/event_line.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/cli/terminal/interrupts.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/output_text.hpp"
#include "runtime/cli/view/run_output.hpp"
#include "runtime/service/tools.hpp"

namespace riffle::cli {

namespace {

/// Carries what happens from the tool's thread to the terminal's.
class call_channel {
 public:
  /// Of many reports the newest stay; the call itself is the first.
  void tell(events::body x) {
    constexpr std::size_t most = 256;
    const std::lock_guard lock{mutex_};
    if (told_.size() == most)
      told_.erase(std::ranges::find_if(told_, [](const events::body& one) {
        return std::holds_alternative<events::tool_progress>(one);
      }));
    told_.push_back(std::move(x));
    changed_.notify_one();
  }
  void finish(expected<service::hand_result> x) {
    const std::lock_guard lock{mutex_};
    result_ = std::move(x);
    changed_.notify_one();
  }
  /// What came, waiting up to `limit`; the result once all was taken.
  std::deque<events::body> take(duration limit) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, limit,
                      [this] { return result_ || !told_.empty(); });
    return std::exchange(told_, {});
  }
  std::optional<expected<service::hand_result>> result() {
    const std::lock_guard lock{mutex_};
    return told_.empty() ? std::exchange(result_, {}) : std::nullopt;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<events::body> told_;
  std::optional<expected<service::hand_result>> result_;
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

/// Shows the call as the events that a run would have.
class call_view : public work_output {
 public:
  call_view(const common_options& options, console& io)
      : work_output{std::make_unique<live_view>(
                        view_of(options, {}, io.out, io.err)),
                    io.out, io.err},
        options_{options},
        view_{static_cast<live_view&>(view())} {}

  void on(events::body body) {
    event x{++seq_, run_id{"none"}, std::move(body), system_wall_time()};
    if (options_.output == output_kind::jsonl) out_.write(to_line(x));
    write(view_.on(x, std::chrono::steady_clock::now(), size().columns));
  }
  void finish() { write(view_.finish(std::nullopt)); }

 private:
  const common_options& options_;
  live_view& view_;
  std::uint64_t seq_ = 0;
};

int status_for(outcome how) {
  switch (how) {
    case outcome::ok: return completed;
    case outcome::timed_out: return out_of_time;
    case outcome::cancelled: return interrupted_by_user;
    default: return failed;
  }
}

/// The tool on a thread of its own, what it tells on this one.
expected<service::hand_result> run(const tools::registry& tools,
                                   const config::config& settings,
                                   service::hand_call x, call_view& view,
                                   console& io) {
  call_channel channel;
  std::stop_source stop;
  x.stop = stop.get_token();
  x.on_event = [&channel](events::body e) { channel.tell(std::move(e)); };
  interrupts signals;
  signals.on_stop([&stop](const char*) { stop.request_stop(); });
  std::optional<expected<service::hand_result>> result;
  const std::jthread worker{[&] {
    try {
      channel.finish(service::call_tool(tools, settings, std::move(x)));
    } catch (const std::exception& e) {
      channel.finish(unexpected{error{errc::internal, "tools", e.what()}});
    }
  }};
  while (!result) {
    for (auto& e : channel.take(screen::between_drawings))
      view.on(std::move(e));
    if (signals.asked_to_stop()) view.cancelling();
    if (!io.out.good()) stop.request_stop();
    view.tick(std::chrono::steady_clock::now());
    result = channel.result();
  }
  signals.on_stop({});
  return std::move(*result);
}

}  // namespace

int call_tool(const tools::registry& tools, const std::string& name,
              std::string arguments, const common_options& options,
              const config::config& settings, console& io) {
  const private_folder folder;
  service::hand_call x{.tool = name, .arguments = std::move(arguments)};
  if (!folder.path().empty()) x.output_file = folder.path() / "output";
  const auto file = x.output_file;
  call_view view{options, io};
  const auto done = run(tools, settings, std::move(x), view, io);
  if (!done) {
    view.finish();
    const int status = report(done.error(), io);
    return done.error().code == errc::internal ? status : usage;
  }
  view.on(done->result);
  view.finish();
  const whole_output whole{file, done->text};
  if (options.output == output_kind::json) {
    write_json(whole, json_head(done->result), io.out);
  } else if (options.output == output_kind::text) {
    write_text(whole, io.out);
  }
  return io.out.good() ? status_for(done->result.how) : failed;
}

}  // namespace riffle::cli
