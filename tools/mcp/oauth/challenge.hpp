// SPDX-License-Identifier: MIT
#pragma once

// What a server that refuses a request says of the token that it wants
// (RFC 6750, RFC 9449, RFC 9728). Pure.

#include <string>
#include <string_view>

namespace riffle::mcp::oauth {

struct challenge {
  std::string resource_metadata{};  ///< a URL, as it was sent
  std::string scope{};              ///< names between blanks
  std::string error{};              ///< "invalid_token", "insufficient_scope" …
  bool bound = false;               ///< it takes tokens that a key binds (DPoP)

  bool operator==(const challenge&) const = default;
};

/// The challenges `Bearer` and `DPoP` (RFC 9449) of `WWW-Authenticate`,
/// wherever they stand in it; the second counts where they differ, and what
/// cannot be read is left out.
challenge read_challenge(std::string_view header);

/// A list of scopes that can stand between quotation marks in a shell: of
/// letters, digits and ._:/-+*@ alone. Nothing is cut out: it is one, or empty.
std::string plain_scopes(std::string_view scope);

/// The names of both, each once.
std::string with_scopes(std::string_view scope, std::string_view more);

}  // namespace riffle::mcp::oauth
