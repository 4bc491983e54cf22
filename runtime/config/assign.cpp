// SPDX-License-Identifier: MIT
#include "runtime/config/assign.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "messages/duration_text.hpp"
#include "messages/utf8.hpp"
#include "runtime/base/endpoint.hpp"
#include "runtime/base/text.hpp"
#include "runtime/config/home.hpp"
#include "runtime/config/json_text.hpp"
#include "runtime/config/providers.hpp"
#include "runtime/config/reader.hpp"

namespace riffle::config {

namespace {

std::string wrong_type(std::string_view wanted, const value& x) {
  std::string out = "must be ";
  out.append(wanted).append(", not ").append(describe(x.type));
  return out;
}

bool is_identifier(std::string_view x) {
  return std::ranges::all_of(x, [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z');
  });
}

bool is_address(std::string_view x) {
  const auto colon = x.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto port = x.substr(colon + 1);
  unsigned number = 0;
  const auto [end, error] =
      std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc{} && end == port.data() + port.size() &&
         number <= 65535;
}

/// RFC 6901: "~" stands only in "~0" and "~1".
bool is_pointer(std::string_view x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto next = i + 1 < x.size() ? x[i + 1] : ' ';
    if (x[i] == '~' && next != '0' && next != '1') return false;
  }
  return x.starts_with('/');
}

std::string_view form_problem(form shape, std::string_view x) {
  switch (shape) {
    case form::url:
      if (x.starts_with("http://") || x.starts_with("https://")) return {};
      return "must begin with http:// or https://";
    case form::address:
      return is_address(x) ? "" : "must be host:port, such as 127.0.0.1:7433";
    case form::identifier:
      return is_identifier(x) ? ""
                              : "must be the name of an environment "
                                "variable, not a key itself";
    case form::pointer:
      return is_pointer(x) ? "" : "must be a JSON pointer, such as /path";
    case form::endpoint:
      return parse_endpoint(x) ? ""
                               : "must be a host or a network, with or without "
                                 "a port, such as wiki.local, 10.0.0.0/8, "
                                 "127.0.0.1:8080 or [::1]:8080";
    case form::any:
    case form::path:
    case form::folder:
    case form::provider:
    case form::texts: break;
  }
  return {};
}

std::string list_of(const std::vector<std::string_view>& words) {
  std::string out;
  for (const auto& x : words) {
    if (!out.empty()) out += ", ";
    out += x;
  }
  return out;
}

std::string text_problem(const std::string& x, const rule& r) {
  if (x.find('\0') != std::string::npos) return "must not hold a NUL character";
  if (std::ranges::find(r.later, x) != r.later.end()) {
    return in_quotes(x) + " is not supported by this version; supported: " +
           list_of(r.allowed);
  }
  if (!r.allowed.empty() &&
      std::ranges::find(r.allowed, x) == r.allowed.end()) {
    return in_quotes(x) + " is not known; allowed: " + list_of(r.allowed);
  }
  if (x.empty()) return r.empty_allowed ? "" : "must not be empty";
  if (r.shape == form::provider)
    return find_provider(x)
               ? ""
               : in_quotes(x) +
                     " is not known; allowed: " + join_some(provider_names());
  const auto problem = form_problem(r.shape, x);
  if (problem.empty()) return {};
  // What was meant to be a name may be a secret: it is not repeated.
  if (r.shape == form::identifier) return std::string{problem};
  return in_quotes(x) + " " + std::string{problem};
}

std::string range_text(const rule& r, std::string (*show)(double)) {
  constexpr double no_number = 0x1p63;  // "at most" what no file can hold
  if (r.most >= no_number) return "at least " + show(r.least);
  return show(r.least) + " to " + show(r.most);
}

std::string seconds_text(double x) {
  return duration_text(std::chrono::nanoseconds{std::llround(x * 1e9)});
}

std::string range_problem(double x, const rule& r, const std::string& shown,
                          std::string (*show)(double)) {
  if (x >= r.least && x <= r.most) return {};
  return shown + " is out of range; allowed: " + range_text(r, show);
}

std::string store(bool* target, const value& x, const rule&) {
  if (x.type != kind::boolean) return wrong_type("true or false", x);
  *target = x.flag;
  return {};
}

/// What no TOML reader takes for a number comes as a text.
bool is_too_long_a_number(const value& x) {
  constexpr std::size_t longest = 18;  // of what always fits
  return x.type == kind::text && x.text.size() > longest &&
         x.text.find_first_not_of("0123456789") == std::string::npos;
}

template <class Integer>
std::string store_integer(Integer* target, const value& x, rule r) {
  if (is_too_long_a_number(x))
    return x.text + " is too large; allowed: " + range_text(r, number_text);
  if (x.type != kind::integer) return wrong_type("a whole number", x);
  using limits = std::numeric_limits<Integer>;
  constexpr auto most = std::min<std::uint64_t>(
      static_cast<std::uint64_t>(limits::max()),
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  const bool fits =
      x.integer < 0
          ? limits::is_signed && x.integer >= std::int64_t{limits::min()}
          : static_cast<std::uint64_t>(x.integer) <= most;
  if (!fits) r.most = std::min(r.most, static_cast<double>(most));
  auto problem = range_problem(static_cast<double>(x.integer), r,
                               std::to_string(x.integer), number_text);
  if (problem.empty()) *target = static_cast<Integer>(x.integer);
  return problem;
}

std::string store(std::uint32_t* target, const value& x, const rule& r) {
  return store_integer(target, x, r);
}

std::string store(std::int32_t* target, const value& x, const rule& r) {
  return store_integer(target, x, r);
}

std::string store(std::uint64_t* target, const value& x, const rule& r) {
  return store_integer(target, x, r);
}

std::string store(double* target, const value& x, const rule& r) {
  if (x.type != kind::integer && x.type != kind::real) {
    return wrong_type("a number", x);
  }
  const auto number =
      x.type == kind::real ? x.real : static_cast<double>(x.integer);
  if (!std::isfinite(number)) return "must be a finite number";
  auto problem = range_problem(number, r, number_text(number), number_text);
  if (problem.empty()) *target = number;
  return problem;
}

bool is_none(const value& x) {
  return x.type == kind::text && x.text == "none";
}

std::string store(std::optional<double>* target, const value& x,
                  const rule& r) {
  if (is_none(x)) {
    target->reset();
    return {};
  }
  if (x.type != kind::integer && x.type != kind::real) {
    return wrong_type("a number or \"none\"", x);
  }
  double number = 0;
  auto problem = store(&number, x, r);
  if (problem.empty()) *target = number;
  return problem;
}

std::string store(std::optional<std::int64_t>* target, const value& x,
                  const rule& r) {
  if (is_none(x)) {
    target->reset();
    return {};
  }
  if (x.type != kind::integer)
    return wrong_type("a whole number or \"none\"", x);
  std::int64_t number = 0;
  auto problem = store_integer(&number, x, r);
  if (problem.empty()) *target = number;
  return problem;
}

std::string store(std::optional<bool>* target, const value& x, const rule&) {
  if (is_none(x)) {
    target->reset();
    return {};
  }
  if (x.type != kind::boolean) return wrong_type("true, false or \"none\"", x);
  *target = x.flag;
  return {};
}

std::string store(duration* target, const value& x, const rule& r) {
  constexpr auto wanted =
      "a duration such as \"250ms\", \"1.5s\", \"2m\" or "
      "\"24h\"";
  if (x.type != kind::text) return wrong_type(wanted, x);
  const auto parsed = parse_duration(x.text);
  if (!parsed) return in_quotes(x.text) + " is not " + wanted;
  const auto seconds = std::chrono::duration<double>{*parsed}.count();
  auto problem = range_problem(seconds, r, in_quotes(x.text), seconds_text);
  if (problem.empty()) *target = *parsed;
  return problem;
}

std::string store(std::string* target, const value& x, const rule& r) {
  if (x.type != kind::text && !x.raw) return wrong_type("a text", x);
  const auto& text = x.type == kind::text ? x.text : *x.raw;
  auto problem = text_problem(text, r);
  if (problem.empty()) *target = text;
  return problem;
}

std::string store(std::vector<std::string>* target, const value& x,
                  const rule& r) {
  if (x.type != kind::list) return wrong_type("a list of texts", x);
  std::vector<std::string> out;
  for (const auto& item : x.items) {
    std::string text;
    const auto problem = store(&text, item, r);
    if (!problem.empty()) {
      return "item " + std::to_string(out.size() + 1) + ": " + problem;
    }
    out.push_back(std::move(text));
  }
  *target = std::move(out);
  return {};
}

std::string store(json_object* target, const value& x, const rule& r) {
  auto parsed = to_json(x);
  if (!parsed) return std::move(parsed.error());
  if (r.shape == form::texts)
    if (const auto name = not_a_text(*parsed); !name.empty())
      return name + ": must be a text";
  target->text = std::move(*parsed);
  return {};
}

std::string store_rule(approval_rule& target, const value& x, const rule& r) {
  if (x.type != kind::table)
    return "must be a table such as { match = \"git status*\", approval = "
           "\"allow\" }, not " +
           std::string{describe(x.type)};
  rule pattern;
  pattern.empty_allowed = false;
  for (const auto& item : x.items) {
    const bool known = item.key == "match" || item.key == "approval";
    if (!known)
      return key_text(item.key) +
             ": unknown key; allowed here: match, approval";
    const bool is_match = item.key == "match";
    const auto problem = store(is_match ? &target.match : &target.approval,
                               item, is_match ? pattern : r);
    if (!problem.empty()) return item.key + ": " + problem;
  }
  if (target.match.empty()) return "match is missing";
  return target.approval.empty() ? "approval is missing" : "";
}

std::string store(std::vector<approval_rule>* target, const value& x,
                  const rule& r) {
  if (x.type != kind::list) return wrong_type("a list of rules", x);
  std::vector<approval_rule> out;
  for (const auto& item : x.items) {
    const auto problem = store_rule(out.emplace_back(), item, r);
    if (!problem.empty())
      return "item " + std::to_string(out.size()) + ": " + problem;
  }
  *target = std::move(out);
  return {};
}

bool is_relative(const std::string& x) {
  return !x.empty() && !x.starts_with('~') && !x.starts_with('/');
}

}  // namespace

std::string assign(const slot& target, const value& x, const rule& allowed,
                   const std::filesystem::path& folder) {
  auto problem =
      std::visit([&](auto* to) { return store(to, x, allowed); }, target);
  const bool in_folder = allowed.shape == form::folder;
  if (!problem.empty() || (allowed.shape != form::path && !in_folder))
    return problem;
  auto* text = std::get<std::string*>(target);
  if (!in_folder && is_relative(*text)) {
    *text = (folder / *text).lexically_normal().string();
  }
  const auto whole = resolve_home(*text);
  if (!whole) return whole.error().message;
  if (in_folder) *text = whole->string();
  return {};
}

namespace {

/// What acts on a terminal, or turns the direction in which it is read.
bool acts(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C ||
         code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

void append_escaped(std::string& out, char32_t code) {
  constexpr auto hex = "0123456789ABCDEF";
  if (code == '\n') {
    out += "\\n";
    return;
  }
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += hex[code >> shift & 15];
}

}  // namespace

std::string toml_escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto c = first_character(text);
    if (c.valid && acts(c.code))
      append_escaped(out, c.code);
    else
      out += text.substr(0, c.size);
    text.remove_prefix(c.size);
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return toml_escaped(out) + '"';
}

std::string number_text(double x) {
  std::array<char, 64> buffer{};
  const auto whole = std::abs(x) < 1e15 && x == std::floor(x);
  const auto end =
      whole
          ? std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                          static_cast<std::int64_t>(x))
                .ptr
          : std::to_chars(buffer.data(), buffer.data() + buffer.size(), x).ptr;
  return {buffer.data(), end};
}

}  // namespace riffle::config
