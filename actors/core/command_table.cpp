// SPDX-License-Identifier: MIT
#include "actors/core/command_table.hpp"

#include <algorithm>
#include <array>

#include "actors/core/approval_rules.hpp"

namespace riffle::core {

namespace {

constexpr auto rows = std::to_array<command_row>({
    {.names = "sh bash rbash dash ash ksh* mksh zsh fish csh tcsh busybox "
              "toybox pwsh",
     .reason = "a shell: its text, its file or its input is a command"},
    {.names = "eval source . trap alias unalias function coproc let fc bind "
              "complete compgen hash enable shopt",
     .reason = "the shell itself: runs text, or changes what names mean"},
    {.names = "xargs parallel entr watch flock script expect at batch crontab",
     .reason = "what it runs comes from its input or from text"},
    {.names = "ssh scp sftp su runuser pkexec chroot unshare nsenter runcon "
              "bwrap fakeroot start-stop-daemon systemd-run docker podman "
              "kubectl machinectl lxc-attach",
     .reason = "runs commands elsewhere, or as somebody else"},
    {.names = "strace ltrace gdb lldb valgrind perf ld.so ld-linux* faketime "
              "screen tmux dtach socat nc ncat netcat telnet",
     .reason = "runs what it is told to look at or to connect"},
    {.names = "ed ex vi vim view nvim emacs nano less more most man info",
     .reason = "has commands of its own that run others, from its input too"},
    {.names = "command builtin exec nohup nice time setsid stdbuf ionice sudo "
              "doas env unbuffer",
     .what = runs::next,
     .reason = "runs the command that follows"},
    {.names = "timeout taskset chrt",
     .what = runs::next,
     .operands = 1,
     .reason = "runs the command behind its operand"},
    {.names = "export declare typeset local readonly",
     .what = runs::next,
     .reason = "sets variables; with options names mean other things"},
    {.names = "python* pypy* perl* ruby* node nodejs deno bun php* lua* tclsh* "
              "wish* Rscript osascript guile* sbcl ghci* irb",
     .what = runs::script,
     .reason = "runs a file like any program, but also text and its input"},
    {.names = "awk gawk mawk nawk",
     .what = runs::if_told,
     .words = "*system* *|* *@* -f* -e* -i* -l* -E* -D* -p* -o* -d* --*",
     .reason = "system(), pipes, and programs from files"},
    {.names = "sed gsed",
     .what = runs::if_first,
     .words = "e* *e *e? *e?? *e\n* *0e* *1e* *2e* *3e* *4e* *5e* *6e* "
              "*7e* *8e* *9e* */e* *,e* *|e* *#e* *:e* *@e* *%e* *_e* *Ie* "
              "*Me* *$e* *!e* *;*e* *{*e* *\\*e* *\n*e* -*e* -*f* -l* --*",
     .reason = "the command `e` and the flag of `s///e` run text"},
    {.names = "find gfind",
     .what = runs::if_told,
     .words = "-exec* -ok* -delete -fprint* -fls -files0*",
     .reason = "-exec and its like run commands, -delete is one"},
    {.names = "git",
     .what = runs::if_told,
     .words = "-c* --config* --ex* -x* -O* --open* --upload* --receive* config "
              "foreach run difftool mergetool filter-branch ext::* *=!* hook "
              "instaweb send-email web--browse",
     .reason = "aliases, pagers and hooks are commands"},
    {.names = "tar gtar bsdtar",
     .what = runs::if_told,
     .words = "-*I* -*F* --to* --ch* --use* --i* --new* --rs* --rm*",
     .reason = "some options name programs"},
    {.names = "make gmake",
     .what = runs::if_told,
     .words = "--e* -E* -f* --f* --m* SHELL* .SHELLFLAGS* *$*",
     .reason = "text in options; its own file counts as any program's"},
    {.names = "rsync zip sort split tcpdump npm npx pnpm yarn go cargo",
     .what = runs::if_told,
     .words = "-*e* --rs* -TT* --unzip* --c* --f* -z* -c* -exec* -toolexec*",
     .reason = "some options name programs"},
    {.names = "test [ printf mapfile readarray jobs",
     .what = runs::if_told,
     .words = "-v -*C* -x",
     .as_written = true,
     .reason = "may evaluate a name, $( ) in it too, or call back"},
    {.names = "[[",
     .what = runs::if_told,
     .words = "-v -eq -ne -lt -le -gt -ge",
     .as_written = true,
     .reason = "the shell evaluates numbers, $( ) in them too"},
    {.names = "rg",
     .what = runs::if_told,
     .words = "--pre* -*z* --search-zip",
     .reason = "a program may prepare files"},
    {.names =
         "echo : true false ]] ] pwd cd ls dir cat head tail wc grep egrep "
         "fgrep which whereis type whatis basename dirname realpath "
         "readlink stat file du df date seq sleep exit return break "
         "continue shift wait kill cut tr uniq diff cmp comm nl fold "
         "md5sum sha1sum sha256sum uname whoami id hostname uptime free "
         "ps mkdir rmdir touch for select case",
     .what = runs::nothing,
     .reason = "its words are texts, names or numbers"},
});

constexpr std::string_view steering =
    "PATH ENV BASH_ENV SHELL SHELLOPTS BASHOPTS BASH_* IFS PS0 PS1 PS2 PS4 "
    "LD_* *PAGER* *EDITOR* VISUAL BROWSER *COMMAND* GIT_* *_SSH* RSYNC_RSH "
    "LESS* PERL* PYTHON* RUBY* NODE_* MAKEFLAGS MFLAGS GNUMAKEFLAGS "
    "TAR_OPTIONS";

}  // namespace

const command_row* find_command(std::string_view name) {
  const auto found = std::ranges::find_if(rows, [&](const command_row& row) {
    return matches_any(row.names, name);
  });
  return found == rows.end() ? nullptr : &*found;
}

bool matches_any(std::string_view patterns, std::string_view text) {
  while (!patterns.empty()) {
    const auto end = std::min(patterns.find(' '), patterns.size());
    if (end > 0 && matches_pattern(patterns.substr(0, end), text)) return true;
    patterns.remove_prefix(std::min(end + 1, patterns.size()));
  }
  return false;
}

bool steers_programs(std::string_view variable) {
  return matches_any(steering, variable);
}

}  // namespace riffle::core
