// SPDX-License-Identifier: MIT
// Pictures and files, from the command line to the provider and back.
#include <atomic>

#include "runtime/base/media.hpp"
#include "tests/e2e/wire_servers.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

std::string picture(const std::string& what, std::size_t size = 2'000) {
  std::string out = "\x89PNG\r\n\x1a\n" + what;
  for (std::size_t i = out.size(); i < size; ++i)
    out.push_back(static_cast<char>((i * 31 + what.size()) % 251));
  return out;
}

void configure(const work_folder& folder, const std::string& url,
               const std::string& model, const std::string& more = {}) {
  const bool provided = model.find('/') != model.npos;
  folder.write(
      "riffle.toml",
      "[runtime]\ndata_dir = \"data\"\n[models.\"" + model +
          "\"]\nbase_url = \"" + url + "\"\napi_key_env = \"\"\n" +
          (provided ? ""
                    : "dialect = \"responses\"\nmodel = \"" + model + "\"\n") +
          (model.starts_with("ollama/") ? "context_window = 100000\n" : "") +
          more);
}

std::map<std::string, std::string> env_of(const work_folder& folder) {
  auto env = wire_environment();
  env["RIFFLE_CONFIG"] = (folder.path() / "riffle.toml").string();
  return env;
}

finished riffle_in(const work_folder& folder,
                   std::vector<std::string> arguments) {
  return riffle::testing::riffle(folder, std::move(arguments), env_of(folder));
}

/// All bytes below its data folder.
std::string stored(const work_folder& folder) {
  std::string all;
  for (const auto& x :
       std::filesystem::recursive_directory_iterator{folder.path() / "data"})
    // The reserve is room, and holds nothing.
    if (x.is_regular_file() && x.path().filename() != "reserve")
      all += folder.read(
          std::filesystem::relative(x.path(), folder.path()).string());
  return all;
}

constexpr const char* plain = "openai/gpt-x";

}  // namespace

TEST_CASE("what was shown is shown again, byte for byte, after kill -9") {
  for (const auto& wire : wires()) {
    if (wire.model.starts_with("deepseek/") ||
        wire.model.starts_with("cerebras/"))
      continue;  // they take text only
    INFO(wire.model);
    const work_folder folder;
    const auto mine = picture("mine");
    const auto read = picture("read");
    std::atomic<bool> killed = false;
    http_server server{[&](const http_request& request) {
      const auto body = json::parse(request.body);
      if (const auto why = wire.judge(body); !why.empty())
        return http_reply::json(json{{"error", {{"message", why}}}}.dump(),
                                400);
      const auto step = wire.step(body);
      if (step == 3 && !killed) return http_reply::sse().stall();
      return wire.reply(step);
    }};
    configure_wires(folder, server.url("/v1"), {wire.model});
    for (int i = 0; i < wire_steps; ++i)
      folder.write("f" + std::to_string(i) + ".txt",
                   i == 1 ? read : "file " + std::to_string(i) + "\n");
    folder.write("photo.dat", mine);
    program running{installed_riffle(),
                    folder,
                    {"run", "-m", wire.model, "--session", "s1", "--attach",
                     "photo.dat", "go"},
                    env_of(folder)};
    REQUIRE(server.wait_for_requests(4, std::chrono::seconds{60}));
    running.signal(SIGKILL);
    running.wait();
    killed = true;  // not before: what is asked for last is not answered
    server.release();
    // They are the session's now.
    std::filesystem::remove(folder.path() / "photo.dat");
    std::filesystem::remove(folder.path() / "f1.txt");
    const auto again =
        riffle_in(folder, {"sessions", "resume", "s1", "--output", "jsonl"});
    INFO(again.err << again.out);
    CHECK(again.status == 0);
    CHECK(of_type(checked_events(again.out), "final_answer").size() == 1);
    const auto requests = server.requests();
    REQUIRE(requests.size() == wire_steps + 2);
    check_prefixes(requests);
    for (const auto& x : requests)
      CHECK_THAT(x.body, Contains(to_base64(mine)));
    CHECK_THAT(requests[1].body, !Contains(to_base64(read)));
    for (std::size_t i = 2; i < requests.size(); ++i)
      CHECK_THAT(requests[i].body, Contains(to_base64(read)));
    // The same request once more.
    CHECK(requests[3].body == requests[4].body);
  }
}

