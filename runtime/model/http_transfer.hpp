// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/model/http_curl.hpp"
#include "runtime/model/http_limits.hpp"
#include "runtime/model/http_mailbox.hpp"

namespace riffle::model {

/// One request and what has come of its answer. I/O thread only.
class http_transfer {
 public:
  /// What the transfer tells while curl runs, for the loop to act on later.
  struct news {
    std::vector<http_transfer*> connected;
    std::vector<http_transfer*> received;
  };

  http_transfer(http_mailbox::open_command command, time_point now,
                news& collector);
  http_transfer(const http_transfer&) = delete;
  http_transfer& operator=(const http_transfer&) = delete;

  [[nodiscard]] transfer_id id() const noexcept { return command_.id; }
  [[nodiscard]] const transport_timeouts& limits() const noexcept {
    return command_.request.timeouts;
  }

  /// Why the request cannot be sent as it is; nothing: it can.
  [[nodiscard]] std::optional<error> rejection() const;

  /// Puts the request into a handle and keeps it.
  void attach(easy_handle easy);
  /// The handle, null after `detach`.
  [[nodiscard]] CURL* easy() const noexcept { return easy_.get(); }
  easy_handle detach();

  /// Gives the listener what has come, as far as the credit goes. Afterwards
  /// nothing is held, or the transfer is `starved` and hears of new credit.
  void deliver();
  /// No credit is left.
  [[nodiscard]] bool starved() const noexcept { return starved_; }
  [[nodiscard]] bool holds_bytes() const noexcept { return !held_.empty(); }

  /// The status of the answer, 0 while there is none. Before `detach`.
  [[nodiscard]] int status() const;
  /// How curl's work ended: nothing if well. Before `detach`.
  [[nodiscard]] std::optional<error> failure(CURLcode code) const;
  /// The end, where an answer that is no success tells more than `failure`.
  /// Before `detach`.
  [[nodiscard]] transport_end conclude(std::optional<error> failure) const;

  /// The last call to the listener.
  void tell_end(transport_end end);

  limit_clock clock;
  /// When the loop looks at the clock the next time.
  time_point scheduled = time_point::max();
  /// Known while curl is finished and the listener has no credit for the rest.
  std::optional<transport_end> ended;

 private:
  /// What the headers say of the provider's limits.
  [[nodiscard]] std::optional<duration> pace() const;

  static std::size_t on_body(char* data, std::size_t one, std::size_t size,
                             void* self);
  static int on_ready(void* self, char*, char*, int, int);

  std::size_t take_body(std::string_view bytes);
  void begin_body();
  void divide_round();
  [[nodiscard]] std::string packing() const;
  [[nodiscard]] std::string header(const char* name) const;

  http_mailbox::open_command command_;
  news& news_;
  easy_handle easy_;
  header_list headers_;
  std::array<char, CURL_ERROR_SIZE> words_{};
  int status_ = 0;      ///< 0: no body yet
  std::string packed_;  ///< what its body is compressed as; empty: it is not
  std::string held_;
  std::string refusal_;  ///< body of an answer that is no success
  std::size_t body_size_ = 0;
  std::size_t last_read_ = 0;
  std::size_t ignored_ = 0;
  bool touched_ = false;
  bool headers_read_ = false;  ///< for the limits of the provider
  bool starved_ = false;
};

}  // namespace riffle::model
