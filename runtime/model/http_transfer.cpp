// SPDX-License-Identifier: MIT
#include "runtime/model/http_transfer.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/base/text.hpp"
#include "runtime/model/http_error.hpp"
#include "runtime/model/http_pace.hpp"

namespace riffle::model {

namespace {

/// Longer refusals are read to keep the connection, but not kept.
constexpr std::size_t most_refusal = 16u << 10;
constexpr std::size_t most_ignored = 256u << 10;
/// What is passed on at once: some 400 chunks.
constexpr std::size_t round_size = 64u << 10;

bool is_success(int status) { return status >= 200 && status < 300; }

std::string media_type(const char* content_type) {
  std::string out{content_type == nullptr ? "" : content_type};
  out.erase(std::min(out.find(';'), out.size()));
  out.erase(out.find_last_not_of(" \t") + 1);
  return lower(out);
}

long whole_milliseconds(duration x) {
  return static_cast<long>(
      std::chrono::ceil<std::chrono::milliseconds>(x).count());
}

}  // namespace

http_transfer::http_transfer(http_mailbox::open_command command, time_point now,
                             news& collector)
    : clock{command.request.timeouts, now},
      command_{std::move(command)},
      news_{collector} {}

std::optional<error> http_transfer::rejection() const {
  for (const auto& header : command_.request.headers) {
    if (header.find_first_of("\r\n") != std::string::npos) {
      auto name = header.substr(0, header.find_first_of(":\r\n"));
      return error{errc::invalid_request,
                   "model request",
                   "the header " + name +
                       " has a line break in its value (a key read from a"
                       " file often ends with one)",
                   false,
                   {}};
    }
  }
  return std::nullopt;
}

void http_transfer::attach(easy_handle easy) {
  auto& request = command_.request;
  easy_ = std::move(easy);
  // curl's own "Expect: 100-continue" costs a round trip.
  headers_.reset(curl_slist_append(nullptr, "Expect:"));
  for (const auto& x : request.headers) {
    curl_slist_append(headers_.get(), x.c_str());
  }
  auto* h = easy_.get();
  curl_easy_setopt(h, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers_.get());
  body_size_ = request.body.size();
  if (request.get) {
    curl_easy_setopt(h, CURLOPT_HTTPGET, 1L);
  } else {
    curl_easy_setopt(h, CURLOPT_POST, 1L);
    curl_easy_setopt(h, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
  }
  // curl divides this limit among the addresses of a host; 0 means 300 s.
  auto connect = request.timeouts.connect > duration::zero()
                     ? request.timeouts.connect
                     : std::chrono::hours{24};
  curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, whole_milliseconds(connect));
  curl_easy_setopt(h, CURLOPT_PREREQFUNCTION, &http_transfer::on_ready);
  curl_easy_setopt(h, CURLOPT_PREREQDATA, this);
  curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, &http_transfer::on_body);
  curl_easy_setopt(h, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(h, CURLOPT_ERRORBUFFER, words_.data());
  curl_easy_setopt(h, CURLOPT_PRIVATE, this);
}

easy_handle http_transfer::detach() { return std::move(easy_); }

void http_transfer::deliver() {
  touched_ = false;
  if (!is_success(status_)) {
    return;
  }
  if (!std::exchange(headers_read_, true))
    if (const auto wait = pace()) command_.listener->on_pace(*wait);
  do {
    auto n = command_.credit->take(held_.size());
    if (n > 0) {
      last_read_ = n;
      auto rest = n < held_.size() ? held_.substr(n) : std::string{};
      held_.resize(n);
      command_.listener->on_bytes(std::exchange(held_, std::move(rest)));
    }
    starved_ = command_.credit->wait();
  } while (!starved_ && !held_.empty());
}

int http_transfer::status() const {
  long out = 0;
  if (easy_) {
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &out);
  }
  return static_cast<int>(out);
}

std::optional<error> http_transfer::failure(CURLcode code) const {
  if (code == CURLE_OK) {
    return std::nullopt;
  }
  // The only limit of curl's own: whichever of us sees it first.
  if (code == CURLE_OPERATION_TIMEDOUT && status() == 0)
    return limit_error(time_limit::connect, command_.request.timeouts);
  if (code == CURLE_WRITE_ERROR && !packed_.empty())
    return packed_error(packed_);
  return curl_error(code, status(), words_.data());
}

