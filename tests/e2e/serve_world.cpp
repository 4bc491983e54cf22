// SPDX-License-Identifier: MIT
#include "tests/e2e/serve_world.hpp"

#include <arpa/inet.h>
#include <charconv>
#include <memory>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

#include <curl/curl.h>

#include "runtime/base/digest.hpp"
#include "tests/e2e/http_answers.hpp"
#include "tests/support/catch.hpp"

namespace riffle::testing {

namespace {

using namespace std::chrono_literals;

std::size_t append(char* bytes, std::size_t, std::size_t size, void* to) {
  static_cast<std::string*>(to)->append(bytes, size);
  return size;
}

/// The body of a response, chunks joined; what is cut off is left out.
std::string body_of(const std::string& response) {
  const auto head = response.find("\r\n\r\n");
  if (head == std::string::npos) return {};
  if (response.find("chunked") > head) return response.substr(head + 4);
  std::string out;
  for (auto at = head + 4; at < response.size();) {
    const auto end = response.find("\r\n", at);
    if (end == std::string::npos) break;
    std::size_t size = 0;
    std::from_chars(response.data() + at, response.data() + end, size, 16);
    if (size == 0) break;
    out += response.substr(end + 2, size);
    at = end + 2 + size + 2;
  }
  return out;
}

}  // namespace

nlohmann::json http_answer::json() const {
  INFO(body);
  auto x = nlohmann::json::parse(body, nullptr, false);
  REQUIRE_FALSE(x.is_discarded());
  return x;
}

http_answer http_user::post(const std::string& path, const nlohmann::json& body,
                            std::vector<std::string> fields) const {
  fields.emplace_back("Content-Type: application/json");
  return send("POST", path, body.dump(), std::move(fields));
}

http_answer http_user::send(const std::string& method, const std::string& path,
                            const std::optional<std::string>& body,
                            std::vector<std::string> fields) const {
  [[maybe_unused]] static const auto ready = curl_global_init(CURL_GLOBAL_ALL);
  const std::unique_ptr<CURL, void (*)(CURL*)> easy{curl_easy_init(),
                                                    curl_easy_cleanup};
  if (!token_.empty()) fields.push_back("Authorization: Bearer " + token_);
  curl_slist* list = nullptr;
  for (const auto& x : fields) list = curl_slist_append(list, x.c_str());
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> held{
      list, curl_slist_free_all};
  http_answer out;
  const auto url = "http://127.0.0.1:" + std::to_string(port_) + path;
  auto* const c = easy.get();
  curl_easy_setopt(c, CURLOPT_URL, url.c_str());
  curl_easy_setopt(c, CURLOPT_PROXY, "");
  curl_easy_setopt(c, CURLOPT_TIMEOUT, 60L);
  curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, method.c_str());
  if (method == "HEAD") curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
  if (body) {
    curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE, static_cast<long>(body->size()));
    curl_easy_setopt(c, CURLOPT_POSTFIELDS, body->data());
  }
  curl_easy_setopt(c, CURLOPT_HTTPHEADER, list);
  curl_easy_setopt(c, CURLOPT_WRITEDATA, &out.body);
  curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(c, CURLOPT_HEADERDATA, &out.head);
  curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, append);
  curl_easy_perform(c);
  curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &out.status);
  compare_with_document({method, path, out.status, out.head, out.body});
  return out;
}

raw_client::raw_client(std::uint16_t port, int receive_buffer)
    : fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
  if (receive_buffer > 0)
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer,
                 sizeof receive_buffer);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ended_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0;
}

raw_client::~raw_client() { ::close(fd_); }

