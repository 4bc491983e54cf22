// SPDX-License-Identifier: MIT
#include "actors/core/command_table.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "actors/core/approval_rules.hpp"

namespace riffle::core {

namespace {

constexpr auto rows = std::to_array<command_row>({
    {.names = "sh bash bash-* rbash dash ash ksh* mksh zsh zsh* rzsh fish csh "
              "tcsh busybox "
              "toybox pwsh sg newgrp setarch linux32 linux64 i386 i486 i586 "
              "i686 x86_64 uname26 capsh groff troff nroff deno bun",
     .reason = "a shell: its text, its file or its input is a command"},
    {.names = "eval source . trap alias unalias function coproc let fc bind "
              "complete compgen hash enable shopt",
     .builtin = true,
     .reason = "the shell itself: runs text, or changes what names mean"},
    {.names = "xargs parallel entr watch flock script expect at batch crontab "
              "run-parts",
     .reason = "what it runs comes from its input, from text or a folder"},
    {.names =
         "ssh slogin scp sftp su runuser pkexec chroot unshare nsenter runcon "
         "bwrap fakeroot start-stop-daemon systemd-run docker podman "
         "kubectl machinectl lxc-attach",
     .reason = "runs commands elsewhere, or as somebody else"},
    {.names = "strace ltrace gdb gdbtui gdb-* lldb* valgrind perf ld.so "
              "ld-linux* faketime "
              "screen tmux dtach socat nc ncat netcat telnet",
     .reason = "runs what it is told to look at or to connect"},
    {.names =
         "ed ex vi vim vim.* rvim rview view vimdiff gvim rgvim gview evim "
         "nvim vimx editor sensible-editor pager sensible-pager red "
         "emacs* nano rnano less more most man info cpio pax pdb* jdb "
         "sqlite3 psql mysql mariadb dc m4 gnuplot octave ftp lftp mailx",
     .reason = "has commands of its own that run others, from its input too"},
    {.names = "command builtin exec",
     .what = runs::next,
     .builtin = true,
     .reason = "runs the command that follows"},
    {.names = "nohup nice time setsid stdbuf ionice sudo doas env unbuffer",
     .what = runs::next,
     .reason = "runs the command that follows"},
    {.names = "timeout taskset chrt",
     .what = runs::next,
     .operands = 1,
     .reason = "runs the command behind its operand"},
    {.names = "export declare typeset local readonly",
     .what = runs::if_told,
     .words = "-* +* *[*",
     .variables = true,
     .builtin = true,
     .reason = "sets variables; with options names mean other things"},
    {.names = "read mapfile readarray getopts unset",
     .what = runs::if_told,
     .words = "*[* -*C* -*e* -*i*",
     .variables = true,
     .builtin = true,
     .reason = "sets variables; evaluates a name, $( ) in it too; calls back"},
    {.names = "for select",
     .what = runs::if_first,
     .words = "*[*",
     .variables = true,
     .builtin = true,
     .reason = "sets a variable"},
    {.names = "python* pypy* ipython* perl* ruby* node nodejs php* lua* tclsh* "
              "wish* "
              "R Rscript osascript guile* sbcl ghci* irb julia* raku* elixir "
              "iex erl escript racket ocaml* groovy* scala* clojure clj gjs "
              "gsi csi crystal swift dart jshell swipl",
     .what = runs::script,
     .reason = "runs a file like any program, but also text and its input"},
    {.names = "awk gawk mawk nawk",
     .what = runs::if_told,
     .words = "*system* *|* *@* *getline* *ARGV* -*f* -*e* -*i* -*l* -*E* -*D* "
              "-*p* -*o* -*d* "
              "-*W* --*",
     .reason = "system(), pipes, programs from files, files it finds out"},
    {.names = "sed gsed",
     .what = runs::sed,
     .reason = "the command `e` and the flag of `s///e` run text"},
    {.names = "find gfind",
     .what = runs::if_told,
     .words = "-exec* -ok* -delete -fprint* -fls -files0*",
     .reason = "-exec and its like run commands, -delete is one"},
    {.names = "git",
     .what = runs::if_told,
     .words =
         "-c* clone+-*c* clone+-*u* clone+--template "
         "init+--template init-db+--template rebase+-*x* grep+-*O* -x* -O* "
         "merge+-*s* rebase+-*s* pull+-*s* --strategy --unsafe-paths "
         "--authors-prog "
         "--config --config-env --exec --exec-path --ext-diff --extcmd "
         "--open-files-in-pager --upload-pack --receive-pack "
         "--access-hook config foreach run difftool mergetool hook "
         "filter-branch instaweb send-email web--browse remote-ext "
         "merge-index ext::* --stdin* --work-tree --pathspec-from-file",
     .paths = "add branch checkout commit diff log rm mv show status switch "
              "restore reset blame",
     .reason = "aliases, pagers and hooks are commands"},
    {.names = "tar gtar bsdtar",
     .what = runs::if_told,
     .words = "-*I* -*F* -*T* --files-from --to-command --checkpoint-action "
              "--use-compress-program --info-script --new-volume-script "
              "--rsh-command --rmt-command",
     .bundled = true,
     .named = true,
     .reason = "some options name programs"},
    {.names = "make gmake",
     .what = runs::if_told,
     .words = "--eval -*E* -*f* --file --makefile SHELL* .SHELLFLAGS* *$*",
     .reason = "text in options and variables; its own file counts as any "
               "program's"},
    {.names = "rsync",
     .what = runs::if_told,
     .words = "-*e* -*M* --rsh --rsync-path --remote-option --config --daemon "
              "--filter --files-from",
     .named = true,
     .reason = "some options name programs, or a file of names"},
    {.names = "zip sort split tcpdump",
     .what = runs::if_told,
     .words = "-*e* -*TT* -*@* --unzip-command --compress-program --filter "
              "-*z* -*c* --names-stdin --files0-from",
     .named = true,
     .reason = "some options name programs, or have names read"},
    {.names = "cargo",
     .what = runs::if_told,
     .words = "-*e* -*z* -*c* --config --exec",
     .named = true,
     .reason = "some options name programs"},
    {.names = "npm npx pnpm yarn",
     .what = runs::if_told,
     .words = "-*e* -*z* -*c* --config --call --exec --browser "
              "--viewer --script-shell --shell --editor --node-options "
              "explo*",
     .named = true,
     .reason = "some options name programs; some commands are a shell"},
    {.names = "go",
     .what = runs::if_told,
     .words = "-*exec* --*exec* -*vettool* --*vettool* -*ext* --*ext* "
              "-*gccgo* --*gccgo* -*overlay* --*overlay* -*modfile* "
              "--*modfile*",
     .named = true,
     .reason = "some options name programs"},
    {.names = "curl",
     .what = runs::if_told,
     .words = "-*K* --config --proto-default *{*//* *[*//* -T* -?T* -??T* "
              "--upl*",
     .reason = "a file may hold its options, patterns of names what it sends"},
    {.names = "ar",
     .what = runs::if_told,
     .words = "-*M* @*",
     .reason = "what it reads may name files"},
    {.names = "objcopy strip",
     .what = runs::if_told,
     .words = "@*",
     .reason = "a file may hold its options"},
    {.names = "test [",
     .what = runs::if_told,
     .words = "-v -R",
     .builtin = true,
     .reason = "may evaluate a name, $( ) in it too"},
    {.names = "jobs wait",
     .what = runs::if_told,
     .words = "-*x* -*p*",
     .builtin = true,
     .reason = "-x runs what follows, -p evaluates a name"},
    {.names = "set",
     .what = runs::if_told,
     .words = "-*k* -*a* -*T* -*P* -*H* -*B* +* keyword allexport functrace "
              "posix history",
     .builtin = true,
     .reason = "words may become assignments, assignments the environment"},
    {.names = "printf",
     .what = runs::if_first,
     .words = "-*",
     .reason = "may evaluate a name, $( ) in it too"},
    {.names = "[[",
     .what = runs::if_syntax,
     .words = "-v -R -eq -ne -lt -le -gt -ge",
     .builtin = true,
     .reason = "the shell evaluates numbers, $( ) in them too"},
    {.names = "rg",
     .what = runs::if_told,
     .words = "--pre --hostname-bin -*z* --search-zip",
     .reason = "a program may prepare files"},
    {.names =
         "echo : true false ]] ] pwd cd ls dir cat head tail wc grep egrep "
         "fgrep which whereis type whatis basename dirname realpath "
         "readlink stat file du df date seq sleep exit return break "
         "continue shift kill cut tr uniq diff cmp comm nl fold "
         "md5sum sha1sum sha256sum uname whoami id hostname uptime free "
         "ps mkdir rmdir touch case",
     .what = runs::nothing,
     .reason = "its words are texts, names or numbers"},
});

constexpr std::string_view steering =
    "PATH CDPATH OLDPWD ENV BASH_ENV SHELL SHELLOPTS BASHOPTS BASH_* IFS PS? "
    "PROMPT_COMMAND "
    "LD_* *PAGER* *EDITOR* VISUAL BROWSER *COMMAND* GIT_* *_SSH* RSYNC_RSH "
    "LESS* PERL* PYTHON* RUBY* NODE_* MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKEFILES "
    "TAR_OPTIONS HOME XDG_* RANDOM SRANDOM SECONDS OPTIND HISTCMD LINENO "
    "EPOCH* ZDOTDIR FPATH INPUTRC EXINIT VIMINIT MANOPT AWKPATH AWKLIBPATH "
    "GOFLAGS GOENV GOROOT GOTOOL* GOCACHEPROG GOAUTH LUA_* RUSTC* RUSTDOC* "
    "CARGO_BUILD_* CARGO_ALIAS_* CARGO_TARGET_*_* npm_config_* NPM_CONFIG_* "
    "YARN_* BUN_* DENO_* *JAVA_OPTIONS JAVA_TOOL_OPTIONS MAVEN_OPTS "
    "GRADLE_OPTS BUNDLE_* GEM_* PHP* JULIA_* R_PROFILE* R_ENVIRON* TCL* "
    "DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CLI_* CONTAINER_* "
    "CONTAINERS_* KUBECONFIG KUBECTL_* "
    "GUILE_* ERL_* DOTNET_STARTUP_HOOKS GCC_EXEC_PREFIX COMPILER_PATH "
    "CCACHE_PREFIX* CCACHE_COMPILER CMAKE_*_LAUNCHER OPENSSL_CONF GCONV_PATH "
    "RIPGREP_* FZF_* ZIPOPT UNZIP GZIP";

/// Whether a pattern names this option. Programs take a long one from any
/// beginning of it that is its alone.
bool is_option_of(std::string_view pattern, std::string_view word) {
  const bool is_long = word.starts_with("--");
  if (pattern.starts_with("--") && is_long && word.size() > 2) {
    const auto name = word.substr(0, word.find('='));
    return pattern.starts_with(name) || matches_pattern(pattern, word);
  }
  if (pattern.starts_with('-') && is_long != pattern.starts_with("--"))
    return false;
  return matches_pattern(pattern, word);
}

template <class F>
bool any_pattern(std::string_view patterns, F fits) {
  while (!patterns.empty()) {
    const auto end = std::min(patterns.find(' '), patterns.size());
    if (end > 0 && fits(patterns.substr(0, end))) return true;
    patterns.remove_prefix(std::min(end + 1, patterns.size()));
  }
  return false;
}

}  // namespace

bool is_one_of(const command_row& row, std::string_view option,
               std::string_view beside) {
  return any_pattern(row.words, [&](std::string_view pattern) {
    const auto plus = pattern.find("+-");
    const bool is_pair = plus != std::string_view::npos && plus > 0;
    if (is_pair != !beside.empty()) return false;
    if (!is_pair) return is_option_of(pattern, option);
    return pattern.substr(0, plus) == beside &&
           is_option_of(pattern.substr(plus + 1), option);
  });
}

bool looks_within(const command_row& row) {
  return any_pattern(row.words, [](auto x) { return x.starts_with('*'); });
}

namespace {

/// One name of one row.
struct named_row {
  std::string_view name;
  const command_row* row;
};

struct names_of_rows {
  std::vector<named_row> exact;     ///< sorted
  std::vector<named_row> patterns;  ///< few
};

const names_of_rows& all_names() {
  static const auto* const all = [] {
    auto* const out = new names_of_rows;  // threads may outlive statics
    for (const auto& row : rows)
      any_pattern(row.names, [&](std::string_view name) {
        const bool wild = name.find_first_of("*?") != name.npos;
        (wild ? out->patterns : out->exact).push_back({name, &row});
        return false;
      });
    std::ranges::stable_sort(out->exact, {}, &named_row::name);
    return out;
  }();
  return *all;
}

}  // namespace

const command_row* find_command(std::string_view name) {
  const auto& all = all_names();
  const command_row* found = nullptr;
  const auto at =
      std::ranges::lower_bound(all.exact, name, {}, &named_row::name);
  if (at != all.exact.end() && at->name == name) found = at->row;
  for (const auto& x : all.patterns)
    if (matches_pattern(x.name, name) && (found == nullptr || x.row < found))
      found = x.row;
  return found;
}

bool is_make(std::string_view name) {
  // For each word of a line and each rule.
  return name.ends_with("make") &&
         (name.size() == 4 || name == "gmake" || name == "bmake" ||
          name == "pmake" || name == "remake");
}

bool renames_files(std::string_view name) {
  return matches_any(
      "cp gcp ln gln mv gmv install ginstall link rename dd rsync cpio pax zip "
      "7z* ar patch ditto tar gtar bsdtar",
      name);
}

bool is_version_option(std::string_view program, std::string_view option) {
  if (option == "--version")
    return matches_any(
        "python python2* python3* pypy pypy2* pypy3* perl perl5* ruby ruby2* "
        "ruby3* node nodejs php php5* php7* php8* julia R Rscript ghc elixir  "
        "bash zsh fish deno bun docker podman gdb lldb valgrind strace "
        "vim nvim emacs nano less man psql mysql",
        program);
  if (option == "-v")
    return matches_any(
        "node nodejs perl perl5* php php5* php7* php8* lua lua5* bun docker "
        "podman",
        program);
  return option == "-V" &&
         matches_any(
             "python python2* python3* pypy pypy2* pypy3* perl perl5* "
             "ssh tmux",
             program);
}

bool is_question(std::string_view program, std::string_view command) {
  if (matches_any("docker podman", program))
    return matches_any("ps images version info", command);
  return program == "kubectl" && matches_any("get describe version", command);
}

bool is_question_option(std::string_view option) {
  const bool is_long = option.starts_with("--");
  if (is_long)
    return matches_any(
        "--all --quiet --latest --last --size --no-trunc --format --filter "
        "--digests --all-namespaces --namespace --selector --output --watch "
        "--show-labels --sort-by --no-headers --client --short",
        option.substr(0, option.find('=')));
  // Letters that take nothing, or what only chooses.
  return option.find_first_not_of("aAlnoqw", 1) == option.npos;
}

bool matches_any(std::string_view patterns, std::string_view text) {
  return any_pattern(patterns, [&](std::string_view pattern) {
    return matches_pattern(pattern, text);
  });
}

bool steers_programs(std::string_view variable) {
  return matches_any(steering, variable);
}

}  // namespace riffle::core
