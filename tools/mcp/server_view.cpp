// SPDX-License-Identifier: MIT
#include "tools/mcp/server_view.hpp"

#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/digest.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"

namespace riffle::mcp {

namespace {

/// What a server says of itself, on a board that has room for many.
constexpr std::size_t longest_word = 200;
constexpr std::size_t longest_why = 2000;

std::string word_at(const json& x, const char* key) {
  const auto found = x.find(key);
  if (found == x.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

std::size_t count_at(const json& x, const char* key) {
  const auto found = x.find(key);
  if (found == x.end() || !found->is_number_unsigned()) return 0;
  return found->get<std::size_t>();
}

bool is_set(const json& x, const char* key) {
  const auto found = x.find(key);
  return found != x.end() && *found == true;
}

server_view view_from(const json& x) {
  server_view out;
  out.name = word_at(x, "name");
  out.of = word_at(x, "of");
  out.state = word_at(x, "state");
  out.era = word_at(x, "era");
  out.version = word_at(x, "version");
  out.server = word_at(x, "server");
  out.server_version = word_at(x, "server_version");
  if (x.contains("tools")) out.tools = count_at(x, "tools");
  out.seen = {is_set(x, "approved"), count_at(x, "changed"),
              is_set(x, "advice_changed")};
  out.restarts = static_cast<std::uint32_t>(count_at(x, "restarts"));
  out.last_error = word_at(x, "last_error");
  out.process = static_cast<int>(count_at(x, "process"));
  return out;
}

}  // namespace

bool server_view::is_ready() const noexcept {
  return state == to_string(server_state::ready);
}

bool server_view::is_used() const noexcept {
  return state != to_string(server_state::idle) &&
         state != to_string(server_state::closed);
}

std::string digest_of_server(std::string_view identity) {
  constexpr std::size_t kept = 32;
  return sha256(identity).substr(0, kept);
}

server_view view_of(const std::string& name, const server_status& now,
                    const review& seen) {
  server_view out;
  out.name = name;
  out.state = to_string(now.state);
  if (now.has) {
    const auto& about = now.has->about;
    out.era = to_string(about.speaks);
    out.version = about.version;
    out.server = with_dots(about.name, longest_word);
    out.server_version = with_dots(about.server_version, longest_word);
    out.tools = now.has->tools.size();
  }
  out.seen = seen;
  out.restarts = now.restarts;
  out.last_error = with_dots(redact(now.last_error), longest_why);
  return out;
}

nlohmann::ordered_json to_json(const server_view& x) {
  nlohmann::ordered_json out = {{"name", x.name}, {"state", x.state}};
  if (x.tools) {
    out["era"] = x.era;
    out["version"] = x.version;
    out["server"] = x.server;
    out["server_version"] = x.server_version;
    out["tools"] = *x.tools;
  }
  if (!x.tokens.empty()) out["tokens"] = x.tokens;
  out["approved"] = x.seen.approved;
  if (x.seen.held > 0) out["changed"] = x.seen.held;
  if (x.seen.other_advice) out["advice_changed"] = true;
  out["restarts"] = x.restarts;
  if (!x.last_error.empty()) out["last_error"] = x.last_error;
  if (x.process != 0) out["process"] = x.process;
  return out;
}

std::string board_text(const std::vector<server_view>& all) {
  auto out = nlohmann::ordered_json::array();
  for (const auto& x : all) {
    auto one = to_json(x);
    one["of"] = x.of;
    one["process"] = ::getpid();
    out.push_back(std::move(one));
  }
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<std::vector<server_view>> read_board(const std::string& text) {
  const auto all = json::parse(text, nullptr, false);
  if (!all.is_array()) return {};
  std::vector<server_view> out;
  for (const auto& x : all)
    if (x.is_object()) out.push_back(view_from(x));
  return out;
}

}  // namespace riffle::mcp
