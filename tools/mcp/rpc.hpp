// SPDX-License-Identifier: MIT
#pragma once

// JSON-RPC 2.0 as one side of an MCP connection: which request is open, what
// an answer, a report of progress or a request of the server means. A value:
// texts come in, effects go out; no clock, no threads, no descriptors.
//
// Whatever the other side says, each request settles exactly once, and its
// progress comes before.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace riffle::mcp {

using json = nlohmann::json;
using request_id = std::uint64_t;

namespace code {
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal = -32603;
inline constexpr int header_mismatch = -32020;
inline constexpr int missing_capability = -32021;
inline constexpr int unsupported_version = -32022;
/// None of the protocol's: HTTP's, of a request that was not let in.
inline constexpr int not_let_in = 401;
/// The same: nobody at the URL knows the request; see `open_http`.
inline constexpr int not_here = 404;
}  // namespace code

/// An error of the protocol: the request was not carried out.
struct rpc_error {
  int number = 0;
  std::string message{};
  json data{};

  bool operator==(const rpc_error&) const = default;
};

/// The connection is gone: whether the request was carried out is not known.
struct lost {
  std::string why{};
  /// Only a person can change that (a login, a variable).
  bool needs_person = false;
  bool nobody = false;  ///< nothing listens there

  bool operator==(const lost&) const = default;
};

/// How a request ended; `json`: its result, an object.
using answer = std::variant<json, rpc_error, lost>;

// -- effects
// ----------------------------------------------------------------------

struct send_text {
  std::string text;  ///< one message on one line, without its end
};
struct settled {
  request_id id = 0;
  answer how;
};
struct progressed {
  request_id id = 0;
  double progress = 0;
  std::optional<double> total{};
  std::string message{};
};
/// `notifications/…` that concerns no request.
struct notified {
  std::string method;
  json params;
};
/// Something that no honest server says; for the log.
struct odd {
  std::string what;
};
/// As lines about it name their cause: a person is told once.
inline constexpr std::string_view cause_of_oddities =
    "what it says is no answer";

using rpc_effect = std::variant<send_text, settled, progressed, notified, odd>;
using rpc_effects = std::vector<rpc_effect>;

/// What a request of the other side is answered with.
using responder = std::function<std::variant<json, rpc_error>(
    const std::string& method, const json& params)>;

class rpc_core {
 public:
  /// Empty: each request but `ping` is refused.
  explicit rpc_core(responder answers = {}) : answers_{std::move(answers)} {}

  /// Sends a request. With `reports`, its progress is asked for.
  request_id request(std::string_view method, json params, bool reports,
                     rpc_effects& out);

  void notify(std::string_view method, const json& params,
              rpc_effects& out) const;

  /// Settles nothing: the caller has given up, and what still comes of it is
  /// passed over. Tells the server, unless `tell` is false.
  void cancel(request_id id, std::string_view reason, bool tell,
              rpc_effects& out);

  /// One message, or a batch of them; no JSON is garbage, and passed over.
  void on_text(std::string_view text, rpc_effects& out);

  /// All that is open settles as lost; afterwards everything does.
  void on_closed(const lost& how, rpc_effects& out);

  [[nodiscard]] bool is_open(request_id id) const { return open_.contains(id); }
  [[nodiscard]] std::size_t open() const noexcept { return open_.size(); }

 private:
  struct entry {
    bool reports = false;
    std::optional<double> progress{};
    bool lists_tools = false;  ///< one that cannot be read costs itself alone
  };

  void on_message(const json& x, rpc_effects& out);
  void on_response(const json& x, rpc_effects& out);
  void on_request(const json& x, rpc_effects& out) const;
  void on_notification(const json& x, rpc_effects& out);
  void on_progress(const json& params, rpc_effects& out);
  [[nodiscard]] bool is_subscribed(const json& params) const;
  void settle(request_id id, answer how, rpc_effects& out);
  bool give_up_unreadable(std::string_view text, rpc_effects& out);

  responder answers_;
  std::map<request_id, entry> open_;
  request_id last_ = 0;
  std::optional<lost> closed_;
};

/// The text of one message; bytes that are no UTF-8 are replaced.
std::string to_text(const json& x);

/// "-32601: no such method".
std::string render(const rpc_error& x);

}  // namespace riffle::mcp
