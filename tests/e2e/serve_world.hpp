// SPDX-License-Identifier: MIT
#pragma once

// `riffle serve` in a folder of its own, and clients of it.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/e2e/program.hpp"

namespace riffle::testing {

/// What came back.
struct http_answer {
  long status = 0;
  std::string body;
  std::string head;

  [[nodiscard]] nlohmann::json json() const;
};

/// Of one server; lines of a header as "Name: value".
class http_user {
 public:
  http_user(std::uint16_t port, std::string token)
      : port_{port}, token_{std::move(token)} {}

  http_answer get(const std::string& path,
                  std::vector<std::string> fields = {}) const {
    return send("GET", path, {}, std::move(fields));
  }
  http_answer post(const std::string& path, const nlohmann::json& body,
                   std::vector<std::string> fields = {}) const;
  http_answer send(const std::string& method, const std::string& path,
                   const std::optional<std::string>& body,
                   std::vector<std::string> fields) const;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const std::string& token() const { return token_; }

 private:
  std::uint16_t port_;
  std::string token_;
};

/// A socket that speaks HTTP byte by byte.
class raw_client {
 public:
  /// `receive_buffer`: of the kernel, in bytes; 0: its own choice.
  explicit raw_client(std::uint16_t port, int receive_buffer = 0);
  ~raw_client();
  raw_client(const raw_client&) = delete;
  raw_client& operator=(const raw_client&) = delete;

  void send(std::string_view bytes) const;
  /// Nothing more will be sent; what comes is read all the same.
  void half_close() const;
  /// Asks for a stream.
  void ask(const std::string& path, const std::string& token,
           const std::string& more = "") const;
  /// Reads what is there within `limit`, at most `most` bytes; "" at the end
  /// or if nothing came.
  std::string read(std::chrono::milliseconds limit,
                   std::size_t most = 65536) const;
  /// Reads until `text` is in what came, or the end; all of it.
  std::string read_until(const std::string& text,
                         std::chrono::milliseconds limit = std::chrono::seconds{
                             20});
  [[nodiscard]] bool ended() const noexcept { return ended_; }

 private:
  int fd_ = -1;
  std::string all_;
  mutable bool ended_ = false;
};

struct sse_event {
  std::string id;
  std::string type;
  std::string data;
};

/// The events of a stream, chunks and header taken away. Only whole ones.
std::vector<sse_event> events_of(const std::string& response);

class served {
 public:
  /// `config`: the riffle.toml, with a scripted model.
  explicit served(const work_folder& folder, std::vector<std::string> more = {},
                  const std::map<std::string, std::string>& env = {});
  /// Fails the test for each answer to a `http_user` that was not as the
  /// OpenAPI document says.
  ~served();
  served(const served&) = delete;
  served& operator=(const served&) = delete;

  [[nodiscard]] http_user user() const;
  [[nodiscard]] http_user user(const std::string& token) const {
    return {port_, token};
  }
  [[nodiscard]] program& process() { return *process_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// kill -9, and another one at the same port.
  void kill_and_restart();

 private:
  void start();

  const work_folder& folder_;
  std::vector<std::string> more_;
  std::map<std::string, std::string> env_;
  std::unique_ptr<program> process_;
  std::uint16_t port_ = 0;
};

/// The script of a model that says so many words, each after a while.
std::string spoken_slowly(int words, const std::string& delay);

/// Writes riffle.toml and a script: `steps` as TOML, `keys` before all tables,
/// `more` behind.
void write_server(const work_folder& folder, const std::string& script,
                  const std::string& more = "");

/// `[server.tokens.NAME]` of a token that is called as it is; `more`: its keys.
std::string token_table(const std::string& name, const std::string& more = {});

/// The status of a run, until it is none of active, interrupted.
nlohmann::json await_end(const http_user& who, const std::string& run,
                         std::chrono::milliseconds limit = std::chrono::seconds{
                             30});

}  // namespace riffle::testing
