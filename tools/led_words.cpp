// SPDX-License-Identifier: MIT
#include "tools/led_words.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "actors/core/approval_rules.hpp"
#include "actors/core/program_files.hpp"
#include "actors/core/shell_parts.hpp"
#include "tools/followed_path.hpp"
#include "tools/line_folders.hpp"
#include "tools/program_folders.hpp"

namespace riffle::tools {

namespace {

namespace fs = std::filesystem;
using how = followed_path::how;

constexpr std::size_t most_looks = 10'000;
constexpr std::size_t most_entries = 20'000;   ///< of folders, for patterns
constexpr std::size_t most_matches = 100'000;  ///< of names with patterns
constexpr std::size_t most_taken_in = 500;

/// Begins where no name of a folder is certain any more.
std::size_t end_of_folders(const core::shell_word& x, std::string_view path) {
  if (x.kind == core::word_kind::plain) return path.size();
  const auto odd = path.find_first_of("*?[{$`(");
  if (odd == path.npos) return path.size();
  const auto slash = path.substr(0, odd).rfind('/');
  return slash == path.npos ? 0 : slash;
}

/// Without a slash at its end.
fs::path tidy(const fs::path& x) {
  auto out = x.lexically_normal();
  return out.has_filename() ? out : out.parent_path();
}

bool is_wild(std::string_view name) {
  return name.find_first_of("*?[{") != name.npos;
}

/// Takes in more than the shell's: what a bracket or a brace says is not
/// looked at.
std::string widened(std::string_view name) {
  const auto begin = name.find_first_of("[{");
  if (begin == name.npos) return std::string{name};
  const auto end = name.find_last_of("]}");
  const bool closed = end != name.npos && end > begin;
  return std::string{name.substr(0, begin)} + "*" +
         std::string{closed ? name.substr(end + 1) : ""};
}

/// `{a/b,c}`: no step of it is one of a pattern.
bool has_brace_over_folders(std::string_view path) {
  const auto begin = path.find('{');
  const auto end = path.rfind('}');
  return end != path.npos && begin < end &&
         path.substr(begin, end - begin).find('/') != path.npos;
}

/// Where in a word a path may begin: behind "=", ":", "@", the host of a URL
/// and letters of options (`if=x`, `file:///x`, `-T x` in one word).
std::vector<std::size_t> beginnings(std::string_view x) {
  std::vector<std::size_t> out{0};
  const auto put = [&](std::size_t at) {
    if (at != x.npos && at + 1 < x.size() &&
        std::ranges::find(out, at + 1) == out.end())
      out.push_back(at + 1);
  };
  for (const char c : {'=', ':', '@'}) put(x.find(c));
  put(x.rfind('='));
  if (const auto host = x.find("://"); host != x.npos)
    if (const auto end = x.find('/', host + 3); end != x.npos && end > 0)
      put(end - 1);
  constexpr std::size_t most_letters = 64;
  if (x.starts_with('-') && !x.starts_with("--"))
    for (std::size_t i = 1; i < std::min(x.size(), most_letters); ++i) put(i);
  return out;
}

class word_walk {
 public:
  explicit word_walk(const line_folders& folders) : folders_{folders} {
    out_.all = folders.all;
  }

  void on(const core::shell_part& part, bool looks) {
    for (const auto& x : part)
      for (const auto begin : beginnings(x.text))
        if (out_.all && !look(x, begin, looks)) out_.all = false;
  }

  core::led_words take() { return std::move(out_); }

 private:
  /// False: nobody can say where it leads. `looks`: only names are shown, so
  /// nobody needs to.
  bool look(const core::shell_word& x, std::size_t begin, bool looks) {
    const auto path = with_home(std::string_view{x.text}.substr(begin));
    const bool after =
        begin == 0 || x.text[begin - 1] == '=' || x.text[begin - 1] == ':';
    const bool plain = x.kind == core::word_kind::plain;
    if (!looks && !plain && after && path.starts_with('~') && path != "~")
      return false;
    if (!looks && !plain && is_wild(path) && !look_into(path, x.text))
      return false;
    const auto end = end_of_folders(x, path);
    if (end == 0) return true;
    for (const auto& from : folders_.real) {
      const auto went = follow_path(from, path.substr(0, end));
      looks_ += went.looks + 1;
      if (looks_ > most_looks) return false;
      if (went.ends == how::unknown && !looks) return false;
      const auto put = [&](const std::string& to) {
        add(out_.to[x.text], x.text.substr(0, begin) + to + path.substr(end));
      };
      if (const auto to = led(went, from, path.substr(0, end))) put(*to);
      for (const auto& name : programs_.other_names(went.real)) put(name);
      if (path.front() == '/') break;
    }
    return true;
  }

