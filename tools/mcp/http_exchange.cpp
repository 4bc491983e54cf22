// SPDX-License-Identifier: MIT
#include "tools/mcp/http_exchange.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include <curl/curl.h>

#include "runtime/base/text.hpp"
#include "runtime/model/http_curl.hpp"
#include "runtime/model/sse_decoder.hpp"

namespace riffle::mcp {

namespace {

constexpr int look_ms = 100;
constexpr std::size_t longest_refusal = 64u << 10;

class transfer {
 public:
  explicit transfer(const exchange_request& x)
      : asked_{x}, decoder_{x.largest_message} {}

  exchange_end run() {
    model::init_curl();
    easy_.reset(curl_easy_init());
    multi_.reset(curl_multi_init());
    if (!easy_ || !multi_) {
      end_.problem = "no memory for a request";
      return std::move(end_);
    }
    set_options();
    const std::stop_callback wakes{asked_.stop,
                                   [this] { curl_multi_wakeup(multi_.get()); }};
    curl_multi_add_handle(multi_.get(), easy_.get());
    drive();
    curl_multi_remove_handle(multi_.get(), easy_.get());
    finish();
    return std::move(end_);
  }

 private:
  void set_options() {
    auto* h = easy_.get();
    curl_easy_setopt(h, CURLOPT_URL, asked_.url.c_str());
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(
        h, CURLOPT_CONNECTTIMEOUT_MS,
        static_cast<long>(
            std::chrono::ceil<std::chrono::milliseconds>(asked_.connect_timeout)
                .count()));
    for (const auto& line : asked_.headers)
      headers_.reset(curl_slist_append(headers_.release(), line.c_str()));
    headers_.reset(curl_slist_append(headers_.release(), "Expect:"));
    curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers_.get());
    if (asked_.method == "POST") {
      curl_easy_setopt(h, CURLOPT_POST, 1L);
      curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(asked_.body.size()));
      curl_easy_setopt(h, CURLOPT_POSTFIELDS, asked_.body.c_str());
    } else if (asked_.method != "GET") {
      curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, asked_.method.c_str());
    }
    curl_easy_setopt(h, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, &transfer::on_body);
    curl_easy_setopt(h, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, &transfer::on_header);
  }

  void drive() {
    for (;;) {
      int running = 0;
      curl_multi_perform(multi_.get(), &running);
      int left = 0;
      while (const auto* said = curl_multi_info_read(multi_.get(), &left))
        if (said->msg == CURLMSG_DONE && said->data.result != CURLE_OK &&
            !end_.enough && end_.problem.empty()) {
          end_.problem = curl_easy_strerror(said->data.result);
          end_.nobody = said->data.result == CURLE_COULDNT_CONNECT;
        }
      if (running == 0 || end_.enough || !end_.problem.empty()) return;
      if (asked_.stop.stop_requested()) {
        end_.stopped = true;
        return;
      }
      if (std::chrono::steady_clock::now() >= asked_.until) {
        end_.late = true;
        return;
      }
      if (asked_.on_time && !asked_.on_time()) {
        end_.enough = true;
        return;
      }
      curl_multi_poll(multi_.get(), nullptr, 0, wait_ms(), nullptr);
    }
  }

  [[nodiscard]] int wait_ms() const {
    if (asked_.until == time_point::max()) return look_ms;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        asked_.until - std::chrono::steady_clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, look_ms));
  }

  void finish() {
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    end_.status = static_cast<int>(status);
    end_.stream = stream_;
    end_.last_event_id = decoder_.last_event_id();
    end_.retry_ms = decoder_.retry_ms();
    curl_off_t wait = 0;  // curl reads seconds and dates
    curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &wait);
    if (asks_to_wait_) end_.retry_after = std::chrono::seconds{wait};
    const bool good = status >= 200 && status < 300;
    if (!good) {
      end_.body = std::move(body_);
    } else if (!stream_ && !body_.empty() && end_.problem.empty() &&
               !end_.late && !end_.stopped) {
      if (asked_.on_message) asked_.on_message(body_);
    }
  }

  static std::size_t on_header(char* data, std::size_t, std::size_t size,
                               void* self) {
    static_cast<transfer*>(self)->take_header({data, size});
    return size;
  }

  void take_header(std::string_view line) {
    if (trimmed(line).empty() && asked_.on_answer) asked_.on_answer();
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const auto name = lower(trimmed(line.substr(0, colon)));
    const auto value = trimmed(line.substr(colon + 1));
    if (name == "content-type")
      stream_ = lower(value).starts_with("text/event-stream");
    else if (name == "mcp-session-id")
      end_.session = value;
    else if (name == "dpop-nonce")
      end_.dpop_nonce = value;
    else if (name == "retry-after")
      asks_to_wait_ = true;
    else if (name == "www-authenticate" &&
             end_.authenticate.size() < longest_refusal)
      end_.authenticate.append(end_.authenticate.empty() ? "" : ", ")
          .append(value);
  }

  static std::size_t on_body(char* data, std::size_t, std::size_t size,
                             void* self) {
    return static_cast<transfer*>(self)->take_body({data, size}) ? size : 0;
  }

  bool take_body(std::string_view bytes) {
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    const bool good = status >= 200 && status < 300;
    if (!good || !stream_) {
      const auto most = good ? asked_.largest_message : longest_refusal;
      if (body_.size() + bytes.size() > most) {
        if (good) end_.problem = "its answer is larger than 8 MB";
        return !good;
      }
      body_ += bytes;
      return true;
    }
    const bool fits = decoder_.feed(bytes, [this](const model::sse_event& x) {
      const bool plain = x.type.empty() || x.type == "message";
      if (end_.enough || x.data.empty()) return;
      if (!plain && asked_.on_event) asked_.on_event(x.type, x.data);
      if (!plain) return;
      if (asked_.on_message && !asked_.on_message(x.data)) end_.enough = true;
    });
    if (!fits) end_.problem = "an event of its stream is larger than 8 MB";
    return fits && !end_.enough;
  }

  const exchange_request& asked_;
  model::sse_decoder decoder_;
  model::easy_handle easy_;
  model::multi_handle multi_;
  model::header_list headers_;
  std::string body_;
  bool stream_ = false;
  bool asks_to_wait_ = false;
  exchange_end end_;
};

}  // namespace

exchange_end exchange(const exchange_request& x) { return transfer{x}.run(); }

}  // namespace riffle::mcp
