// SPDX-License-Identifier: MIT
#include "tools/line_folders.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "actors/core/command_pattern.hpp"
#include "actors/core/command_table.hpp"
#include "tools/followed_path.hpp"

namespace riffle::tools {

namespace {

namespace fs = std::filesystem;
using how = followed_path::how;

constexpr std::size_t most_folders = 32;
constexpr std::size_t most_looks = 10'000;

/// Words before a command: `do cd x`, `X=1 make`.
bool stands_before(const core::shell_word& x) {
  return x.text.find('=') != x.text.npos || core::is_reserved(x) ||
         core::matches_any("builtin time command exec", x.text);
}

/// Behind any other word `for` is but a word.
bool stands_before_loop(const core::shell_word& x) {
  return core::is_reserved(x) || (!x.quoted && x.text == "time");
}

bool steps_in_shell(const core::shell_word& x) {
  return x.text == "cd" || x.text == "pushd";
}

/// What comes behind it is a folder, and what is named later may stand there.
bool is_step(std::string_view word) {
  const bool begins_directory =  // as tar takes it
      word.size() > 3 && std::string_view{"--directory"}.starts_with(word);
  return begins_directory ||
         core::matches_any("cd pushd -C --chdir chdir --cwd --prefix", word);
}

bool is_tar(std::string_view program) {
  return core::matches_any("tar gtar bsdtar", program);
}

/// Whether `-C` is a folder to a command of it; to curl's and grep's it is a
/// number.
bool moves_by_option(const core::shell_part& part) {
  return std::ranges::any_of(part, [](const core::shell_word& x) {
    const auto name = core::without_folders(x.text);
    return is_tar(name) ||
           core::matches_any("git make gmake ninja env cmake go", name);
  });
}

/// "chC" and "-chC": options of tar in one word, with a folder among them.
bool is_bundle_with_folder(const core::shell_part& part, std::size_t i) {
  const std::string_view word = part[i].text;
  const bool first = i > 0 && is_tar(core::without_folders(part[i - 1].text));
  return word.find('C') != word.npos && (first || word.starts_with('-')) &&
         !word.starts_with("--") &&
         word.find_first_not_of(
             "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") ==
             word.npos;
}

/// Nobody but the shell knows where `cd $X` or `cd -` leads.
bool is_certain(const core::shell_word& x) {
  return x.text != "-" && (x.kind == core::word_kind::plain || x.text == "~" ||
                           (x.text.starts_with("~/") &&
                            x.text.find_first_of("*?[{$~`", 1) == x.text.npos));
}

auto is_bare(std::string_view words) {
  return [words](const core::shell_word& x) {
    return !x.quoted && core::matches_any(words, x.text);
  };
}

class folder_walk {
 public:
  folder_walk(const core::shell_line& line, const fs::path& workspace)
      : line_{line} {
    count_ends();
    std::error_code gone;
    const auto real = fs::canonical(workspace, gone);
    add(gone ? workspace : real);
    add(workspace);
    const char* pwd = std::getenv("PWD");
    if (pwd != nullptr && fs::canonical(pwd, gone) == real && !gone) add(pwd);
  }

  line_folders all() && {
    for (std::size_t i = 0; i < line_.parts.size(); ++i) on(i);
    for (const auto& x : places_)
      if (std::ranges::find(out_.real, x.real) == out_.real.end())
        out_.real.push_back(x.real);
    return std::move(out_);
  }

 private:
  /// As the shell names it, and without links: `cd ..` goes by the first, what
  /// a command names by the second.
  struct place {
    fs::path said;
    fs::path real;
  };

  void on(std::size_t number) {
    const auto& part = line_.parts[number];
    const bool moves = moves_by_option(part);
    bool shell = false;
    bool after = false;
    int at_step = 0;  // one of so many words that are no options is its folder
    for (std::size_t i = 0; i < part.size(); ++i) {
      const auto& x = part[i];
      const bool is_folder =
          at_step > 0 && (x.text == "-" || !core::is_option(x.text));
      if (is_folder) {
        --at_step;
        step(x, number, shell, moves);
      }
      if (after) enter(x.text, is_folder);
      if (const auto begin = begin_of_value(x.text); begin > 0) {
        if (!is_certain(x) && moves) out_.all = false;
        enter(x.text.substr(begin), true);
      }
      constexpr int most_of_bundle = 3;
      const bool bundle = is_bundle_with_folder(part, i) && is_tar_part(part);
      if (!bundle && !is_step(x.text)) continue;
      shell = steps_in_shell(x) && (i == 0 || stands_before(part[i - 1]));
      at_step = std::max(at_step, bundle ? most_of_bundle : 1);
      after = true;
    }
    if (at_step > 0 && shell) enter("~/.", true);
  }

