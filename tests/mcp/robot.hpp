// SPDX-License-Identifier: MIT
#pragma once

// A program without a person, at a server that wants tokens.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/mcp/login_place.hpp"
#include "tools/mcp/oauth/unattended.hpp"

namespace riffle::mcp::at_login {

inline oauth::secret_source text(std::string x) {
  return [x = std::move(x)]() -> expected<std::string> { return x; };
}

/// A program without a person at a server that wants tokens.
struct robot {
  explicit robot(oauth_rules rules = {}) : world{std::move(rules)} {
    how.server = world.server();
    how.client_id = "robot";
  }

  void with_secret() {
    world.change([](auto& x) { x.client_auth = "client_secret_basic"; });
    how.client_secret = text("canary-secret-of-robot");
  }

  std::shared_ptr<token_holder> entry() {
    const auto from = std::make_shared<oauth::unattended>(how);
    token_holder_options options;
    options.name = "web";
    options.server = world.server();
    options.ask = [from](const std::stop_token& stop) {
      return from->ask(stop);
    };
    return std::make_shared<token_holder>(std::move(options));
  }

  /// Why there is no token.
  std::string problem() {
    const auto got = oauth::unattended{how}.ask({});
    return got ? "a token" : got.error().message;
  }

  exchange_request request(const std::string& tool = "read") const {
    exchange_request x;
    x.url = world.server();
    x.body = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{)"
             R"("name":")" +
             tool + "\"}}";
    x.until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    return x;
  }

  std::vector<std::map<std::string, std::string>> forms() const {
    return world.forms("/token");
  }

  oauth_world world;
  oauth::unattended_options how;
};

}  // namespace riffle::mcp::at_login
