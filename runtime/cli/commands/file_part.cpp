// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/file_part.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "runtime/cli/terminal/read_text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"

namespace riffle::cli {

namespace {

namespace fs = std::filesystem;

/// What may stand behind a word of a sentence.
constexpr std::string_view punctuation = ".,;:!?)]}";

/// Larger files are read in pieces, and only for some lines of them.
constexpr std::size_t read_at_once = 8u << 20;

/// Of these no more: who waits for it has a terminal that does nothing.
constexpr std::size_t most_read = 256u << 20;

bool is_file(const std::string& name) {
  std::error_code ignored;
  return fs::is_regular_file(name, ignored);
}

bool is_folder(const std::string& name) {
  std::error_code ignored;
  return fs::is_directory(name, ignored);
}

/// A pipe, a device, a socket.
bool is_no_file(const std::string& name) {
  std::error_code ignored;
  return !is_file(name) && !is_folder(name) && fs::exists(name, ignored);
}

std::string without_punctuation(std::string name) {
  while (!name.empty() && punctuation.find(name.back()) != punctuation.npos)
    name.pop_back();
  return name;
}

/// The name as it was written, or without the punctuation behind it.
std::string existing(std::string name) {
  if (is_file(name)) return name;
  name = without_punctuation(std::move(name));
  return is_file(name) ? name : std::string{};
}

/// Reads digits at the front of `text` and takes them off; 0: there are none.
std::size_t number_of(std::string_view& text) {
  std::size_t n = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
  if (read.ec != std::errc{}) return 0;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return n;
}

/// "10-20", or "10"; nothing: these are no lines.
std::optional<file_part> lines_named(std::string name, std::string_view text) {
  file_part out{std::move(name)};
  out.first = out.last = number_of(text);
  if (text.starts_with('-')) {
    text.remove_prefix(1);
    out.last = number_of(text);
  }
  if (out.first == 0 || out.last < out.first || !text.empty())
    return std::nullopt;
  return out;
}

std::string quoted_word(const std::string& word) {
  return "@" + safe_line(word, 100);
}

/// Why nothing is attached; empty: nobody meant a file.
std::string why_none(const std::string& word) {
  constexpr std::string_view as_text = ", so it is sent as text";
  const auto colon = word.rfind(':');
  const bool split =
      colon != std::string::npos && colon > 0 && colon + 1 < word.size();
  const auto name = split ? word.substr(0, colon) : std::string{};
  if (split && is_file(name))
    return quoted_word(word) + ": there are no such lines (write @" +
           safe_line(name, 100) + ":10-20)" + std::string{as_text};
  const bool lines =
      split && word.find_first_not_of("0123456789-", colon + 1) == word.npos;
  if (is_folder(word) || (lines && is_folder(name)))
    return quoted_word(word) +
           " is a folder: it is not attached, but the model can look into it";
  if (is_no_file(word) || (lines && is_no_file(name)))
    return quoted_word(word) + " is a pipe or a device, not a file" +
           std::string{as_text};
  if (lines || word.find_first_of("./") < word.size() - 1)
    return quoted_word(word) + ": there is no such file" + std::string{as_text};
  return {};
}

/// Nothing but its '@' says that a file is meant; a mistyped name is told all
/// the same. "@you: …" and "@you, …" speak to somebody, "@{u}" is no name.
named_part word_alone(const std::string& word, const std::string& bare) {
  const bool named = !bare.empty() && std::ranges::all_of(bare, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) != 0 || c == '-' || c == '_' || byte >= 0x80;
  });
  const auto behind = word.substr(bare.size());
  const bool speaks = behind.starts_with(':') || behind.starts_with(',');
  if (!named || speaks) return {};
  return {{}, "no file " + safe_line(bare, 100) + ": sent as text", true};
}

expected<std::string> no_line(const file_part& x, std::size_t has) {
  return unexpected{error{errc::invalid_request, "chat",
                          x.name + " has no line " + std::to_string(x.first) +
                              ": it has " +
                              (has == 0 ? "none" : std::to_string(has))}};
}

expected<std::string> too_far(const file_part& x) {
  return unexpected{error{
      errc::invalid_request, "chat",
      x.name + " is too large: line " + std::to_string(x.first) +
          " is not within its first 256 MiB (name the file without '@', and "
          "the model can look into it)"}};
}

/// Takes a text in pieces, keeps some lines of it.
class line_keeper {
 public:
  line_keeper(const file_part& of, std::size_t most) : of_{of}, most_{most} {}

  /// False: there is nothing more to keep.
  bool take(std::string_view piece) {
    while (!piece.empty()) {
      const auto end = std::min(piece.find('\n'), piece.size() - 1) + 1;
      if (line_ >= of_.first) {
        kept_ += piece.substr(0, end);
        last_ = line_;
      }
      open_ = piece[end - 1] != '\n';
      if (!open_) ++line_;
      if (line_ > of_.last || kept_.size() > most_) return false;
      piece.remove_prefix(end);
    }
    return true;
  }
  std::string take_kept() { return std::move(kept_); }
  [[nodiscard]] std::size_t last() const { return last_; }
  /// Lines that there were.
  [[nodiscard]] std::size_t seen() const { return line_ - (open_ ? 0 : 1); }

 private:
  const file_part& of_;
  std::size_t most_;
  std::size_t line_ = 1;
  bool open_ = false;  // the line has no end yet
  std::size_t last_ = 0;
  std::string kept_;
};

/// Of a file that nobody wants to have in memory.
expected<std::string> lines_of_large(file_part& x, std::size_t most) {
  std::ifstream in{x.name, std::ios::binary};
  std::array<char, 65536> piece{};
  line_keeper lines{x, most};
  std::size_t done = 0;
  bool more = true;
  while (more && in) {
    if (done >= most_read) return too_far(x);
    in.read(piece.data(), piece.size());
    const auto n = static_cast<std::size_t>(in.gcount());
    more = lines.take({piece.data(), n});
    done += n;
  }
  if (!in.is_open() || in.bad())
    return unexpected{
        error{errc::invalid_request, "chat", "cannot read " + x.name}};
  if (lines.last() == 0) return no_line(x, lines.seen());
  x.last = lines.last();
  return lines.take_kept();
}

}  // namespace

named_part find_part(const std::string& word) {
  if (auto name = existing(word); !name.empty())
    return {file_part{std::move(name)}};
  const auto bare = without_punctuation(word);
  const auto colon = bare.rfind(':');
  if (colon != std::string::npos && is_file(bare.substr(0, colon)))
    if (auto part = lines_named(bare.substr(0, colon),
                                std::string_view{bare}.substr(colon + 1)))
      return {std::move(part)};
  auto why = why_none(bare);
  return why.empty() ? word_alone(word, bare) : named_part{{}, std::move(why)};
}

std::string shown(const file_part& x) {
  if (x.first == 0) return safe_line(x.name, 100);
  const auto n = std::to_string(x.first);
  return safe_line(x.name, 100) +
         (x.last == x.first ? ", line " + n
                            : ", lines " + n + " to " + std::to_string(x.last));
}

expected<std::string> text_of(file_part& x, std::size_t most) {
  std::error_code unknown;
  const auto size = fs::file_size(x.name, unknown);
  const bool large = !unknown && size > read_at_once;
  if (x.first == 0 || !large) {
    auto text = read_file(x.name, "text");
    if (!text || x.first == 0) return text;
    line_keeper lines{x, most};
    lines.take(*text);
    if (lines.last() == 0) return no_line(x, lines.seen());
    x.last = lines.last();
    return lines.take_kept();
  }
  return lines_of_large(x, most);
}

}  // namespace riffle::cli
