// SPDX-License-Identifier: MIT
#include "runtime/service/stored_request.hpp"

#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "messages/utf8.hpp"
#include "runtime/base/media.hpp"

namespace riffle::service {

namespace {

/// In the order of `approve`.
constexpr std::array<std::string_view, 4> words{"none", "all", "ask", "nobody"};

/// Of a run only what is kept of them; else what it will be started with.
void put_attachments(nlohmann::json& out, const stored_request& x) {
  for (const auto& file : x.attachments)
    out["attachments"].push_back({{"name", file.name},
                                  {"type", file.type},
                                  {"bytes", file.bytes},
                                  {"digest", file.digest}});
  if (!x.attachments.empty()) return;
  for (const auto& source : x.request.attachments) {
    nlohmann::json one{{"name", source.name}};
    if (source.file.empty())
      one["base64"] = to_base64(source.bytes);
    else
      one["file"] = std::filesystem::absolute(source.file).string();
    out["attach"].push_back(std::move(one));
  }
}

/// Also those of lines and of writing directions: names stand in logs.
bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x2028 || c == 0x2029 ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

void get_attachments(const nlohmann::json& from, stored_request& x) {
  if (from.contains("attachments"))
    for (const auto& one : from["attachments"])
      x.attachments.push_back({one.value("name", ""), one.value("type", ""),
                               one.value("bytes", std::uint64_t{0}),
                               one.value("digest", "")});
  if (from.contains("attach"))
    for (const auto& one : from["attach"])
      x.request.attachments.push_back(
          {std::filesystem::path{one.value("file", "")},
           from_base64(one.value("base64", "")), one.value("name", "")});
}

}  // namespace

bool is_reserved(const session_id& x) noexcept {
  return x.value.starts_with("riffle:") || x.value.starts_with("volley_") ||
         x.value.starts_with("plan_");
}

expected<void> check_name(const session_id& x) {
  if (is_reserved(x))
    return unexpected{
        error{errc::invalid_request, "runtime",
              "a session cannot be called \"" + x.value +
                  "\": names that begin with riffle:, volley_ or plan_ are "
                  "those of Riffle's own records; choose another one"}};
  constexpr std::size_t longest = 1'000;
  std::string_view rest = x.value;
  bool good = !rest.empty() && rest.size() <= longest;
  while (good && !rest.empty()) {
    const auto c = first_character(rest);
    good = c.valid && !is_control(c.code);
    rest.remove_prefix(c.size);
  }
  if (good) return {};
  return unexpected{error{errc::invalid_request, "runtime",
                          "the name of a session must be text in UTF-8, not "
                          "empty, of at most 1,000 bytes and without control "
                          "characters"}};
}

std::string to_json(const stored_request& x) {
  const auto& asked = x.request;
  nlohmann::json out{
      {"agent", asked.agent},
      {"time_limit_ns", asked.timeout.count()},
      {"approval", words[static_cast<std::size_t>(asked.approval)]}};
  if (asked.model) out["model"] = *asked.model;
  if (!asked.context.empty()) out["context"] = asked.context;
  if (!x.surroundings.empty()) out["surroundings"] = x.surroundings;
  if (!x.lasting.empty()) out["surroundings_lasting"] = x.lasting;
  if (!x.state.empty()) out["surroundings_state"] = x.state;
  if (!asked.surroundings.empty())
    out["surroundings_text"] = asked.surroundings;
  if (!asked.workspace.empty()) out["workspace"] = asked.workspace.string();
  if (!asked.phase.empty()) out["phase"] = asked.phase;
  if (!asked.response_schema.empty())
    out["response_schema"] = asked.response_schema;
  if (asked.max_steps) out["max_steps"] = *asked.max_steps;
  if (!x.folder.empty()) out["folder"] = x.folder;
  put_configuration(out, x.configuration);
  if (x.node_timeout > duration{})
    out["node_patience_ns"] = x.node_timeout.count();  // as it was first called
  if (x.cause) out["cause"] = x.cause->value;
  if (!asked.origin.by.empty()) out["asked_by"] = asked.origin.by;
  if (!asked.origin.digest.empty()) out["asked"] = asked.origin.digest;
  if (asked.origin.own) out["asked_own"] = true;
  if (x.place) {
    out["volley"] = x.place->volley;
    out["task"] = x.place->task;
  }
  if (!x.plan_session.empty()) out["plan_session"] = x.plan_session.value;
  if (!x.plan.empty()) out["plan"] = x.plan;
  if (!x.goes_on_from.empty()) out["goes_on_from"] = x.goes_on_from.value;
  if (!x.of_plan.empty()) out["of_plan"] = x.of_plan.value;
  put_attachments(out, x);
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

stored_request request_from_json(const std::string& text) {
  stored_request x;
  auto& asked = x.request;
  const auto from = nlohmann::json::parse(text, nullptr, false);
  if (!from.is_object()) return x;
  asked.agent = from.value("agent", asked.agent);
  asked.timeout = duration{from.value("time_limit_ns", std::int64_t{0})};
  if (from.contains("model")) asked.model = from["model"].get<std::string>();
  asked.context = from.value("context", "");
  x.surroundings = from.value("surroundings", "");
  x.lasting = from.value("surroundings_lasting", "");
  x.state = from.value("surroundings_state", "");
  asked.surroundings = from.value("surroundings_text", "");
  asked.workspace = from.value("workspace", "");
  asked.phase = from.value("phase", "");
  asked.origin = {from.value("asked_by", ""), from.value("asked", ""),
                  from.value("asked_own", false)};
  asked.response_schema = from.value("response_schema", "");
  x.folder = from.value("folder", "");
  x.configuration = read_configuration(from);
  x.node_timeout = duration{from.value("node_patience_ns", std::int64_t{0})};
  x.plan_session = session_id{from.value("plan_session", "")};
  x.plan = from.value("plan", "");
  x.goes_on_from = run_id{from.value("goes_on_from", "")};
  x.of_plan = run_id{from.value("of_plan", "")};
  // Runs of older versions said `approve_all`.
  if (from.value("approve_all", false)) asked.approval = approve::all;
  const auto word = from.value("approval", "");
  for (std::size_t i = 0; i < words.size(); ++i)
    if (word == words[i]) asked.approval = static_cast<approve>(i);
  if (from.contains("cause"))
    x.cause = proposal_id{from["cause"].get<std::string>()};
  if (from.contains("volley"))
    x.place = {from["volley"].get<std::string>(),
               from.value("task", std::size_t{0})};
  if (from.contains("max_steps"))
    asked.max_steps = from["max_steps"].get<std::uint32_t>();
  get_attachments(from, x);
  return x;
}

}  // namespace riffle::service

namespace riffle {

std::string_view to_string(task_status x) noexcept {
  constexpr std::array<std::string_view, 4> names{"completed", "failed",
                                                  "cancelled", "not_run"};
  return names[static_cast<std::size_t>(x)];
}

std::string folder_of(const storage::run_record& x) {
  return service::request_from_json(x.settings).folder;
}

request_origin origin_of(const storage::run_record& x) {
  return service::request_from_json(x.settings).request.origin;
}

std::string volley_of(const storage::run_record& x) {
  const auto place = service::request_from_json(x.settings).place;
  return place ? place->volley : std::string{};
}

bool is_of_plan(const storage::run_record& x) {
  return !service::request_from_json(x.settings).of_plan.empty();
}

std::string plan_of(const storage::run_record& x) {
  if (x.id.value.starts_with("plan_")) return x.id.value;
  return service::request_from_json(x.settings).of_plan.value;
}

}  // namespace riffle
