// SPDX-License-Identifier: MIT
#include "tools/led_words.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "actors/core/approval_rules.hpp"
#include "actors/core/command_pattern.hpp"
#include "actors/core/program_files.hpp"
#include "actors/core/shell_parts.hpp"

namespace riffle::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_folders = 8;
constexpr std::size_t most_looks = 4000;
constexpr std::size_t most_entries = 20'000;  ///< of folders, for patterns
constexpr std::size_t most_taken_in = 500;

/// Paths that follow no link of anybody's, and change with who looks.
bool is_special(std::string_view path) {
  return path.starts_with("/dev/") || path.starts_with("/proc/");
}

/// Begins where no name of a folder is certain any more.
std::size_t end_of_folders(const core::shell_word& x, std::string_view path) {
  if (x.kind == core::word_kind::plain) return path.size();
  const auto odd = path.find_first_of("*?[{$`(");
  if (odd == path.npos) return path.size();
  const auto slash = path.substr(0, odd).rfind('/');
  return slash == path.npos ? 0 : slash;
}

std::string with_home(std::string_view path) {
  const char* home = std::getenv("HOME");
  if (home == nullptr || !path.starts_with("~/")) return std::string{path};
  return home + std::string{path.substr(1)};
}

/// Without a slash at its end.
fs::path tidy(const fs::path& x) {
  auto out = x.lexically_normal();
  return out.has_filename() ? out : out.parent_path();
}

/// Where a path leads by links; nothing if it leads where it says.
std::optional<std::string> led(const fs::path& from, std::string_view path) {
  std::error_code broken;
  const auto said = tidy(from / path);
  const auto real = fs::weakly_canonical(from / path, broken);
  // Links that lead round in circles lead to no program.
  if (broken || tidy(real) == said) return {};
  return tidy(real).string();
}

bool is_wild(std::string_view name) {
  return name.find_first_of("*?[") != name.npos;
}

/// Takes in more than the shell's: what a bracket says is not looked at.
std::string widened(std::string_view name) {
  const auto bracket = name.find('[');
  if (bracket == name.npos) return std::string{name};
  const auto end = name.rfind(']');
  const bool closed = end != name.npos && end > bracket;
  return std::string{name.substr(0, bracket)} + "*" +
         std::string{closed ? name.substr(end + 1) : ""};
}

/// What comes behind it is a folder, and what is named later may stand there.
bool is_step(std::string_view word) {
  const bool begins_directory =  // as tar takes it
      word.size() > 3 && std::string_view{"--directory"}.starts_with(word);
  return word == "cd" || word == "pushd" || word == "-C" || begins_directory ||
         word == "--chdir";
}

bool changes_folder(std::string_view program) {
  return program == "cd" || program == "pushd";
}

bool is_tar(std::string_view program) {
  return program == "tar" || program == "gtar" || program == "bsdtar";
}

/// Whose `-C` is a folder; curl's is a number, grep's, too.
bool takes_folder(std::string_view program) {
  constexpr std::array<std::string_view, 5> all = {"git", "make", "gmake",
                                                   "ninja", "env"};
  return is_tar(program) || std::ranges::find(all, program) != all.end();
}

/// "chC" and "-chC": options of tar in one word, with a folder among them.
bool is_bundle_with_folder(std::string_view word) {
  return word.find('C') != word.npos && !word.starts_with("--") &&
         word.find_first_not_of(
             "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") ==
             word.npos;
}

/// The words before a command: `do cd x`, `X=1 make`.
bool stands_before(const core::shell_word& x) {
  constexpr std::array<std::string_view, 15> all = {
      "!",  "{",     "}",     "if",      "then", "elif",    "else", "do",
      "in", "while", "until", "builtin", "time", "command", "exec"};
  return x.text.find('=') != x.text.npos ||
         std::ranges::find(all, x.text) != all.end();
}

/// What the words behind it do they may do again.
bool repeats(const core::shell_part& part) {
  return std::ranges::any_of(part, [](const core::shell_word& x) {
    return !x.quoted && (x.text == "for" || x.text == "while" ||
                         x.text == "until" || x.text == "{");
  });
}

class line_walk {
 public:
  explicit line_walk(const fs::path& workspace) {
    std::error_code gone;
    auto real = fs::canonical(workspace, gone);
    folders_.push_back(gone ? workspace : std::move(real));
  }

  void on(const core::shell_part& part) {
    const auto begin = std::ranges::find_if_not(part, stands_before);
    program_ = begin == part.end() ? std::string_view{} : begin->text;
    program_.remove_prefix(program_.rfind('/') + 1);
    const bool looks = core::only_looks(program_);
    if (lost_ && !looks && begin != part.end()) out_.all = false;
    again_ = again_ || repeats(part);
    walk(part, looks);
  }

  core::led_words take() { return std::move(out_); }

 private:
  void walk(const core::shell_part& part, bool looks) {
    bool after_step = false;
    int at_step = 0;  // one of so many words that are no options is its folder
    for (const auto& x : part) {
      if (!looks_at(x, looks)) return;
      const auto equals = x.text.find('=');
      const bool is_folder =
          at_step > 0 && (x.text == "-" || !core::is_option(x.text));
      if (is_folder) step(x);
      if (is_folder) --at_step;
      if (after_step)
        enter(x.text);
      else if (equals != x.text.npos && is_step(x.text.substr(0, equals)))
        enter_surely(x, equals + 1);
      else if (x.text.starts_with("-C") && x.text.size() > 2)
        enter_surely(x, 2);
      const bool bundle = is_tar(program_) && is_bundle_with_folder(x.text);
      constexpr int most_of_bundle = 3;
      if (is_step(x.text) || bundle)
        at_step = std::max(at_step, bundle ? most_of_bundle : 1);
      after_step = after_step || is_step(x.text) || bundle;
    }
    if (at_step > 0 && changes_folder(program_)) enter("~/.");
  }

