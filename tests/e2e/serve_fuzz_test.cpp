// SPDX-License-Identifier: MIT
// `riffle serve` against requests of all its routes that were damaged at
// random: whatever comes, it answers in form or hangs up, and serves on.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>

#include "tests/e2e/http_document.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/repetitions.hpp"
#include "tests/support/seed.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::vector<std::string> header_lines = {
    "Accept: text/event-stream",
    "Accept: application/x-ndjson",
    "Accept: application/json;q=0",
    "Accept-Encoding: gzip",
    "Connection: close",
    "Connection: keep-alive, Upgrade",
    "Content-Encoding: gzip",
    "Cookie: a=b; riffle=x.1.y",
    "Expect: 100-continue",
    "Host: other.example",
    "Idempotency-Key: k",
    "If-None-Match: *",
    "Last-Event-ID: 3",
    "Last-Event-ID: 18446744073709551616",
    "Origin: https://other.example",
    "Range: bytes=0-0",
    "Range: bytes=5-2,-0,9999999999999999999-",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: gzip, chunked",
    "Upgrade: websocket",
    "X-Forwarded-For: 1.2.3.4",
    "X-Forwarded-Proto: https"};

const std::vector<std::string> pieces = {"\r\n",      "\n",
                                         "\r",        "\r\n\r\n",
                                         ":",         " ",
                                         "\t",        std::string(1, '\0'),
                                         "%00",       "%2F",
                                         "%",         "?",
                                         "#",         "..",
                                         "//",        "&after=",
                                         "=",         ",",
                                         "{",         "[",
                                         "\"",        "\\u0",
                                         "-1",        "1e999",
                                         "null",      "\xff",
                                         "\xc3",      "HTTP/1.0",
                                         "HTTP/2.0",  "9999999999999999999",
                                         "0\r\n\r\n", "ffffffffffffffff\r\n"};

class damaged_requests {
 public:
  damaged_requests(const http_document& doc, std::string token,
                   const std::vector<std::string>& names, unsigned seed)
      : token_{std::move(token)}, random_{seed} {
    for (const auto& name : names)
      for (auto& x : doc.operations(name)) {
        bodies_.push_back(bodies_of(doc, x));
        all_.push_back(std::move(x));
      }
  }

  std::string next() {
    auto out = whole();
    if (random_.chance(0.1)) out += whole();  // one behind the other
    for (auto n = random_.below(5); n > 0; --n) damage(out);
    return out;
  }
  /// Where it is cut for the way.
  std::size_t piece_of(std::size_t size) {
    return random_.chance(0.7) ? size : 1 + random_.below(size);
  }

 private:
  static std::vector<std::string> bodies_of(const http_document& doc,
                                            const http_operation& x) {
    std::vector<std::string> out;
    if (x.body.is_null()) return out;
    out.push_back(doc.sample(x.body).dump());
    for (const auto& one : doc.misfits(x.body)) out.push_back(one.dump());
    return out;
  }

  std::string whole() {
    const auto i = random_.below(all_.size());
    auto out = all_[i].method + " " + all_[i].path;
    if (random_.chance(0.2)) out += "?after=1&limit=2&state=active";
    out += " HTTP/1.1\r\nHost: localhost\r\n";
    if (random_.chance(0.9)) out += "Authorization: Bearer " + token_ + "\r\n";
    for (auto n = random_.below(3); n > 0; --n)
      out += header_lines[random_.below(header_lines.size())] + "\r\n";
    std::string body;
    if (!bodies_[i].empty())
      body = bodies_[i][random_.below(bodies_[i].size())];
    if (!body.empty() || random_.chance(0.1))
      out += "Content-Type: application/json\r\nContent-Length: " +
             std::to_string(body.size()) + "\r\n";
    return out + "\r\n" + body;
  }

