// SPDX-License-Identifier: MIT
#pragma once

// What a connection writes and sets, apart from how it is sent.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/system/error_code.hpp>

#include "messages/time.hpp"
#include "runtime/http/message.hpp"

namespace riffle::http {

/// Status line and header. `fixed`: the length is known; else the body comes
/// in chunks, or ends with the connection.
std::string head_of(const reply& x, bool fixed, bool chunked, bool keep_alive);

/// What stands before a chunk (RFC 9112, 7.1).
std::string chunk_head(std::size_t size);

void add_field(request& x, std::string_view name, std::string_view value);

/// Reads what the fields and the target say, or why the request cannot be
/// taken: nobody can be sure where it ends, or for whom it is (RFC 9112, 3.2
/// and 6.1; a proxy may have read it in another way), its target is ill-formed,
/// or it expects what nobody does (RFC 9110, 10.1.1).
std::optional<reply> read_head(request& x, std::string_view target,
                               unsigned version);

/// Takes what a client sends before it was asked, up to `most` bytes. False: it
/// has gone, or sends more.
bool receive_waiting(int socket, boost::beast::flat_buffer& to,
                     std::uint64_t most);

/// Why a request could not be read.
reply problem_of(const boost::system::error_code& failed);
reply too_large(std::uint64_t size, std::uint64_t limit);

/// Part of the memory that large bodies may take together, which is several
/// times their size while they are read. Of one request; on the I/O thread.
class held_body {
 public:
  /// `all`: bytes of the large bodies that are held or awaited; outlives this.
  explicit held_body(std::uint64_t& all) : all_{all} {}
  ~held_body() { let_go(); }
  held_body(const held_body&) = delete;
  held_body& operator=(const held_body&) = delete;

  /// False: too much is held already. A small one always may, and one that is
  /// alone.
  bool take(std::uint64_t size);
  void let_go();

 private:
  std::uint64_t& all_;
  std::uint64_t held_ = 0;
};

/// The answer to who may not.
reply too_many_bodies();

/// What was sent and is not acknowledged for so long ends the connection
/// (RFC 5482).
void limit_stalls(int socket, duration stall_timeout);

/// The peer has said nothing for 40 s, though something waits for its word. A
/// heartbeat goes out before.
bool is_dead(int socket);

}  // namespace riffle::http
