// SPDX-License-Identifier: MIT
#include "tests/core/disguises.hpp"

#include <vector>

namespace riffle::testing {

namespace {

// clang-format off
using random_bits = std::mt19937;

template <class T>
const T& one_of(random_bits& random, const std::vector<T>& all) {
  return all[random() % all.size()];
}

/// Ways to write the word `zap`; @ stands for the folder of programs.
const std::vector<std::string> words = {
    "zap", "zap", "zap", "zap", "'zap'", "\"zap\"", "z'a'p", "z\"a\"p", "z''ap",
    "\\zap", "z\\ap", "z\\\nap", "$'zap'", "$'\\x7aap'", "$\"zap\"", "@/zap",
    "@/../bin/zap", "@/z?p", "@/z*p", "@/[z]ap", "@/{zap,q}", "{zap,q}",
    "${X:-zap}", "${X-zap}", "$(echo zap)", "`echo zap`", "\"$(echo zap)\"",
    "$(printf 'z%s' ap)", "${Z}", "$Z", "\"$Z\"", "${Z%q}", "@/za[p]", "\"@/$Z\"", "z$()ap", "z``ap",
    "z$@ap", "z${X}ap", "<(:) zap", "$(echo 'z''ap')", "$(\necho zap\n)"};

/// Ways to run a command line; % stands for it, @ for the folder.
const std::vector<std::string> lines = {
    "! %", "if %; then :; fi", "if :; then %; fi", "if ! :; then :; else %; fi",
    "while %; do break; done", "until % || :; do :; done", "{ %; }", "( % )",
    "(%)", "time %", "time -p %", "! time { %; }", "coproc %\nwait",
    "coproc Q { %; }\nwait", "function f { %; }; f", "f() { %; }; f",
    "f() ( % ); f", "f() { \"$@\"; }; f %", "case x in x) %;; esac",
    "case x in (x) %;; esac", "case x in y) :;; *) %; esac",
    "case x\nin\nx) % ;;\nesac", "for i in 1; do %; done",
    "for ((i=0;i<1;i++)); do %; done", "select i in 1; do %; done <<< 1",
    "% </dev/null", "</dev/null %", ">f %", ">f 2>&1 %", "2>&1 %", "&>f %",
    ">|f %", "3<>f %", "{fd}>f %", "% >f", "% &>f", "A=1 %", "A='b c' B=2 %",
    "A+=1 %", ": && %", "false || %", ": | %", ": |& %", "% |& cat", "% & wait",
    ": & %", ":; %", ":\n%", ":\r\n%", "cat <(%)", ": > >(%)", "echo $(%)",
    "echo \"$(%)\"", "echo \"a `%` b\"", "echo ${X:-$(%)}",
    "echo \"${X:-$(%)}\"", "echo $(( $(%) 1 ))", "(( $(%) 1 ))",
    "[[ -n $(%) ]]", "[ -n \"$(%)\" ]", "a[$(%)0]=1", "a=($(%))",
    "a=(b); a[0]=\"$(%)\"", "eval '%'", "eval %", "eval \"%\"", "sh -c '%'",
    "bash -c \"%\"", "bash <<< '%'", "bash <<E\n%\nE", "cat <<E\n$(%)\nE",
    "cat <<'E'\nit's\nE\n%", "cat <<-E\n\tx\n\tE\n%", "echo '%' | sh",
    "echo x | xargs %", "env %", "env A=1 %", "env -i PATH=\"$PATH\" %",
    "env -S '%'", "nohup %", "timeout 5 %", "timeout -k 1 5 %", "nice %",
    "nice -n 1 %", "setsid %", "setsid -w %", "stdbuf -o0 %", "sudo %",
    "exec %", "exec -a q %", "(exec %)", "command %", "command -p @/%",
    "builtin eval '%'", "command eval '%'", "trap '%' EXIT",
    "trap '%' DEBUG; :", "shopt -s expand_aliases\nalias q='%'\nq",
    "find . -maxdepth 0 -exec % \\;", "find . -maxdepth 0 -exec % '{}' +",
    "echo '%' > f; . ./f", "source <(echo '%')", "x='b[$(%)]'; [[ $x -eq 0 ]]",
    "x='b[$(%)]'; (( x ))", "x='b[$(%)]'; let x", "declare -i n='b[$(%)]'",
    "x='b[$(%)]'; echo ${!x}", "x='$(%)'; echo \"${x@P}\"", "test -v 'b[$(%)]'",
    "x='b[$(%)]'; y=abc; echo ${y:x}", "printf -v 'b[$(%)]' x",
    "mapfile -C '% #' -c 1 a <<< x", "hash -p @/zap q; q push x",
    "ln -s @/zap q; ./q push x", "cp @/zap q; ./q push x",
    "cat @/zap > q; chmod +x q; ./q push x",
    "head -n 99 @/zap | cat > q; chmod +x q; ./q push x",
    "tee q < @/zap > f; chmod +x q; ./q push x",
    "perl -e 'system(\"%\")'", "awk 'BEGIN { system(\"%\") }'",
    "awk 'BEGIN { print \"x\" | \"%\" }'", "echo x | sed '1e %'",
    "echo x | sed 's/x/%/e'", "python3 -c 'import os; os.system(\"%\")'",
    "git -c alias.q='!%' q", "make -f - <<< $'all:\\n\\t%'", ": # it's\n%",
    ": \\\n; %", "% # x", ":#; %", "echo 'it'\"'\"'s'; %", "echo \"a\\\"b\"; %",
    "echo $'it\\'s'; %", "echo \\'; %", "echo \\\\; %", "set -- %; \"$@\"",
    "a=(%); \"${a[@]}\"", "IFS=,; X=zap,push,x; $X", "X='%'; $X",
    "X=\"%\"; eval $X", "X=zap; ${X} push x", "read -r a <<< '%'; $a",
    "Z=zap; $Z push x", "printf -v a %s zap; $a push x", "export Z=zap; %",
    "PATH=@ %", "BASH_ENV=f; echo '%' > f; export BASH_ENV; bash -c :",
    "PS4='$(%)'; set -x; :", "ls() { %; }; ls", "echo a{b,c}; %",
    "[ -n x ] && %", "[[ x == x ]] && %", "[[ ( -n x ) && x =~ (x|y) ]] && %",
    "{ % ;} 2>/dev/null", "echo \"x\"'y'$(%)", "echo $(case x in x) %;; esac)",
    "echo $( # )\n%)", "echo $(echo ')'; %)", "echo \"$(echo \"$(%)\")\"",
    "x=$(%)", "x=`%`", "local x=$(%)", "exec 3>f; %", "wait; %", ";: %",
    "zapper; %", "tee >(%) <<< x", "flock f %", "enable -n :; %",
    "complete -C '%' q; :", "watch -n9 %",
    "echo x | while read -r l; do %; done", "xargs -a f env %",
    "echo push x | xargs zap", "echo % | bash", "printf '%' | sh", "\t%", "% ;",
    "%;:", "(%);", "{ { %; }; }", "if :; then (%) fi", "!  %", "time ! %",
    "then %", "do %", "cd . && %", "A=1; %",
    "set -- a; for i do %; done", "f() for i do %; done; f a",
    "for i { %; }\n", "select i do %; done <<< 1", "setpriv %",
    "setpriv sh -c '%'", "env A-B=1 %", "cp % q; ./q push x", "run-parts @",
    "z=za; cp @/${z}p q; ./q push x", "ln @/[z]ap q; ./q push x",
    "git init -q r; git clone --no-local -u '%;' ./r q",
    "git init -q r; git clone --no-local --up='%;' ./r q",
    "git init -q r; git clone --no-local -qu'%;' ./r q",
    "printf 'connect git-upload-pack\\n' | git remote-ext x '%'",
    ": > f; tar cIf '%' o.tar f", ": > f; tar -cIf '%' o.tar f",
    ": > f; tar cf o.tar f --use='%'",
    ": > f; tar cf o f --checkpoint=1 --checkpoint-ac=exec='%'",
    "echo x | sed '1 e %'", "echo x | sed 's~x~%~epMI'",
    "echo x | sed -n '1,2{s,x,%,;e\n}'", "echo x | sed 's/x/%/ge;p'",
    ": > -exec; find . -maxdepth 0 -exe? % {} +", "sed p -e 'e %' <<< x",
    "z='a[$'; z+='(%)0]'; read \"$z\" <<< 1", "z='a[$'; z+='(%)0]'; RANDOM=z",
    "z='a[$'; z+='(%)0]'; o=-v; test $o \"$z\"",
    "z='a[$'; z+='(%)0]'; o=-v; [ $o \"$z\" ]",
    "z='a[$'; z+='(%)0]'; o=-v; printf $o \"$z\" x",
    "z='a[$'; z+='(%)0]'; : {a[z]}>/dev/null",
    "z='a[$'; z+='(%)0]'; OPTIND=z", "z='a[$'; z+='(%)0]'; SECONDS=z",
    "z='a[$'; z+='(%)0]'; HISTCMD=z", "z='a[$'; z+='(%)0]'; SRANDOM=z",
    "z='a[$'; z+='(%)0]'; a=1; unset \"$z\"",
    "z='a[$'; z+='(%)0]'; a=1; unset 'a[z]'",
    "z='a[$'; z+='(%)0]'; declare 'a[z]=1'",
    "z='a[$'; z+='(%)0]'; : & wait -n -p \"$z\"",
    "z='a[$'; z+='(%)0]'; getopts a \"$z\" -a",
    "z='a[$'; z+='(%)0]'; [[ z -eq 0 ]]", "z='a[$'; z+='(%)0]'; echo ${a[z]}",
    "z='a[$'; z+='(%)0]'; for n in 1; do a[z]=1; done",
    "z='a[$'; z+='(%)0]'; [ z -eq 0 ]", "z='a[$'; z+='(%)0]'; shift z",
    "z='a[$'; z+='(%)0]'; exit z", "z='a[$'; z+='(%)0]'; printf %d z",
    "c='%'; c+=';:'; o=-C; mapfile $o \"$c\" -c 1 a <<< x",
    "z='$'; z+='(%)'; read -r PS4 <<< \"$z\"; set -x; :",
    "z='$'; z+='(%)'; for PS4 in \"$z\"; do set -x; :; done",
    "z='$'; z+='(%)'; printf -v PS4 %s \"$z\"; set -x; :",
    "z='$'; z+='(%)'; mapfile PS4 <<< \"$z\"; set -x; :",
    "z='$'; z+='(%)'; PS3=\"$z\"; select i in 1; do :; done <<< 1",
    "perl /dev/stdin <<< 'system(\"%\")'",
    "ln -s /dev/stdin q; perl q <<< 'system(\"%\")'",
    "echo '.sh %' | sqlite3", "sort --comp='%' <<< x", "make -sf - <<< 'a:;%'",
    "split --fi='%' <<< x", "echo x | awk '{ \"%\" | getline }'", "A=\n%", "A= %",
    "env 'BASH_FUNC_echo%%=() { %; }' say", ": > q.c; make 'CC=% #' q.o",
    ": > q.c; CC='% #' make q.o", ": > q.c; export CC='% #'; make -B q.o",
    ": > q.c; make 'CFLAGS=; % #' CC=: q.o",
    ": > q.c; env 'CC=% #' make q.o", "cd @; cp zap ../q; cd -; ../../q push x",
    "cd @; ln zap ../q; cd -; ../../q push x"};

const std::vector<ban> bans = {
    {"zap *", "push x"},     {"zap*", "push x"},       {"*zap*", "push x"},
    {"zap push*", "push x"}, {"zap push x", "push x"}, {"zap -f *", "-f x"},
    {"@/zap *", "push x"},   {"* push*", "push x"}};

/// Ways to write the words of the command.
std::string arguments(random_bits& random, std::string text) {
  switch (random() % 12) {
    case 0: return replaced(text, "push", "'push'");
    case 1: return replaced(text, "push", "p\\ush");
    case 2: return replaced(text, "push", "${P:-push}");
    case 3: return replaced(text, "push", "$(echo push)");
    case 4: return replaced(text, " ", "  ");
    case 5: return replaced(text, "x", "\"x\" y");
    case 6: return replaced(text, " ", " \\\n");
    case 7: return replaced(text, "push", "{push,}");
    default: return text;
  }
}

/// Noise in a line: finds where the shell's reading and ours part.
std::string malformed(random_bits& random, std::string line) {
  static const std::vector<std::string> noise = {
    "'", "\"", "\\", "$", "`", "(", ")", "{", "}", "[", "]", "<", ">", "&", "|",
    ";", "#", "!", "~", "*", "?", "=", " ", "\n", "\t", "$(", "${", "))", "((",
    "$'", "$\"", "<<", "<(", ">&", "&>", "1", "2>", "in", "case", "esac", "''",
    "\"\"", ": ", "\\\n", "^", ",", "a", "@", "+", "-"};
  for (auto n = random() % 3 + 1; n > 0; --n)
    line.insert(random() % (line.size() + 1), one_of(random, noise));
  return line;
}

// clang-format on

}  // namespace

std::string replaced(std::string text, std::string_view what,
                     std::string_view by) {
  for (auto at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

const ban& any_ban(std::mt19937& random) { return one_of(random, bans); }

std::string make_disguise(std::mt19937& random, const ban& what) {
  auto line = one_of(random, words) + " " + arguments(random, what.command);
  if (random() % 4 == 0) line = "Z=zap; " + line;
  for (auto n = random() % 3 + 1; n > 0; --n) {
    const auto& frame = one_of(random, lines);
    line = replaced(frame, "%", line);
    if (line.size() > 2000) break;
  }
  return random() % 3 == 0 ? malformed(random, line) : line;
}

}  // namespace riffle::testing