  /// The line goes to this folder.
  void step(const core::shell_word& x) {
    const bool here = changes_folder(program_);
    if (!here && !takes_folder(program_)) return;
    // Who goes on from where he is may do it more than once.
    const bool further =
        here && again_ && !x.text.starts_with('/') && !x.text.starts_with('~');
    if (is_certain(x) && !further) return;
    if (here)
      lost_ = true;
    else
      out_.all = false;
  }

  /// False: it is enough. A file may be named behind each "=".
  bool looks_at(const core::shell_word& x, bool looks) {
    const auto first = x.text.find('=');
    if (!look(x, 0, looks)) return false;
    if (first == x.text.npos) return true;
    const auto last = x.text.rfind('=');
    return look(x, first + 1, looks) &&
           (last == first || look(x, last + 1, looks));
  }

  /// `looks`: only names are shown, so nobody needs to know whose they are.
  bool look(const core::shell_word& x, std::size_t begin, bool looks) {
    const auto path = with_home(std::string_view{x.text}.substr(begin));
    const auto end = end_of_folders(x, path);
    if (is_special(path)) return true;
    if (!looks && x.kind == core::word_kind::glob && is_wild(path) &&
        !look_into(path, x.text))
      return out_.all = false;
    if (end == 0) return true;
    for (const auto& from : folders_) {
      if (++looks_ > most_looks) return out_.all = false;
      if (const auto to = led(from, path.substr(0, end))) {
        const auto text = x.text.substr(0, begin) + *to + path.substr(end);
        const auto [known, first] = out_.to.try_emplace(x.text, text);
        // It leads to more than one place: nobody can say which.
        if (!first && known->second != text) return out_.all = false;
      }
      if (path.front() == '/') break;
    }
    return true;
  }

  /// Which files a pattern takes in by links. False: there are too many.
  bool look_into(const fs::path& pattern, const std::string& word) {
    std::vector<std::string> out;
    for (const auto& from : folders_) {
      std::vector<fs::path> at{pattern.is_absolute() ? fs::path{"/"} : from};
      for (const auto& step : pattern.relative_path())
        if (!expand(at, step.string())) return false;
      for (const auto& x : at)
        if (auto to = led(x, "")) out.push_back(std::move(*to));
      if (out.size() > most_taken_in) return false;
      if (pattern.is_absolute()) break;
    }
    if (!out.empty()) out_.taken_in.insert_or_assign(word, std::move(out));
    return true;
  }

  /// One step of a pattern further. False: there are too many.
  bool expand(std::vector<fs::path>& at, const std::string& step) {
    if (!is_wild(step)) {
      entries_ += at.size();
      for (auto& x : at) x /= step;
      std::erase_if(at, [](const fs::path& x) {
        std::error_code gone;
        return !fs::exists(fs::symlink_status(x, gone));
      });
      return entries_ <= most_entries;
    }
    const auto pattern = widened(step);
    std::vector<fs::path> next;
    for (const auto& folder : at) {
      std::error_code gone;
      fs::directory_iterator x{folder, gone};
      for (; !gone && x != fs::directory_iterator{}; x.increment(gone)) {
        if (++entries_ > most_entries) return false;
        if (core::matches_pattern(pattern, x->path().filename().string()))
          next.push_back(x->path());
      }
    }
    at = std::move(next);
    return true;
  }

  /// Where a line stands behind a step that only the shell knows (`cd $X`, `cd
  /// -`), nobody can say where its words lead.
  static bool is_certain(const core::shell_word& x) {
    return x.text != "-" &&
           (x.kind == core::word_kind::plain || x.text == "~" ||
            (x.text.starts_with("~/") &&
             x.text.find_first_of("*?[{$~`", 1) == x.text.npos));
  }

  void enter_surely(const core::shell_word& x, std::size_t begin) {
    if (!is_certain(x) && takes_folder(program_)) out_.all = false;
    enter(x.text.substr(begin));
  }

  /// What follows may begin there.
  void enter(const std::string& folder) {
    const auto path = with_home(folder);
    for (std::size_t i = 0, n = folders_.size(); i < n; ++i) {
      if (++looks_ > most_looks) {
        out_.all = false;
        return;
      }
      std::error_code gone;
      auto to = fs::canonical(folders_[i] / path, gone);
      if (gone || std::ranges::find(folders_, to) != folders_.end()) continue;
      if (folders_.size() < most_folders)
        folders_.push_back(std::move(to));
      else
        out_.all = false;
    }
  }

  std::vector<fs::path> folders_;
  std::string_view program_;  ///< of the part
  bool lost_ = false;         ///< nobody knows where the line stands by now
  bool again_ = false;        ///< what stands here may run more than once
  core::led_words out_;
  std::size_t looks_ = 0;
  std::size_t entries_ = 0;
};

}  // namespace

core::led_words find_led_words(std::string_view line,
                               const fs::path& workspace) {
  line_walk walk{workspace};
  for (const auto& part : core::shell_parts(line).parts) walk.on(part);
  return walk.take();
}

}  // namespace riffle::tools