void raw_client::send(std::string_view bytes) const {
  static_cast<void>(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

void raw_client::half_close() const { ::shutdown(fd_, SHUT_WR); }

void raw_client::ask(const std::string& path, const std::string& token,
                     const std::string& more) const {
  send("GET " + path +
       " HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
       "Authorization: Bearer " +
       token + "\r\n" + more + "\r\n");
}

std::string raw_client::read(std::chrono::milliseconds limit,
                             std::size_t most) const {
  pollfd one{fd_, POLLIN, 0};
  if (ended_ || ::poll(&one, 1, static_cast<int>(limit.count())) <= 0)
    return {};
  std::string out(most, '\0');
  const auto n = ::recv(fd_, out.data(), out.size(), 0);
  ended_ = n <= 0;
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

std::string raw_client::read_until(const std::string& text,
                                   std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (all_.find(text) == std::string::npos && !ended_ &&
         std::chrono::steady_clock::now() < until)
    all_ += read(100ms);
  return all_;
}

std::vector<sse_event> events_of(const std::string& response) {
  const auto text = body_of(response);
  std::vector<sse_event> out;
  sse_event now;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    if (end == std::string::npos) break;
    const auto line = text.substr(at, end - at);
    at = end + 1;
    if (line.empty()) {
      if (!now.data.empty()) out.push_back(now);
      now = {};
    } else if (line.starts_with("id: ")) {
      now.id = line.substr(4);
    } else if (line.starts_with("event: ")) {
      now.type = line.substr(7);
    } else if (line.starts_with("data: ")) {
      now.data += line.substr(6);
    }
  }
  return out;
}

std::string token_table(const std::string& name, const std::string& more) {
  return "[server.tokens." + name + "]\nhash = \"" + ::riffle::sha256(name) +
         "\"\n" + more;
}

std::string spoken_slowly(int words, const std::string& delay) {
  std::string text;
  for (int i = 0; i < words; ++i) text += "words ";
  return "chunk = 6\ndelay = \"" + delay + "\"\n[[steps]]\ntext = \"" + text +
         "\"\n";
}

void write_server(const work_folder& folder, const std::string& script,
                  const std::string& more) {
  folder.write("script.toml", script);
  folder.write("riffle.toml", R"(
[runtime]
data_dir = "data"
[models.default]
dialect = "scripted"
script = "script.toml"
[publish]
batching = "token"
)" + more);
}

served::served(const work_folder& folder, std::vector<std::string> more,
               const std::map<std::string, std::string>& env)
    : folder_{folder}, more_{std::move(more)}, env_{env} {
  start();
}

served::~served() {
  for (const auto& x : take_undocumented())
    FAIL_CHECK("not as the document says: " << x);
}

void served::start() {
  std::vector<std::string> arguments{"serve", "--config", "riffle.toml",
                                     "--listen",
                                     "127.0.0.1:" + std::to_string(port_)};
  arguments.insert(arguments.end(), more_.begin(), more_.end());
  process_ =
      std::make_unique<program>(installed_riffle(), folder_, arguments, env_);
  const std::string mark = "://127.0.0.1:";
  REQUIRE(eventually([&] {
    const auto out = process_->out();
    const auto at = out.find(mark);
    if (at == std::string::npos) return process_->has_ended();
    const auto from = out.data() + at + mark.size();
    std::from_chars(from, out.data() + out.size(), port_);
    return out.find('\n', at) != std::string::npos;
  }));
  INFO(process_->err());
  REQUIRE(port_ != 0);
}

void served::kill_and_restart() {
  process_->signal(SIGKILL);
  process_->wait();
  start();
}

http_user served::user() const {
  auto token = folder_.read("data/server/token");
  while (!token.empty() && token.back() == '\n') token.pop_back();
  return {port_, token};
}

nlohmann::json await_end(const http_user& who, const std::string& run,
                         std::chrono::milliseconds limit) {
  nlohmann::json now;
  const bool over = eventually(
      [&] {
        const auto x = who.get("/v1/runs/" + run);
        now = x.body + std::to_string(x.status);
        if (x.status != 200) return false;
        now = x.json();
        return now["status"] != "active" && now["status"] != "interrupted";
      },
      limit);
  INFO(now.dump());
  REQUIRE(over);
  return now;
}

}  // namespace riffle::testing
