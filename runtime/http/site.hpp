// SPDX-License-Identifier: MIT
#pragma once

// What is answered: requests to use cases, and back. An adapter over
// runtime/service; the routes stand in routes.cpp.

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/config/config.hpp"
#include "runtime/http/ended_calls.hpp"
#include "runtime/http/ended_cookies.hpp"
#include "runtime/http/event_hub.hpp"
#include "runtime/http/event_sources.hpp"
#include "runtime/http/gate.hpp"
#include "runtime/http/permits.hpp"
#include "runtime/http/run_room.hpp"
#include "runtime/http/server.hpp"
#include "runtime/http/turns.hpp"
#include "runtime/http/volley_table.hpp"
#include "runtime/service/proposals.hpp"
#include "runtime/service/runs.hpp"
#include "runtime/service/sessions.hpp"
#include "runtime/service/volleys.hpp"
#include "tools/mcp/servers.hpp"
#include "tools/registry.hpp"

namespace riffle::http {

/// The process's use cases, as the server needs them.
struct site_parts {
  std::shared_ptr<const config::config> config;
  service::runs runs;
  service::sessions sessions;
  service::proposals proposals;
  service::decisions decisions;
  service::volleys volleys;
  std::shared_ptr<const tools::registry> tools;
  std::shared_ptr<storage::journal> journal;
  std::shared_ptr<executor> reads;  ///< pages of the journal
  std::shared_ptr<executor> feeds;  ///< those of the order of all runs
  std::shared_ptr<executor> works;  ///< all else that blocks
  std::shared_ptr<timer> clock;
  id_source* ids = nullptr;
  std::function<std::optional<error>()> failure;  ///< of the process
  std::function<std::string()> metrics;  ///< Prometheus' text; empty: none
  std::string program;                   ///< version, for people
  /// `tools`, and those that servers and nodes have now; empty: there are none.
  std::function<std::shared_ptr<const tools::registry>()> tools_now{};
  std::shared_ptr<const mcp::servers> servers{};  ///< null: there are none
};

class site;

/// A request under way. A value: handlers hand it on to whoever answers.
struct call {
  site* at = nullptr;
  request in;
  caller_ptr who;                  ///< null where no token is needed
  std::vector<std::string> names;  ///< what stands in the path's {}, decoded
  responder out;
  std::shared_ptr<void> ticket;
};

using handler = void (*)(call);

struct route {
  std::string_view method;
  std::string_view path;      ///< "/v1/runs/{id}"
  std::optional<role> needs;  ///< nothing: no token
  handler answer;
  bool has_body = false;
  bool may_attach = false;  ///< its body may be as large as attachments
};

/// All that there is.
std::span<const route> routes() noexcept;

/// A route, or which methods its path has: then none of these fits.
struct route_match {
  const route* found = nullptr;
  std::vector<std::string> names;
  std::string allowed;  ///< "GET, POST"; empty: no such path
};
route_match find_route(std::string_view method, std::string_view path);

/// What /readyz answered, and when.
struct readiness {
  unsigned status = 0;  ///< 0: nobody has looked
  std::string word{};
  time_point at{};
};

class site final : public application {
 public:
  site(site_parts parts, std::shared_ptr<gate> gate, poster post);

  admission admit(request& x) override;
  void handle(request x, std::shared_ptr<void> ticket, responder to) override;
  void finish(const request& x, reply& to) override;
  void tick() override { hub_->tick(); }

  /// The cookie by which somebody was recognised; empty: by a token.
  static std::string counting_cookie(const request& x);

  /// Takes the place of tokens, names and origins; from any thread.
  void replace_gate(std::shared_ptr<gate> x);

  /// Nothing begins any more: 503. From any thread.
  void stop_starting() noexcept { stopping_ = true; }
  [[nodiscard]] bool is_stopping() const noexcept { return stopping_; }

  [[nodiscard]] const site_parts& parts() const noexcept { return parts_; }
  [[nodiscard]] const std::shared_ptr<event_hub>& hub() const noexcept {
    return hub_;
  }
  [[nodiscard]] std::shared_ptr<gate> current_gate() const;

