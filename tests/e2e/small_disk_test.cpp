// SPDX-License-Identifier: MIT
// The real program on a small disk of its own: what it keeps there, and how
// room is made on it again.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

bool can_mount() { return can("unshare -rm mount -t tmpfs none /mnt"); }

/// A shell line with the program, on a disk of that size at `data`.
finished on_disk(const work_folder& folder, const std::string& size,
                 const std::string& line) {
  return program{"/usr/bin/unshare",
                 folder,
                 {"-rm", "/bin/sh", "-c",
                  "mkdir data && mount -t tmpfs -o size=" + size +
                      ",mode=700 none data && " + line},
                 {{"RIFFLE", installed_riffle()}}}
      .wait(120s);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "an output that would fill the disk is not kept, its call ends well") {
  if (!can_mount()) return skip("no tmpfs can be mounted here (unshare -rm)");
  const work_folder folder;
  // One that fits, but leaves nothing to the journal; one that does not fit.
  const auto bytes = GENERATE(3'100'000, 3'300'000, 20'000'000);
  CAPTURE(bytes);
  const auto command = "head -c " + std::to_string(bytes) +
                       " /dev/zero | tr '\\0' x; echo the end";
  http_server server{[command](const http_request& request) {
    if (!tool_messages(request).empty())
      return respond_sse(answer("It is done."));
    return respond_sse(calls({{"bash", {{"command", command}}}}));
  }};
  folder.configure(server.url("/v1"));
  const auto end =
      on_disk(folder, "4m",
              "\"$RIFFLE\" run go --session s1 --approve all --output jsonl; "
              "code=$?; ls data/outputs > left; exit $code");
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK_FALSE(has(end.err, "waiting for room"));
  const auto events = checked_events(end.out);
  const auto results = of_type(events, "tool_result");
  REQUIRE(results.size() == 1);
  const auto& result = results[0].at("data");
  CHECK(result.at("outcome") == "ok");
  const auto& about = result.at("metadata");
  CHECK(about.at("truncated") == true);
  CHECK(about.at("whole_kept") == false);
  CHECK(has(about.at("whole_lost"), "left free"));
  CHECK(folder.read("left").empty());
}

TEST_CASE("on a full disk sessions are listed, and deleted") {
  if (!can_mount()) return skip("no tmpfs can be mounted here (unshare -rm)");
  const work_folder folder;
  http_server server{[](const http_request& request) {
    if (!tool_messages(request).empty())
      return respond_sse(answer("It is done."));
    return respond_sse(calls(
        {{"bash", {{"command", "head -c 500000 /dev/zero | tr '\\0' x"}}}}));
  }};
  folder.configure(server.url("/v1"));
  const std::string run = "\"$RIFFLE\" run --approve all --session ";
  const std::string line =
      run + "s1 one > first && " + run +
      "s2 two > second && "
      "{ dd if=/dev/zero of=data/filler bs=4096 2> /dev/null; "
      "dd if=/dev/zero of=data/more bs=1 2> /dev/null; ls data > before; "
      "\"$RIFFLE\" sessions list > list; echo $? > status; "
      "\"$RIFFLE\" sessions show s1 > show; echo $? >> status; "
      "\"$RIFFLE\" proposals list > asked; echo $? >> status; "
      "\"$RIFFLE\" sessions delete s1 > gone; echo $? >> status; "
      "\"$RIFFLE\" sessions list > after; echo $? >> status; "
      "rm data/filler data/more; \"$RIFFLE\" sessions list > last; "
      "echo $? >> status; ls data > kept; }";
  const auto end = on_disk(folder, "8m", line);
  INFO(end.err << folder.read("before"));
  CHECK(folder.lines("status") ==
        std::vector<std::string>{"0", "0", "0", "0", "0", "0"});
  CHECK(has(folder.read("list"), "s1"));
  CHECK(has(folder.read("show"), "It is done."));
  for (const auto* name : {"after", "last"}) {
    CHECK_FALSE(has(folder.read(name), "s1"));
    CHECK(has(folder.read(name), "s2"));
  }
  // There is room again: it is set aside for the next time.
  CHECK(has(folder.read("kept"), "reserve"));
}

TEST_CASE(
    "a disk without room for a reserve works, lists, and says what to do") {
  if (!can_mount()) return skip("no tmpfs can be mounted here (unshare -rm)");
  const work_folder folder;
  http_server server{
      [](const http_request&) { return respond_sse(answer("It is done.")); }};
  folder.configure(server.url("/v1"));
  // Under 4 MiB nothing is set aside; the run takes what it needs.
  const std::string line =
      "\"$RIFFLE\" run --session s1 one > first && ls data > before && "
      "{ dd if=/dev/zero of=data/filler bs=4096 2> /dev/null; "
      "dd if=/dev/zero of=data/more bs=1 2> /dev/null; "
      "\"$RIFFLE\" sessions list > list; echo $? > status; "
      "\"$RIFFLE\" sessions delete s1 > gone 2> why; echo $? >> status; "
      "\"$RIFFLE\" sessions list > still; echo $? >> status; "
      "rm data/filler data/more; "
      "\"$RIFFLE\" sessions delete s1 > gone; echo $? >> status; "
      "\"$RIFFLE\" sessions list > last; echo $? >> status; }";
  const auto end = on_disk(folder, "3m", line);
  INFO(end.err << folder.read("why"));
  CHECK(has(folder.read("first"), "It is done."));
  CHECK_FALSE(has(folder.read("before"), "reserve"));
  CHECK(folder.lines("status") ==
        std::vector<std::string>{"0", "1", "0", "0", "0"});
  CHECK(has(folder.read("list"), "s1"));
  CHECK(has(folder.read("still"), "s1"));
  CHECK(has(folder.read("why"), "full"));
  CHECK_FALSE(has(folder.read("last"), "s1"));
}

TEST_CASE("a disk that others fill while a run works is waited for") {
  if (!can_mount()) return skip("no tmpfs can be mounted here (unshare -rm)");
  const auto size = GENERATE("3m", "12m");  // without a reserve, and with one
  CAPTURE(size);
  const work_folder folder;
  // The call is another's: it takes all that is left, the reserve apart.
  http_server server{[](const http_request& request) {
    if (!tool_messages(request).empty())
      return respond_sse(answer("It is done. " + std::string(200'000, 'x')));
    return respond_sse(
        calls({{"bash",
                {{"command",
                  "dd if=/dev/zero of=data/filler bs=4096 2> /dev/null; "
                  "dd if=/dev/zero of=data/more bs=1 2> /dev/null; true"}}}}));
  }};
  folder.configure(server.url("/v1"));
  const std::string line =
      "{ until grep -q 'waiting for room' err; do sleep 0.1; "
      "test -e over && exit; done; rm data/filler data/more; } & "
      "\"$RIFFLE\" run go --session s1 --approve all --output jsonl 2> err; "
      "code=$?; touch over; wait; \"$RIFFLE\" sessions events s1 > log; "
      "exit $code";
  const auto end = on_disk(folder, size, line);
  INFO(folder.read("err"));
  CHECK(end.status == 0);
  CHECK(has(folder.read("err"), "waiting for room"));
  CHECK(has(folder.read("err"), "there is room again"));
  CHECK(of_type(checked_events(end.out), "run_finished").size() == 1);
  CHECK(folder.read("log") == end.out);
}