  static bool is_tar_part(const core::shell_part& part) {
    return std::ranges::any_of(part, [](const core::shell_word& x) {
      return is_tar(core::without_folders(x.text));
    });
  }

  /// Of `--chdir=x` and `-Cx`; 0: it is none of those.
  static std::size_t begin_of_value(std::string_view x) {
    const auto equals = x.find('=');
    if (equals != x.npos && is_step(x.substr(0, equals))) return equals + 1;
    return x.starts_with("-C") && x.size() > 2 ? 2 : 0;
  }

  void step(const core::shell_word& x, std::size_t part, bool shell,
            bool moves) {
    if (!shell) {
      if (!is_certain(x) && moves) out_.all = false;
      return;
    }
    const bool again = may_repeat(part);
    // Who goes on from where he is may do it more than once.
    const bool further =
        again && !x.text.starts_with('/') && !x.text.starts_with('~');
    if (!is_certain(x) || further)
      out_.lost_from = std::min(out_.lost_from, again ? 0 : part);
  }

  /// In a loop, of which the end is behind it and the beginning is not, or
  /// maybe in a function.
  [[nodiscard]] bool may_repeat(std::size_t part) const {
    if (line_.functions) return true;
    return ends_[part] > 0;
  }

  /// Of each part, how many loops end from it on that begin no later.
  void count_ends() {
    const auto any = [&](std::string_view words) {
      return std::ranges::any_of(line_.parts, [&](const auto& x) {
        return std::ranges::any_of(x, is_bare(words));
      });
    };
    const auto ends = is_bare(any("for select") ? "done }" : "done");
    const bool odd = any("case [[");  // where `for` may be but a word
    std::ptrdiff_t open = 0;
    ends_.resize(line_.parts.size());
    for (auto i = line_.parts.size(); i-- > 0;) {
      const auto& x = line_.parts[i];
      ends_[i] = open += std::ranges::count_if(x, ends);
      const auto head = std::ranges::find_if_not(x, stands_before_loop);
      const bool begins =
          std::any_of(x.begin(), head, is_bare("while until")) ||
          (head != x.end() && is_bare("for select")(*head));
      if (begins && !odd) --open;
    }
  }

  /// What follows may begin there. `named`: surely a folder, if it is not there
  /// yet.
  void enter(const std::string& folder, bool named) {
    const fs::path path = with_home(folder);
    for (std::size_t i = 0, n = places_.size(); i < n && out_.all; ++i) {
      const auto from = places_[i];
      auto went = follow_path(from.real, path);
      looks_ += went.looks + 1;
      if (looks_ > most_looks) out_.all = false;
      if (!named && went.ends != how::there) continue;
      std::error_code gone;
      if (!named && !fs::is_directory(went.real, gone)) continue;
      add((from.said / path).lexically_normal());
      if (went.ends != how::nowhere && went.ends != how::unknown)
        add(std::move(went.real));
    }
  }

  void add(fs::path said) {
    if (!said.has_filename() && said.has_parent_path())
      said = said.parent_path();
    if (std::ranges::find(places_, said, &place::said) != places_.end()) return;
    auto went = follow_path("/", said);
    if (went.ends == how::nowhere) return;
    if (went.ends == how::unknown || places_.size() == most_folders)
      out_.all = false;
    else
      places_.push_back({std::move(said), std::move(went.real)});
  }

  const core::shell_line& line_;
  std::vector<place> places_;
  std::vector<std::ptrdiff_t> ends_;
  line_folders out_;
  std::size_t looks_ = 0;
};

}  // namespace

line_folders folders_of(const core::shell_line& line,
                        const fs::path& workspace) {
  return folder_walk{line, workspace}.all();
}

std::string_view program_of(const core::shell_part& part) {
  const auto begin = std::ranges::find_if_not(part, stands_before);
  return begin == part.end() ? std::string_view{}
                             : core::without_folders(begin->text);
}

std::string with_home(std::string_view path) {
  const char* home = std::getenv("HOME");
  const bool is_home = path == "~" || path.starts_with("~/");
  if (home == nullptr || !is_home) return std::string{path};
  return home + std::string{path.substr(1)};
}

}  // namespace riffle::tools
