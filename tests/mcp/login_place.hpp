// SPDX-License-Identifier: MIT
#pragma once

// A server that wants a token, the file of a login at it, and the same server
// under supervision.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/oauth_world.hpp"
#include "tools/mcp/call.hpp"
#include "tools/mcp/http_link.hpp"
#include "tools/mcp/oauth/sign_in.hpp"
#include "tools/mcp/server.hpp"
#include "tools/mcp/token_holder.hpp"

namespace riffle::mcp::at_login {

using riffle::testing::oauth_rules;
using riffle::testing::oauth_world;

inline bool has_part(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A call of a tool there.
inline exchange_request request_at(const oauth_world& world,
                                   const std::string& tool) {
  exchange_request x;
  x.url = world.server();
  x.body = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{)"
           R"("name":")" +
           tool + "\"}}";
  x.until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  return x;
}

/// A server that wants a token, and the file in which a login may be.
struct place {
  explicit place(oauth_rules rules = {}) : world{std::move(rules)} {}
  ~place() { std::filesystem::remove_all(folder); }

  void log_in(const std::string& scope = {}) {
    oauth::sign_in_options how;
    how.server = world.server();
    how.scope = scope;
    std::thread browser;
    how.show = [&](const std::string& url) {
      browser = std::thread{[url] { oauth_world::agree(url); }};
    };
    auto got = oauth::sign_in(how);
    if (browser.joinable()) browser.join();
    REQUIRE(got.has_value());
    REQUIRE(oauth::write_login(file, *got).has_value());
  }

  token_holder_options options(const std::string& given = {}) const {
    token_holder_options out;
    out.name = "web";
    out.server = world.server();
    out.file = file;
    out.given = given;
    return out;
  }

  std::shared_ptr<token_holder> entry(const std::string& given = {}) const {
    return std::make_shared<token_holder>(options(given));
  }

  exchange_request request(const std::string& tool = "read") const {
    return request_at(world, tool);
  }

  std::size_t sent_to_giver() const { return world.forms("/token").size(); }

  oauth_world world;
  std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                 ("riffle-token-" + std::to_string(::getpid()));
  std::filesystem::path file = folder / "mcp" / "web.login";
};

/// The same as a server under supervision.
struct served {
  explicit served(const place& x) {
    server_options options;
    options.name = "web";
    options.startup_timeout = std::chrono::seconds{20};
    options.supervision.backoff = {std::chrono::milliseconds{10},
                                   std::chrono::milliseconds{50}};
    options.supervision.intensity = 100;
    http_link_options how;
    how.name = "web";
    how.url = x.world.server();
    how.who = x.entry();
    options.connect = [how](link_events events) {
      return open_http(how, std::move(events));
    };
    at.emplace(std::move(options));
  }

  tools::tool_output call(const std::string& tool) {
    tools::tool_context context;
    context.progress = [](tool_progress_report) {};
    return call_tool(*at, tool, {}, json::object(), context);
  }

  std::optional<server> at;
};

}  // namespace riffle::mcp::at_login
