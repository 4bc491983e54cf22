// SPDX-License-Identifier: MIT
#include "tools/mcp/rpc.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "messages/json_strict.hpp"
#include "messages/utf8.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "tools/arguments.hpp"
#include "tools/mcp/list_parts.hpp"

namespace riffle::mcp {

namespace {

constexpr std::size_t longest_quote = 200;
constexpr std::size_t largest_batch = 1000;

json message(std::string_view method, const json& params) {
  json out = {{"jsonrpc", "2.0"}, {"method", method}};
  if (!params.is_null()) out["params"] = params;
  return out;
}

std::string text_at(const json& x, const char* key) {
  const auto found = x.find(key);
  if (found == x.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

const json& object_at(const json& x, const char* key) {
  static const json none = json::object();
  const auto found = x.find(key);
  return found != x.end() && found->is_object() ? *found : none;
}

rpc_error error_of(const json& x) {
  if (!x.is_object()) return {code::internal, "an error without a text", {}};
  rpc_error out;
  if (const auto n = x.find("code"); n != x.end() && n->is_number_integer())
    out.number = n->get<int>();
  out.message = text_at(x, "message");
  if (out.message.empty()) out.message = "an error without a text";
  if (const auto data = x.find("data"); data != x.end()) out.data = *data;
  return out;
}

/// Of bytes that may be anything: what is no character, or would do something
/// to a terminal, as its number.
std::string short_text(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  const auto shown = redact(std::string{text.substr(0, 2 * longest_quote)});
  for (std::string_view rest = shown; !rest.empty();) {
    const auto c = first_character(rest);
    const bool control = c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0);
    if (c.valid && !control) {
      out += rest.substr(0, c.size);
    } else {
      const auto number =
          c.valid ? static_cast<unsigned>(c.code)
                  : static_cast<unsigned>(static_cast<unsigned char>(rest[0]));
      out.append("\\x").push_back(digits[number >> 4U & 0xFU]);
      out.push_back(digits[number & 0xFU]);
    }
    rest.remove_prefix(c.valid ? c.size : 1);
  }
  return with_dots(out, longest_quote);
}

/// Also of "4.0", which some write.
std::optional<request_id> number_of(const json& id) {
  if (id.is_number_unsigned()) return id.get<request_id>();
  if (!id.is_number_float()) return {};
  const auto value = id.get<double>();
  constexpr double largest = 9007199254740992;  // 2^53
  if (value < 0 || value > largest || value != std::floor(value)) return {};
  return static_cast<request_id>(value);
}

/// Behind a text that begins at `at`, a '"'.
std::size_t end_of_text(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

std::optional<request_id> number_at(std::string_view text, std::size_t at) {
  request_id out = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data() + at, end, out);
  if (problem != std::errc{} || (stop != end && *stop == '.')) return {};
  return out;
}

/// The number `id` at the top of a text that is not taken; nothing if there is
/// none, or more than one, or it is a request of the other side.
std::optional<request_id> id_of_unreadable(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  std::optional<request_id> id;
  bool known = false;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth > 0) --depth;
    if (c != '"') continue;
    const auto end = end_of_text(text, at);
    if (end > text.size()) break;
    const auto word = text.substr(at, end - at);
    at = end - 1;
    const auto colon = text.find_first_not_of(blanks, end);
    if (depth != 1 || colon == text.npos || text[colon] != ':') continue;
    const auto value = text.find_first_not_of(blanks, colon + 1);
    if (word == "\"method\"") return {};
    if (word != "\"id\"" || value == text.npos) continue;
    if (std::exchange(known, true)) return {};
    id = number_at(text, value);
  }
  return id;
}

}  // namespace

