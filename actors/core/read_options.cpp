// SPDX-License-Identifier: MIT
#include "actors/core/read_options.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace riffle::core {

namespace {

read_options program(std::string_view name, std::string_view flags,
                     std::string_view values,
                     std::vector<std::string_view> longs,
                     operands rest = operands::paths) {
  return {.name = name,
          .rest = rest,
          .flags = flags,
          .values = values,
          .longs = std::move(longs)};
}

/// It takes one operand at most: a second one is written, or sets something.
read_options with_one(read_options x) {
  x.most = 1;
  return x;
}

read_options of_files(read_options x) {
  x.files_only = true;
  return x;
}

// Left out on purpose: what follows links (`ls -L`, `grep -R`, `rg -L`,
// `stat -L`), reads a list of files or patterns (`-f`, `--files0-from`), runs
// programs (`rg --pre -z`, `file -z`), writes (`--output`, `file -C`) or goes
// on for ever (`tail -f`). `sort -o`, `-T` and `--compress-program` write or
// run, a second operand of `uniq` is written; `diff -l` runs `pr`, `-r` follows
// links, and so does what it is told of a folder; `date -s`, and an operand
// that is no format, set the clock; `-c` of sums reads a list of files.
const std::array plain_programs = {
    read_options{.name = "pwd",
                 .rest = operands::none,
                 .flags = "LP",
                 .values = "",
                 .longs = {"logical", "physical"}},
    read_options{.name = "which",
                 .rest = operands::names,
                 .flags = "as",
                 .values = "",
                 .longs = {}},
    read_options{
        .name = "ls",
        .sweeps = true,
        .own_place = true,
        .flags = "aAlhtrSRd1FGgopsikmnNQUXvxcuCfBbq",
        .values = "Iw",
        .longs = {"all", "almost-all", "human-readable", "recursive", "reverse",
                  "directory", "size", "inode", "numeric-uid-gid",
                  "group-directories-first", "full-time", "no-group",
                  "classify?", "color?",
                  "sort=", "time=", "time-style=", "ignore=", "hide="}},
    read_options{.name = "cat",
                 .flags = "AbeEnstTuv",
                 .values = "",
                 .longs = {"number", "number-nonblank", "show-all", "show-ends",
                           "show-tabs", "show-nonprinting", "squeeze-blank"}},
    read_options{.name = "head",
                 .counts = true,
                 .flags = "qvz",
                 .values = "nc",
                 .longs = {"lines=", "bytes=", "quiet", "silent", "verbose",
                           "zero-terminated"}},
    read_options{.name = "tail",
                 .counts = true,
                 .flags = "qvz",
                 .values = "nc",
                 .longs = {"lines=", "bytes=", "quiet", "silent", "verbose",
                           "zero-terminated"}},
    read_options{
        .name = "wc",
        .flags = "clmwL",
        .values = "",
        .longs = {"bytes", "chars", "lines", "words", "max-line-length"}},
    read_options{.name = "stat",
                 .flags = "ft",
                 .values = "c",
                 .longs = {"format=", "printf=", "terse", "file-system"}},
    read_options{.name = "file",
                 .flags = "biknN0",
                 .values = "",
                 .longs = {"brief", "mime", "mime-type", "mime-encoding",
                           "extension", "keep-going", "no-pad"}},
    read_options{.name = "grep",
                 .rest = operands::pattern_paths,
                 .counts = true,
                 .flags = "EFGPivwxycnhHloLqsbrZzaIUT",
                 .values = "emABC",
                 .longs = {"regexp=",
                           "max-count=",
                           "after-context=",
                           "before-context=",
                           "context=",
                           "ignore-case",
                           "invert-match",
                           "word-regexp",
                           "line-regexp",
                           "count",
                           "files-with-matches",
                           "files-without-match",
                           "line-number",
                           "no-filename",
                           "with-filename",
                           "only-matching",
                           "quiet",
                           "silent",
                           "no-messages",
                           "recursive",
                           "include=",
                           "exclude=",
                           "exclude-dir=",
                           "extended-regexp",
                           "fixed-strings",
                           "basic-regexp",
                           "perl-regexp",
                           "text",
                           "null",
                           "color?",
                           "colour?",
                           "binary-files="},
                 .sweeping = "r"},
    read_options{.name = "rg",
                 .rest = operands::pattern_paths,
                 .sweeps = true,
                 .own_place = true,
                 .flags = "FivwxnNlcoSsUPHIapu.0",
                 .values = "egtTmABCrMd",
                 .longs = {"regexp=",
                           "glob=",
                           "iglob=",
                           "type=",
                           "type-not=",
                           "max-count=",
                           "context=",
                           "after-context=",
                           "before-context=",
                           "max-depth=",
                           "max-columns=",
                           "replace=",
                           "color=",
                           "sort=",
                           "sortr=",
                           "files",
                           "files-with-matches",
                           "files-without-match",
                           "line-number",
                           "no-line-number",
                           "ignore-case",
                           "smart-case",
                           "case-sensitive",
                           "word-regexp",
                           "line-regexp",
                           "invert-match",
                           "count",
                           "count-matches",
                           "fixed-strings",
                           "hidden",
                           "no-ignore",
                           "no-ignore-vcs",
                           "unrestricted",
                           "multiline",
                           "multiline-dotall",
                           "pcre2",
                           "json",
                           "stats",
                           "heading",
                           "no-heading",
                           "only-matching",
                           "no-filename",
                           "with-filename",
                           "text",
                           "column",
                           "vimgrep",
                           "null",
                           "trim",
                           "pretty"}},
    read_options{.name = "find", .sweeps = true, .own_place = true},
    read_options{.name = "sed"},
    program("nl", "p", "bdfhilnsvw", {}),
    program("sort", "bdfghiMnRrVcCmsuz", "kt",
            {"ignore-case", "general-numeric-sort", "human-numeric-sort",
             "numeric-sort", "month-sort", "version-sort", "reverse", "check?",
             "stable", "unique", "key=", "field-separator="}),
    with_one(program("uniq", "cdDiuz", "fsw",
                     {"count", "repeated", "unique", "ignore-case",
                      "skip-fields=", "skip-chars=", "check-chars="})),
    program("cut", "nsz", "bcdf",
            {"bytes=", "characters=", "delimiter=", "fields=", "complement",
             "only-delimited", "output-delimiter="}),
    of_files(program("diff", "abBcdeEinNpqstTuwyZ", "UCW",
                     {"brief", "unified?", "context?", "side-by-side",
                      "width=", "label=", "suppress-common-lines",
                      "ignore-case", "ignore-all-space", "ignore-space-change",
                      "ignore-blank-lines", "text", "color?"})),
    program("cmp", "bls", "in", {"print-bytes", "verbose", "bytes=", "quiet"}),
    read_options{.name = "du",
                 .sweeps = true,
                 .own_place = true,
                 .flags = "abchklmsSx0",
                 .values = "dBt",
                 .longs = {"all", "apparent-size", "bytes", "total",
                           "human-readable", "max-depth=", "summarize",
                           "block-size=", "threshold=", "exclude="}},
    program("basename", "az", "s", {"multiple", "suffix="}, operands::names),
    program("dirname", "z", "", {}, operands::names),
    program("realpath", "eEmqsLPz", "", {"quiet", "strip", "no-symlinks"}),
    program("readlink", "femnqsvz", "", {"canonicalize", "no-newline"}),
    program("md5sum", "btz", "", {"tag"}),
    program("sha1sum", "btz", "", {"tag"}),
    program("sha256sum", "btz", "", {"tag"}),
    program("sha512sum", "btz", "", {"tag"}),
    with_one(program(
        "date", "uR", "d",
        {"date=", "utc", "universal", "rfc-email", "iso-8601?", "rfc-3339="},
        operands::formats)),
};

/// What all commands of git take that show changes. `-U` is left out: its value
/// is attached or none, and the next word a path.
std::vector<std::string_view> with_changes(
    std::vector<std::string_view> others) {
  for (const auto* x : {"stat?",
                        "numstat",
                        "shortstat",
                        "summary",
                        "name-only",
                        "name-status",
                        "patch",
                        "no-patch",
                        "raw",
                        "color?",
                        "no-color",
                        "word-diff?",
                        "unified?",
                        "ignore-all-space",
                        "ignore-space-change",
                        "ignore-space-at-eol",
                        "ignore-blank-lines",
                        "minimal",
                        "patience",
                        "histogram",
                        "diff-filter=",
                        "find-renames?",
                        "no-renames",
                        "find-copies?",
                        "abbrev?",
                        "full-index",
                        "function-context",
                        "check",
                        "compact-summary",
                        "dirstat?",
                        "relative?",
                        "text"})
    others.emplace_back(x);
  return others;
}

std::vector<std::string_view> with_history() {
  return with_changes({"oneline",
                       "max-count=",
                       "skip=",
                       "since=",
                       "after=",
                       "until=",
                       "before=",
                       "author=",
                       "committer=",
                       "grep=",
                       "all-match",
                       "invert-grep",
                       "regexp-ignore-case",
                       "graph",
                       "all",
                       "branches?",
                       "tags?",
                       "remotes?",
                       "decorate?",
                       "no-decorate",
                       "abbrev-commit",
                       "no-abbrev-commit",
                       "reverse",
                       "merges",
                       "no-merges",
                       "first-parent",
                       "follow",
                       "topo-order",
                       "date-order",
                       "date=",
                       "format?",
                       "pretty?",
                       "left-right",
                       "cherry-pick",
                       "no-walk",
                       "parents",
                       "children",
                       "full-history",
                       "simplify-merges"});
}

constexpr std::string_view change_flags = "puwbMCRWazms";

const std::array git_commands = {
    read_options{.name = "git status",
                 .rest = operands::revisions,
                 .sweeps = true,
                 .own_place = true,
                 .bundles = true,
                 .flags = "sbz",
                 .values = "",
                 .longs = {"short", "branch", "long", "porcelain?",
                           "show-stash", "untracked-files?", "ignored?",
                           "ahead-behind", "no-ahead-behind", "renames",
                           "no-renames", "column?", "no-column"}},
    read_options{.name = "git log",
                 .rest = operands::revisions,
                 .sweeps = true,
                 .own_place = true,
                 .bundles = false,
                 .counts = true,
                 .flags = change_flags,
                 .values = "nSG",
                 .longs = with_history()},
    read_options{.name = "git show",
                 .rest = operands::revisions,
                 .sweeps = true,
                 .own_place = true,
                 .bundles = false,
                 .counts = true,
                 .flags = change_flags,
                 .values = "nSG",
                 .longs = with_history()},
    read_options{.name = "git diff",
                 .rest = operands::revisions,
                 .sweeps = true,
                 .own_place = true,
                 .bundles = false,
                 .flags = change_flags,
                 .values = "SG",
                 .longs = with_changes(
                     {"cached", "staged", "merge-base", "exit-code", "quiet"})},
    read_options{.name = "git branch --list",
                 .rest = operands::names,
                 .sweeps = true,
                 .bundles = true,
                 .flags = "arvi",
                 .values = "",
                 .longs = {"all", "remotes", "verbose", "ignore-case",
                           "sort=", "column?", "no-column", "color?",
                           "no-color", "contains=", "no-contains=", "merged?",
                           "no-merged?", "abbrev?", "no-abbrev"}},
};

/// Whether the words begin with those of the name.
bool begins_with(const std::vector<std::string_view>& words,
                 std::string_view name) {
  for (const auto word : words) {
    const auto end = std::min(name.find(' '), name.size());
    if (word != name.substr(0, end)) return false;
    name.remove_prefix(std::min(end + 1, name.size()));
    if (name.empty()) return true;
  }
  return false;
}

}  // namespace

const read_options* find_read_options(const std::vector<std::string_view>& of) {
  const auto fits = [&](const read_options& x) {
    return begins_with(of, x.name);
  };
  if (const auto i = std::ranges::find_if(plain_programs, fits);
      i != plain_programs.end())
    return &*i;
  const auto i = std::ranges::find_if(git_commands, fits);
  return i == git_commands.end() ? nullptr : &*i;
}

}  // namespace riffle::core
