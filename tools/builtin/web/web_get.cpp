// SPDX-License-Identifier: MIT
#include "tools/builtin/web/web_get.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <span>
#include <sys/socket.h>
#include <utility>

#include <curl/curl.h>

#include "runtime/base/text.hpp"

namespace riffle::tools {

namespace {

using std::chrono::ceil;
using std::chrono::milliseconds;
using std::chrono::seconds;
using clock = std::chrono::steady_clock;

struct easy_deleter {
  void operator()(CURL* x) const noexcept { curl_easy_cleanup(x); }
};
struct multi_deleter {
  void operator()(CURLM* x) const noexcept { curl_multi_cleanup(x); }
};
struct list_deleter {
  void operator()(curl_slist* x) const noexcept { curl_slist_free_all(x); }
};

constexpr const char* encodings = "gzip, deflate, br";
constexpr std::string_view decoded_bodies[] = {"",       "identity", "gzip",
                                               "x-gzip", "deflate",  "br"};
constexpr std::string_view plain_transfers[] = {"", "identity", "chunked"};

unexpected failed(errc code, std::string message) {
  return unexpected{
      error{.code = code, .op = "fetch", .message = std::move(message)}};
}

long in_ms(duration x) {
  return static_cast<long>(ceil<milliseconds>(x).count());
}

std::optional<ip_address> address_of(const sockaddr* x) {
  ip_address out;
  if (x->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, x, sizeof v4);
    return make_v4(ntohl(v4.sin_addr.s_addr));
  }
  if (x->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, x, sizeof v6);
  std::memcpy(out.bytes.data(), &v6.sin6_addr, out.bytes.size());
  return out;
}

/// One request, one connection, one answer.
class hop {
 public:
  hop(const web_request& request, const address_policy& policy, web_url url)
      : request_{request}, policy_{policy}, url_{std::move(url)} {}

  expected<web_answer> run(duration rest) {
    if (!easy_ || !multi_) return failed(errc::internal, "no memory for curl");
    set_options(rest);
    curl_multi_add_handle(multi_.get(), easy_.get());
    const auto code = perform();
    auto out = result(code);
    curl_multi_remove_handle(multi_.get(), easy_.get());
    return out;
  }

  /// Where the answer sends us; empty: nowhere.
  [[nodiscard]] const std::string& location() const { return location_; }

 private:
  void set_options(duration rest);
  void set_content();
  std::optional<CURLcode> perform();
  expected<web_answer> result(std::optional<CURLcode> code);
  unexpected explain(CURLcode code) const;
  bool begin_body();
  bool take(std::string_view bytes);
  std::optional<std::string> refusal(const ip_address& at) const {
    return policy_.refusal(url_.host, url_.port, at);
  }

  static curl_socket_t open_socket(void* x, curlsocktype, curl_sockaddr* to);
  static int before_request(void* x, char* ip, char*, int, int);
  static std::size_t on_body(char* bytes, std::size_t, std::size_t n, void* x);
  static std::size_t on_header(char* text, std::size_t, std::size_t n, void* x);