  /// It outlives the site: volleys ask it.
  [[nodiscard]] const std::shared_ptr<run_room>& room() const noexcept {
    return room_;
  }
  [[nodiscard]] const std::shared_ptr<volley_table>& volleys() const noexcept {
    return volleys_;
  }

  /// Of whoever has the turn "ready".
  [[nodiscard]] readiness& last_readiness() noexcept { return ready_; }
  [[nodiscard]] turns& in_turn() noexcept { return turns_; }
  [[nodiscard]] permits& streams() noexcept { return permits_; }
  [[nodiscard]] ended_cookies& logged_out() noexcept { return logged_out_; }
  [[nodiscard]] ended_calls& calls() noexcept { return calls_; }

 private:
  std::optional<reply> check_request(const request& x,
                                     const std::shared_ptr<struct passport>&);
  [[nodiscard]] caller_ptr recognise(const request& x) const;

  site_parts parts_;
  std::shared_ptr<event_hub> hub_;
  mutable std::mutex mutex_;
  std::shared_ptr<gate> gate_;
  std::shared_ptr<volley_table> volleys_;
  std::shared_ptr<run_room> room_;
  turns turns_;
  readiness ready_;
  permits permits_;
  ended_cookies logged_out_;
  ended_calls calls_;
  rate_limiter limiter_;  ///< on the I/O thread
  std::atomic<bool> stopping_ = false;
};

// -- what handlers share ------------------------------------------------------

/// Calls `f` when nobody else's request holds one of these names; they are free
/// again when `c` was answered, which `f` sees to.
void in_turn(call& c, turns::names names, std::function<void()> f);

/// Answers on a thread that may block.
void work(call c, std::function<reply(call&)> f);
/// Nothing: `f` has handed the call on to whoever answers.
void work(std::shared_ptr<call> c,
          std::function<std::optional<reply>(call&)> f);

/// The body as a JSON object; else the answer to that. Without attachments it
/// is not larger than any other body.
tl::expected<json, reply> read_object(const call& c);

/// What the caller may not see is not there.
expected<storage::run_record> visible_run(const call& c, const run_id& id);
expected<void> check_session(const call& c, const session_id& id);
/// A session that is new, or the caller's: `not_found` else.
expected<void> check_may_add(const call& c, const session_id& id);
/// Why nothing can begin now: the server stops, or `limits.runs` are under way.
/// `takes`: the place of one that begins. Blocks.
std::optional<reply> cannot_start(const call& c, bool takes = true);
/// A body as JSON, in the order of its members; else what is wrong with it.
tl::expected<json, std::string> read_json(std::string_view text);
/// Deeper than any honest body: what walks over JSON does so on the stack.
bool nests_too_deep(std::string_view text) noexcept;
bool may_see(const caller& who, const storage::run_record& x);
/// `by`: who asked for it.
inline bool may_see(const caller& who, const std::string& by) {
  return who.sees_all || by == who.origin();
}

/// A line of the log: whose token did what. `run` and `session` may be empty.
void log_deed(const call& c, const std::string& what, const std::string& run,
              const std::string& session);

/// A stream of a run's events in the format that is asked for, behind `after`.
/// Fails with 429 if the caller has too many.
reply run_stream(const call& c, const run_id& run, std::uint64_t after,
                 event_format format);

/// By `Accept`: nothing if it wants none of these.
std::optional<event_format> wanted_format(const request& x, bool json_is_array);

/// The answer to who wants none of these.
std::optional<reply> refuse_format(const request& x, bool json_is_array);
/// The answer to a query with a name that is none.
std::optional<reply> refuse_query(const request& x,
                                  const std::vector<std::string>& known);

/// Lists have the first 1,000 characters of a task, the run has it whole.
void shorten_task(json& run);

/// Takes those up to `?before=` away; else the answer to who names none of
/// them. `what`: they are.
std::optional<reply> drop_before(const request& x,
                                 std::vector<std::string>& ids,
                                 const char* what);

/// `?limit=`, else `usual`. Nothing: it is not 1 to 1000.
std::optional<std::size_t> limit_of(const request& x, std::size_t usual);

}  // namespace riffle::http
