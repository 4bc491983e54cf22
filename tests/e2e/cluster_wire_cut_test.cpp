// SPDX-License-Identifier: MIT
// A node on a host of its own (network namespaces), with TLS, whose cable is
// cut, whose process is stopped or killed; after each of these it is back.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

const std::string times = R"(
heartbeat = "200ms"
timeout = "600ms"
orphan_after = "1s"
)";

const std::string node_config = R"([runtime]
data_dir = "data"
[cluster]
name = "alpha"
listen = "10.9.1.2:7434"
tls = { certificate = "../c/alpha.pem", key = "../c/alpha.key", ca = "../c/ca.pem" }
)" + times + R"([node]
tools = ["look", "note"]
[tools.look]
type = "command"
command = ["echo", "seen"]
description = "Looks"
parameters = { type = "object" }
effect = "read_only"
[tools.note]
type = "command"
command = ["sh", "-c", "echo begun >> notes; sleep 4; echo ended >> notes"]
description = "Notes"
parameters = { type = "object" }
approval = "allow"
)";

const std::string origin_config = R"([runtime]
data_dir = "data"
[cluster]
name = "origin"
join = ["10.9.1.2:7434"]
join_timeout = "20s"
tls = { certificate = "../c/origin.pem", key = "../c/origin.key", ca = "../c/ca.pem" }
)" + times + R"([models.default]
dialect = "scripted"
script = "look.toml"
[agents.default]
tools = ["look", "note"]
)";

std::string script_of(const std::string& tool) {
  return "[[steps]]\ntext = \"go\"\n[[steps.calls]]\ntool = \"" + tool +
         "\"\narguments = {}\n[[steps]]\ntext = \"done\"\n";
}

/// `phase NAME BREAK HEAL`: breaks it while a call changes something, heals it
/// when the run has ended, and has another run use the node.
const std::string play = R"sh(
ip link set lo up && ip link add name v0 type veth peer name v1 || exit 77
unshare -n sleep 300 & other=$!
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]
do sleep 0.05; done
there() { nsenter -t $other -n "$@"; }
ip link set v1 netns $other || exit 77
ip addr add 10.9.1.1/24 dev v0 && ip link set v0 up
there ip link set lo up
there ip addr add 10.9.1.2/24 dev v1 && there ip link set v1 up
"$RIFFLE" cluster init c origin alpha > /dev/null || exit 1
start() {
  (cd node && exec nsenter -t $other -n "$RIFFLE" node --config n.toml \
    > out 2>> err) & node=$!
}
run() {
  (cd origin && exec "$RIFFLE" run --config o.toml --session $1 --approve all \
    --set models.default.script=$2.toml --output jsonl go \
    > $1.jsonl 2> $1.err)
}
# Commands of `note` that live.
alive() {
  for p in /proc/[0-9]*; do
    [ "$(readlink $p/cwd 2> /dev/null)" = "$PWD/node" ] &&
      [ "$(cat $p/comm 2> /dev/null)" = sleep ] && echo $p
  done | wc -l
}
phase() {
  before=$(wc -l < node/notes)
  run $1 note & call=$!
  until [ "$(wc -l < node/notes)" -gt $before ]; do sleep 0.05; done
  $2
  wait $call; status=$?
  lives=$(alive)
  $3
  run $1-after look; echo $1 $status $lives $? >> phases
}
: > node/notes
start
down() { there ip link set v1 down; }
up() { there ip link set v1 up; }
mute() { there ip route add blackhole 10.9.1.1/32; }
unmute() { there ip route del blackhole 10.9.1.1/32; }
halt() { kill -STOP $node; }
go_on() { kill -CONT $node; }
crash() { kill -KILL $node; }
tell_to_end() { kill -TERM $node; }
phase cut down up
phase one_way mute unmute
phase stopped halt go_on
phase killed crash start
phase ended tell_to_end start
kill $node $other
wait $node
exit 0
)sh";

}  // namespace

TEST_CASE("a node on another host, cut off, stopped, killed, is back each time",
          "[torture]") {
  if (std::getenv("RIFFLE_TORTURE") == nullptr)
    return skip("RIFFLE_TORTURE is not set: a node's death takes its time");
  if (!can("unshare -rnm ip link add name v0 type veth peer name v1") ||
      !can("nsenter --version"))
    return skip("no network namespaces with two hosts here");
  const work_folder folder;
  for (const auto* name : {"node", "origin"})
    std::filesystem::create_directory(folder.path() / name);
  folder.write("node/n.toml", node_config);
  folder.write("origin/o.toml", origin_config);
  folder.write("origin/look.toml", script_of("look"));
  folder.write("origin/note.toml", script_of("note"));
  folder.write("play.sh", play);
  const auto end =
      program{"/usr/bin/unshare",
              folder,
              {"-rnm", "/usr/bin/timeout", "150", "/bin/sh", "play.sh"},
              {{"RIFFLE", installed_riffle()}}}
          .wait(200s);
  INFO(end.err << folder.read("node/err"));
  if (end.status == 77) return skip("no two hosts on a wire here");
  REQUIRE(end.status == 0);
  const auto phases = folder.lines("phases");
  REQUIRE(phases.size() == 5);
  for (const auto& line : phases) {
    CAPTURE(line);
    std::istringstream in{line};
    std::string name;
    int status = -1;
    int alive = -1;
    int after = -1;
    in >> name >> status >> alive >> after;
    CHECK(status == 0);
    CHECK(alive == 0);  // nothing acts after it was settled
    CHECK(after == 0);
    const auto results =
        of_type(checked_events(folder.read("origin/" + name + ".jsonl")),
                "tool_result");
    REQUIRE(results.size() == 1);
    // One that is told to end lets its call end.
    const auto expected = name == "ended" ? "ok" : "interrupted";
    CHECK(results[0].at("data").at("outcome") == expected);
    const auto later =
        of_type(checked_events(folder.read("origin/" + name + "-after.jsonl")),
                "tool_result");
    REQUIRE(later.size() == 1);
    CHECK(later[0].at("data").at("output") == "seen\n");
  }
  const auto notes = folder.lines("node/notes");
  CHECK(std::ranges::count(notes, "begun") == 5);
  CHECK(std::ranges::count(notes, "ended") == 1);
}