TEST_CASE("events and sessions name what was shown, and hold none of it") {
  const work_folder folder;
  http_server server{respond_sse(calls({{"read", {{"path", "b.pdf"}}}})),
                     respond_sse(answer("seen"))};
  configure(folder, server.url("/v1"), plain);
  const auto mine = picture("mine");
  const std::string pdf = "%PDF-1.7\n" + std::string(900, 'p');
  folder.write("a.png", mine);
  folder.write("b.pdf", pdf);
  const auto x =
      riffle_in(folder, {"run", "-m", plain, "--session", "s1", "--attach",
                         "a.png", "--output", "jsonl", "look"});
  INFO(x.err);
  REQUIRE(x.status == 0);
  const auto events = checked_events(x.out);
  const auto about = [](const std::string& name, const std::string& bytes) {
    const auto y = describe_media(name, bytes).value();
    return json::array({{{"name", y.name},
                         {"type", y.type},
                         {"bytes", y.bytes},
                         {"digest", y.digest}}});
  };
  CHECK(of_type(events, "run_started")[0]["data"]["attachments"] ==
        about("a.png", mine));
  CHECK(of_type(events, "tool_result")[0]["data"]["attachments"] ==
        about("b.pdf", pdf));
  CHECK_THAT(x.out, !Contains(to_base64(mine).substr(0, 60)));
  const auto shown = riffle_in(folder, {"sessions", "show", "s1"});
  CHECK_THAT(shown.out,
             Contains("[attached] a.png (image/png, 2.0 KiB)") &&
                 Contains("[attached] b.pdf (application/pdf, 909 B)"));
  const auto whole = json::parse(
      riffle_in(folder, {"sessions", "show", "s1", "--output", "json"}).out);
  CHECK(whole["messages"][0]["attachments"] == about("a.png", mine));
  CHECK(whole["messages"][1]["calls"][0]["attachments"] == about("b.pdf", pdf));
  CHECK_THAT(stored(folder), Contains(mine.substr(8, 500)));
  REQUIRE(riffle_in(folder, {"sessions", "delete", "s1"}).status == 0);
  CHECK_THAT(stored(folder),
             !Contains(mine.substr(8, 500)) && !Contains(pdf.substr(20, 500)));
}

TEST_CASE("two turns show the same picture, and it is stored once") {
  const work_folder folder;
  http_server server{
      [](const http_request&) { return respond_sse(answer("seen")); }};
  configure(folder, server.url("/v1"), plain);
  const auto mine = picture("mine", 1'000'000);
  folder.write("a.png", mine);
  folder.write("b.png", mine);
  for (int i = 0; i < 2; ++i)
    CHECK(riffle_in(folder, {"run", "-m", plain, "--session", "s1", "--attach",
                             "a.png", "--attach", "b.png", "look"})
              .status == 0);
  CHECK(stored(folder).size() < 1'900'000);
  const auto all = json::parse(server.requests().at(1).body).at("messages");
  CHECK(all.back().at("content").size() == 3);
}

TEST_CASE("a person is told what a model that takes over does not see") {
  const work_folder folder;
  http_server server{
      [](const http_request&) { return respond_sse(answer("seen")); }};
  configure(folder, "http://127.0.0.1:1/v1", plain,
            "attachments = [\"images\", \"pdf\"]\nfallback = [\"vllm/x\"]\n"
            "[models.\"vllm/x\"]\nbase_url = \"" +
                server.url("/v1") + "\"\n");
  folder.write("a.png", picture("a"));
  folder.write("c.pdf", "%PDF-1.7");
  const auto x = riffle_in(folder, {"run", "-m", plain, "--attach", "a.png",
                                    "--attach", "c.pdf", "look"});
  CHECK(x.status == 0);
  CHECK_THAT(x.err,
             Contains("vllm/x is asked instead, and does not see c.pdf") &&
                 !Contains("c.pdf, a.png"));
}