std::optional<duration> http_transfer::pace() const {
  constexpr std::size_t bytes_of_a_token = 4;
  return read_pace(
      [this](const std::string& name) { return header(name.c_str()); },
      body_size_ / bytes_of_a_token, system_wall_time());
}

transport_end http_transfer::conclude(std::optional<error> failure) const {
  transport_end out;
  const char* type = nullptr;
  curl_easy_getinfo(easy_.get(), CURLINFO_CONTENT_TYPE, &type);
  out.http_status = status();
  out.content_type = media_type(type);
  if (out.http_status != 0) out.pace = pace();
  out.failure = std::move(failure);
  if (out.http_status != 0 && !is_success(out.http_status)) {
    auto words = read_server_words(refusal_);
    words.message = hide_secrets(words.message, command_.request.headers);
    out.failure =
        status_error(out.http_status, words, header("x-should-retry"));
    out.retry_after = read_retry_after(
        header("retry-after-ms"), header("retry-after"), system_wall_time());
    // Said of this very request, it counts more than what is left of limits.
    if (out.retry_after) out.pace.reset();
  }
  return out;
}

void http_transfer::tell_end(transport_end end) {
  command_.listener->on_end(std::move(end));
}

std::size_t http_transfer::on_body(char* data, std::size_t, std::size_t size,
                                   void* self) {
  return static_cast<http_transfer*>(self)->take_body({data, size});
}

int http_transfer::on_ready(void* self, char*, char*, int, int) {
  auto* x = static_cast<http_transfer*>(self);
  x->news_.connected.push_back(x);
  return CURL_PREREQFUNC_OK;
}

std::size_t http_transfer::take_body(std::string_view bytes) {
  if (status_ == 0) {
    begin_body();
  }
  if (!touched_) {
    touched_ = true;
    news_.received.push_back(this);
  }
  if (is_success(status_) && !packed_.empty()) return 0;
  if (is_success(status_)) {
    if (held_.empty()) {
      held_.reserve(std::max(bytes.size(), last_read_));
    }
    held_.append(bytes);
    if (held_.size() >= round_size) {
      divide_round();
    }
    return bytes.size();
  }
  auto kept = packed_.empty()
                  ? std::min(bytes.size(), most_refusal - refusal_.size())
                  : 0;
  refusal_.append(bytes.substr(0, kept));
  ignored_ += bytes.size() - kept;
  return ignored_ <= most_ignored ? bytes.size() : 0;
}

/// curl reads up to a hundred times in one round: a large round is passed on
/// in its middle, or stopped there without credit.
void http_transfer::divide_round() {
  deliver();
  touched_ = true;
  if (holds_bytes()) {
    // curl itself keeps the rest of what it has read.
    curl_easy_pause(easy_.get(), CURLPAUSE_RECV);
  }
}

void http_transfer::begin_body() {
  status_ = status();
  packed_ = packing();
  // A request is as long as its conversation, an answer as long as minutes:
  // what has been sent is not kept.
  curl_off_t sent = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_SIZE_UPLOAD_T, &sent);
  auto& body = command_.request.body;
  if (is_success(status_) && std::cmp_equal(sent, body.size())) {
    body = {};
  }
}

/// The first coding of the body that is none of the protocol itself.
std::string http_transfer::packing() const {
  for (const auto* name : {"content-encoding", "transfer-encoding"}) {
    std::istringstream all{lower(header(name))};
    for (std::string one; std::getline(all, one, ',');) {
      const auto coding = trimmed(one);
      if (!coding.empty() && coding != "identity" && coding != "chunked")
        return std::string{coding};
    }
  }
  return {};
}

std::string http_transfer::header(const char* name) const {
  curl_header* out = nullptr;
  auto found = curl_easy_header(easy_.get(), name, 0, CURLH_HEADER, -1, &out);
  return found == CURLHE_OK ? out->value : "";
}

}  // namespace riffle::model
