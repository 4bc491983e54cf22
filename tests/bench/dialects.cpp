// SPDX-License-Identifier: MIT
// What a chunk costs in each dialect: a1 (one stream of 20,000 chunks) and a2
// (a hundred of 500), unpaced, in memory. The server is a process of its own,
// forked first; CPU time is that of this one. One line of JSON for each case.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/api/riffle.hpp"

namespace {

using nlohmann::json;

constexpr std::array dialects{"openai", "anthropic", "responses", "ollama"};

// -- the server ---------------------------------------------------------------

std::string event(const json& x) {
  return "event: " + x.at("type").get<std::string>() + "\ndata: " + x.dump() +
         "\n\n";
}

/// The text of a chunk, as servers cut it: 2 to 9 bytes.
std::string word(int i) {
  return " " + std::string(1 + static_cast<std::size_t>(i * 5 % 8),
                           static_cast<char>('a' + i % 26));
}

std::string openai_chunk(const json& delta, const json& finish) {
  return "data: " +
         json{{"id", "chatcmpl-AbCdEfGhIjKlMnOpQrStUvWx"},
              {"object", "chat.completion.chunk"},
              {"created", 1760000000},
              {"model", "mock"},
              {"system_fingerprint", "fp_0123456789"},
              {"choices",
               {{{"index", 0},
                 {"delta", delta},
                 {"logprobs", nullptr},
                 {"finish_reason", finish}}}}}
             .dump() +
         "\n\n";
}

std::vector<std::string> openai(int tokens) {
  std::vector<std::string> out{
      openai_chunk({{"role", "assistant"}, {"content", ""}}, nullptr)};
  for (int i = 0; i < tokens; ++i)
    out.push_back(openai_chunk({{"content", word(i)}}, nullptr));
  out.push_back(openai_chunk(json::object(), "stop"));
  out.emplace_back("data: [DONE]\n\n");
  return out;
}

std::vector<std::string> anthropic(int tokens) {
  std::vector<std::string> out{
      event({{"type", "message_start"},
             {"message",
              {{"id", "msg_0123456789"},
               {"role", "assistant"},
               {"usage", {{"input_tokens", 9}, {"output_tokens", 1}}}}}}),
      event({{"type", "content_block_start"},
             {"index", 0},
             {"content_block", {{"type", "text"}, {"text", ""}}}})};
  for (int i = 0; i < tokens; ++i)
    out.push_back(
        event({{"type", "content_block_delta"},
               {"index", 0},
               {"delta", {{"type", "text_delta"}, {"text", word(i)}}}}));
  out.push_back(event({{"type", "content_block_stop"}, {"index", 0}}));
  out.push_back(event({{"type", "message_delta"},
                       {"delta", {{"stop_reason", "end_turn"}}},
                       {"usage", {{"output_tokens", tokens}}}}));
  out.push_back(event({{"type", "message_stop"}}));
  return out;
}

std::vector<std::string> responses(int tokens) {
  std::vector<std::string> out;
  const auto add = [&](json x) {
    x["sequence_number"] = out.size();
    out.push_back(event(x));
  };
  add({{"type", "response.created"}, {"response", {{"id", "resp_01"}}}});
  add({{"type", "response.output_item.added"},
       {"output_index", 0},
       {"item",
        {{"type", "message"},
         {"id", "msg_0123456789abcdef"},
         {"role", "assistant"},
         {"content", json::array()}}}});
  for (int i = 0; i < tokens; ++i)
    add({{"type", "response.output_text.delta"},
         {"item_id", "msg_0123456789abcdef"},
         {"output_index", 0},
         {"content_index", 0},
         {"delta", word(i)},
         {"logprobs", json::array()}});
  add({{"type", "response.completed"},
       {"response",
        {{"status", "completed"},
         {"usage", {{"input_tokens", 9}, {"output_tokens", tokens}}}}}});
  return out;
}

std::vector<std::string> ollama(int tokens) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& text, bool done) {
    json x = {{"model", "mock"},
              {"created_at", "2026-11-01T12:00:00.123456789Z"},
              {"message", {{"role", "assistant"}, {"content", text}}},
              {"done", done}};
    if (done) x["done_reason"] = "stop";
    out.push_back(x.dump() + "\n");
  };
  for (int i = 0; i < tokens; ++i) add(word(i), false);
  add("", true);
  return out;
}

/// A whole answer, each event a chunk of HTTP's.
std::string answer_to(const std::string& target) {
  const auto tokens = std::atoi(target.c_str() + 1);
  const auto has = [&](const char* x) { return target.find(x) != target.npos; };
  const auto events = has("/api/chat")    ? ollama(tokens)
                      : has("/messages")  ? anthropic(tokens)
                      : has("/responses") ? responses(tokens)
                                          : openai(tokens);
  std::string out = "HTTP/1.1 200 OK\r\ncontent-type: ";
  out += has("/api/chat") ? "application/x-ndjson" : "text/event-stream";
  out += "\r\ntransfer-encoding: chunked\r\n\r\n";
  std::array<char, 16> size{};
  for (const auto& x : events) {
    std::snprintf(size.data(), size.size(), "%zx\r\n", x.size());
    out += size.data() + x + "\r\n";
  }
  return out + "0\r\n\r\n";
}

