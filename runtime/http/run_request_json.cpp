// SPDX-License-Identifier: MIT
#include "runtime/http/run_request_json.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <utility>

#include "messages/duration_text.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/base/media.hpp"
#include "runtime/base/text.hpp"

namespace riffle::http {

namespace {

constexpr std::size_t longest_key = 255;
constexpr std::size_t most_tasks = 10'000;
constexpr std::uint32_t most_retries = 100;  // as on the command line

/// Thrown inside, an error outside.
struct mistake {
  std::string what;
};

[[noreturn]] void wrong(const std::string& what) { throw mistake{what}; }

template <class F>
auto guarded(F f) -> expected<decltype(f())> {
  try {
    return f();
  } catch (const mistake& x) {
    return unexpected{error{errc::invalid_request, "server", x.what}};
  }
}

void only(const json& body, const std::vector<std::string>& known) {
  for (const auto& [key, value] : body.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const auto near = nearest(key, known);
    wrong("there is no member \"" + key + "\"" +
          (near.empty() ? "; known: " + join_some(known)
                        : "; did you mean \"" + near + "\"?"));
  }
}

std::string text(const json& body, const char* key, std::string usual = {}) {
  const auto at = body.find(key);
  if (at == body.end() || at->is_null()) return usual;
  if (!at->is_string()) wrong(std::string{key} + " must be a text");
  return at->get<std::string>();
}

std::optional<std::uint32_t> number(const json& body, const char* key,
                                    std::uint32_t least) {
  const auto at = body.find(key);
  if (at == body.end() || at->is_null()) return {};
  if (!at->is_number_unsigned() ||
      at->get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max() ||
      at->get<std::uint64_t>() < least)
    wrong(std::string{key} + " must be a whole number from " +
          std::to_string(least));
  return at->get<std::uint32_t>();
}

bool flag(const json& body, const char* key) {
  const auto at = body.find(key);
  if (at == body.end() || at->is_null()) return false;
  if (!at->is_boolean()) wrong(std::string{key} + " must be true or false");
  return at->get<bool>();
}

std::vector<attachment_source> attachments(const json& body) {
  const auto at = body.find("attachments");
  std::vector<attachment_source> out;
  if (at == body.end() || at->is_null()) return out;
  if (!at->is_array()) wrong("attachments must be a list");
  for (const auto& one : *at) {
    if (!one.is_object()) wrong("attachments must be a list of objects");
    only(one, {"name", "data"});
    attachment_source x;
    x.name = text(one, "name");
    x.bytes = from_base64(text(one, "data"));
    if (x.bytes.empty())
      wrong("attachments: data must be the bytes of a file in base64");
    out.push_back(std::move(x));
  }
  return out;
}

approve approval(const json& body, const caller& who) {
  const auto word = text(body, "approve", "ask");
  if (word == "ask") return approve::ask;
  if (word == "none") return approve::none;
  if (word != "all") wrong("approve must be \"ask\", \"all\" or \"none\"");
  if (!who.may(role::decide))
    wrong("approve: \"all\" is for tokens with the role \"decide\"");
  return approve::all;
}

const std::vector<std::string>& members_of_a_run() {
  static const std::vector<std::string> all{
      "task",      "session_id", "agent",       "model",
      "max_steps", "context",    "attachments", "response_schema",
      "phase",     "timeout",    "approve"};
  return all;
}

/// All but the task.
run_request settings(const json& body, const caller& who) {
  run_request x;
  if (auto id = text(body, "session_id"); !id.empty())
    x.session = session_id{std::move(id)};
  x.agent = text(body, "agent", "default");
  if (!who.may_use(x.agent))
    wrong("agent: this token may not use \"" + x.agent + "\"");
  if (auto model = text(body, "model"); !model.empty()) x.model = model;
  x.max_steps = number(body, "max_steps", 1);
  x.context = text(body, "context");
  x.phase = text(body, "phase");
  x.attachments = attachments(body);
  x.approval = approval(body, who);
  if (const auto limit = text(body, "timeout"); !limit.empty()) {
    const auto length = parse_duration(limit);
    if (!length || *length <= duration{})
      wrong("timeout must be a duration such as \"30s\" or \"5m\"");
    x.timeout = *length;
  }
  if (const auto at = body.find("response_schema");
      at != body.end() && !at->is_null()) {
    if (!at->is_object()) wrong("response_schema must be a JSON Schema");
    x.response_schema = at->dump();
  }
  x.origin.by = who.origin();
  x.origin.own = !who.sees_all;
  x.workspace = who.workspace;
  return x;
}

run_request run_of(const json& body, const caller& who) {
  only(body, members_of_a_run());
  auto x = settings(body, who);
  x.task = text(body, "task");
  if (x.task.empty())
    wrong("task is missing: {\"task\": \"what is to be done\"}");
  return x;
}

}  // namespace

/// Its operator chose the agents, and with them what a run may cost.
expected<void> check_bounds(const run_request& x, const caller& who,
                            const config::config& config) {
  const auto agent = config.agents.find(x.agent);
  if (who.agents.empty() || agent == config.agents.end()) return {};
  const auto& has = agent->second;
  const auto refused = [&](const std::string& member, const std::string& most) {
    return unexpected{error{errc::invalid_request, "server",
                            member +
                                ": this token may use some agents only, "
                                "as they are, and \"" +
                                x.agent + "\" has " + most}};
  };
  if (x.max_steps && *x.max_steps > has.max_steps)
    return refused("max_steps", std::to_string(has.max_steps) +
                                    " steps: ask for as many or fewer");
  if (x.model && *x.model != has.model)
    return refused("model", "the model \"" + has.model + "\": leave it out");
  return {};
}

expected<run_request> read_run(const json& body, const caller& who) {
  return guarded([&] { return run_of(body, who); });
}

expected<plan_request> read_plan_request(const json& body, const caller& who) {
  return guarded([&] {
    // A plan names tools and agents by itself.
    if (!who.agents.empty())
      wrong("plan: this token may use some agents only, and so no plans");
    auto known = members_of_a_run();
    std::erase(known, "task");
    known.emplace_back("plan");
    only(body, known);
    plan_request x;
    x.with = settings(body, who);
    const auto at = body.find("plan");
    if (at == body.end() || !(at->is_string() || at->is_object()))
      wrong("plan is missing: a plan as an object, or its text (TOML or JSON)");
    x.plan = at->is_string() ? at->get<std::string>() : at->dump();
    return x;
  });
}

expected<volley_request> read_volley(const json& body, const caller& who) {
  return guarded([&] {
    only(body, {"tasks", "workers", "max_retries", "fail_fast"});
    volley_request x;
    const auto at = body.find("tasks");
    if (at == body.end() || !at->is_array() || at->empty())
      wrong(
          "tasks is missing: a list of tasks, each a text or an object as of "
          "POST /v1/runs");
    if (at->size() > most_tasks)
      wrong("tasks: more than " + std::to_string(most_tasks));
    for (const auto& one : *at) {
      if (!one.is_string() && !one.is_object())
        wrong("tasks: each is a text or an object");
      x.tasks.push_back(one.is_string() ? run_of({{"task", one}}, who)
                                        : run_of(one, who));
    }
    x.workers = number(body, "workers", 1).value_or(x.workers);
    x.max_retries = number(body, "max_retries", 0).value_or(0);
    if (x.max_retries > most_retries)
      wrong("max_retries: at most " + std::to_string(most_retries));
    x.fail_fast = flag(body, "fail_fast");
    return x;
  });
}

expected<std::optional<std::string>> id_of_key(const request& x,
                                               const caller& who,
                                               std::string_view prefix) {
  constexpr std::size_t kept = 32;
  const auto key = x.header("idempotency-key");
  if (key.empty()) return std::nullopt;
  if (key.size() > longest_key)
    return unexpected{error{errc::invalid_request, "server",
                            "Idempotency-Key is longer than 255 characters"}};
  return std::string{prefix} + "k" +
         sha256(who.name + "\n" + std::string{key}).substr(0, kept);
}

std::string digest_of(const request& x) {
  const auto body = json::parse(x.body, nullptr, false);
  return sha256(x.path + "\n" +
                (body.is_discarded()
                     ? x.body
                     : nlohmann::json(body).dump(
                           -1, ' ', false, json::error_handler_t::replace)));
}

}  // namespace riffle::http
