// SPDX-License-Identifier: MIT
#include "actors/core/read_command.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "actors/core/plain_command.hpp"
#include "actors/core/read_options.hpp"
#include "actors/core/shell_parts.hpp"

namespace riffle::core {

namespace {

using word_list = std::vector<std::string>;

/// Takes the place of a "~" that is one character like any.
constexpr std::string_view tilde = "\u02dc";

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
         (c >= 'a' && c <= 'z');
}

/// A shell expands "~" at the beginning of a word, and behind "=" and ":" of
/// what may be an assignment; nowhere behind a letter or digit that is not
/// behind one of these ("HEAD~2", "main~3..").
std::string with_tildes_set_apart(std::string_view line) {
  std::string out;
  bool literal = false;  // behind a character of a word that has no "=" or ":"
  bool assigns = false;
  for (const char c : line) {
    if (c == '~' && literal) {
      out += tilde;
      continue;
    }
    out += c;
    assigns = assigns || c == '=' || c == ':';
    if (c == ' ' || c == '\t' || c == '\n') assigns = false;
    literal = !assigns && (is_letter_or_digit(c) || c == '^');
  }
  return out;
}

/// The words of a line that is one command and nothing else. Both readers of
/// the shell's grammar have to agree.
std::optional<word_list> sure_words(std::string_view given) {
  constexpr std::size_t longest = 16384;
  if (given.size() > longest || given.find(tilde) != given.npos) return {};
  const auto line = with_tildes_set_apart(given);
  if (!plain_command(line)) return {};
  const auto parts = shell_parts(line);
  if (!parts.clear || parts.parts.size() != 1) return {};
  word_list out;
  for (const auto& word : parts.parts.front()) {
    if (word.kind != word_kind::plain || word.target || word.input) return {};
    auto text = word.text;
    for (auto at = text.find(tilde); at != text.npos; at = text.find(tilde))
      text.replace(at, tilde.size(), "~");
    out.push_back(std::move(text));
  }
  if (out.empty() || out.front().empty()) return {};
  return out;
}

bool all_digits(std::string_view x) {
  return !x.empty() &&
         std::ranges::all_of(x, [](char c) { return c >= '0' && c <= '9'; });
}

/// "%G?", also with a sign of git's between ("%+G?"); a key to sort by.
bool checks_signature(std::string_view value) {
  if (value.find("signature") != value.npos) return true;
  for (auto at = value.find('%'); at != value.npos;
       at = value.find('%', at + 1)) {
    const auto next = value.find_first_not_of("+- ", at + 1);
    if (next != value.npos && value[next] == 'G') return true;
  }
  return false;
}

/// Goes through what stands behind a program's name.
class argument_reader {
 public:
  argument_reader(const read_options& options, std::span<const std::string> of)
      : options_{options}, left_{of} {}

  /// False: not one of those that only read.
  bool run(read_command& out) {
    while (!left_.empty()) {
      const auto word = take();
      if (plain_ || word.size() < 2 || word.front() != '-')
        rest_.push_back(word);
      else if (word == "--")
        plain_ = true;
      else if (!(word[1] == '-' ? take_long(word.substr(2))
                                : take_short(word.substr(1))))
        return false;
    }
    out.sweeps = options_.sweeps || sweeps_;
    out.files_only = options_.files_only;
    return rest_.size() <= options_.most && take_rest(out);
  }

 private:
  std::string take() {
    auto word = left_.front();
    left_ = left_.subspan(1);
    return word;
  }

  /// A signature is checked by a program that the person's settings name; a
  /// time zone may be any file.
  bool take_value(std::string_view value) {
    if (options_.name.starts_with("git ")) return !checks_signature(value);
    return options_.name != "date" || value.find("TZ") == value.npos;
  }

  bool take_next() { return !left_.empty() && take_value(take()); }

  bool take_long(std::string_view word) {
    const auto end = std::min(word.find('='), word.size());
    const bool has_value = end < word.size();
    const auto name = word.substr(0, end);
    for (const auto known : options_.longs) {
      const bool must = known.ends_with('=');
      const bool may = known.ends_with('?');
      if (known.substr(0, known.size() - (must || may ? 1 : 0)) != name)
        continue;
      note(name);
      if (has_value) return (must || may) && take_value(word.substr(end + 1));
      return !must || take_next();
    }
    return false;
  }

  bool take_short(std::string_view word) {
    if (options_.counts && all_digits(word)) return true;
    if (!options_.bundles && word.size() > 1 &&
        options_.values.find(word.front()) == std::string_view::npos)
      return false;
    for (std::size_t i = 0; i < word.size(); ++i) {
      const char c = word[i];
      note(word.substr(i, 1));
      if (options_.values.find(c) != std::string_view::npos)
        return i + 1 < word.size() ? take_value(word.substr(i + 1))
                                   : take_next();
      if (options_.flags.find(c) == std::string_view::npos) return false;
    }
    return true;
  }

  void note(std::string_view option) {
    const bool is_pattern =
        option == "e" || option == "regexp" || option == "files";
    no_pattern_ = no_pattern_ || is_pattern;
    sweeps_ = sweeps_ || option == "recursive" ||
              (option.size() == 1 &&
               options_.sweeping.find(option) != std::string_view::npos);
  }

