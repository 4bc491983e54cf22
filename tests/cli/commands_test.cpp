// SPDX-License-Identifier: MIT
// Subcommands that need no runtime.
#include "runtime/cli/commands/commands.hpp"

#include <fstream>
#include <sys/stat.h>
#include <thread>

#include <nlohmann/json.hpp>

#include "messages/event_line.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "tests/cli/test_console.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using testing::temp_folder;
using testing::test_console;

namespace {

std::string good_log() {
  event_writer writer{run_id{"run_1"}};
  std::string out;
  writer.add(out, 1, events::run_started{{"s"}, "a", "m", "t", 3, {}});
  writer.add(out, 2, events::step_start{1, 3});
  writer.add(out, 3, events::llm_token{"hi", 1});
  writer.add(out, 4, events::final_answer{"hi", 1, {}, 0});
  events::run_finished end;
  end.steps = 1;
  writer.add(out, 5, end);
  return out;
}

common_options with_config(const std::filesystem::path& file) {
  common_options out;
  out.config = file;
  return out;
}

}  // namespace

TEST_CASE("events check accepts a good log") {
  const temp_folder folder;
  test_console c;
  events_check_command x;
  x.file = folder.write("log", good_log());
  CHECK(execute(x, c.io) == 0);
  CHECK(c.out.text() == "ok: 1 run, 5 events, 0 violations\n");
  CHECK(c.err.text().empty());
}

TEST_CASE("events check names what is broken, in each output") {
  const temp_folder folder;
  auto log = good_log();
  log.resize(log.rfind('\n', log.size() - 2) + 1);
  events_check_command x;
  x.file = folder.write("log", log);
  {
    test_console c;
    CHECK(execute(x, c.io) == 1);
    CHECK(c.out.text().find("promise 4") != std::string::npos);
    CHECK(c.out.text().ends_with("broken: 1 run, 4 events, 1 violation\n"));
  }
  {
    test_console c;
    x.common.output = output_kind::json;
    CHECK(execute(x, c.io) == 1);
    const auto out = nlohmann::json::parse(c.out.text());
    CHECK(out["ok"] == false);
    CHECK(out["broken"] == 1);
    CHECK(out["violations"][0]["promise"] == 4);
  }
  {
    test_console c;
    x.common.output = output_kind::jsonl;
    CHECK(execute(x, c.io) == 1);
    CHECK(nlohmann::json::parse(c.out.text())["promise"] == 4);
  }
  test_console c;
  x.allow_unfinished = true;
  CHECK(execute(x, c.io) == 0);
}

TEST_CASE("events check is silent with -q if all is well") {
  const temp_folder folder;
  test_console c;
  events_check_command x;
  x.file = folder.write("log", good_log());
  x.common.level = verbosity::quiet;
  CHECK(execute(x, c.io) == 0);
  CHECK(c.out.text().empty());
}

TEST_CASE("events check says which file it cannot read") {
  const temp_folder folder;
  for (const auto& file : {folder.path() / "gone", folder.path()}) {
    test_console c;
    events_check_command x;
    x.file = file;
    CHECK(execute(x, c.io) == 2);
    CHECK(c.err.text().find(file.string()) != std::string::npos);
    CHECK(c.out.text().empty());
  }
}

TEST_CASE("events check waits for no pipe into which nobody writes") {
  const temp_folder folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  test_console c;
  events_check_command x;
  x.file = pipe;
  CHECK(execute(x, c.io) == 2);
  CHECK(c.err.text().find("pipe\" did not begin within 5 s") !=
        std::string::npos);
}

TEST_CASE("events check reads a pipe to its end") {
  const temp_folder folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::jthread writer{[&] {
    std::ofstream to{pipe, std::ios::binary};
    for (const char byte : good_log()) to << byte << std::flush;
  }};
  test_console c;
  events_check_command x;
  x.file = pipe;
  CHECK(execute(x, c.io) == 0);
  CHECK(c.out.text() == "ok: 1 run, 5 events, 0 violations\n");
}

TEST_CASE("config check reports all mistakes and exits with 2") {
  const temp_folder folder;
  test_console c;
  config_command x;
  x.common = with_config(folder.write("x.toml",
                                      "runtime.thread = 1\n"
                                      "publish.batching = \"x\"\n"));
  x.common.sets = {"agents.default.tools=[\"reed\"]"};
  CHECK(execute(x, c.io) == 2);
  CHECK(c.out.text().empty());
  const auto file = x.common.config->string();
  CHECK(c.err.text() ==
        file +
            ":1:9: runtime.thread: unknown key; did you mean "
            "\"threads\"?\n" +
            file +
            ":2:20: publish.batching: \"x\" is not known; allowed: "
            "token, sentence, adaptive\n"
            "--set: agents.default.tools: there is no tool "
            "\"reed\"; did you mean \"read\"?\n"
            "riffle: 3 mistakes in the configuration, nothing was "
            "started\n");
}

TEST_CASE("config check tells of rules that can never match") {
  const temp_folder folder;
  config_command x;
  x.common = with_config(folder.write(
      "x.toml",
      "[tools.write]\nrules = [{ match = './a', approval = \"deny\" }]\n"));
  test_console c;
  CHECK(execute(x, c.io) == 0);
  CHECK(c.out.text() == x.common.config->string() + ": no mistakes\n");
  CHECK(c.err.text() ==
        "riffle: warning: " + x.common.config->string() +
            ": line 2: tools.write.rules: item 1: \"./a\" can never match: "
            "rules see paths without \".\" and \"..\"; leave them out\n");
  test_console as_json;
  x.common.output = output_kind::json;
  CHECK(execute(x, as_json.io) == 0);
  CHECK(nlohmann::json::parse(as_json.out.text())["warnings"].size() == 1);
}