std::string to_text(const json& x) {
  return x.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string render(const rpc_error& x) {
  if (x.number == code::not_let_in || x.number == code::not_here)
    return x.message;
  return std::to_string(x.number) + ": " + x.message;
}

request_id rpc_core::request(std::string_view method, json params, bool reports,
                             rpc_effects& out) {
  const auto id = ++last_;
  open_.emplace(id, entry{reports, {}, method == "tools/list"});
  if (closed_) {
    settle(id, *closed_, out);
    return id;
  }
  if (reports) {
    if (!params.is_object()) params = json::object();
    params["_meta"]["progressToken"] = id;
  }
  auto text = message(method, params);
  text["id"] = id;
  out.emplace_back(send_text{to_text(text)});
  return id;
}

void rpc_core::notify(std::string_view method, const json& params,
                      rpc_effects& out) const {
  if (!closed_) out.emplace_back(send_text{to_text(message(method, params))});
}

void rpc_core::cancel(request_id id, std::string_view reason, bool tell,
                      rpc_effects& out) {
  if (open_.erase(id) == 0 || !tell) return;
  notify("notifications/cancelled", {{"requestId", id}, {"reason", reason}},
         out);
}

void rpc_core::on_text(std::string_view text, rpc_effects& out) {
  if (closed_) return;
  const auto x = parse_strict(text);
  if (!x || tools::repeated_key(text, *x)) {
    if (!give_up_unreadable(text, out))
      out.emplace_back(odd{(x ? "a message in which a key stands twice: "
                              : "this is no JSON: ") +
                           short_text(text)});
    return;
  }
  if (!x->is_array()) return on_message(*x, out);
  std::size_t count = 0;  // a batch, as versions before 2025-06-18 know it
  for (const auto& one : *x) {
    if (++count > largest_batch) {
      out.emplace_back(odd{"a batch of more than 1000 messages"});
      return;
    }
    on_message(one, out);
  }
}

/// An answer that cannot be read is the end of its request all the same.
bool rpc_core::give_up_unreadable(std::string_view text, rpc_effects& out) {
  const auto id = id_of_unreadable(text);
  if (!id || !open_.contains(*id)) return false;
  if (open_.at(*id).lists_tools)
    if (auto parts = read_in_parts(text, "tools")) {
      settle(*id, *std::move(parts), out);
      return true;
    }
  settle(*id,
         rpc_error{code::internal,
                   "its answer cannot be read: it is nested too deep, no JSON, "
                   "or a key stands there twice: " +
                       short_text(text),
                   {}},
         out);
  return true;
}

void rpc_core::on_message(const json& x, rpc_effects& out) {
  if (!x.is_object()) {
    out.emplace_back(odd{"a message is no object: " + short_text(to_text(x))});
    return;
  }
  const auto method = x.find("method");
  const bool asks = method != x.end() && method->is_string();
  if (asks && x.contains("id")) return on_request(x, out);
  if (asks) return on_notification(x, out);
  on_response(x, out);
}

void rpc_core::on_response(const json& x, rpc_effects& out) {
  const auto id = x.find("id");
  const auto error = x.find("error");
  const auto result = x.find("result");
  const bool failed = error != x.end() && !error->is_null();
  if (!failed && result == x.end()) {
    out.emplace_back(odd{"a message that asks and answers nothing: " +
                         short_text(to_text(x))});
    return;
  }
  const auto which = id == x.end() ? std::nullopt : number_of(*id);
  if (!which || !open_.contains(*which)) {
    out.emplace_back(
        odd{"an answer to no open request: " + short_text(to_text(x))});
    return;
  }
  if (failed) return settle(*which, error_of(*error), out);
  if (!result->is_object())
    return settle(*which,
                  rpc_error{code::internal, "the result is no object", *result},
                  out);
  settle(*which, *result, out);
}

void rpc_core::on_request(const json& x, rpc_effects& out) const {
  const auto& id = x.at("id");
  if (!id.is_string() && !id.is_number_integer()) {
    out.emplace_back(odd{"a request whose id is no text and no number: " +
                         short_text(to_text(x))});
    return;
  }
  const auto method = x.at("method").get<std::string>();
  std::variant<json, rpc_error> said = json::object();
  if (answers_ && method != "ping")
    said = answers_(method, object_at(x, "params"));
  else if (method != "ping")
    said = rpc_error{code::method_not_found,
                     "this client does not answer " + short_text(method),
                     {}};
  json reply = {{"jsonrpc", "2.0"}, {"id", id}};
  if (const auto* error = std::get_if<rpc_error>(&said))
    reply["error"] = {{"code", error->number}, {"message", error->message}};
  else
    reply["result"] = std::get<json>(std::move(said));
  out.emplace_back(send_text{to_text(reply)});
}

void rpc_core::on_notification(const json& x, rpc_effects& out) {
  const auto method = x.at("method").get<std::string>();
  const auto& params = object_at(x, "params");
  if (method == "notifications/progress") return on_progress(params, out);
  if (!is_subscribed(params)) {
    out.emplace_back(odd{"news of no open subscription: " + method});
    return;
  }
  out.emplace_back(notified{method, params});
}

/// News of a subscription name it: the request that asked for them. What names
/// none is for whoever listens.
bool rpc_core::is_subscribed(const json& params) const {
  const auto& meta = object_at(params, "_meta");
  const auto id = meta.find("io.modelcontextprotocol/subscriptionId");
  if (id == meta.end()) return true;
  if (id->is_number_unsigned()) return open_.contains(id->get<request_id>());
  return id->is_string() && std::ranges::any_of(open_, [&](const auto& x) {
           return *id == std::to_string(x.first);
         });
}

/// What is late, unknown or goes back is passed over, as the protocol has it.
void rpc_core::on_progress(const json& params, rpc_effects& out) {
  const auto token = params.find("progressToken");
  const auto value = params.find("progress");
  if (token == params.end() || !token->is_number_unsigned()) return;
  if (value == params.end() || !value->is_number()) return;
  const auto found = open_.find(token->get<request_id>());
  if (found == open_.end() || !found->second.reports) return;
  const auto now = value->get<double>();
  if (found->second.progress && now <= *found->second.progress) return;
  found->second.progress = now;
  progressed said{found->first, now, {}, text_at(params, "message")};
  if (const auto total = params.find("total");
      total != params.end() && total->is_number())
    said.total = total->get<double>();
  out.emplace_back(std::move(said));
}

void rpc_core::settle(request_id id, answer how, rpc_effects& out) {
  open_.erase(id);
  out.emplace_back(settled{id, std::move(how)});
}

void rpc_core::on_closed(const lost& how, rpc_effects& out) {
  if (closed_) return;
  closed_ = how;
  while (!open_.empty()) settle(open_.begin()->first, how, out);
}

}  // namespace riffle::mcp
