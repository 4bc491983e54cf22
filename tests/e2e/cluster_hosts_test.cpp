// SPDX-License-Identifier: MIT
// Three nodes on hosts of their own (network namespaces on wires, TLS) and two
// origins that share them: at random moments a node is killed or stopped, its
// wire is cut, its port is closed. No run is lost, and nothing runs twice.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/repetitions.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

const std::vector<std::string> hosts{"alpha", "beta", "gamma"};
const std::vector<std::string> origins{"one", "two"};

std::string cluster_of(const std::string& name, const std::string& more) {
  return "[runtime]\ndata_dir = \"data\"\n[cluster]\nname = \"" + name +
         "\"\nheartbeat = \"200ms\"\ntimeout = \"600ms\"\n"
         "orphan_after = \"1s\"\ntls = { certificate = \"../c/" +
         name + ".pem\", key = \"../c/" + name +
         ".key\", ca = \"../c/ca.pem\" }\n" + more;
}

/// `note` says when it began, and when it ended.
const std::string offered = R"([node]
tools = ["look", "note"]
[tools.look]
type = "command"
command = ["sh", "-c", "sleep 0.4; echo seen"]
description = "Looks"
parameters = { type = "object", properties = { what = { type = "string" } } }
effect = "read_only"
[tools.note]
type = "command"
command = ["sh", "-c", "read x; echo begun $x >> notes; sleep 0.6; echo ended $x $(date -u +%FT%T.%NZ) >> notes"]
description = "Notes"
parameters = { type = "object", properties = { what = { type = "string" } } }
approval = "allow"
)";

const std::string asking =
    R"(join = ["10.9.1.2:7434", "10.9.2.2:7434", "10.9.3.2:7434"]
join_timeout = "20s"
[models.default]
dialect = "scripted"
script = "look.toml"
[agents.default]
tools = ["look", "note"]
)";

/// Two runs at once, one of each origin; so long after they began a node is
/// broken, and healed 2 s later. What became of it: `rounds`.
const std::string script = R"sh(
set -u
RANDOM=$SEED
names=(- alpha beta gamma)
breaks=(crash halt cut close_here close_there)
heals=(start go_on mend open_here open_there)
there() { nsenter -t "${ns[$1]}" -n "${@:2}"; }
ip link set lo up
for i in 1 2 3; do
  ip link add name "o$i" type veth peer name "n$i" || exit 77
  unshare -n sleep 900 & ns[$i]=$!
  until [ "$(readlink "/proc/${ns[$i]}/ns/net")" != "$(readlink /proc/self/ns/net)" ]
  do sleep 0.05; done
  ip link set "n$i" netns "${ns[$i]}" || exit 77
  ip addr add "10.9.$i.1/24" dev "o$i" && ip link set "o$i" up
  there "$i" ip link set lo up
  there "$i" ip addr add "10.9.$i.2/24" dev "n$i"
  there "$i" ip link set "n$i" up
done
"$RIFFLE" cluster init c one two alpha beta gamma > /dev/null || exit 1
crash() { kill -KILL "${node[$1]}"; }
start() {
  (cd "${names[$1]}" && exec nsenter -t "${ns[$1]}" -n "$RIFFLE" node \
    --config n.toml > out 2>> err) & node[$1]=$!
}
halt() { kill -STOP "${node[$1]}"; }
go_on() { kill -CONT "${node[$1]}"; }
cut() { ip link set "o$1" down; }
mend() { ip link set "o$1" up; }
# The port alone, on a wire that lives: what goes there is refused, what comes
# from there is swallowed.
close_here() { ip rule add to "10.9.$1.2" ipproto tcp dport 7434 prohibit; }
open_here() { ip rule del to "10.9.$1.2" ipproto tcp dport 7434 prohibit; }
close_there() { there "$1" ip rule add ipproto tcp sport 7434 blackhole; }
open_there() { there "$1" ip rule del ipproto tcp sport 7434 blackhole; }
script_of() {
  echo '[[steps]]'; echo 'text = "go"'
  for call in 1 2 3 4; do
    echo '[[steps.calls]]'
    [ $((call % 2)) = 0 ] && echo 'tool = "note"' || echo 'tool = "look"'
    echo "arguments = { what = \"$1-$2-$call\" }"
  done
  echo '[[steps]]'; echo 'text = "done"'
}
run() {
  script_of "$1" "$2" > "$1/$2.toml"
  (cd "$1" && exec "$RIFFLE" run --config o.toml --session "r$2" \
    --approve all --set "models.default.script=$2.toml" --output jsonl go \
    > "$2.jsonl" 2> "$2.err")
}
some_ms() { printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)); }
for i in 1 2 3; do start "$i"; done
for ((round = 0; round < ROUNDS; ++round)); do
  how=$((round % 5)); victim=$((RANDOM % 3 + 1)); after=$((RANDOM % 2000))
  run one "$round" & a=$!
  run two "$round" & b=$!
  sleep "$(some_ms $after)"
  "${breaks[$how]}" "$victim"
  sleep 2
  "${heals[$how]}" "$victim"
  wait $a; first=$?
  wait $b; second=$?
  echo "$round ${breaks[$how]} ${names[$victim]} $after $first $second" >> rounds
