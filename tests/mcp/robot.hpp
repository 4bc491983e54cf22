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
    how.issuer = world.issuer();  // at another port: nobody else is asked
  }

  void with_secret() {
    world.change([](auto& x) {
      x.client_auth = "client_secret_basic";
      x.client_secret = "canary-secret:5%41 + robot";
    });
    how.client_secret = text("canary-secret:5%41 + robot");
  }

  std::shared_ptr<token_holder> entry() {
    const auto from = std::make_shared<oauth::unattended>(how);
    token_holder_options options;
    options.name = "web";
    options.server = world.server();
    options.ask = [from](const std::stop_token& stop, bool anew) {
      return from->ask(stop, anew);
    };
    options.pause = pause;
    options.least_life = least_life;
    return std::make_shared<token_holder>(std::move(options));
  }

  /// Why there is no token.
  std::string problem() {
    const auto got = oauth::unattended{how}.ask({});
    return got ? "a token" : got.error().message;
  }

  exchange_request request(const std::string& tool = "read") const {
    return request_at(world, tool);
  }

  std::vector<std::map<std::string, std::string>> forms() const {
    return world.forms("/token");
  }

  oauth_world world;
  oauth::unattended_options how;
  duration pause = std::chrono::seconds{30};
  duration least_life = std::chrono::seconds{10};
};

}  // namespace riffle::mcp::at_login
