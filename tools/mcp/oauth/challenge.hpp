// SPDX-License-Identifier: MIT
#pragma once

// What a server that refuses a request says of the token that it wants
// (RFC 6750, RFC 9728). Pure.

#include <string>
#include <string_view>

namespace riffle::mcp::oauth {

struct challenge {
  std::string resource_metadata{};  ///< a URL, as it was sent
  std::string scope{};              ///< names between blanks
  std::string error{};              ///< "invalid_token", "insufficient_scope" …

  bool operator==(const challenge&) const = default;
};

/// The `Bearer` challenge of `WWW-Authenticate`, wherever it stands in it; what
/// cannot be read is left out.
challenge read_challenge(std::string_view header);

/// A list of scopes that can stand between quotation marks in a shell: of
/// letters, digits and ._:/-+*@ alone. Nothing is cut out: it is one, or empty.
std::string plain_scopes(std::string_view scope);

/// The names of both, each once.
std::string with_scopes(std::string_view scope, std::string_view more);

}  // namespace riffle::mcp::oauth