  void damage(std::string& x) {
    const auto at = random_.below(x.size() + 1);
    const auto rest = x.size() - at;
    switch (random_.below(6)) {
      case 0: x.insert(at, pieces[random_.below(pieces.size())]); break;
      case 1:
        x.erase(at, random_.below(std::min<std::size_t>(rest, 20) + 1));
        break;
      case 2: x.insert(at, x.substr(at, random_.below(rest + 1))); break;
      case 3:
        if (rest > 0) x[at] = static_cast<char>(random_.below(256));
        break;
      case 4: x.resize(at); break;
      default: x.insert(at, random_.below(300), 'a'); break;
    }
  }

  std::string token_;
  random_values random_;
  std::vector<http_operation> all_;
  std::vector<std::vector<std::string>> bodies_;
};

/// What a socket gives back until it ends, or a stream begins.
std::string answer_to(const raw_client& client) {
  std::string all;
  while (!client.ended()) {
    const auto more = client.read(2s);
    if (more.empty() && !client.ended()) break;
    all += more;
    if (all.find("text/event-stream") != std::string::npos ||
        all.find("application/x-ndjson") != std::string::npos)
      break;
  }
  return all;
}

int status_of(const std::string& answer) {
  int out = 0;
  if (answer.starts_with("HTTP/1.") && answer.size() > 12)
    std::from_chars(answer.data() + 9, answer.data() + 12, out);
  return out;
}

bool is_expected(int status) {
  constexpr std::array known{100, 200, 202, 204, 206, 304, 400, 401, 403, 404,
                             405, 406, 408, 409, 410, 413, 414, 415, 416, 417,
                             421, 422, 428, 429, 431, 501, 503, 505};
  return std::ranges::find(known, status) != known.end();
}

/// How long: of $RIFFLE_FUZZ_SECONDS; else so many requests.
class measure_of_fuzz {
 public:
  [[nodiscard]] bool more(int done) const {
    if (seconds_ == nullptr) return done < repetitions(1500, 20'000, 200'000);
    return std::chrono::steady_clock::now() - begin_ <
           std::chrono::seconds{std::atoi(seconds_)};
  }

 private:
  const char* seconds_ = std::getenv("RIFFLE_FUZZ_SECONDS");
  std::chrono::steady_clock::time_point begin_ =
      std::chrono::steady_clock::now();
};

}  // namespace

TEST_CASE("damaged requests are answered in form, and the server serves on") {
  const work_folder folder;
  write_server(folder, "[[steps]]\ntext = \"Done.\"\n",
               "[server]\nrequest_timeout = \"1s\"\n[server.limits]\n"
               "requests_per_second = 0\nruns = 4\n");
  served server{folder};
  const auto who = server.user();
  const std::string run =
      who.post("/v1/runs", {{"task", "x"}}).json()["run_id"];
  await_end(who, run);
  damaged_requests all{http_document{who.get("/openapi.json").json()},
                       who.token(),
                       {"some", run},
                       fresh_seed()};
  int done = 0;
  int answered = 0;
  for (const measure_of_fuzz how_long; how_long.more(done); ++done) {
    const auto bytes = all.next();
    const raw_client client{server.port()};
    for (std::size_t at = 0; at < bytes.size();) {
      const auto n = all.piece_of(bytes.size() - at);
      client.send(std::string_view{bytes}.substr(at, n));
      at += n;
    }
    client.half_close();
    const auto answer = answer_to(client);
    if (answer.empty()) continue;
    ++answered;
    const auto status = status_of(answer);
    if (!is_expected(status)) FAIL_CHECK(bytes << "\n---\n" << answer);
    if (done % 500 == 0) REQUIRE(who.get("/healthz").status == 200);
  }
  std::printf("%d damaged requests, %d answered\n", done, answered);
  CHECK(answered > done / 3);
  CHECK(who.get("/healthz").status == 200);
  CHECK(who.get("/v1/runs/" + run).json()["answer"] == "Done.");
  CHECK_FALSE(server.process().has_ended());
}
