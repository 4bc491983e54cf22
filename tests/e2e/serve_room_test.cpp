// SPDX-License-Identifier: MIT
// `riffle serve` where the machine fails it: no room, a peer that is gone.
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sys/resource.h>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

const std::string script = "[[steps]]\ntext = \"Done.\"\n";

/// Two hosts on a wire: the server's and, in the namespace of `$other`, the
/// client's. The wire breaks, and nobody says a word.
const std::string dead_peer = R"sh(
ip link set lo up && ip link add name v0 type veth peer name v1 || exit 77
unshare -n sleep 300 & other=$!
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]
do sleep 0.05; done
ip link set v1 netns $other || exit 77
ip addr add 10.9.0.1/24 dev v0 && ip link set v0 up
nsenter -t $other -n ip addr add 10.9.0.2/24 dev v1
nsenter -t $other -n ip link set v1 up
"$RIFFLE" serve --config riffle.toml --listen 10.9.0.1:7433 > out 2> err &
server=$!
until curl -s http://10.9.0.1:7433/readyz | grep -q ready; do sleep 0.1; done
auth="Authorization: Bearer $(cat data/server/token)"
nsenter -t $other -n curl -sN -H "$auth" http://10.9.0.1:7433/v1/events > heard &
until grep -q retry heard; do sleep 0.1; done
streams() {
  curl -s -H "$auth" http://10.9.0.1:7433/metrics |
    sed -n 's/^riffle_streams //p'
}
until [ "$(streams)" = 1 ]; do sleep 0.1; done
nsenter -t $other -n ip link set v1 down
begin=$(date +%s)
until [ "$(streams)" = 0 ]; do sleep 0.2; done
echo $(($(date +%s) - begin)) > gone
kill $server $other
wait $server
)sh";

/// Seconds until a peer was found to be gone.
int seconds_until_found(const std::string& keys) {
  const work_folder folder;
  write_server(folder, script, keys);
  folder.write("play.sh", dead_peer);
  const auto end =
      program{"/usr/bin/unshare",
              folder,
              {"-rnm", "/usr/bin/timeout", "100", "/bin/sh", "play.sh"},
              {{"RIFFLE", installed_riffle()}}}
          .wait(120s);
  INFO(end.err << folder.read("err"));
  if (end.status == 77) return -1;
  const auto text = folder.read("gone");
  REQUIRE_FALSE(text.empty());
  return std::stoi(text);
}

bool has_hosts() {
  return can("unshare -rnm ip link add name v0 type veth peer name v1") &&
         can("curl --version") && can("nsenter --version");
}

}  // namespace

TEST_CASE("a peer that is gone without a word is found by the kernel's limit") {
  if (!has_hosts()) return skip("no network namespaces with two hosts here");
  const auto took = seconds_until_found(
      "[server]\nheartbeat = \"1s\"\nstall_timeout = \"2s\"\n");
  CHECK(took >= 1);
  CHECK(took <= 10);
}

TEST_CASE("a peer that is gone without a word is found within a minute",
          "[torture]") {
  if (std::getenv("RIFFLE_TORTURE") == nullptr)
    return skip("RIFFLE_TORTURE is not set: it takes a minute");
  if (!has_hosts()) return skip("no network namespaces with two hosts here");
  const auto took = seconds_until_found("");
  CHECK(took >= 10);
  CHECK(took <= 65);
}

TEST_CASE("a server without room says that it is not ready, and is again") {
  if (!can("unshare -rm mount -t tmpfs none /mnt"))
    return skip("no tmpfs can be mounted here (unshare -rm)");
  const work_folder folder;
  write_server(folder, script);
  program server{
      "/usr/bin/unshare",
      folder,
      {"-rm", "/bin/sh", "-c",
       "mkdir data && mount -t tmpfs -o size=3m,mode=700 none data && "
       "exec \"$RIFFLE\" serve --config riffle.toml --listen 127.0.0.1:0"},
      {{"RIFFLE", installed_riffle()}}};
  std::uint16_t port = 0;
  REQUIRE(eventually([&] {
    const auto out = server.out();
    const auto at = out.find("://127.0.0.1:");
    if (at == std::string::npos || out.find('\n', at) == std::string::npos)
      return server.has_ended();
    std::from_chars(out.data() + at + 13, out.data() + out.size(), port);
    return true;
  }));
  INFO(server.err());
  const http_user who{port, ""};
  CHECK(who.get("/readyz").body == "ready\n");
  const auto filler = "/proc/" + std::to_string(server.pid()) + "/root" +
                      (folder.path() / "data" / "filler").string();
  {
    std::ofstream out{filler, std::ios::binary};
    const std::string page(4096, 'x');
    while (out.write(page.data(), 4096).flush()) {
    }
  }
  // It looks anew once a second.
  CHECK(eventually([&] { return who.get("/readyz").body == "full\n"; }));
  CHECK(who.get("/readyz").status == 503);
  CHECK(who.get("/healthz").status == 200);
  REQUIRE(std::remove(filler.c_str()) == 0);
  CHECK(eventually([&] { return who.get("/readyz").body == "ready\n"; }));
  server.signal(SIGTERM);
  CHECK(server.wait().status == 0);
}

TEST_CASE("a server whose journal takes no write says so, until it does") {
  const work_folder folder;
  write_server(folder, script);
  served server{folder};
  const auto who = server.user();
  // Each look is one of its own, a second after the one before.
  const auto becomes = [&](const std::string& word) {
    return eventually([&] { return who.get("/readyz").body == word + "\n"; });
  };
  CHECK(becomes("ready"));
  const auto pid = server.process().pid();
  rlimit before{};
  REQUIRE(::prlimit(pid, RLIMIT_FSIZE, nullptr, &before) == 0);
  rlimit none = before;
  none.rlim_cur = 4096;
  REQUIRE(::prlimit(pid, RLIMIT_FSIZE, &none, nullptr) == 0);
  CHECK(becomes("unwritable"));
  CHECK(who.get("/readyz").status == 503);
  CHECK(who.post("/v1/runs", {{"task", "x"}}).status == 503);
  REQUIRE(::prlimit(pid, RLIMIT_FSIZE, &before, nullptr) == 0);
  CHECK(becomes("ready"));
  CHECK(who.post("/v1/runs", {{"task", "x"}}).status == 202);
}

TEST_CASE("a server whose agents have no model with its key is unconfigured") {
  const work_folder folder;
  const auto word = [&](const std::map<std::string, std::string>& env) {
    served server{folder, {}, env};
    const auto x = server.user("").get("/readyz");
    CHECK(x.status == (x.body == "ready\n" ? 200 : 503));
    return x.body;
  };
  const std::string model =
      "[models.default]\ndialect = \"openai\"\nmodel = \"m\"\n"
      "base_url = \"https://models.example/v1\"\napi_key_env = \"ITS_KEY\"\n";
  folder.write("riffle.toml", "[runtime]\ndata_dir = \"data\"\n" + model);
  CHECK(word({}) == "unconfigured\n");
  CHECK(word({{"ITS_KEY", "a-key-of-this-test"}}) == "ready\n");
}
