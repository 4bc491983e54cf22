// SPDX-License-Identifier: MIT
#include "runtime/http/connection.hpp"

#include <limits>
#include <sys/socket.h>
#include <utility>

#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>

#include "runtime/http/wire.hpp"

namespace riffle::http {

namespace {

template <class Stream>
constexpr bool is_tls = !std::is_same_v<Stream, tcp::socket>;

time_point now() { return std::chrono::steady_clock::now(); }
std::string_view as_view(beast::string_view x) { return {x.data(), x.size()}; }

constexpr std::uint8_t sweeps_a_look = 8;
constexpr auto leave_limit = std::chrono::seconds{5};

}  // namespace

template <class Stream>
connection<Stream>::connection(Stream stream,
                               std::shared_ptr<connection_setup> shared)
    : stream_{std::move(stream)},
      shared_{std::move(shared)},
      body_{shared_->large_bodies},
      since_{now()},
      left_{std::array<asio::const_buffer, 3>{}} {
  ++shared_->counts.connections;
}

template <class Stream>
connection<Stream>::~connection() {
  --shared_->counts.connections;
}

template <class Stream>
tcp::socket& connection<Stream>::socket() {
  if constexpr (is_tls<Stream>)
    return stream_.next_layer();
  else
    return stream_;
}

template <class Stream>
auto connection<Stream>::handler(void (connection::*f)(beast::error_code,
                                                       std::size_t)) {
  return [me = this->shared_from_this(), f](beast::error_code failed,
                                            std::size_t count) {
    (me.get()->*f)(failed, count);
  };
}

template <class Stream>
void connection<Stream>::start() {
  beast::error_code failed;
  const auto peer = socket().remote_endpoint(failed);
  if (failed) return close();
  peer_ = peer.address().to_string();
  if (peer_.starts_with("::ffff:")) peer_.erase(0, 7);
  socket().set_option(tcp::no_delay{true}, failed);
  limit_stalls(socket().native_handle(), shared_->options.stall_timeout);
  if constexpr (is_tls<Stream>) {
    state_ = state::reading;
    stream_.async_handshake(
        asio::ssl::stream_base::server,
        [me = this->shared_from_this()](beast::error_code bad) {
          if (bad) return me->close();
          me->read_header();
        });
  } else {
    read_header();
  }
}

// -- reading ------------------------------------------------------------------

template <class Stream>
void connection<Stream>::read_header() {
  if (shared_->closing || winding_down_) return shut();
  state_ = state::waiting, since_ = now();
  if (!buffer_) buffer_ = make_buffer();
  parser_ = std::make_unique<parser>();
  parser_->header_limit(
      static_cast<std::uint32_t>(shared_->options.header_bytes));
  parser_->body_limit(std::numeric_limits<std::uint64_t>::max());
  beast::http::async_read_header(stream_, *buffer_, *parser_,
                                 handler(&connection::on_header));
}

/// What cannot be understood gets an answer all the same, then the end.
template <class Stream>
void connection<Stream>::refuse_parse(beast::error_code failed) {
  namespace e = beast::http;
  if (failed.category() != make_error_code(e::error::bad_method).category() ||
      failed == e::error::end_of_stream || failed == e::error::partial_message)
    return close();
  keep_alive_ = false;
  if (!request_) request_.emplace().since = now();
  answer(problem_of(failed));
}

template <class Stream>
void connection<Stream>::on_header(beast::error_code failed, std::size_t) {
  if (state_ == state::closed) return;
  if (failed) return refuse_parse(failed);
  state_ = state::reading, since_ = now(), asked_ = true;
  const auto& head = parser_->get();
  request x;
  x.method = head.method_string().to_string();
  x.peer = peer_;
  x.secure = is_tls<Stream>, x.since = since_;
  for (const auto& one : head)
    add_field(x, as_view(one.name_string()), as_view(one.value()));
  keep_alive_ = head.keep_alive();
  chunked_ = head.version() >= 11;
  is_head_ = x.method == "HEAD";
  if (auto fault = read_head(x, as_view(head.target()), head.version())) {
    keep_alive_ = false;
    request_ = std::move(x);
    return answer(std::move(*fault));
  }
  auto judged = shared_->app->admit(x);
  request_ = std::move(x);
  ticket_ = std::move(judged.ticket);
  if (judged.refusal) {
    // What is not read would be taken for the next request.
    if (!parser_->is_done()) keep_alive_ = false;
    return answer(std::move(*judged.refusal));
  }
  parser_->body_limit(judged.body_limit);
  if (const auto size = parser_->content_length();
      size && *size > judged.body_limit) {
    keep_alive_ = false;
    return answer(too_large(*size, judged.body_limit));
  }
  const auto size = parser_->content_length();
  const bool whole = parser_->is_done();
  if (!whole && !body_.take(size ? *size : judged.body_limit)) {
    keep_alive_ = false;
    return answer(too_many_bodies());
  }
  if (!whole && request_->has_header("expect")) return say_continue();
  read_body();
}

template <class Stream>
void connection<Stream>::say_continue() {
  static const std::string text = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(
      stream_, asio::buffer(text),
      [me = this->shared_from_this()](beast::error_code failed, std::size_t) {
        if (failed) return me->close();
        me->read_body();
      });
}

template <class Stream>
void connection<Stream>::read_body() {
  if (parser_->is_done()) return on_body({}, 0);
  beast::http::async_read(stream_, *buffer_, *parser_,
                          handler(&connection::on_body));
}

template <class Stream>
void connection<Stream>::on_body(beast::error_code failed, std::size_t) {
  if (state_ == state::closed) return;
  if (failed) return refuse_parse(failed);
  request_->body = std::move(parser_->get().body());
  parser_.reset();
  state_ = state::answering;
  auto copy = *request_;
  request_->body.clear();
  shared_->app->handle(
      std::move(copy), std::move(ticket_),
      [me = this->weak_from_this(), post = shared_->post](reply x) {
        auto kept = std::make_shared<reply>(std::move(x));
        post([me, kept] {
          const auto it = me.lock();
          if (it && it->state_ == state::answering)
            it->answer(std::move(*kept));
        });
      });
}

// -- writing ------------------------------------------------------------------

template <class Stream>
void connection<Stream>::answer(reply x) {
  body_.let_go();
  if (x.close || shared_->closing) keep_alive_ = false;
  shared_->app->finish(*request_, x);
  const bool fixed = !x.source || x.length;
  if (x.source && !is_head_) {
    ++shared_->counts.streams;
  } else {
    if (x.source && !x.length && is_head_) x.body.clear();
    x.source.reset();
  }
  if (!fixed && !chunked_) keep_alive_ = false;  // its end is the answer's
  auto text = head_of(x, fixed, chunked_, keep_alive_);
  if (fixed) chunked_ = false;
  if (!is_head_ && !x.source) text += x.body;
  x.body.clear();
  last_sent_ = !x.source;
  state_ = x.source ? state::streaming : state::writing;
  reply_ = std::move(x);
  write(std::make_shared<const std::string>(std::move(text)), false);
  if (reply_.source) begin_stream();
}

template <class Stream>
void connection<Stream>::begin_stream() {
  if (buffer_ && buffer_->size() == 0) buffer_.reset();
  parser_.reset();
  reply_.source->begin([me = this->weak_from_this()] {
    if (const auto it = me.lock()) it->pump();
  });
  watch_for_end();
}

/// A client that goes while nothing is sent to it is noticed at once. What it
/// sends meanwhile is its next request.
template <class Stream>
void connection<Stream>::watch_for_end() {
  if constexpr (is_tls<Stream>) return;
  socket().async_wait(tcp::socket::wait_read, [me = this->weak_from_this()](
                                                  beast::error_code failed) {
    const auto it = me.lock();
    if (!it || failed || it->state_ != state::streaming) return;
    if (!it->buffer_) it->buffer_ = it->make_buffer();
    if (!receive_waiting(it->socket().native_handle(), *it->buffer_,
                         it->shared_->options.header_bytes))
      return it->close();
    it->watch_for_end();
  });
}

template <class Stream>
void connection<Stream>::pump() {
  if (state_ != state::streaming || writing_) return;
  auto& source = *reply_.source;
  if (winding_down_ && !reply_.length) {
    keep_alive_ = false;
    last_sent_ = true;
    if (chunked_)
      return write(std::make_shared<std::string>("0\r\n\r\n"), false);
    return end_answer();
  }
  if (auto bytes = source.next()) {
    if (bytes->empty()) return pump();
    return write(std::move(bytes), chunked_);
  }
  if (!source.ended()) return;
  if (source.broken()) return close();  // not as if it were whole
  last_sent_ = true;
  if (chunked_) return write(std::make_shared<std::string>("0\r\n\r\n"), false);
  end_answer();
}

template <class Stream>
void connection<Stream>::write(std::shared_ptr<const std::string> bytes,
                               bool chunk) {
  static constexpr std::string_view end_of_chunk = "\r\n";
  bytes_ = std::move(bytes);
  chunk_head_ = chunk ? chunk_head(bytes_->size()) : "";
  left_ = beast::buffers_suffix<std::array<asio::const_buffer, 3>>{
      {asio::buffer(chunk_head_), asio::buffer(*bytes_),
       chunk ? asio::buffer(end_of_chunk.data(), end_of_chunk.size())
             : asio::const_buffer{}}};
  writing_ = true;
  since_ = std::chrono::steady_clock::now();
  write_some();
}

template <class Stream>
void connection<Stream>::write_some() {
  stream_.async_write_some(left_, handler(&connection::on_written));
}

template <class Stream>
void connection<Stream>::on_written(beast::error_code failed,
                                    std::size_t count) {
  if (state_ == state::closed) return;
  if (failed) return close();
  since_ = std::chrono::steady_clock::now();
  left_.consume(count);
  if (beast::buffer_bytes(left_) > 0) return write_some();
  writing_ = false;
  bytes_.reset();
  if (last_sent_) return end_answer();
  pump();
}

template <class Stream>
void connection<Stream>::end_answer() {
  if (reply_.source) --shared_->counts.streams;
  reply_ = {};
  request_.reset();
  last_sent_ = false;
  if (!keep_alive_) return shut();
  read_header();
}

// -- the end ------------------------------------------------------------------

template <class Stream>
void connection<Stream>::sweep(time_point at) {
  const auto passed = at - since_;
  const auto& limits = shared_->options;
  switch (state_) {
    case state::waiting:
      // Who has asked for nothing yet is not trusted with as much time.
      if (passed > (asked_ ? limits.idle_timeout : limits.request_timeout))
        close();
      return;
    case state::reading:
      if (passed > limits.request_timeout) close();
      return;
    case state::leaving:
      if (passed > leave_limit) close();
      return;
    case state::answering:
    case state::closed: return;
    case state::streaming:
      if (reply_.permit && reply_.permit->withdrawn) wind_down();
      break;
    case state::writing: break;
  }
  if (state_ != state::writing && state_ != state::streaming) return;
  if (writing_) {
    if (passed > limits.stall_timeout) {
      ++shared_->counts.stalled;
      close();
    }
    return;
  }
  if (++sweeps_ % sweeps_a_look == 0 && is_dead(socket().native_handle()))
    return close();
  if (passed + sweep_interval < limits.heartbeat) return;
  const auto beat = reply_.source->heartbeat();
  if (!beat.empty()) write(std::make_shared<const std::string>(beat), chunked_);
}

template <class Stream>
void connection<Stream>::wind_down() {
  winding_down_ = true;
  if (state_ == state::waiting) return close();
  pump();
}

/// What was written still arrives: a close while bytes are unread would take
/// it back.
template <class Stream>
void connection<Stream>::shut() {
  if (state_ == state::closed) return;
  state_ = state::leaving, since_ = now();
  if constexpr (is_tls<Stream>) {
    stream_.async_shutdown(
        [me = this->shared_from_this()](beast::error_code) { me->close(); });
  } else {
    beast::error_code ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
    discard();
  }
}

template <class Stream>
void connection<Stream>::discard() {
  socket().async_read_some(
      asio::buffer(discarded_),
      [me = this->shared_from_this()](beast::error_code failed, std::size_t) {
        if (failed) return me->close();
        me->discard();
      });
}

template <class Stream>
void connection<Stream>::close() {
  if (std::exchange(state_, state::closed) == state::closed) return;
  body_.let_go();
  if (reply_.source) --shared_->counts.streams;
  reply_ = {};
  beast::error_code ignored;
  socket().close(ignored);
  shared_->forget(this);
}

template class connection<tcp::socket>;
template class connection<asio::ssl::stream<tcp::socket>>;

}  // namespace riffle::http
