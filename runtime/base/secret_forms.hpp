// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace riffle {

/// How a secret may stand in a text: itself, percent-encoded, in hexadecimal,
/// escaped as in JSON or HTML, in base64 at any offset. Each at least four
/// characters, the longest first, none twice.
std::vector<std::string> secret_forms(std::string_view secret);

/// Replaces the forms by `***`; so the begin of a form that is twelve
/// characters and half of it, and at the end of the text its first eight or
/// more.
std::string hide_forms(std::string text, const std::vector<std::string>& forms);

/// `***` for what stands before the `@` of a URL.
std::string hide_user_of_urls(std::string text);

}  // namespace riffle
