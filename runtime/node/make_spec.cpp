// SPDX-License-Identifier: MIT
// What a run needs, from the configuration.
#include <algorithm>
#include <random>

#include "runtime/base/read_within.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/config/home.hpp"
#include "runtime/node/node.hpp"
#include "tools/process/guard.hpp"

namespace riffle {

namespace {

constexpr const char* op = "node";

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
                   approval_choice choice) {
  spec.approval = choice;
  spec.approved_by =
      choice == approval_choice::all ? "--approve all" : "policy";
  spec.propose = settings.mode == "propose";
  spec.expire_after = settings.expire_after;
}

std::function<double()> make_random() {
  auto engine = std::make_shared<std::mt19937_64>(std::random_device{}());
  return [engine] { return std::uniform_real_distribution<double>{}(*engine); };
}

}  // namespace

expected<run_spec_ptr> node::make_spec(run_id run, session_id session,
                                       std::string task,
                                       const run_choice& choice) {
  const auto agent = config_.agents.find(choice.agent);
  if (agent == config_.agents.end())
    return unexpected{
        error{errc::not_found, op,
              "there is no agent `" + choice.agent + "` in the configuration"}};
  const auto model_name = choice.model.value_or(agent->second.model);
  const auto model = config_.models.find(model_name);
  if (model == config_.models.end())
    return unexpected{
        error{errc::not_found, op,
              "there is no model `" + model_name + "` in the configuration"}};
  if (auto ok = check_guard(*registry_, choice.agent, agent->second); !ok)
    return unexpected{std::move(ok.error())};
  auto spec = std::make_shared<run_spec>();
  spec->run = std::move(run);
  spec->session = std::move(session);
  spec->task = std::move(task);
  spec->agent_name = choice.agent;
  spec->agent = agent->second;
  spec->agent.model = model_name;
  spec->context = choice.context;
  if (choice.max_steps) spec->agent.max_steps = *choice.max_steps;
  if (!spec->agent.system_prompt_file.empty()) {
    auto prompt = config::named_path(config_, spec->agent.system_prompt_file)
                      .and_then(read_prompt);
    if (!prompt) return unexpected{std::move(prompt.error())};
    spec->agent.system_prompt = std::move(*prompt);
  }
  spec->model = model->second;
  spec->publish = config_.publish;
  spec->tool_settings = config_.tools;
  spec->retry_base = config_.supervision.backoff_base;
  set_approvals(*spec, config_.approvals, choice.approval);
  spec->looks = look_executor_;
  spec->time_limit = choice.time_limit;
  spec->folder = choice.folder;
  spec->settings = to_json(choice);
  if (auto ok = find_cause(*spec, choice); !ok)
    return unexpected{std::move(ok.error())};
  if (auto ok = connect(*spec); !ok) return unexpected{std::move(ok.error())};
  spec->registry = registry_;
  spec->journal = journal_;
  spec->ids = ids_;
  spec->random01 = make_random();
  spec->faults = faults_;
  return run_spec_ptr{std::move(spec)};
}

expected<void> node::connect(run_spec& spec) {
  spec.dialect = model::make_openai_dialect();
  if (spec.cause) return {};
  auto key = find_key(spec.model, lent_ != nullptr);
  if (!key) return unexpected{std::move(key.error())};
  add_secrets_of_url(spec.model.base_url);
  auto base = spec.model.base_url;
  while (base.ends_with('/')) base.pop_back();
  spec.url = base + std::string{spec.dialect->path()};
  spec.headers = spec.dialect->headers(*key);
  spec.request = {spec.model.model, spec.model.temperature,
                  spec.model.streaming, describe_tools(*registry_, spec.agent)};
  auto transport = transport_of(spec.agent.model, spec.model);
  if (!transport) return unexpected{std::move(transport.error())};
  spec.transport = std::move(*transport);
  return {};
}

}  // namespace riffle
