// SPDX-License-Identifier: MIT
// A real bash says what disguised lines run; a deny rule must have held all
// that did. The denied command is `zap`, which writes down that it ran.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include "actors/core/approval_rules.hpp"
#include "tests/core/disguises.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using riffle::testing::replaced;
namespace fs = std::filesystem;

namespace {

/// A folder in which lines run: programs that are harmless, and nothing else
/// in the PATH.
class playground {
 public:
  playground() {
    auto name = (fs::temp_directory_path() / "riffle-XXXXXX").string();
    if (::mkdtemp(name.data())) root_ = name;
    fs::create_directories(root_ / "lines");
    write("driver", driver);
  }
  ~playground() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  playground(const playground&) = delete;
  playground& operator=(const playground&) = delete;

  [[nodiscard]] std::string programs() const {
    return (root_ / "bin").string();
  }

  /// What `zap` was told in each line; empty: it did not run.
  std::vector<std::string> run(const std::vector<std::string>& all) {
    make_programs();
    std::ofstream list{root_ / "list", std::ios::binary};
    for (const auto& x : all) list << x << '\0';
    list.close();
    const auto command = "/bin/bash '" + (root_ / "driver").string() + "' '" +
                         root_.string() + "' 2>/dev/null";
    REQUIRE(std::system(command.c_str()) == 0);
    std::vector<std::string> out;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto folder = root_ / "lines" / std::to_string(i);
      std::ifstream file{folder / "canary", std::ios::binary};
      std::ostringstream text;
      text << file.rdbuf();
      out.push_back(text.str());
    }
    std::error_code ignored;
    fs::remove_all(root_ / "lines", ignored);
    fs::create_directories(root_ / "lines");
    return out;
  }

 private:
  static constexpr std::string_view driver = R"(#!/bin/bash
cd "$1/lines" || exit 1
timeout=$(command -v timeout) bash=$(command -v bash) mkdir=$(command -v mkdir)
i=0
while IFS= read -r -d '' line; do
  "$mkdir" $i
  (
    ulimit -t 2 -f 2048 -u 2000
    cd $i
    export PATH=$1/bin HOME=$PWD
    exec "$timeout" -s KILL 2 "$bash" -c "$line" </dev/null >/dev/null 2>&1
  ) &
  i=$((i + 1))
  ((i % 25)) || wait
done <"$1/list"
wait
exit 0
)";

  void write(const std::string& name, std::string_view text) const {
    std::ofstream{root_ / name, std::ios::binary} << text;
  }

  /// Anew for each batch, as lines may overwrite them.
  void make_programs() const {
    fs::remove_all(root_ / "bin");
    fs::create_directories(root_ / "bin");
    write("bin/zap", "#!/bin/sh\nprintf 'zap %s\\n' \"$*\" >> canary\n");
    write("bin/sudo", "#!/bin/sh\nexec \"$@\"\n");
    write("bin/say", "#!/bin/bash\necho x\n");
    for (const auto* x : {"bin/zap", "bin/sudo", "bin/say"})
      ::chmod((root_ / x).c_str(), 0755);
    for (const auto* x :
         {"bash", "sh",     "env",       "cat",     "nohup",   "timeout",
          "nice", "setsid", "stdbuf",    "xargs",   "find",    "sed",
          "awk",  "perl",   "python3",   "git",     "make",    "ln",
          "cp",   "tee",    "flock",     "ls",      "setpriv", "tar",
          "sort", "split",  "run-parts", "sqlite3", "chmod",   "head"}) {
      for (const auto* folder : {"/usr/bin/", "/bin/"}) {
        const auto program = std::string{folder} + x;
        if (!fs::exists(program)) continue;
        // No link: a line may write to it, and would destroy the system's.
        const auto name = std::string{"bin/"} + x;
        write(name, "#!/bin/sh\nexec " + program + " \"$@\"\n");
        ::chmod((root_ / name).c_str(), 0755);
        break;
      }
    }
  }

  fs::path root_;
};

struct tried {
  std::size_t lines = 0;
  std::size_t ran = 0;
};

/// Whether what ran is what the rule names.
bool is_named(const std::string& canary, const std::string& pattern) {
  std::istringstream all{canary};
  for (std::string line; std::getline(all, line);)
    if (core::matches_pattern(pattern, line) ||
        core::matches_pattern(replaced(pattern, "@/", ""), line))
      return true;
  return false;
}

/// A line and a pattern, with @ for the folder of programs.
struct attempt {
  std::string line;
  std::string pattern;
};

bool is_held(const attempt& x, const playground& place) {
  const auto pattern = replaced(x.pattern, "@", place.programs());
  const auto how = core::judge_call(
      {.text = replaced(x.line, "@", place.programs()), .shell = true},
      core::approval_policy::allow, {{pattern, core::approval_policy::deny}});
  return how.policy == core::approval_policy::deny || !how.in_doubt.empty();
}

/// Where no other line has left anything.
bool runs_alone(const attempt& x) {
  playground place;
  const auto canary = place.run({replaced(x.line, "@", place.programs())});
  return is_named(canary[0], replaced(x.pattern, "@", place.programs()));
}

tried try_lines(std::mt19937& random, std::size_t count) {
  playground place;
  tried out;
  // A line may overwrite the programs, which spoils the rest of its batch.
  constexpr std::size_t batch = 25;
  while (out.lines < count) {
    std::vector<attempt> all;
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < batch; ++i) {
      const auto& what = riffle::testing::any_ban(random);
      all.push_back(
          {riffle::testing::make_disguise(random, what), what.pattern});
      lines.push_back(replaced(all.back().line, "@", place.programs()));
    }
    const auto canaries = place.run(lines);
    for (std::size_t i = 0; i < batch; ++i) {
      const auto pattern = replaced(all[i].pattern, "@", place.programs());
      if (!is_named(canaries[i], pattern)) continue;
      ++out.ran;
      INFO("deny " << pattern << " let through:\n" << lines[i]);
      CHECK((is_held(all[i], place) || !runs_alone(all[i])));
    }
    out.lines += batch;
  }
  return out;
}

unsigned seed_of_today() {
  const char* given = std::getenv("RIFFLE_SEED");
  return given ? static_cast<unsigned>(std::stoul(given))
               : riffle::testing::fresh_seed();
}

void hold_all(std::size_t count) {
  const auto seed = seed_of_today();
  std::cout << "deny rules: RIFFLE_SEED=" << seed << '\n';
  CAPTURE(seed);
  std::mt19937 random{seed};
  const auto done = try_lines(random, count);
  std::cout << "deny rules: " << done.ran << " of " << done.lines
            << " lines ran the command\n";
  CHECK(done.ran > done.lines / 5);
}

}  // namespace

TEST_CASE("whatever bash runs of a denied command was held") { hold_all(500); }

TEST_CASE("of very many disguises none is let through", "[.][torture]") {
  hold_all(10'000);
}