  static void add(std::vector<std::string>& all, std::string x) {
    if (std::ranges::find(all, x) == all.end()) all.push_back(std::move(x));
  }

  /// Nothing if it leads where it says, and to no program by its bare name.
  [[nodiscard]] std::optional<std::string> led(const followed_path& went,
                                               const fs::path& from,
                                               const fs::path& said) const {
    if (went.ends == how::nowhere || went.ends == how::unknown) return {};
    const auto real = tidy(went.real);
    const bool bare = said.is_relative() && programs_.has(real);
    if (real == tidy(from / said) && !bare) return {};
    return real.string();
  }

  struct place {
    fs::path real;
    bool led = false;  ///< by a link
  };

  struct entry {
    std::string name;
    bool link = false;
  };

  /// Which files a pattern takes in by links. False: there are too many.
  bool look_into(const fs::path& pattern, const std::string& word) {
    if (has_brace_over_folders(pattern.native())) return false;
    std::vector<std::string> out;
    for (const auto& from : folders_.real) {
      std::vector<place> at{{pattern.is_absolute() ? fs::path{"/"} : from}};
      for (const auto& step : pattern.relative_path())
        if (!expand(at, step.string())) return false;
      for (const auto& x : at) {
        if (x.led || programs_.has(x.real)) out.push_back(x.real.string());
        for (const auto& name : programs_.other_names(x.real))
          out.push_back(name);
      }
      if (out.size() > most_taken_in) return false;
      if (pattern.is_absolute()) break;
    }
    if (!out.empty()) out_.taken_in.insert_or_assign(word, std::move(out));
    return true;
  }

  /// One step of a pattern further.
  bool expand(std::vector<place>& at, const std::string& step) {
    if (step.empty()) return true;
    std::vector<place> next;
    if (!is_wild(step)) {
      for (const auto& x : at)
        if (!go(x, step, next)) return false;
      at = std::move(next);
      return true;
    }
    const auto pattern = widened(step);
    for (const auto& x : at) {
      const auto& all = entries_of(x.real);
      matches_ += all.size();
      if (entries_ > most_entries || matches_ > most_matches) return false;
      for (const auto& [name, link] : all) {
        if (!core::matches_pattern(pattern, name)) continue;
        if (!link)
          next.push_back({x.real / name, x.led});
        else if (!go(x, name, next))
          return false;
      }
    }
    at = std::move(next);
    return true;
  }

  bool go(const place& from, const std::string& step,
          std::vector<place>& next) {
    auto went = follow_path(from.real, step);
    entries_ += went.looks;
    if (went.ends == how::unknown || entries_ > most_entries) return false;
    const bool is_led = from.led || went.real != tidy(from.real / step);
    if (went.ends != how::nowhere && (went.ends == how::there || is_led))
      next.push_back({std::move(went.real), is_led});
    return true;
  }

  const std::vector<entry>& entries_of(const fs::path& folder) {
    const auto [at, first] = listings_.try_emplace(folder);
    if (!first) return at->second;
    std::error_code gone;
    fs::directory_iterator x{folder, gone};
    for (; !gone && x != fs::directory_iterator{}; x.increment(gone)) {
      if (++entries_ > most_entries) break;
      std::error_code moved;
      at->second.push_back(
          {x->path().filename().string(), x->is_symlink(moved)});
    }
    return at->second;
  }

  const line_folders& folders_;
  program_folders programs_;
  std::map<fs::path, std::vector<entry>> listings_;
  core::led_words out_;
  std::size_t looks_ = 0;
  std::size_t entries_ = 0;
  std::size_t matches_ = 0;
};

}  // namespace

core::led_words find_led_words(std::string_view text,
                               const fs::path& workspace) {
  const auto line = core::shell_parts(text);
  const auto folders = folders_of(line, workspace);
  word_walk walk{folders};
  for (std::size_t i = 0; i < line.parts.size(); ++i) {
    const auto program = program_of(line.parts[i]);
    // A function may have any name.
    const bool looks = !line.functions && core::only_looks(program);
    if (i >= folders.lost_from && !looks && !program.empty())
      return {{}, {}, false};
    walk.on(line.parts[i], looks);
  }
  return walk.take();
}

}  // namespace riffle::tools