  const web_request& request_;
  const address_policy& policy_;
  const web_url url_;
  std::unique_ptr<curl_slist, list_deleter> resolve_;
  std::unique_ptr<curl_slist, list_deleter> headers_;
  std::unique_ptr<CURLM, multi_deleter> multi_{curl_multi_init()};
  std::unique_ptr<CURL, easy_deleter> easy_{curl_easy_init()};
  web_answer answer_;
  std::string location_;
  std::string refused_;
  errc refused_as_ = errc::invalid_arguments;
  std::uint64_t reported_ = 0;
  bool began_ = false;
  bool enough_ = false;  ///< we ended it, as there is all that is wanted
};

void hop::set_options(duration rest) {
  auto* x = easy_.get();
  const auto& limits = request_.limits;
  curl_easy_setopt(x, CURLOPT_URL, url_.text.c_str());
  curl_easy_setopt(x, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(x, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(x, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  curl_easy_setopt(x, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(x, CURLOPT_PREREQFUNCTION, before_request);
  curl_easy_setopt(x, CURLOPT_PREREQDATA, this);
  // The environment has no say: a proxy would connect where we do not look.
  curl_easy_setopt(x, CURLOPT_PROXY, "");
  curl_easy_setopt(x, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(x, CURLOPT_NETRC, long{CURL_NETRC_IGNORED});
  curl_easy_setopt(x, CURLOPT_FORBID_REUSE, 1L);
  curl_easy_setopt(x, CURLOPT_FRESH_CONNECT, 1L);
  curl_easy_setopt(x, CURLOPT_NOSIGNAL, 1L);
  // A look-up that is not needed any more is left to its thread.
  curl_easy_setopt(x, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(x, CURLOPT_ACCEPT_ENCODING, encodings);
  curl_easy_setopt(x, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(x, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(x, CURLOPT_USERAGENT, "riffle-fetch");
  curl_easy_setopt(x, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(x, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(x, CURLOPT_CONNECTTIMEOUT_MS, in_ms(limits.connect));
  curl_easy_setopt(x, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(x, CURLOPT_LOW_SPEED_TIME,
                   static_cast<long>(ceil<seconds>(limits.silence).count()));
  curl_easy_setopt(x, CURLOPT_TIMEOUT_MS, std::max(1L, in_ms(rest)));
  for (const auto& name : request_.resolve)
    resolve_.reset(curl_slist_append(resolve_.release(), name.c_str()));
  curl_easy_setopt(x, CURLOPT_RESOLVE, resolve_.get());
  set_content();
}

void hop::set_content() {
  auto* x = easy_.get();
  for (const auto& line : request_.headers)
    headers_.reset(curl_slist_append(headers_.release(), line.c_str()));
  if (headers_) curl_easy_setopt(x, CURLOPT_HTTPHEADER, headers_.get());
  if (!request_.body) return;
  curl_easy_setopt(x, CURLOPT_POST, 1L);
  curl_easy_setopt(x, CURLOPT_POSTFIELDSIZE_LARGE,
                   static_cast<curl_off_t>(request_.body->size()));
  curl_easy_setopt(x, CURLOPT_POSTFIELDS, request_.body->c_str());
}

curl_socket_t hop::open_socket(void* x, curlsocktype, curl_sockaddr* to) {
  auto& self = *static_cast<hop*>(x);
  const auto address = address_of(&to->addr);
  if (!address) return CURL_SOCKET_BAD;
  if (auto why = self.refusal(*address)) {
    self.refused_ = *std::move(why);
    return CURL_SOCKET_BAD;
  }
  return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

// The same again where curl would send: not even a connection that it got by
// some other way carries a request to where it must not go.
int hop::before_request(void* x, char* ip, char*, int, int) {
  auto& self = *static_cast<hop*>(x);
  const auto address = parse_ip(ip);
  auto why = address ? self.refusal(*address) : "the address is unknown";
  if (!why) return CURL_PREREQFUNC_OK;
  self.refused_ = *std::move(why);
  return CURL_PREREQFUNC_ABORT;
}

std::size_t hop::on_body(char* bytes, std::size_t, std::size_t n, void* x) {
  return static_cast<hop*>(x)->take({bytes, n}) ? n : CURL_WRITEFUNC_ERROR;
}

/// Of what curl could decode, only what needs little memory is: a window of
/// zstd may be 128 MiB, and encodings in each other multiply.
std::size_t hop::on_header(char* text, std::size_t, std::size_t n, void* x) {
  auto& self = *static_cast<hop*>(x);
  const auto line = lower({text, n});
  const auto value = trimmed(
      std::string_view{line}.substr(std::min(line.find(':') + 1, line.size())));
  const auto& kept = self.request_.kept_header;
  if (!kept.empty() && line.starts_with(kept + ":"))
    self.answer_.header =
        trimmed(std::string_view{text, n}.substr(kept.size() + 1));
  const bool content = line.starts_with("content-encoding:");
  if (!content && !line.starts_with("transfer-encoding:")) return n;
  const auto known = content
                         ? std::span<const std::string_view>{decoded_bodies}
                         : std::span<const std::string_view>{plain_transfers};
  if (std::ranges::find(known, value) != known.end()) return n;
  self.refused_as_ = errc::tool_execution_error;
  self.refused_ = "the server sends it compressed as " +
                  std::string{value.substr(0, 40)} + ", which is not read";
  return 0;
}

/// False: none of it is wanted.
bool hop::begin_body() {
  began_ = true;
  auto* x = easy_.get();
  char* text = nullptr;
  curl_easy_getinfo(x, CURLINFO_REDIRECT_URL, &text);
  if (text) return false;  // what stands in a redirect is for nobody
  curl_easy_getinfo(x, CURLINFO_CONTENT_TYPE, &text);
  curl_off_t size = -1;
  curl_easy_getinfo(x, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &size);
  if (size >= 0) answer_.announced = static_cast<std::uint64_t>(size);
  return !request_.wanted || request_.wanted(text ? text : "");
}

bool hop::take(std::string_view bytes) {
  if (!began_ && !begin_body()) {
    answer_.cut = true;
    enough_ = true;
    return false;
  }
  const auto room = request_.limits.bytes - answer_.body.size();
  answer_.body.append(bytes.substr(0, room));
  if (bytes.size() > room) {
    answer_.cut = true;
    enough_ = true;
    return false;
  }
  constexpr std::uint64_t step = 256u << 10;
  if (request_.progress && answer_.body.size() >= reported_ + step) {
    reported_ = answer_.body.size();
    request_.progress(reported_, answer_.announced);
  }
  return true;
}

/// Nothing: it was stopped.
std::optional<CURLcode> hop::perform() {
  auto* multi = multi_.get();
  const std::stop_callback wake{request_.stop,
                                [multi] { curl_multi_wakeup(multi); }};
  for (int running = 1;;) {
    if (request_.stop.stop_requested()) return std::nullopt;
    if (curl_multi_perform(multi, &running) != CURLM_OK)
      return CURLE_FAILED_INIT;
    int left = 0;
    if (const auto* x = curl_multi_info_read(multi, &left))
      return x->data.result;
    if (running == 0) return CURLE_FAILED_INIT;
    curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
  }
}

expected<web_answer> hop::result(std::optional<CURLcode> code) {
  if (!code) return failed(errc::cancelled, "cancelled");
  if (*code != CURLE_OK && !enough_) return explain(*code);
  auto* x = easy_.get();
  long status = 0;
  char* text = nullptr;
  curl_easy_getinfo(x, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(x, CURLINFO_CONTENT_TYPE, &text);
  answer_.content_type = text ? text : "";
  answer_.status = static_cast<int>(status);
  answer_.url = url_.text;
  curl_easy_getinfo(x, CURLINFO_REDIRECT_URL, &text);
  if (text) location_ = text;
  return std::move(answer_);
}

unexpected hop::explain(CURLcode code) const {
  if (!refused_.empty()) return failed(refused_as_, refused_);
  const std::string words = curl_easy_strerror(code);
  const auto where = url_.host + ":" + std::to_string(url_.port);
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return failed(
          errc::tool_execution_error,
          "there is no host " + url_.host + "; check the name in the URL");
    case CURLE_OPERATION_TIMEDOUT:
      return failed(errc::timeout,
                    where + " did not answer in time, or too slowly");
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
      return failed(errc::tool_execution_error,
                    where + " broke the answer off after " +
                        std::to_string(answer_.body.size()) +
                        " bytes; it may be tried again");
    case CURLE_PEER_FAILED_VERIFICATION:
      return failed(errc::tool_execution_error,
                    where + " does not prove who it is (" + words + ")");
    default:
      return failed(errc::tool_execution_error,
                    where + " cannot be read: " + words);
  }
}

}  // namespace

expected<web_answer> web_get(const web_request& request,
                             const address_policy& policy) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const auto deadline = clock::now() + request.limits.total;
  auto url = request.url;
  for (unsigned redirects = 0;; ++redirects) {
    auto checked = policy.check(url);
    if (!checked) {
      if (redirects > 0)
        checked.error().message =
            "redirected to " + url + ": " + checked.error().message;
      return unexpected{std::move(checked).error()};
    }
    const auto rest = deadline - clock::now();
    if (rest <= duration::zero())
      return failed(errc::timeout, "the redirects took too long");
    hop next{request, policy, *std::move(checked)};
    auto answer = next.run(rest);
    if (!answer) return answer;
    answer->redirects = redirects;
    if (next.location().empty()) return answer;
    if (redirects == request.limits.redirects)
      return failed(errc::tool_execution_error,
                    "more than " + std::to_string(redirects) +
                        " redirects, the last one to " + next.location());
    url = next.location();
    if (!request.refusal) continue;
    if (auto why = request.refusal(url))
      return failed(errc::approval_denied,
                    "redirected to " + url + ": " + *why);
  }
}

}  // namespace riffle::tools
