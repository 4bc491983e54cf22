// SPDX-License-Identifier: MIT
#pragma once

// URLs, read by the very parser that will connect to them: two parsers that
// disagree about the host are how checks are walked around.

#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "tools/builtin/web/address_policy.hpp"

namespace riffle::tools {

/// Takes http:// and https:// with a host, without user name and password.
/// The error says what is wrong and what is allowed.
tl::expected<web_url, std::string> parse_url(std::string_view text);

/// One spelling for all URLs that mean the same, for rules: scheme and host in
/// lower case, names in ASCII, addresses in their one form, no default port,
/// no fragment, no "." and ".." and doubled "/" in the path, only what must be
/// in percent signs (RFC 3986, 6.2). Nothing for what cannot be fetched.
std::optional<std::string> url_spelling(std::string_view text);

/// `reference` as seen from the page `base`; empty if it leads to nothing that
/// could be fetched or written to (a script, data, a place on the same page).
std::string resolve_link(const std::string& base, std::string_view reference);

}  // namespace riffle::tools
