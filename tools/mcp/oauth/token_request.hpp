// SPDX-License-Identifier: MIT
#pragma once

// One request to an endpoint that gives tokens, and what its answer means.

#include <functional>
#include <stop_token>
#include <string>

#include "tools/mcp/oauth/login.hpp"
#include "tools/mcp/oauth/reach.hpp"

namespace riffle::mcp::oauth {

/// A text of an object; empty: there is none.
std::string text_in(const nlohmann::json& x, const char* key);

/// What an error of OAuth says, in words; its own are somebody else's.
std::string words_of(const reach_answer& x);

/// A token stands in a header: nothing else may begin in it.
bool is_token(const std::string& x);

/// What stands in a form; see `body_maker`.
using form_maker = std::function<expected<fields>()>;

/// Asks as `who`; with a proof of `key`, if that is not null.
expected<reach_answer> send_form(const client& who, const std::string& url,
                                 const form_maker& form, const reach& to,
                                 const signing_key* key,
                                 const std::stop_token& stop);

/// The same as a login's client, with its key.
expected<reach_answer> send_form(const login& x, const std::string& url,
                                 const fields& all, const reach& to,
                                 const std::stop_token& stop);

/// Takes the tokens of an answer into `x`. `approval_denied`: it gives none.
expected<void> take_tokens(login& x, const reach_answer& answer);

}  // namespace riffle::mcp::oauth
