// SPDX-License-Identifier: MIT
#pragma once

// Processes of a cluster, real ones: nodes, and an origin with a provider.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

namespace riffle::testing {

using nlohmann::json;

/// Short, so that tests are: what a node has is lost after 0.6 s of silence,
/// and cannot act any more 1.7 s later.
inline constexpr const char* times = R"(
heartbeat = "200ms"
timeout = "600ms"
orphan_after = "1s"
)";

/// Tools that only nodes have. `note` writes its arguments into `asked`, a line
/// into `notes` when it begins, and another one after some seconds; `mark` its
/// arguments into `marks`.
inline constexpr const char* tools_of_node = R"(
[tools.look]
type = "command"
command = ["sh", "-c", "read x; echo looking >&2; sleep $SECONDS_OF_LOOK; echo seen by $NODE"]
description = "Looks"
parameters = { type = "object", properties = { what = { type = "string" } } }
effect = "read_only"
env = ["NODE", "SECONDS_OF_LOOK"]
[tools.note]
type = "command"
command = ["sh", "-c", "read x; echo \"$x\" >> asked; echo begun >> notes; sleep ${SECONDS_OF_NOTE:-4}; echo ended >> notes; echo noted"]
description = "Notes"
parameters = { type = "object", properties = { what = { type = "string" } } }
approval = "allow"
env = ["SECONDS_OF_NOTE"]
[tools.mark]
type = "command"
command = ["sh", "-c", "read x; echo \"$x\" >> marks; sleep 0.1; cat marks"]
description = "Leaves a mark"
parameters = { type = "object", properties = { what = { type = "string" } } }
approval = "allow"
[tools.long]
type = "command"
command = ["sh", "-c", "read x; seq 1 3000000"]
description = "Says much"
parameters = { type = "object" }
effect = "read_only"
)";

struct node_options {
  std::string more{};                         ///< of [node]
  std::string seconds = "0.2";                ///< that `look` takes
  std::string cluster = "insecure = true\n";  ///< of [cluster]
  std::vector<std::string> words{};           ///< of its command line
  std::vector<std::string> under{};  ///< of unshare(1), which runs it then
  std::string note_seconds = "4";    ///< that `note` takes
};

struct node_process {
  explicit node_process(const std::string& name, const std::string& more = {},
                        const std::string& seconds = "0.2",
                        const std::string& cluster = "insecure = true\n",
                        const std::vector<std::string>& words = {},
                        const std::vector<std::string>& under = {})
      : node_process{name, node_options{more, seconds, cluster, words, under}} {
  }
  node_process(const std::string& name, const node_options& x) {
    folder.write("node.toml",
                 "[runtime]\ndata_dir = \"data\"\n[cluster]\n"
                 "listen = \"127.0.0.1:0\"\nname = \"" +
                     name + "\"\n" + times + x.cluster +
                     "[node]\nlabels = [\"test\"]\n"
                     "tools = [\"look\", \"note\", \"long\", \"mark\"]\n" +
                     x.more + tools_of_node);
    std::vector<std::string> all{x.under};
    for (const auto* word : {"node", "--config", "node.toml"})
      all.emplace_back(word);
    all.insert(all.end(), x.words.begin(), x.words.end());
    run.emplace(x.under.empty() ? installed_riffle() : "/usr/bin/unshare",
                folder, all,
                std::map<std::string, std::string>{
                    {"NODE", name},
                    {"SECONDS_OF_LOOK", x.seconds},
                    {"SECONDS_OF_NOTE", x.note_seconds}});
    REQUIRE(eventually([&] {
      return run->out().find('\n') != std::string::npos || run->has_ended();
    }));
    const auto said = run->out();
    INFO(run->err());
    const auto at = said.find("127.0.0.1:");
    REQUIRE(at != std::string::npos);
    address = said.substr(at, said.find_first_of("; ", at) - at);
  }
  [[nodiscard]] std::vector<std::string> notes() const {
    return folder.lines("notes");
  }
  /// The commands of `note` that live here. Not those of another node: tests
  /// run beside each other.
  [[nodiscard]] std::vector<pid_t> noting() const;

  work_folder folder;
  std::optional<program> run;
  std::string address;
};

/// Of an origin. `asked`: what the model calls; `when_told`: called when it
/// gets the results, before it answers.
struct origin {
  explicit origin(
      const std::vector<std::string>& addresses,
      std::vector<std::pair<std::string, json>> asked,
      const std::string& cluster = "insecure = true\n",
      std::function<void()> when_told = [] {})
      : server{[asked = std::move(asked),
                when_told = std::move(when_told)](const http_request& request) {
          const auto told = json::parse(request.body).at("messages");
          if (told.back().at("role") == "tool") {
            check_results(request);
            when_told();
            return respond_sse(answer("done"));
          }
          return respond_sse(calls(asked));
        }} {
    std::string list;
    for (const auto& x : addresses)
      list += (list.empty() ? "\"" : ", \"") + x + "\"";
    folder.configure(
        server.url("/v1"),
        "[agents.default]\n"
        "tools = [\"look\", \"note\", \"long\", \"mark\", \"read\"]\n"
        "[cluster]\nname = \"origin\"\njoin = [" +
            list + "]\n" + times + cluster);
  }
  finished go(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"run",       "go",  "--session", "s1",
                                      "--approve", "all", "--output",  "jsonl"};
    words.insert(words.end(), more.begin(), more.end());
    return riffle::testing::riffle(folder, words);
  }
  [[nodiscard]] std::string log() const {
    return riffle::testing::riffle(folder, {"sessions", "events", "s1"}).out;
  }

  work_folder folder;
  http_server server;
};

/// The one result of a log, and the node of its one call.
json result_of(const std::string& log);
std::string called_on(const std::string& log);

}  // namespace riffle::testing
