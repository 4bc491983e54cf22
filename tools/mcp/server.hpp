// SPDX-License-Identifier: MIT
#pragma once

// One server under supervision: started when it is wanted, one connection for
// all calls, started again by the rules of supervision when it dies or hangs.
// The one place that knows its state and its tools. Thread-safe.

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "actors/core/circuit_breaker.hpp"
#include "tools/mcp/link.hpp"

namespace riffle::mcp {

enum class server_state : std::uint8_t {
  idle,            ///< nobody has wanted it
  starting,        ///< it has not answered yet
  ready,           ///< its tools can be called
  resting,         ///< it died; it is started again after a back-off
  out_of_service,  ///< it died too often; it is tried after the cool-down
  closed,
};

std::string_view to_string(server_state x) noexcept;

/// What a server has, as it said last.
struct listing {
  introduction about{};
  std::vector<tool_def> tools{};
  std::vector<std::string> templates{};  ///< of URIs of resources

  [[nodiscard]] const tool_def* find(std::string_view name) const;
};

struct server_status {
  server_state state = server_state::idle;
  std::shared_ptr<const listing> has{};  ///< null: it never answered
  std::uint32_t restarts = 0;
  std::string last_error{};  ///< empty: there was none
};

struct server_options {
  std::string name{};
  /// Makes a connection; its events come on its own threads.
  std::function<link_ptr(link_events)> connect{};
  std::string transport = "pipe";  ///< for metrics: what carries it, or "tcp"
  identity me{};
  duration startup_timeout = std::chrono::seconds{30};
  core::circuit_breaker::limits supervision{};
  /// Remembered from before; nothing: it is asked.
  std::optional<era> known_era{};
  /// The lock file of its processes; empty: none.
  std::filesystem::path lock{};
  /// Longest wait for a sign of life of a server whose call was given up.
  duration ping_limit = std::chrono::seconds{5};
  /// Told of each list that differs from the one before, on its thread.
  std::function<void(const listing&)> on_listing{};
  /// Told that its status is another one, maybe under its lock: it must only
  /// note that.
  std::function<void()> on_change{};
};

class server {
 public:
  explicit server(server_options options);
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  [[nodiscard]] const std::string& name() const noexcept {
    return options_.name;
  }
  [[nodiscard]] const server_options& options() const noexcept {
    return options_;
  }
  [[nodiscard]] server_status status() const;

  /// Starts it, if nobody has. Returns at once.
  void want();

  /// Since when somebody waits for it, without it having been there meanwhile.
  [[nodiscard]] time_point waited_since() const;

  /// Starts it and waits for its list of tools, at most until `until`. False:
  /// it is out of service, or not ready by then. One that is out of service is
  /// tried once more, if that failed quickly, and not just now.
  bool wait_ready(time_point until, std::stop_token stop = {});

  /// One request over the connection that it has. Fails with
  /// `tool_unavailable` when it has none within the start-up timeout, or is out
  /// of service, and with `cancelled`.
  expected<reply> ask(request x);

  /// As `ask`, all pages of a list.
  expected<std::vector<json>> list(const std::string& method,
                                   const std::string& key,
                                   const std::stop_token& stop = {});

  /// Reads its list of tools now, over the connection that it has.
  expected<void> list_anew();

  /// A call was given up: the server must show that it lives.
  void suspect();

  /// Begins to end it, and returns; the destructor waits.
  void close();
  /// Waits until it has ended, after `close`, at most until `until`. False: it
  /// has not; then nobody may destroy it.
  [[nodiscard]] bool await_end(time_point until);

 private:
  void live(const std::stop_token& stop);
  void live_once(std::unique_lock<std::mutex>& lock,
                 const std::stop_token& stop);
  void serve_and_listen(std::unique_lock<std::mutex>& lock, const link_ptr& to,
                        const std::stop_token& stop);
  void serve(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  void rest(std::unique_lock<std::mutex>& lock, const std::stop_token& stop,
            bool needs_person, const std::string& why);
  void tell_end(const std::string& why, bool again, bool needs_person) const;
  expected<listing> begin_safely(link& to, const std::stop_token& stop);
  expected<listing> begin(link& to, const std::stop_token& stop);
  expected<introduction> introduce(link& to, request x);
  std::vector<std::string> list_templates(link& to, const introduction& about,
                                          const request& like);
  expected<std::vector<tool_def>> list_safely(link& to,
                                              const introduction& about,
                                              const request& like);
  expected<std::vector<tool_def>> list_tools(link& to,
                                             const introduction& about,
                                             const request& like);
  void list_again(std::unique_lock<std::mutex>& lock,
                  const std::stop_token& stop);
  void listen(link& to, const std::stop_token& stop);
  void check_life(std::unique_lock<std::mutex>& lock,
                  const std::stop_token& stop);
  void set_state(server_state x);
  void tell_change();
  void keep(std::unique_lock<std::mutex>& lock, listing x);
  link_events events_of(std::uint64_t generation);
  error unavailable() const;

  const server_options options_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  server_state state_ = server_state::idle;
  std::shared_ptr<const listing> listing_;
  link_ptr link_;
  std::uint64_t generation_ = 0;  ///< of the connection
  std::optional<std::string> broken_;
  std::optional<era> era_;
  std::string last_error_;
  std::uint32_t restarts_ = 0;
  std::optional<time_point> list_due_;
  time_point listed_{};  ///< when it was read because it had changed
  bool suspected_ = false;
  bool listened_ = false;  ///< to news, over this connection
  bool wanted_ = false;
  bool ended_ = false;
  time_point since_{};         ///< see `waited_since`
  bool wanted_again_ = false;  ///< though it is out of service
  bool fails_fast_ = false;    ///< its last start did
  bool nobody_ = false;        ///< nothing listened where it should, just now
  int misses_ = 0;             ///< starts at which that was so, in a row
  time_point last_start_{};
  core::circuit_breaker breaker_;
  std::mt19937_64 random_{std::random_device{}()};
  std::jthread thread_;
};

}  // namespace riffle::mcp
