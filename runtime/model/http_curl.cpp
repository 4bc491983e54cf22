// SPDX-License-Identifier: MIT
#include "runtime/model/http_curl.hpp"

#include <mutex>
#include <sys/socket.h>
#include <utility>

namespace riffle::model {

namespace {

constexpr std::size_t most_idle = 256;

/// curl's sockets would be inherited by child processes, which then keep
/// connections open.
curl_socket_t open_socket(void*, curlsocktype, curl_sockaddr* x) {
  return ::socket(x->family, x->socktype | SOCK_CLOEXEC, x->protocol);
}

void set_options(CURL* easy, const http_options& options) {
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  // A cancelled name look-up is left to its thread instead of joining it,
  // which would stop all transfers for seconds.
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                   options.http2_prior_knowledge
                       ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
                       : CURL_HTTP_VERSION_2TLS);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, read_size);
  // Nothing compressed is asked for. What comes all the same is not decoded:
  // curl keeps what a paused transfer has not taken, of one read up to 64 MiB.
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "identity");
  curl_easy_setopt(easy, CURLOPT_HTTP_CONTENT_DECODING, 0L);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
  if (options.proxy) {
    curl_easy_setopt(easy, CURLOPT_PROXY, options.proxy->c_str());
  }
  if (!options.ca_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, options.ca_file.c_str());
  }
}

}  // namespace

easy_handle easy_pool::take() {
  if (!idle_.empty()) {
    auto out = std::move(idle_.back());
    idle_.pop_back();
    return out;
  }
  easy_handle out{curl_easy_init()};
  if (out) {
    set_options(out.get(), options_);
  }
  return out;
}

void easy_pool::give(easy_handle x) {
  if (x && idle_.size() < most_idle) {
    // Pointers into the transfer end here.
    curl_easy_setopt(x.get(), CURLOPT_HTTPHEADER, nullptr);
    curl_easy_setopt(x.get(), CURLOPT_POSTFIELDS, nullptr);
    curl_easy_setopt(x.get(), CURLOPT_ERRORBUFFER, nullptr);
    curl_easy_setopt(x.get(), CURLOPT_PRIVATE, nullptr);
    idle_.push_back(std::move(x));
  }
}

void init_curl() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

}  // namespace riffle::model
