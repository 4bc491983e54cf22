// SPDX-License-Identifier: MIT
// What requests ask for, in their body, query and header.
#include <algorithm>

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"
#include "runtime/http/site.hpp"
#include "runtime/http/sse.hpp"
#include "tools/arguments.hpp"

namespace riffle::http {

namespace {

/// Of the attachments of a run, or of the tasks of a volley.
std::size_t attached_bytes(const json& x) {
  std::size_t out = 0;
  const auto add = [&](const json& of) {
    const auto at = of.is_object() ? of.find("attachments") : of.end();
    if (!of.is_object() || at == of.end() || !at->is_array()) return;
    for (const auto& one : *at)
      if (one.is_object() && one.contains("data") && one["data"].is_string())
        out += one["data"].get_ref<const std::string&>().size();
  };
  add(x);
  if (x.is_object() && x.contains("tasks") && x["tasks"].is_array())
    for (const auto& task : x["tasks"]) add(task);
  return out;
}

/// To keep their order costs the square of their number.
constexpr std::size_t most_members = 1000;

bool has_too_many(const nlohmann::json& x) {
  if (x.is_object() && x.size() > most_members) return true;
  return x.is_structured() && std::ranges::any_of(x, has_too_many);
}

}  // namespace

tl::expected<json, std::string> read_json(std::string_view text) {
  if (nests_too_deep(text))
    return tl::unexpected{std::string{"the body nests deeper than 100 levels"}};
  {
    const auto x = nlohmann::json::parse(text, nullptr, false);
    if (x.is_discarded())
      return tl::unexpected{std::string{"the body must be JSON"}};
    if (has_too_many(x))
      return tl::unexpected{"an object of the body has more than " +
                            std::to_string(most_members) + " members"};
    // Readers take the first, or the last: nobody could say which was meant.
    if (const auto key = tools::repeated_key(text, x))
      return tl::unexpected{
          "the key " +
          nlohmann::json(std::string{first_characters(*key, 60)}).dump() +
          " stands twice in one object of the body"};
  }
  return json::parse(text, nullptr, false);
}

tl::expected<json, reply> read_object(const call& c) {
  if (c.in.body.empty()) return json::object();
  const auto most = c.at->parts().config->server.limits.body_bytes;
  auto read = read_json(c.in.body);
  const auto attached = read ? attached_bytes(*read) : 0;
  if (c.in.body.size() > most && c.in.body.size() - attached > most)
    return tl::unexpected{
        problem(413, "invalid_request",
                "without its attachments the body is larger than "
                "server.limits.body_bytes (" +
                    size_text(most) + ")")};
  if (read && read->is_object()) return std::move(*read);
  return tl::unexpected{
      problem(400, "invalid_request",
              read ? "the body must be a JSON object" : read.error())};
}

std::optional<event_format> wanted_format(const request& x,
                                          bool json_is_array) {
  const auto accept = lower(x.header("accept"));
  const auto has = [&](std::string_view type) {
    return accept.find(type) != std::string::npos;
  };
  if (has("text/event-stream")) return event_format::sse;
  if (has("application/x-ndjson")) return event_format::ndjson;
  if (json_is_array && has("application/json")) return event_format::array;
  return {};
}

std::optional<reply> refuse_format(const request& x, bool json_is_array) {
  if (wanted_format(x, json_is_array) || !x.has_header("accept") ||
      x.header("accept").find("*/*") != std::string_view::npos)
    return {};
  return problem(406, "invalid_request",
                 json_is_array
                     ? "events come as text/event-stream, "
                       "application/x-ndjson or application/json"
                     : "events come as text/event-stream or "
                       "application/x-ndjson: this stream has no end");
}

std::optional<reply> refuse_query(const request& x,
                                  const std::vector<std::string>& known) {
  for (const auto& [key, value] : x.query) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const auto near = nearest(key, known);
    return problem(400, "invalid_request",
                   "there is no parameter \"" + key + "\"" +
                       (near.empty() ? "; known: " + join_some(known)
                                     : "; did you mean \"" + near + "\"?"));
  }
  return {};
}

void shorten_task(json& run) {
  constexpr std::size_t shown = 1000;
  const auto task = run.find("task");
  if (task == run.end()) return;
  const auto& whole = task->get_ref<const std::string&>();
  if (const auto head = first_characters(whole, shown);
      head.size() < whole.size())
    *task = std::string{head} + "…";
}

std::optional<reply> drop_before(const request& x,
                                 std::vector<std::string>& ids,
                                 const char* what) {
  const auto asked = x.query.find("before");
  if (asked == x.query.end()) return {};
  const auto at = std::ranges::find(ids, asked->second);
  if (at == ids.end())
    return problem(404, "not_found",
                   std::string{"there is no "} + what + " \"" + asked->second +
                       "\" (any more)");
  ids.erase(ids.begin(), at + 1);
  return {};
}

std::optional<std::size_t> limit_of(const request& x, std::size_t usual) {
  constexpr std::size_t most = 1000;
  const auto at = x.query.find("limit");
  if (at == x.query.end()) return usual;
  const auto n = parse_seq(at->second);
  if (!n || *n == 0 || *n > most) return {};
  return static_cast<std::size_t>(*n);
}

}  // namespace riffle::http
