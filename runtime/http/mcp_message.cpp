// SPDX-License-Identifier: MIT
#include "runtime/http/mcp_message.hpp"

#include <algorithm>
#include <utility>

#include "messages/json_strict.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/base/media.hpp"
#include "runtime/base/text.hpp"
#include "tools/arguments.hpp"
#include "tools/mcp/serving.hpp"

namespace riffle::http {

namespace {

std::string text_of(const mcp::json& x) {
  return x.is_string() ? x.get<std::string>() : std::string{};
}

/// What shows that a session was begun here, by this caller.
std::string mark_of(std::string_view name, const caller& who) {
  constexpr std::size_t digits = 16;
  return sha256("a session of /mcp\n" + who.name + "\n" + std::string{name})
      .substr(0, digits);
}

/// A value of a header as it was meant; nothing: it is ill-formed.
std::string plain_value(std::string_view text) {
  constexpr std::string_view mark = "=?base64?";
  if (!text.starts_with(mark) || !text.ends_with("?="))
    return std::string{text};
  text.remove_prefix(mark.size());
  text.remove_suffix(2);
  return from_base64(text);
}

}  // namespace

mcp::json at(const mcp::json& x, const char* key) {
  const auto found = x.is_object() ? x.find(key) : x.end();
  return x.is_object() && found != x.end() ? *found : mcp::json{};
}

reply rpc_refusal(unsigned status, const mcp_message& x, int code,
                  const std::string& why) {
  const auto id = at(x.body, "id");
  reply out;
  out.status = status;
  out.body = mcp::to_text({{"jsonrpc", "2.0"},
                           {"id", id.is_structured() ? mcp::json{} : id},
                           {"error", {{"code", code}, {"message", why}}}});
  return out;
}

mcp_message read_message(const std::string& body) {
  mcp_message out;
  if (auto x = parse_strict(body)) out.body = *std::move(x);
  out.method = text_of(at(out.body, "method"));
  out.version = text_of(at(at(at(out.body, "params"), "_meta"),
                           "io.modelcontextprotocol/protocolVersion"));
  return out;
}

bool wants_stream(const request& in) {
  const auto accept = lower(in.header("accept"));
  return accept.find("text/event-stream") != accept.npos;
}

std::optional<reply> check_headers(const request& in, const mcp_message& x) {
  for (const std::string_view header :
       {"mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"})
    if (std::ranges::count(in.fields, header, &field::name) > 1)
      return rpc_refusal(
          400, x, mcp::code::header_mismatch,
          "the header " + std::string{header} + " stands there twice");
  const std::string said{in.header("mcp-protocol-version")};
  if (x.version.empty()) {
    if (said == mcp::modern_version && x.body.contains("id"))
      return rpc_refusal(400, x, mcp::code::invalid_params,
                         "_meta does not say the version of the protocol");
    if (said.empty() || (mcp::speaks(said) && said != mcp::modern_version))
      return {};
    return rpc_refusal(400, x, mcp::code::invalid_request,
                       "MCP-Protocol-Version: this server does not speak " +
                           with_dots(said, 40) + " without _meta");
  }
  const auto differs = [&](const char* header, const std::string& wanted) {
    return plain_value(in.header(header)) != wanted;
  };
  const auto params = at(x.body, "params");
  const auto name =
      text_of(at(params, x.method == "resources/read" ? "uri" : "name"));
  const bool named = x.method == "tools/call" || x.method == "resources/read" ||
                     x.method == "prompts/get";
  const char* wrong = differs("mcp-protocol-version", x.version)
                          ? "MCP-Protocol-Version"
                      : differs("mcp-method", x.method)    ? "Mcp-Method"
                      : named && differs("mcp-name", name) ? "Mcp-Name"
                                                           : nullptr;
  if (wrong == nullptr) return {};
  return rpc_refusal(400, x, mcp::code::header_mismatch,
                     std::string{"the header "} + wrong +
                         " is missing, or is not what the body says");
}

std::optional<reply> check_keys(const request& in, const mcp_message& x) {
  if (x.body.is_null()) return {};
  const auto key = tools::repeated_key(in.body, x.body);
  if (!key) return {};
  return rpc_refusal(400, {}, mcp::code::invalid_request, mcp::twice_in(*key));
}

std::string make_session(const caller& who) {
  const auto name = make_secret();
  return name + "-" + mark_of(name, who);
}

std::optional<reply> check_session_name(const request& in, const mcp_message& x,
                                        const caller& who) {
  const auto name = in.header(session_header);
  // A client may ask whether anybody is there before it begins; who names a
  // session asks for that one.
  const bool early = x.method == "ping" && !in.has_header(session_header);
  const bool free = x.method == "initialize" || early || !x.version.empty() ||
                    (x.method.empty() && !x.body.is_array());
  if (free) return {};
  if (name.empty())
    return rpc_refusal(400, x, mcp::code::invalid_request,
                       "the header Mcp-Session-Id is missing: begin with "
                       "initialize, which gives it");
  const auto sign = name.rfind('-');
  if (sign != name.npos &&
      name.substr(sign + 1) == mark_of(name.substr(0, sign), who))
    return {};
  return rpc_refusal(404, x, mcp::code::invalid_request,
                     "there is no such session: begin with initialize");
}

}  // namespace riffle::http