done
kill "${node[@]}"
wait "${node[@]}"
kill "${ns[@]}"
exit 0
)sh";

/// What the nodes did, by the argument of a call.
struct traces {
  int begun = 0;
  std::vector<std::pair<std::string, std::string>> ended;  ///< host, when
};

std::map<std::string, traces> read_traces(const work_folder& folder) {
  std::map<std::string, traces> out;
  for (const auto& host : hosts)
    for (const auto& line : folder.lines(host + "/notes")) {
      std::istringstream in{line};
      std::string what;
      std::string asked;
      std::string when;
      in >> what >> asked >> when;
      if (what == "begun")
        ++out[asked].begun;
      else
        out[asked].ended.emplace_back(host, when);
    }
  return out;
}

struct counts {
  int calls = 0;
  int repeated = 0;
  int unknown = 0;
};

void check_run(const work_folder& folder, const std::string& log,
               const std::map<std::string, traces>& done, counts& all) {
  const auto events = checked_events(folder.read(log));
  std::map<std::string, std::string> asked;
  for (const auto& x : of_type(events, "tool_call"))
    asked[x.at("data").at("id")] = x.at("data").at("arguments").dump();
  const auto results = of_type(events, "tool_result");
  CHECK(results.size() == 4);
  for (const auto& x : results) {
    const auto& data = x.at("data");
    const bool ok = data.at("outcome") == "ok";
    ++all.calls;
    if (data.at("attempts") > 1) ++all.repeated;
    if (data.at("tool") == "look") {
      CHECK(ok);
      continue;
    }
    const auto found = done.find(asked[data.at("id")]);
    const traces none;
    const auto& seen = found == done.end() ? none : found->second;
    CHECK(seen.begun <= 1);
    CHECK(seen.ended.size() <= 1);
    if (ok) {
      REQUIRE(seen.ended.size() == 1);
      CHECK(seen.ended[0].first == data.at("metadata").at("node"));
      continue;
    }
    ++all.unknown;
    CHECK(data.at("outcome") == "interrupted");
    // Nothing acts after it was settled.
    for (const auto& [host, when] : seen.ended)
      CHECK(when < x.at("timestamp").get<std::string>());
  }
}

}  // namespace

TEST_CASE("two origins share three hosts that are broken at random moments",
          "[torture]") {
  if (std::getenv("RIFFLE_TORTURE") == nullptr)
    return skip("RIFFLE_TORTURE is not set: hosts that break take their time");
  if (!can("unshare -rnm ip link add name v0 type veth peer name v1") ||
      !can("unshare -rn ip rule add ipproto tcp dport 1 prohibit") ||
      !can("nsenter --version") || !can("bash --version"))
    return skip("no network namespaces with rules for ports here");
  const auto seed = fresh_seed();
  CAPTURE(seed);
  const auto rounds = repetitions(15, 15, 60);
  const work_folder folder;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto& name = hosts[i];
    std::filesystem::create_directory(folder.path() / name);
    folder.write(name + "/n.toml",
                 cluster_of(name, "listen = \"10.9." + std::to_string(i + 1) +
                                      ".2:7434\"\n" + offered));
    folder.write(name + "/notes", "");
  }
  for (const auto& name : origins) {
    std::filesystem::create_directory(folder.path() / name);
    folder.write(name + "/o.toml", cluster_of(name, asking));
  }
  folder.write("play.sh", script);
  const auto end = program{"/usr/bin/unshare",
                           folder,
                           {"-rnm", "/bin/bash", "play.sh"},
                           {{"RIFFLE", installed_riffle()},
                            {"SEED", std::to_string(seed % 32768)},
                            {"ROUNDS", std::to_string(rounds)}}}
                       .wait(std::chrono::seconds{120 + 20 * rounds});
  INFO(end.err);
  if (end.status == 77) return skip("no hosts on wires here");
  REQUIRE(end.status == 0);
  const auto told = folder.lines("rounds");
  REQUIRE(static_cast<int>(told.size()) == rounds);
  const auto done = read_traces(folder);
  counts all;
  for (const auto& line : told) {
    CAPTURE(line);
    CHECK(line.ends_with(" 0 0"));  // both runs ended well
    const auto round = line.substr(0, line.find(' '));
    for (const auto& who : origins)
      check_run(folder, who + "/" + round + ".jsonl", done, all);
  }
  CHECK(processes_in(folder).empty());
  std::printf(
      "hosts: %d breaks, %zu runs, %d calls: %d repeated, %d of unknown "
      "outcome, none twice, none after it was settled\n",
      rounds, told.size() * 2, all.calls, all.repeated, all.unknown);
}
