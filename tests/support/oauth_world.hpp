// SPDX-License-Identifier: MIT
#pragma once

// A server of the Model Context Protocol that wants a token, and, at another
// port, the authorization server that gives it: it registers programs, checks
// each step (PKCE, the way back, the resource), and turns refresh tokens over.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/support/http_server.hpp"

namespace riffle::testing {

/// What the two do; a test changes it.
struct oauth_rules {
  bool names_metadata = true;  ///< in the challenge
  bool has_metadata = true;    ///< the server's own (RFC 9728)
  bool at_root = false;        ///< that, and not below its path
  bool lets_in = false;        ///< who has no token
  std::string tenant{};        ///< path of the issuer
  std::string document = "/.well-known/oauth-authorization-server";
  bool document_last = false;  ///< the issuer's path stands before that
  nlohmann::json resource_lie = nlohmann::json::object();
  nlohmann::json server_lie = nlohmann::json::object();
  std::string client_auth = "none";
  std::string client_secret{};  ///< of those that it did not register
  int life = 3600;  ///< of a token, in seconds; 0: none is told; -1: it is over
  bool refreshes = true;
  std::string token_type = "Bearer";
  std::string scope = "read";  ///< that the challenge names
  std::string answer_more{};   ///< behind the answer's code and state
  std::string refusal{};       ///< error instead of a code
  int token_status = 200;      ///< of the token endpoint
  bool modern = false;         ///< what begins with `initialize` is a mistake
  bool forgets = false;        ///< each token, before it comes
  std::string client_pem{};    ///< key of a client of `private_key_jwt`
  std::string assertion{};     ///< that is good for a token (RFC 7523)
  bool binds = false;          ///< it knows DPoP (RFC 9449), and says so
  std::string giver_nonce{};   ///< that each proof must hold there
  std::string server_nonce{};  ///< the same at the server
  bool displeased = false;     ///< with each nonce, there
  bool bears = false;          ///< takes bearers alone, there
  std::function<void()> on_token{};  ///< before it answers
};

class oauth_world {
 public:
  explicit oauth_world(oauth_rules rules = {});

  [[nodiscard]] std::string server() const { return server_->url("/mcp"); }
  [[nodiscard]] std::string issuer() const;
  void change(const std::function<void(oauth_rules&)>& f);

  /// Follows the login page to the end, as a browser does; what it shows last.
  static std::string agree(const std::string& url);

  /// No token that was given is taken any more.
  void forget_tokens();
  /// Nor does a refresh token give new ones.
  void forget_logins();

  /// Forms that came to an endpoint, such as "/token".
  [[nodiscard]] std::vector<std::map<std::string, std::string>> forms(
      const std::string& path) const;
  /// How many proofs were good, and what was wrong with the others.
  [[nodiscard]] std::size_t good_proofs() const;
  [[nodiscard]] std::vector<std::string> bad_proofs() const;
  /// How often a refresh token came that had been used before.
  [[nodiscard]] int reused() const;
  [[nodiscard]] std::vector<http_request> server_requests() const {
    return server_->requests();
  }
  [[nodiscard]] std::vector<http_request> giver_requests() const {
    return giver_->requests();
  }
  /// All tokens, codes and secrets that were ever given.
  [[nodiscard]] std::vector<std::string> secrets() const;

 private:
  using form = std::map<std::string, std::string>;
  struct grant {
    std::string challenge, redirect, resource, scope, client;
  };

  http_reply serve(const http_request& x);
  http_reply call(const nlohmann::json& asked, const std::string& scope);
  http_reply give(const http_request& x);
  http_reply describe(const std::string& base) const;
  http_reply enroll(const http_request& x);
  http_reply authorize(const form& x);
  http_reply exchange(const http_request& x);
  bool knows_client(const http_request& x, const form& all) const;
  http_reply grant_of(form all);
  http_reply tokens(const std::string& scope);
  // oauth_proofs.cpp
  bool knows_signature(const form& all);
  std::optional<http_reply> refuse_proof(const http_request& x);
  std::string token_of(const http_request& x);
  std::string judge(const http_request& x, const std::string& url,
                    const std::string& token);
  std::string fresh(const std::string& what);

  mutable std::mutex mutex_;
  oauth_rules rules_;
  int count_ = 0;
  int reused_ = 0;
  std::map<std::string, std::string> clients_;         ///< id -> way back
  std::map<std::string, std::string> client_secrets_;  ///< of those
  std::map<std::string, grant> codes_;
  std::map<std::string, std::string> tokens_;     ///< token -> scope
  std::map<std::string, std::string> refreshes_;  ///< token -> scope
  std::set<std::string> used_;
  std::map<std::string, std::string> bound_;  ///< token -> its key
  std::string key_;                           ///< of the last good proof
  std::set<std::string> ids_;                 ///< of proofs and assertions
  std::size_t good_proofs_ = 0;
  std::vector<std::string> bad_proofs_;
  std::vector<std::string> secrets_;
  std::optional<http_server> giver_;
  std::optional<http_server> server_;
};

/// "a=b&c=d" as it came.
std::map<std::string, std::string> read_form(std::string_view text);

}  // namespace riffle::testing
