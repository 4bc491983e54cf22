// SPDX-License-Identifier: MIT
#pragma once

// One page of the web, over libcurl, on the thread that asks for it.

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"
#include "messages/time.hpp"
#include "tools/builtin/web/address_policy.hpp"

namespace riffle::tools {

struct web_limits {
  std::size_t bytes = 4u << 20;  ///< of a body, decoded; the rest is not loaded
  unsigned redirects = 10;
  duration connect = std::chrono::seconds{10};
  duration silence = std::chrono::seconds{30};  ///< whole seconds
  duration total = std::chrono::minutes{5};     ///< with all redirects
};

struct web_request {
  std::string url;
  web_limits limits;
  std::stop_token stop;
  /// Bytes so far, and of all if the server says so.
  std::function<void(std::uint64_t, std::optional<std::uint64_t>)> progress;
  /// Whether a body of this `Content-Type` is worth loading; empty: all.
  std::function<bool(std::string_view)> wanted;
  /// Why a redirect to this URL is not followed; nothing: it is. Empty: all.
  std::function<std::optional<std::string>(const std::string&)> refusal;
  /// For tests: names that are not looked up, "name:port:address,address".
  std::vector<std::string> resolve;
  /// Something to send: then it is a POST.
  std::optional<std::string> body{};
  std::vector<std::string> headers{};  ///< "Name: value", beside curl's own
  std::string kept_header{};  ///< small letters; see `web_answer::header`
};

struct web_answer {
  int status = 0;
  std::string url;  ///< after all redirects
  std::string content_type;
  std::string header{};  ///< value of `kept_header`, the last one
  std::string body;
  bool cut = false;                        ///< there is more than `body`
  std::optional<std::uint64_t> announced;  ///< size, as the server said
  unsigned redirects = 0;
};

/// GET (or POST), following redirects by hand: the policy checks each URL, and
/// each address at the moment in which it is connected, whatever a name meant
/// before. Sends no cookies and no credentials of its own, keeps no connection,
/// asks no proxy. A body and headers go along with redirects: who sends secrets
/// allows none. Errors: `invalid_arguments` (refused by the policy),
/// `tool_execution_error`, `timeout`, `cancelled`; an answer of any status is
/// none.
expected<web_answer> web_get(const web_request& request,
                             const address_policy& policy);

}  // namespace riffle::tools