TEST_CASE("config check shows the blanks that it complains of") {
  const temp_folder folder;
  config_command x;
  x.common = with_config(folder.write(
      "x.toml",
      "[tools.bash]\nrules = [{ match = 'a  b', approval = \"deny\" }]\n"));
  test_console c;
  CHECK(execute(x, c.io) == 0);
  CHECK_THAT(c.err.text(),
             Catch::Matchers::Contains("\"a  b\" can never match: rules see "));
}

TEST_CASE("config check and show of a good file") {
  const temp_folder folder;
  config_command x;
  x.common = with_config(folder.write("x.toml", "runtime.threads = 1\n"));
  {
    test_console c;
    CHECK(execute(x, c.io) == 0);
    CHECK(c.out.text() == x.common.config->string() + ": no mistakes\n");
  }
  {
    test_console c;
    x.common.output = output_kind::json;
    CHECK(execute(x, c.io) == 0);
    CHECK(nlohmann::json::parse(c.out.text())["mistakes"] == 0);
    CHECK(nlohmann::json::parse(c.out.text())["warnings"].empty());
  }
  x.action = config_command::what::show;
  x.common.sets = {"publish.batching=token"};
  {
    test_console c;
    CHECK(execute(x, c.io) == 0);
    const auto out = nlohmann::json::parse(c.out.text());
    const auto file = x.common.config->string();
    CHECK(out["runtime.threads"]["value"] == "1");
    CHECK(out["runtime.threads"]["source"] == file + ":1");
    CHECK(out["publish.batching"]["value"] == "\"token\"");
    CHECK(out["publish.batching"]["source"] == "--set");
    CHECK(out["publish.flush_delay"]["source"] == "default");
  }
  test_console c;
  x.common.output = output_kind::text;
  CHECK(execute(x, c.io) == 0);
  CHECK(c.out.text().find("\nthreads = 1  # " + x.common.config->string() +
                          ":1\n") != std::string::npos);
  CHECK(c.out.text().find("\nbatching = \"token\"  # --set\n") !=
        std::string::npos);
  CHECK(c.out.text().find("\nmax_runs = 0\n") != std::string::npos);
}

TEST_CASE("agents and models are chosen by name") {
  config::config x;
  x.models["fast"] = {};
  CHECK(check_agent("default", x));
  CHECK(check_agent("other", x).error().message ==
        "there is no agent \"other\"; the configuration has: default");
  CHECK(choose_model({}, x));
  CHECK(choose_model("fast", x));
  const auto bad = choose_model("slow", x);
  CHECK_THAT(bad.error().message,
             Catch::Matchers::StartsWith(
                 "there is no model \"slow\"; known: default, fast, and "
                 "PROVIDER/MODEL of: openai, anthropic"));
  CHECK(bad.error().code == errc::invalid_request);
}

TEST_CASE("a provider's model that was chosen is part of the settings") {
  config::config x;
  REQUIRE(choose_model("groq/llama-3.3", x));
  CHECK(x.models.at("groq/llama-3.3").api_key_env == "GROQ_API_KEY");
  CHECK_FALSE(choose_model("grok/x", x));
  CHECK(x.models.size() == 2);
}

TEST_CASE("what was chosen is asked of the runtime") {
  run_command x;
  const auto plain = request_of(x, "task");
  CHECK(plain.task == "task");
  CHECK_FALSE(plain.session);
  CHECK(plain.agent == "default");
  CHECK_FALSE(plain.max_steps);
  CHECK(plain.timeout == duration{});
  CHECK(plain.approval == approve::nobody);
  x.session = "notes";
  x.agent = "writer";
  x.choices.max_steps = 7;
  x.choices.timeout = std::chrono::seconds{3};
  x.choices.approval = approve::all;
  x.choices.model = "fast";
  x.context = "beside";
  const auto chosen = request_of(x, "task");
  CHECK(chosen.session == session_id{"notes"});
  CHECK(chosen.agent == "writer");
  CHECK(chosen.max_steps == 7u);
  CHECK(chosen.timeout == std::chrono::seconds{3});
  CHECK(chosen.approval == approve::all);
  CHECK(chosen.model == "fast");
  CHECK(chosen.context == "beside");
  CHECK_FALSE(plain.model);
  CHECK(plain.context.empty());
}

TEST_CASE("the log does not drown the traces") {
  const auto level = [](verbosity v, const std::string& configured) {
    config::config x;
    if (!configured.empty()) {
      x.runtime.log.level = configured;
      x.origins["runtime.log.level"] = "line 2";
    }
    choose_log_level(v, x);
    return x.runtime.log.level;
  };
  CHECK(level(verbosity::normal, "") == "warn");
  CHECK(level(verbosity::normal, "info") == "info");
  CHECK(level(verbosity::normal, "debug") == "debug");
  CHECK(level(verbosity::normal, "error") == "error");
  // The traces say the same, for people.
  CHECK(level(verbosity::verbose, "") == "warn");
  CHECK(level(verbosity::verbose, "info") == "info");
  CHECK(level(verbosity::quiet, "debug") == "error");
  CHECK(level(verbosity::quiet, "off") == "off");
}

TEST_CASE("what did not start is said in plain words, without controls") {
  test_console c;
  CHECK(report(
            {errc::session_busy, "journal", "in use by \x1b[1mrun_1", true, {}},
            c.io) == 2);
  CHECK(c.err.text() == "riffle: in use by ^[[1mrun_1 (session_busy)\n");
  CHECK(report({errc::storage_unavailable, "journal", "x", true, {}}, c.io) ==
        1);
}
