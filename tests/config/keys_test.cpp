// SPDX-License-Identifier: MIT
// Every key: what is written in a file arrives in the struct.
#include <algorithm>
#include <map>

#include "runtime/config/config.hpp"
#include "runtime/config/trust.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

/// Another value than the default, for every key. Empty: this version has one
/// value only, see mistakes_test.cpp.
const std::map<std::string, std::string> others = {
    {"runtime.data_dir", R"("/tmp/other")"},
    {"runtime.threads", "3"},
    {"runtime.scheduler", R"("caf")"},
    {"runtime.max_runs", "7"},
    {"runtime.max_calls", "8"},
    {"runtime.durability", R"("disk")"},
    {"runtime.log.level", R"("debug")"},
    {"runtime.log.format", R"("json")"},
    {"models.default.dialect", R"("scripted")"},
    {"models.default.base_url", R"("http://127.0.0.1:1/v1")"},
    {"models.default.model", R"("other")"},
    {"models.default.api_key_env", R"("OTHER_KEY")"},
    {"models.default.provider", R"("groq")"},
    {"models.default.api_key_command", R"(["print-key", "now"])"},
    {"models.default.organization", R"("org-1")"},
    {"models.default.headers", R"('{"X-Team":"a"}')"},
    {"models.default.query", R"('{"api-version":"1"}')"},
    {"models.default.extra", R"('{"top_k":5}')"},
    {"models.default.fallback", R"(["groq/other"])"},
    {"models.default.streaming", "false"},
    {"models.default.temperature", "1.25"},
    {"models.default.top_p", "0.5"},
    {"models.default.max_output_tokens", "100"},
    {"models.default.stop", R"(["END"])"},
    {"models.default.seed", "-7"},
    {"models.default.reasoning_effort", R"("low")"},
    {"models.default.thinking_budget", ""},
    {"models.default.tool_choice", R"("required")"},
    {"models.default.parallel_tool_calls", "false"},
    {"models.default.keep_alive", ""},
    {"models.default.attachments", R"(["images"])"},
    {"models.default.max_concurrent", "2"},
    {"models.default.requests_per_minute", "60"},
    {"models.default.timeouts.connect", R"("11s")"},
    {"models.default.timeouts.first_byte", R"("12s")"},
    {"models.default.timeouts.idle", R"("13s")"},
    {"models.default.timeouts.total", R"("14s")"},
    {"models.default.retry.max_attempts", "9"},
    {"models.default.retry.base", R"("15ms")"},
    {"models.default.retry.cap", R"("16s")"},
    {"models.default.price.input", "0.4"},
    {"models.default.price.output", "1.6"},
    {"models.default.price.cached_input", "0.1"},
    {"models.default.context_window", "9000"},
    {"models.default.script", R"("/dev/null")"},
    {"agents.default.model", R"("other")"},
    {"agents.default.system_prompt", R"("Be brief.")"},
    {"agents.default.system_prompt_file", R"("/tmp/prompt")"},
    {"agents.default.context_files", R"(["RULES.md"])"},
    {"agents.default.tools", R"(["read"])"},
    {"agents.default.max_steps", "5"},
    {"agents.default.max_calls_in_flight", "6"},
    {"agents.default.max_calls_per_turn", "7"},
    {"agents.default.max_argument_bytes", "4096"},
    {"agents.default.max_turn_bytes", "8192"},
    {"agents.default.loop_limit", "0"},
    {"agents.default.recovery_attempts", "1"},
    {"agents.default.budget.tool_calls", "10"},
    {"agents.default.budget.tokens", "1000"},
    {"agents.default.budget.cost_usd", "0.5"},
    {"agents.default.completion", R"("tool")"},
    {"agents.default.max_termination_attempts", "4"},
    {"agents.default.auto_complete", "false"},
    {"agents.default.phase", R"("build")"},
    {"agents.default.exempt_phases", R"(["build"])"},
    {"agents.default.silent", "true"},
    {"agents.default.temperature", "1.25"},
    {"agents.default.top_p", "0.5"},
    {"agents.default.max_output_tokens", "100"},
    {"agents.default.stop", R"(["END"])"},
    {"agents.default.seed", "-7"},
    {"agents.default.reasoning_effort", R"("low")"},
    {"agents.default.thinking_budget", ""},
    {"agents.default.tool_choice", R"("required")"},
    {"agents.default.parallel_tool_calls", "false"},
    {"agents.default.keep_alive", ""},
    {"agents.default.response_schema", R"('{"type":"object"}')"},
    {"allow", R"(["10.0.0.0/8", "wiki.local:8080"])"},
    {"timeout", R"("31s")"},
    {"idle_timeout", R"("32s")"},
    {"kill_grace", R"("501ms")"},
    {"concurrency", "5"},
    {"attempts", "3"},
    {"queue_timeout", R"("33s")"},
    {"output_limit", "1024"},
    {"priority", "7"},
    {"idempotent", "true"},
    {"keys", ""},
    {"polling", "true"},
    {"isolation", R"("process")"},
    {"namespace", R"("none")"},
    {"abandoned_limit", "2"},
    {"nodes", R"(["gpu-*", "label:big", "local"])"},
    {"sticky", R"("session")"},
    {"workspace", R"("/tmp")"},
    {"approval", R"("deny")"},
    {"rules", R"([{ match = "git *", approval = "allow" }])"},
    {"read_only", R"(["ls", "date"])"},
    {"supervision.intensity", "6"},
    {"supervision.period", R"("61s")"},
    {"supervision.backoff.base", R"("101ms")"},
    {"supervision.backoff.cap", R"("31s")"},
    {"supervision.cool_down", R"("62s")"},
    {"publish.batching", R"("token")"},
    {"publish.flush_delay", R"("50ms")"},
    {"publish.output_limit", "300"},
    {"approvals.mode", R"("propose")"},
    {"approvals.expire_after", R"("1h")"},
    {"attachments.max_file_bytes", "1000"},
    {"attachments.max_total_bytes", "2000"},
    {"server.listen", R"("127.0.0.1:1")"},
    {"server.token_env", R"("TOKEN")"},
    {"server.on_stop", R"("leave")"},
    {"server.stop_timeout", R"("11s")"},
    {"server.stall_timeout", R"("61s")"},
    {"server.heartbeat", R"("5s")"},
    {"server.retry", R"("2s")"},
    {"server.request_timeout", R"("31s")"},
    {"server.recover_at_once", "5"},
    {"server.hosts", R"(["riffle.example"])"},
    {"server.origins", R"(["https://app.example"])"},
    {"server.trusted_proxies", R"(["10.0.0.0/8"])"},
    {"server.limits.header_bytes", "8192"},
    {"server.limits.body_bytes", "4096"},
    {"server.limits.attachment_bytes", "2048"},
    {"server.limits.connections", "11"},
    {"server.limits.streams", "12"},
    {"server.limits.streams_per_token", "13"},
    {"server.limits.runs", "14"},
    {"server.limits.requests_per_second", "15"},
    {"server.tls.certificate", ""},
    {"server.tls.key", ""},
    {"cluster.listen", ""},
    {"cluster.join", ""},
    {"cluster.name", R"("alpha")"},
    {"cluster.group", R"("lab")"},
    {"cluster.insecure", "true"},
    {"cluster.join_timeout", R"("3s")"},
    {"cluster.heartbeat", R"("2s")"},
    {"cluster.timeout", R"("4s")"},
    {"cluster.orphan_after", R"("6s")"},
    {"cluster.max_frame", "1048576"},
    {"node.tools", R"(["read"])"},
    {"mcp_server.tools", R"(["read"])"},
    {"node.labels", R"(["gpu"])"},
    {"node.drain_timeout", R"("31s")"},
    {"cluster.tls.certificate", ""},
    {"cluster.tls.key", ""},
    {"cluster.tls.ca", ""},
};

std::string other_value(const config::setting& s) {
  const bool of_tool = s.section == "tools" || s.section.starts_with("tools.");
  if (s.section.starts_with("tools.") && s.key == "workspace") return {};
  const auto key = of_tool ? s.key : s.section + "." + s.key;
  CAPTURE(key);
  REQUIRE(others.contains(key));
  return others.at(key);
}

/// What makes the value of a key valid.
std::string company(const config::setting& s) {
  if (s.key == "dialect") return "script = \"prompt\"\n";
  if (s.key == "provider") return "model = \"x\"\n";
  if (s.key == "cost_usd") return "[models.default.price]\ninput = 1.0\n";
  if (s.section == "agents.default" && s.key == "model") {
    return "[models.other]\n";
  }
  return "";
}

std::string value_of(const config::config& x, const config::setting& wanted) {
  for (const auto& s : config::settings(x)) {
    if (s.section == wanted.section && s.key == wanted.key) return s.value;
  }
  return "missing";
}

}  // namespace

TEST_CASE("every key of a file arrives in the configuration") {
  const testing::temp_folder folder;
  const auto prompt = folder.write("prompt", "x").string();
  for (const auto& s : config::settings(config::config{})) {
    auto value = other_value(s);
    if (value.empty()) continue;
    if (s.key == "system_prompt_file") value = '"' + prompt + '"';
    const auto text =
        "[" + s.section + "]\n" + s.key + " = " + value + "\n" + company(s);
    CAPTURE(text);
    const auto x = config::load({folder.write("x.toml", text), {}, {}});
    REQUIRE(x);
    CHECK(value != s.value);
    CHECK(value_of(*x, s) == value);
  }
}

TEST_CASE("a tool's table overlays the table of all tools") {
  const testing::temp_folder folder;
  const auto file = folder.write("x.toml", R"(
[tools.read]
timeout = "1s"
[tools]
timeout = "7s"
attempts = 9
)");
  const auto x = config::load({file, {}, {}});
  REQUIRE(x);
  CHECK(x->tools.of("read").timeout == std::chrono::seconds{1});
  CHECK(x->tools.of("read").attempts == 9);
  CHECK(x->tools.of("anything").timeout == std::chrono::seconds{7});
  // bash has a default of its own, which [tools] does not touch.
  CHECK(x->tools.of("bash").timeout == std::chrono::minutes{2});
  CHECK(x->tools.of("bash").attempts == 9);
}

TEST_CASE("mutating tools ask by default") {
  const config::config plain;
  CHECK(plain.tools.approval_of("bash", effect::mutating) == "ask");
  CHECK(plain.tools.approval_of("anything", effect::mutating) == "ask");
}

TEST_CASE("a tool that only reads asks when its own table says so") {
  const testing::temp_folder folder;
  const auto with = [&](const std::string& text) {
    const auto x = config::load({folder.write("x.toml", text), {}, {}});
    REQUIRE(x);
    return x->tools;
  };
  const auto of = [](const config::tools_config& x, const char* name) {
    return x.approval_of(name, effect::read_only) + " " +
           x.approval_of(name, effect::mutating);
  };
  CHECK(of({}, "read") == "allow ask");
  CHECK(of(with("[tools]\napproval = \"deny\""), "read") == "allow deny");
  CHECK(of(with("[tools.read]\ntimeout = \"1s\""), "read") == "allow ask");
  CHECK(of(with("[tools.read]\napproval = \"ask\""), "read") == "ask ask");
  CHECK(of(with("[tools.read]\napproval = \"deny\""), "read") == "deny deny");
  CHECK(of(with("[tools.read]\napproval = \"default\"\n[tools]\napproval = "
                "\"allow\""),
           "read") == "allow allow");
  CHECK(of(with("[tools]\napproval = \"allow\""), "bash") == "allow allow");
}

TEST_CASE("models and agents are added to the default ones") {
  const testing::temp_folder folder;
  const auto file = folder.write("x.toml", R"(
[models.fast]
model = "small"
[agents.writer]
model = "fast"
)");
  const auto x = config::load({file, {}, {}});
  REQUIRE(x);
  CHECK(x->models.size() == 2);
  CHECK(x->models.at("fast").model == "small");
  CHECK(x->models.at("fast").base_url == config::model_config{}.base_url);
  CHECK(x->agents.at("writer").model == "fast");
  CHECK(x->agents.at("default").model == "default");
}

TEST_CASE("files are relative to the configuration's folder") {
  const testing::temp_folder folder;
  const testing::temp_folder elsewhere;
  folder.write("sub/play.toml", "");
  folder.write("sub/prompt.md", "");
  folder.write("sub/x.toml", R"(
runtime.data_dir = "data"
tools.workspace = "work"
[models.default]
dialect = "scripted"
script = "play.toml"
[agents.default]
system_prompt_file = "./prompt.md"
)");
  const testing::scoped_directory there{folder.path()};
  const auto x = config::load({"sub/x.toml", {}, {}});
  REQUIRE(x);
  CHECK(x->models.at("default").script == folder.path() / "sub/play.toml");
  CHECK(x->agents.at("default").system_prompt_file ==
        folder.path() / "sub/prompt.md");
  CHECK(x->runtime.data_dir == folder.path() / "sub/data");
  CHECK(x->base_dir == folder.path() / "sub");
  CHECK(x->file == folder.path() / "sub/x.toml");
  // Where tools work is a matter of where Riffle is started.
  CHECK(x->tools.defaults.workspace == "work");
}

TEST_CASE("temperature can be left to the provider") {
  const auto x = config::load({{}, {"models.default.temperature=none"}, {}});
  REQUIRE(x);
  CHECK_FALSE(x->models.at("default").parameters.temperature);
}

namespace {

/// Values that a folder's file may set without trust. A key that is not here
/// needs trust: whoever adds one decides, by the rules of config/README.md.
const std::map<std::string, std::string> without_trust = {
    {"agents.default.max_steps", "30"},
    {"agents.default.max_calls_in_flight", "16"},
    {"agents.default.max_calls_per_turn", "256"},
    {"agents.default.loop_limit", "5"},
    {"agents.default.budget.tool_calls", "10"},
    {"agents.default.budget.tokens", "1000"},
    {"agents.default.budget.cost_usd", "0.5"},
    {"publish.batching", R"("token")"},
};

/// Of a tool that is a command, of a server and of a client's token, too.
std::vector<config::setting> all_keys() {
  config::config x;
  x.mcp["files"].tools["read"] = {};
  x.tools.by_name["own"].type = "command";
  x.server.tokens["ci"] = {};
  return config::settings(x);
}

}  // namespace

TEST_CASE("every key needs trust but for those of a short table") {
  for (const auto& s : all_keys()) {
    const auto key = s.section + "." + s.key;
    const auto harmless = without_trust.find(key);
    const auto value =
        harmless == without_trust.end() ? s.value : harmless->second;
    const auto needs = config::keys_that_need_trust("[" + s.section + "]\n" +
                                                    s.key + " = " + value);
    CAPTURE(key, value);
    if (harmless != without_trust.end())
      CHECK(needs.empty());
    else
      CHECK((needs.size() == 1 && needs[0].key == key));
  }
}

TEST_CASE("a table without keys needs trust where it names a thing") {
  const auto needs = [](const std::string& text) {
    std::vector<std::string> out;
    for (const auto& x : config::keys_that_need_trust(text))
      out.push_back(x.key);
    return out;
  };
  using names = std::vector<std::string>;
  CHECK(needs("[mcp.x]\n") == names{"mcp.x"});
  CHECK(needs("mcp.zz.headers = {}\n") == names{"mcp.zz.headers"});
  CHECK(needs("[tools.rm]\n") == names{"tools.rm"});
  CHECK(needs("[server.tokens.x]\n") == names{"server.tokens.x"});
  CHECK(needs("[nonsense]\n") == names{"nonsense"});
  // What `config init` writes, all of it as comments.
  for (const auto& x : config::settings(config::config{})) {
    CAPTURE(x.section);
    CHECK(needs("[" + x.section + "]\n").empty());
  }
  CHECK(needs("[agents.mine]\n[tools]\n").empty());
}

TEST_CASE("every key of the table of harmless ones exists") {
  std::vector<std::string> patterns;
  for (const auto& x : config::harmless_keys()) {
    std::string pattern{x.pattern};
    if (const auto star = pattern.find('*'); star != std::string::npos)
      pattern.replace(star, 1, "default");
    CHECK(without_trust.contains(pattern));
    patterns.push_back(std::move(pattern));
  }
  CHECK(patterns.size() == without_trust.size());
  const auto all = all_keys();
  for (const auto& [key, value] : without_trust) {
    CAPTURE(key);
    CHECK(std::ranges::any_of(all, [&key = key](const config::setting& s) {
      return s.section + "." + s.key == key;
    }));
  }
}