bool send_all(int to, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::send(to, text.data(), text.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// Requests of one connection, one after the other.
void talk(int with, std::map<std::string, std::string>& made,
          std::mutex& mutex) {
  std::string in;
  std::array<char, 65536> buffer{};
  for (;;) {
    const auto end = in.find("\r\n\r\n");
    const auto at = in.find("ontent-Length: ");
    const auto body = end == in.npos || at > end
                          ? 0u
                          : std::strtoul(&in[at + 15], nullptr, 10);
    if (end != in.npos && in.size() >= end + 4 + body) {
      const auto begin = in.find(' ') + 1;
      const auto target = in.substr(begin, in.find(' ', begin) - begin);
      in.erase(0, end + 4 + body);
      std::unique_lock lock{mutex};
      auto& answer = made[target];
      if (answer.empty()) answer = answer_to(target);
      lock.unlock();
      if (!send_all(with, answer)) break;
      continue;
    }
    const auto n = ::recv(with, buffer.data(), buffer.size(), 0);
    if (n <= 0) break;
    in.append(buffer.data(), static_cast<std::size_t>(n));
  }
  ::close(with);
}

[[noreturn]] void serve(int listener) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::map<std::string, std::string> made;
  std::mutex mutex;
  for (;;) {
    const int one = ::accept(listener, nullptr, nullptr);
    if (one < 0) std::_Exit(1);
    std::thread{[one, &made, &mutex] { talk(one, made, mutex); }}.detach();
  }
}

/// Its port.
int start_server() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* address = reinterpret_cast<sockaddr*>(&at);
  if (::bind(listener, address, size) != 0 || ::listen(listener, 256) != 0 ||
      ::getsockname(listener, address, &size) != 0)
    std::abort();
  if (::fork() == 0) serve(listener);
  ::close(listener);
  return ntohs(at.sin_port);
}

// -- the client ---------------------------------------------------------------

std::int64_t cpu_us() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1'000'000LL +
         u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

riffle::config::config make_config(const std::string& dialect, int port,
                                   int tokens) {
  riffle::config::config c;
  auto& m = c.models["default"];
  m.dialect = dialect;
  m.base_url =
      "http://127.0.0.1:" + std::to_string(port) + "/" + std::to_string(tokens);
  m.model = "mock";
  m.api_key_env = "";
  m.retry.max_attempts = 1;
  m.max_concurrent = 0;
  auto& a = c.agents["default"];
  a.tools.clear();
  a.system_prompt.clear();
  c.publish.batching = "token";
  c.runtime.log.level = "error";
  return c;
}

/// CPU µs a chunk; -1: something failed.
double play(riffle::runtime& runtime, int runs, int tokens) {
  std::atomic<std::int64_t> chunks = 0;
  const auto before = cpu_us();
  std::vector<riffle::run> all;
  for (int i = 0; i < runs; ++i) {
    riffle::run_request request;
    request.task = "go";
    auto run = runtime.start(
        std::move(request),
        [&, buffer = std::string{}](const riffle::event_batch& batch) mutable {
          std::int64_t n = 0;
          batch.for_each([&](const riffle::event_view& x) {
            n += x.text(buffer).empty() ? 0 : 1;
          });
          chunks += n;
        });
    if (!run) return -1;
    all.push_back(std::move(*run));
  }
  const bool ok = std::ranges::all_of(all, [](auto& run) {
    const auto end = run.wait(std::chrono::minutes{5});
    return end && end->status == riffle::events::run_status::completed;
  });
  const auto want = std::int64_t{runs} * tokens;
  if (!ok || chunks != want) return -1;
  return static_cast<double>(cpu_us() - before) / static_cast<double>(want);
}

struct load {
  const char* name;
  int runs;
  int tokens;
};

double measure(const std::string& dialect, int port, const load& x) {
  riffle::runtime_options options;
  options.journal = riffle::storage::make_memory_journal();
  auto made = riffle::runtime::create(make_config(dialect, port, x.tokens),
                                      std::move(options));
  if (!made) return -1;
  play(*made, 1, x.tokens);  // warm
  return play(*made, x.runs, x.tokens);
}

}  // namespace

int main(int argc, char** argv) {
  const int port = start_server();
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  for (const auto& x : {load{"a1", 1, 20'000}, load{"a2", 100, 500}}) {
    std::map<std::string, std::vector<double>> all;
    for (int i = 0; i < rounds; ++i)  // interleaved
      for (const auto* dialect : dialects)
        all[dialect].push_back(measure(dialect, port, x));
    for (auto& [dialect, y] : all) std::ranges::sort(y);
    const auto middle = [&](const char* dialect) {
      return all[dialect][all[dialect].size() / 2];
    };
    for (const auto* dialect : dialects)
      std::cout << json{{"measure", x.name},
                        {"dialect", dialect},
                        {"ok", all[dialect].front() > 0},
                        {"cpu_us_per_chunk", middle(dialect)},
                        {"lowest", all[dialect].front()},
                        {"highest", all[dialect].back()},
                        {"times_openai", middle(dialect) / middle("openai")}}
                       .dump()
                << std::endl;
  }
  return 0;
}
