// SPDX-License-Identifier: MIT
#include "runtime/base/secret_forms.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "messages/event_line.hpp"
#include "runtime/base/encoding.hpp"

namespace riffle {

namespace {

constexpr std::string_view mark = "***";
constexpr std::size_t shortest = 4;
/// Shorter pieces in base64, and shorter rests, are too likely by chance.
constexpr std::size_t shortest_piece = 8;
/// A piece of a secret is told by who masks only its begin or its end.
constexpr std::size_t shortest_begin = 12;

/// Each character, or each that is no letter and no digit, as its number.
std::string numbered(std::string_view text, const char* digits,
                     std::string_view before, std::string_view after,
                     bool all) {
  std::string out;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (!all && std::isalnum(code) != 0) {
      out += c;
      continue;
    }
    out += before;
    if (digits == nullptr) {
      out += std::to_string(code);
    } else {
      out += digits[code >> 4];
      out += digits[code & 15];
    }
    out += after;
  }
  return out;
}

std::string json_escaped(std::string_view text, bool slashes) {
  std::string out;
  append_json_escaped(out, text);
  for (auto at = slashes ? out.find('/') : out.npos; at != out.npos;
       at = out.find('/', at + 2))
    out.insert(at, 1, '\\');
  return out;
}

/// What of the text's base64 is the same whatever stands around it, when
/// `before` bytes (0 to 2) of a group stand before it.
std::string base64_piece(std::string_view text, std::size_t before,
                         std::string_view last_two) {
  std::string bytes(before, '\0');
  bytes += text;
  std::string alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  alphabet += last_two;
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6)
      out += alphabet[(bits >> (count - 6)) & 63];
  }
  constexpr std::array<std::size_t, 3> unsure{0, 2, 3};
  out.erase(0, std::min(out.size(), unsure.at(before)));
  return out;
}

struct span {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// The piece of `what` of which `what[from, from + length)` stands at `at`.
span grown(std::string_view text, std::string_view what, std::size_t at,
           std::size_t from, std::size_t length) {
  auto end = at + length;
  for (auto i = from + length;
       i < what.size() && end < text.size() && text[end] == what[i]; ++i)
    ++end;
  for (; at > 0 && from > 0 && text[at - 1] == what[from - 1]; --at) --from;
  return {at, end};
}

/// Where it is, or a piece of it that is most of it, whose begin or end may be
/// masked. Each such piece holds one of its blocks.
void find_all(std::string_view text, std::string_view what,
              std::vector<span>& out) {
  const auto least =
      std::min(what.size(), std::max(shortest_begin, (what.size() + 1) / 2));
  const auto block = least == what.size() ? least : least / 2;
  for (std::size_t from = 0; from + block <= what.size(); from += block) {
    const auto part = what.substr(from, block);
    for (auto at = text.find(part); at != text.npos;) {
      const auto found = grown(text, what, at, from, block);
      const bool is_most = found.to - found.from >= least;
      if (is_most) out.push_back(found);
      at = text.find(part, is_most ? std::max(found.to, at + 1) : at + 1);
    }
  }
}

/// What overlaps is one: secrets may begin alike, and the rest of the longer
/// one must not stay.
std::string without(std::string text, std::vector<span> spans) {
  if (spans.empty()) return text;
  std::ranges::sort(spans, {}, &span::from);
  std::string out;
  std::size_t done = 0;
  for (std::size_t i = 0; i < spans.size();) {
    auto [from, to] = spans[i];
    for (++i; i < spans.size() && spans[i].from < to; ++i)
      to = std::max(to, spans[i].to);
    out.append(text, done, from - done).append(mark);
    done = to;
  }
  return out.append(text, done);
}

}  // namespace

std::vector<std::string> secret_forms(std::string_view secret) {
  std::vector<std::string> out;
  if (secret.size() < shortest) return out;
  out.emplace_back(secret);
  for (const auto* digits : {"0123456789ABCDEF", "0123456789abcdef"}) {
    for (const std::string_view kept : {"-_.~", "-_.~!*'()", "-_.*", ""})
      out.push_back(percent_encoded(secret, kept, digits));
    for (const std::string_view before : {"%", "", "\\x"})
      out.push_back(numbered(secret, digits, before, "", true));
    for (const bool all : {false, true}) {
      out.push_back(numbered(secret, digits, "&#x", ";", all));
      out.push_back(numbered(secret, digits, "\\u00", "", all));
    }
  }
  for (const bool all : {false, true})
    out.push_back(numbered(secret, nullptr, "&#", ";", all));
  for (const bool slashes : {false, true})
    out.push_back(json_escaped(secret, slashes));
  for (const std::size_t before : {0, 1, 2})
    for (const std::string_view last_two : {"+/", "-_"}) {
      auto piece = base64_piece(secret, before, last_two);
      if (piece.size() >= shortest_piece) out.push_back(std::move(piece));
    }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string hide_forms(std::string text,
                       const std::vector<std::string>& forms) {
  std::vector<span> spans;
  for (const auto& form : forms) find_all(text, form, spans);
  text = without(std::move(text), std::move(spans));
  std::size_t longest = 0;
  for (const std::string_view form : forms) {
    auto at = text.size() - std::min(text.size(), form.size() - 1);
    for (at = text.find(form.front(), at); at != text.npos;
         at = text.find(form.front(), at + 1)) {
      const auto end = std::string_view{text}.substr(at);
      if (end.size() < shortest_piece || end.size() <= longest) break;
      if (form.starts_with(end)) longest = end.size();
    }
  }
  if (longest > 0) text.replace(text.size() - longest, longest, mark);
  return text;
}

std::string hide_user_of_urls(std::string text) {
  constexpr std::string_view begin = "://";
  const std::string_view all{text};
  std::string out;
  std::size_t done = 0;
  for (auto at = all.find(begin); at != all.npos;
       at = all.find(begin, at + 1)) {
    const auto from = at + begin.size();
    const auto end =
        std::min(all.find_first_of("/?# \t\n\"'<>", from), all.size());
    const auto user = all.substr(from, end - from).rfind('@');
    if (user == all.npos || user == 0) continue;
    out.append(all, done, from - done).append(mark);
    done = from + user;
  }
  if (done == 0) return text;
  return out.append(all, done);
}

}  // namespace riffle