TEST_CASE("what cannot be shown is said before anything starts") {
  const work_folder folder;
  http_server server{
      [](const http_request&) { return respond_sse(answer("seen")); }};
  std::string model = plain;
  std::string more;
  std::vector<std::string> files{"a.png"};
  std::string wanted;
  folder.write("a.png", picture("a"));
  folder.write("b.png", picture("b"));
  folder.write("c.pdf", "%PDF-1.7");
  folder.write("text.png", "no picture");
  SECTION("a file that is missing") {
    files = {"nowhere.png"};
    wanted = "nowhere.png cannot be read";
  }
  SECTION("a folder") {
    files = {"."};
    wanted = "is a folder";
  }
  SECTION("a text with the name of a picture") {
    files = {"text.png"};
    wanted = "is no picture (png, jpeg, gif, webp) and no PDF";
  }
  SECTION("one that is too large") {
    more = "[attachments]\nmax_file_bytes = 1999\n";
    wanted = "attachments.max_file_bytes";
  }
  SECTION("two that are too much together") {
    files = {"a.png", "b.png"};
    more = "[attachments]\nmax_total_bytes = 3999\n";
    wanted = "attachments.max_total_bytes";
  }
  SECTION("a provider that takes text only") {
    model = "deepseek/ds-x";
    wanted = "takes text only";
  }
  SECTION("a PDF for a dialect without a place for it") {
    model = "ollama/qwen-x";
    files = {"c.pdf"};
    wanted = "pictures only";
  }
  SECTION("a model whose table says that it takes none") {
    more = "attachments = []\n";
    wanted = "takes text only";
  }
  configure(folder, server.url("/v1"), model, more);
  std::vector<std::string> arguments{"run", "-m", model, "--session", "s1"};
  for (const auto& x : files) {
    arguments.emplace_back("--attach");
    arguments.push_back(x);
  }
  arguments.emplace_back("look");
  const auto x = riffle_in(folder, arguments);
  CHECK(x.status == 2);
  CHECK_THAT(x.err, Contains(wanted));
  CHECK(server.request_count() == 0);
  CHECK(riffle_in(folder, {"sessions", "show", "s1"}).status == 2);
}

TEST_CASE("tasks of a file have their own pictures") {
  const work_folder folder;
  http_server server{
      [](const http_request&) { return respond_sse(answer("seen")); }};
  configure(folder, server.url("/v1"), plain);
  folder.write("a.png", picture("a"));
  folder.write("tasks.txt",
               "{\"task\": \"one\", \"attachments\": [\"a.png\"]}\ntwo\n");
  const auto x =
      riffle_in(folder, {"run", "-m", plain, "--tasks-file", "tasks.txt"});
  INFO(x.err);
  CHECK(x.status == 0);
  std::size_t shown = 0;
  for (const auto& request : server.requests())
    if (request.body.find(to_base64(picture("a"))) != std::string::npos)
      ++shown;
  CHECK(shown == 1);
  folder.write("tasks.txt",
               "{\"task\": \"one\", \"attachments\": [\"b.png\"]}\ntwo\n");
  const auto y =
      riffle_in(folder, {"run", "-m", plain, "--tasks-file", "tasks.txt"});
  CHECK(y.status == 2);
  CHECK_THAT(y.err, Contains("b.png"));
}

TEST_CASE("a picture comes out of a tool's own process") {
  const work_folder folder;
  http_server server{respond_sse(calls({{"read", {{"path", "a.png"}}}})),
                     respond_sse(answer("seen"))};
  configure(folder, server.url("/v1"), plain,
            "[tools.read]\nisolation = \"process\"\n");
  const auto mine = picture("a", 3'000'000);
  folder.write("a.png", mine);
  const auto x = riffle_in(folder, {"run", "-m", plain, "look"});
  INFO(x.err);
  CHECK(x.status == 0);
  CHECK_THAT(server.requests().at(1).body, Contains(to_base64(mine)));
}
