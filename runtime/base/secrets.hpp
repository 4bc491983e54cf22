// SPDX-License-Identifier: MIT
#pragma once

// The keys of providers: where they are read, who must not get them, and how
// they are kept out of texts. What is known here is known to the whole
// process, as its environment is. Thread-safe, except for `take_key`.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace riffle {

/// The value of a variable that holds a key, and a secret from now on. Nothing
/// if it is not set or empty, unless it was taken before.
std::optional<std::string> read_key(const std::string& variable);

/// Reads it, and takes it out of the environment: the variable itself, each
/// other one with the same value, and the bytes that /proc/PID/environ shows.
/// Call it before other threads use the environment.
void take_key(const std::string& variable);

/// No other process of the same user can trace this one or read its memory or
/// environment; no core is dumped. Not in a build with AddressSanitizer, which
/// traces itself at the end.
void refuse_tracing() noexcept;

/// Another text that no message may show. Shorter than four characters: no
/// secret.
void add_secret(std::string_view value);

/// The user and password of "https://user:password@host/".
void add_secrets_of_url(std::string_view url);

/// "NAME=value" of each variable whose value holds no key.
std::vector<std::string> environment_without_keys();

/// `***` for each secret: as it is, percent-encoded, escaped as in JSON, in
/// base64, and cut off at the end of the text (eight characters of it or
/// more); and for what stands before the `@` of a URL.
std::string redact(std::string text);
error redact(error x);

}  // namespace riffle