  bool take_rest(read_command& out) {
    switch (options_.rest) {
      case operands::none: return rest_.empty();
      case operands::names: return true;
      case operands::formats:
        return std::ranges::all_of(
            rest_, [](const auto& x) { return x.starts_with('+'); });
      case operands::pattern_paths:
        if (!no_pattern_) {
          if (rest_.empty()) return false;
          rest_.erase(rest_.begin());
        }
        break;
      case operands::revisions:
        // ":/x" and ":(top)" mean more than a path to git.
        if (std::ranges::any_of(
                rest_, [](const auto& x) { return x.starts_with(':'); }))
          return false;
        break;
      case operands::paths: break;
    }
    std::erase(rest_, "-");  // standard input, which is empty
    if (rest_.empty() && (options_.own_place || sweeps_)) rest_ = {"."};
    out.places = std::move(rest_);
    return std::ranges::none_of(out.places,
                                [](const auto& x) { return x.empty(); });
  }

  const read_options& options_;
  std::span<const std::string> left_;
  word_list rest_;
  bool plain_ = false;
  bool no_pattern_ = false;
  bool sweeps_ = false;
};

constexpr std::array find_flags = {
    "-empty", "-print",    "-print0", "-not",  "-a",       "-and",   "-o",
    "-or",    "-readable", "-prune",  "-xdev", "-mount",   "-depth", "-true",
    "-false", "!",         "(",       ")",     "-daystart"};
constexpr std::array find_values = {
    "-name",     "-iname",    "-path",     "-ipath",  "-wholename", "-type",
    "-maxdepth", "-size",     "-mtime",    "-mmin",   "-ctime",     "-cmin",
    "-atime",    "-amin",     "-regex",    "-iregex", "-perm",      "-user",
    "-group",    "-mindepth", "-regextype"};

/// Only tests and printing: each word of the expression is known.
bool read_find(std::span<const std::string> left, read_command& out) {
  const auto take = [&] {
    auto word = left.front();
    left = left.subspan(1);
    return word;
  };
  const auto is_expression = [](const std::string& x) {
    return x.empty() || x.front() == '-' || x == "!" || x == "(" || x == ")" ||
           x == ",";
  };
  if (!left.empty() && left.front() == "-P") take();
  while (!left.empty() && !is_expression(left.front()))
    out.places.push_back(take());
  if (out.places.empty()) out.places.emplace_back(".");
  out.sweeps = true;
  while (!left.empty()) {
    const auto word = take();
    if (std::ranges::find(find_flags, word) != find_flags.end()) continue;
    if (left.empty()) return false;
    const auto value = take();
    if (word == "-newer")
      out.places.push_back(value);
    else if (std::ranges::find(find_values, word) == find_values.end())
      return false;
  }
  return true;
}

/// "5p", "1,20p", "7,$p": some lines, and no other command of sed.
bool prints_lines(std::string_view script) {
  const auto take_address = [&] {
    const bool last = script.starts_with('$');
    const auto end = last ? 1 : script.find_first_not_of("0123456789");
    if (end == 0 || end == script.npos) return false;
    script.remove_prefix(end);
    return true;
  };
  if (!take_address()) return false;
  if (script.starts_with(',')) {
    script.remove_prefix(1);
    if (!take_address()) return false;
  }
  return script == "p";
}

/// Only `sed -n SCRIPT FILE...`, in this order.
bool read_sed(std::span<const std::string> left, read_command& out) {
  if (left.size() < 3 || left[0] != "-n" || !prints_lines(left[1]))
    return false;
  for (const auto& file : left.subspan(2)) {
    if (file.empty() || file.front() == '-') return false;
    out.places.push_back(file);
  }
  return true;
}

std::optional<read_command> read_known(const read_options& options,
                                       word_list words) {
  read_command out;
  const auto skipped =
      static_cast<std::size_t>(1 + std::ranges::count(options.name, ' '));
  const std::span<const std::string> left{words.begin() + skipped, words.end()};
  const bool good = options.name == "find" ? read_find(left, out)
                    : options.name == "sed"
                        ? read_sed(left, out)
                        : argument_reader{options, left}.run(out);
  if (!good) return {};
  out.git = words.front() == "git";
  out.words = std::move(words);
  return out;
}

}  // namespace

std::optional<read_command> as_read_command(
    std::string_view line, const std::vector<std::string>& list) {
  auto words = sure_words(line);
  if (!words) return {};
  const std::vector<std::string_view> seen{words->begin(), words->end()};
  const auto* options = find_read_options(seen);
  for (const auto& entry : list) {
    const auto wanted = sure_words(entry);
    if (!wanted) continue;
    // A name that Riffle knows stands for all that is known to read.
    if (options != nullptr &&
        find_read_options({wanted->begin(), wanted->end()}) == options &&
        wanted->size() == static_cast<std::size_t>(
                              1 + std::ranges::count(options->name, ' ')))
      return read_known(*options, std::move(*words));
    if (*wanted == *words)
      return read_command{.words = *words,
                          .places = {},
                          .sweeps = true,
                          .git = words->front() == "git"};
  }
  return {};
}

bool only_reads(std::string_view line, const std::vector<std::string>& list) {
  const auto reads = [&](std::string_view command) {
    return command == "cd" || command.starts_with("cd ") ||
           as_read_command(command, list);
  };
  const auto all = joined_commands(line);
  if (all.empty()) return as_read_command(line, list).has_value();
  return std::ranges::all_of(all, [&](const auto& x) { return reads(x.text); });
}

bool is_read_entry(std::string_view entry) {
  const auto words = sure_words(entry);
  return words && words->front().find('/') == std::string::npos;
}

}  // namespace riffle::core
