// SPDX-License-Identifier: MIT
#include "runtime/service/spec_maker.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "runtime/base/read_within.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/config/home.hpp"
#include "runtime/model/http_transport.hpp"
#include "runtime/model/rate_limited_transport.hpp"
#include "runtime/model/scripted_transport.hpp"
#include "runtime/service/proposals.hpp"
#include "runtime/service/run_folder.hpp"
#include "tools/process/guard.hpp"

namespace riffle::service {

namespace {

constexpr const char* op = "runtime";

bool is_loopback(std::string_view url) {
  constexpr std::string_view scheme = "http://";
  if (!url.starts_with(scheme)) return false;
  url.remove_prefix(scheme.size());
  const auto host = url.substr(0, url.find_first_of("/?#"));
  if (host.find('@') != std::string_view::npos) return false;
  const auto name = host.substr(0, host.rfind(':'));
  // 127.0.0.0/8 in digits: "127.example.org" is a name like any.
  const bool is_number =
      name.starts_with("127.") &&
      name.find_first_not_of("0123456789.") == std::string_view::npos;
  return is_number || name == "localhost" || host == "[::1]" ||
         host.starts_with("[::1]:");
}

/// It becomes a line of a request: with another line in it, a server would
/// see a header that nobody set. The key is not repeated.
expected<std::string> check_key(std::string key, const std::string& variable) {
  const bool plain = std::ranges::none_of(key, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (plain) return key;
  return unexpected{error{
      errc::invalid_config, op,
      "the API key in the environment variable " + variable +
          " holds a line end or another control character: set it without "
          "(often it is the last one: $(cat FILE) leaves it out)"}};
}

/// The key from the environment; a server on this machine may need none, and
/// an application that brings its own transport (`lent`) may have its own way.
expected<std::string> find_key(const config::model_config& model, bool lent) {
  if (model.api_key_env.empty() || model.dialect == "scripted") return "";
  if (auto key = read_key(model.api_key_env))
    return check_key(*std::move(key), model.api_key_env);
  if (lent || is_loopback(model.base_url)) return "";
  return unexpected{error{
      errc::invalid_config, op,
      "there is no API key for " + model.base_url +
          ": set the environment variable " + model.api_key_env +
          ", or api_key_env = \"\" in the model's configuration if the server "
          "needs none"}};
}

expected<std::string> read_prompt(const std::filesystem::path& file) {
  auto text = read_within(file);
  if (!text)
    return unexpected{
        error{errc::invalid_config, op,
              "the system prompt " + file.string() + " " + text.error()}};
  return std::move(*text);
}

}  // namespace

/// Without its call in `main`, a guard would be the whole program once more.
expected<void> check_guard(const tools::registry& registry,
                           const std::string& name,
                           const config::agent_config& agent) {
  if (tools::can_be_guard()) return {};
  for (const auto& tool : agent.tools) {
    const auto* found = registry.find(tool);
    if (found == nullptr || !(*found)->spec().guarded) continue;
    return unexpected{error{
        errc::invalid_config, op,
        "agents." + name + ".tools: `" + tool +
            "` starts programs under a guard, which is this program started "
            "once more: call riffle::worker_main(argc, argv) first in main, or "
            "leave the tool out"}};
  }
  return {};
}

namespace {

std::vector<model::tool_description> describe_tools(
    const tools::registry& registry, const config::agent_config& agent) {
  auto names = agent.tools;
  if (agent.completion == "tool" &&
      std::ranges::find(names, "complete") == names.end())
    names.emplace_back("complete");
  std::vector<model::tool_description> out;
  for (const auto& name : names)
    if (const auto* tool = registry.find(name)) {
      const auto& spec = (*tool)->spec();
      out.push_back({spec.name, spec.description, spec.parameters});
    }
  return out;
}

void set_approvals(run_spec& spec, const config::approvals_config& settings,
                   approve choice) {
  spec.approval = choice;
  spec.approved_by = choice == approve::all ? "--approve all" : "policy";
  spec.propose = settings.mode == "propose";
  spec.expire_after = settings.expire_after;
}

std::function<double()> make_random() {
  auto engine = std::make_shared<std::mt19937_64>(std::random_device{}());
  return [engine] { return std::uniform_real_distribution<double>{}(*engine); };
}

/// What a person who looks at the session reads as its task.
std::string cause_task(const storage::proposal_state& x) {
  return "Proposal " + x.what.id.value + " (" + x.what.title +
         ") was approved by " + x.decided->by + ". It is executed now.";
}

}  // namespace

spec_maker::spec_maker(std::shared_ptr<const config::config> config, parts x)
    : config_{std::move(config)}, parts_{std::move(x)} {}

expected<run_spec_ptr> spec_maker::make(run_id run, session_id session,
                                        std::string task,
                                        const stored_request& x) {
  auto spec = std::make_shared<run_spec>();
  spec->run = std::move(run);
  spec->session = std::move(session);
  spec->task = std::move(task);
  if (auto ok = describe(*spec, x); !ok)
    return unexpected{std::move(ok.error())};
  if (auto ok = find_cause(*spec, x); !ok)
    return unexpected{std::move(ok.error())};
  if (auto ok = connect(*spec); !ok) return unexpected{std::move(ok.error())};
  share(*spec);
  return run_spec_ptr{std::move(spec)};
}

void spec_maker::share(run_spec& spec) const {
  spec.looks = parts_.looks;
  spec.registry = parts_.registry;
  spec.journal = parts_.journal;
  spec.ids = parts_.ids;
  spec.random01 = make_random();
  spec.faults = parts_.faults;
}

/// What the configuration and the request say.
expected<void> spec_maker::describe(run_spec& spec,
                                    const stored_request& x) const {
  const auto& asked = x.request;
  const auto agent = config_->agents.find(asked.agent);
  if (agent == config_->agents.end())
    return unexpected{
        error{errc::not_found, op,
              "there is no agent `" + asked.agent + "` in the configuration"}};
  const auto model_name = asked.model.value_or(agent->second.model);
  const auto model = config_->models.find(model_name);
  if (model == config_->models.end())
    return unexpected{
        error{errc::not_found, op,
              "there is no model `" + model_name + "` in the configuration"}};
  if (auto ok = check_guard(*parts_.registry, asked.agent, agent->second); !ok)
    return ok;
  spec.agent_name = asked.agent;
  spec.agent = agent->second;
  spec.agent.model = model_name;
  spec.context = asked.context;
  if (asked.max_steps) spec.agent.max_steps = *asked.max_steps;
  if (!spec.agent.system_prompt_file.empty()) {
    auto prompt = config::named_path(*config_, spec.agent.system_prompt_file)
                      .and_then(read_prompt);
    if (!prompt) return unexpected{std::move(prompt.error())};
    spec.agent.system_prompt = std::move(*prompt);
  }
  spec.model = model->second;
  spec.publish = config_->publish;
  spec.tool_settings = config_->tools;
  spec.retry_base = config_->supervision.backoff_base;
  set_approvals(spec, config_->approvals, asked.approval);
  spec.time_limit = asked.timeout;
  spec.folder = x.folder;
  spec.within_plan = !x.of_plan.empty();
  spec.settings = to_json(x);
  return {};
}

expected<void> spec_maker::find_cause(run_spec& spec,
                                      const stored_request& x) const {
  if (!x.cause) return {};
  auto found = find_proposal(*parts_.journal, *x.cause);
  if (!found) return unexpected{std::move(found.error())};
  if (!*found || !(*found)->decided)
    return unexpected{error{errc::not_found, op,
                            "there is no approved proposal " + x.cause->value}};
  spec.cause = std::move(*found);
  return {};
}

expected<run_spec_ptr> spec_maker::make_for(
    const storage::proposal_state& cause) {
  auto made_by = parts_.journal->load_run(cause.what.run);
  if (!made_by) return unexpected{std::move(made_by.error())};
  auto x = request_from_json(made_by->settings);
  if (auto ok = check_folder(x.folder, "proposal " + cause.what.id.value); !ok)
    return unexpected{std::move(ok.error())};
  x.cause = cause.what.id;
  x.plan_session = {};  // it is a run like any, also if a plan proposed it
  x.plan.clear();
  return make(ids().next<run_id>(), cause.what.session, cause_task(cause), x);
}

expected<void> spec_maker::connect(run_spec& spec) {
  spec.dialect = model::make_openai_dialect();
  if (spec.cause) return {};
  auto key = find_key(spec.model, parts_.lent != nullptr);
  if (!key) return unexpected{std::move(key.error())};
  add_secrets_of_url(spec.model.base_url);
  auto base = spec.model.base_url;
  while (base.ends_with('/')) base.pop_back();
  spec.url = base + std::string{spec.dialect->path()};
  spec.headers = spec.dialect->headers(*key);
  spec.request = {spec.model.model, spec.model.temperature,
                  spec.model.streaming,
                  describe_tools(*parts_.registry, spec.agent)};
  auto transport = transport_of(spec.agent.model, spec.model);
  if (!transport) return unexpected{std::move(transport.error())};
  spec.transport = std::move(*transport);
  return {};
}

expected<std::shared_ptr<model::transport>> spec_maker::transport_of(
    const std::string& name, const config::model_config& model) {
  const std::lock_guard lock{mutex_};
  auto& found = transports_[name];
  if (found) return found;
  auto inner = plain_transport(name, model);
  if (!inner) return inner;
  found = model::make_rate_limited_transport(
      std::move(*inner), {model.max_concurrent, model.requests_per_minute},
      *parts_.clock);
  return found;
}

expected<std::shared_ptr<model::transport>> spec_maker::plain_transport(
    const std::string& name, const config::model_config& model) {
  if (model.dialect == "scripted") {
    const auto given = parts_.scripts.find(name);
    auto script =
        given == parts_.scripts.end()
            ? config::named_path(*config_, model.script)
                  .and_then(model::load_script)
            : model::parse_script(given->second, model::script_format::toml,
                                  "the script of model " + name);
    if (!script) return unexpected{std::move(script.error())};
    return model::make_scripted_transport(std::move(*script), *parts_.clock);
  }
  if (parts_.lent) return parts_.lent;
  if (!http_) {
    model::http_options options;
    options.around_listeners = parts_.around_listeners;
    http_ = model::make_http_transport(std::move(options));
  }
  return http_;
}

}  // namespace riffle::service
