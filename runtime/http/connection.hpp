// SPDX-License-Identifier: MIT
#pragma once

// One client, from its first byte to its last. On the I/O thread alone.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/buffers_suffix.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "runtime/http/server.hpp"
#include "runtime/http/wire.hpp"

namespace riffle::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;

class any_connection;

/// What all connections of a server share.
struct connection_setup {
  application* app = nullptr;
  server_options options;
  server_counts counts;
  bool closing = false;            ///< nothing more is asked, streams end
  std::uint64_t large_bodies = 0;  ///< bytes of those that are held or awaited
  std::function<void(std::function<void()>)> post;
  /// It was closed: nobody holds it any more but what is under way.
  std::function<void(any_connection*)> forget;
};

inline constexpr auto sweep_interval = std::chrono::milliseconds{500};

/// What the sweep sees of a connection.
class any_connection {
 public:
  virtual ~any_connection() = default;
  /// Looks at its time limits; may end it.
  virtual void sweep(time_point now) = 0;
  /// Ends it as soon as it can be ended.
  virtual void wind_down() = 0;
  virtual void abort() = 0;
};

template <class Stream>
class connection final
    : public any_connection,
      public std::enable_shared_from_this<connection<Stream>> {
 public:
  connection(Stream stream, std::shared_ptr<connection_setup> shared);
  ~connection() override;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  void start();
  void sweep(time_point now) override;
  void wind_down() override;
  void abort() override { close(); }

 private:
  enum class state : std::uint8_t {
    waiting,    ///< for a request
    reading,    ///< a request has begun
    answering,  ///< the application has it
    writing,    ///< an answer of fixed length
    streaming,  ///< an answer from a source
    leaving,    ///< all was said; what still comes is thrown away
    closed,
  };
  using parser = beast::http::request_parser<beast::http::string_body>;

  auto handler(void (connection::*f)(beast::error_code, std::size_t));
  /// What a client sends between the bytes of a body (extensions of chunks,
  /// trailers) has a bound, too.
  [[nodiscard]] auto make_buffer() const {
    constexpr std::size_t piece = 64u << 10;
    return std::make_unique<beast::flat_buffer>(shared_->options.header_bytes +
                                                piece);
  }
  tcp::socket& socket();
  void read_header();
  void on_header(beast::error_code failed, std::size_t);
  void say_continue();
  void read_body();
  void on_body(beast::error_code failed, std::size_t);
  void refuse_parse(beast::error_code failed);
  void answer(reply x);
  void begin_stream();
  void pump();
  void write(std::shared_ptr<const std::string> bytes, bool chunk);
  void write_some();
  void on_written(beast::error_code failed, std::size_t count);
  void end_answer();
  void watch_for_end();
  void close();
  void shut();
  void discard();

  Stream stream_;
  std::shared_ptr<connection_setup> shared_;
  state state_ = state::waiting;
  std::string peer_;
  std::unique_ptr<beast::flat_buffer> buffer_;
  bool asked_ = false;  ///< a request came, or the beginning of one
  std::unique_ptr<parser> parser_;
  std::optional<request> request_;
  std::shared_ptr<void> ticket_;
  reply reply_;
  held_body body_;
  bool keep_alive_ = true;
  bool is_head_ = false;
  bool chunked_ = false;
  bool writing_ = false;
  bool last_sent_ = false;
  bool winding_down_ = false;
  time_point since_;  ///< of the state, or of the last byte that went out
  std::shared_ptr<const std::string> bytes_;
  std::string chunk_head_;
  beast::buffers_suffix<std::array<asio::const_buffer, 3>> left_;
  std::array<char, 512> discarded_{};
  std::uint8_t sweeps_ = 0;
};

using plain_connection = connection<tcp::socket>;
using tls_connection = connection<asio::ssl::stream<tcp::socket>>;

}  // namespace riffle::http
