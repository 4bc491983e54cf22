// SPDX-License-Identifier: MIT
// Programs that read and have a way to write, to run or to set: which words of
// them are no reads.
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/read_command.hpp"
#include "runtime/config/config.hpp"
#include "tests/support/catch.hpp"

TEST_CASE("a second reading of a program that sorts, compares or counts") {
  const auto list = riffle::config::with_tool_defaults("bash", {}).read_only;
  const std::vector<std::string_view> lines{"sed p a",
                                            "sed -n p",
                                            "sed -n p a",
                                            "sed -n 1p",
                                            "sed -n 1p -i",
                                            "sed -n 1p -i a",
                                            "sed -ni 1p a",
                                            "sed -i -n 1p a",
                                            "sed -n -i 1p a",
                                            "sed -n -e 1p a",
                                            "sed -n -f x a",
                                            "sed -n -s 1p a",
                                            "sed --quiet 1p a",
                                            "sed -n '1,5p;w x' a",
                                            "sed -n '1w x' a",
                                            "sed -n '1e' a",
                                            "sed -n '1,2e x' a",
                                            "sed -n '1,5p e x' a",
                                            "sed -n '/x/p' a",
                                            "sed -n '1~2p' a",
                                            "sed -n '1,+2p' a",
                                            "sed -n '1,p' a",
                                            "sed -n ',2p' a",
                                            "sed -n '1,2,3p' a",
                                            "sed -n '1!p' a",
                                            "sed -n '$$p' a",
                                            "sed -n '1p' ''",
                                            "sed -n 's/x/y/pw x' a",
                                            "sed -n \"1,$p\" a",
                                            "sed -n -- 1p a",
                                            "sed -n 1p -- a",
                                            "gsed -n 1p a",
                                            "sort -o x a",
                                            "sort -ox a",
                                            "sort -ro x a",
                                            "sort a -o a",
                                            "sort --output=x a",
                                            "sort --out x a",
                                            "sort --compress-program=x a",
                                            "sort --compress-prog x a",
                                            "sort -T . a",
                                            "sort --temporary-directory=. a",
                                            "sort --files0-from=x",
                                            "sort --random-source=x a",
                                            "sort -S 9G a",
                                            "sort --parallel=9 a",
                                            "uniq a b",
                                            "uniq -c a b",
                                            "uniq - b",
                                            "uniq -- a b",
                                            "uniq -5 a",
                                            "diff -r a b",
                                            "diff -ur a b",
                                            "diff -l a b",
                                            "diff --paginate a b",
                                            "diff --recursive a b",
                                            "diff --from-file=x a",
                                            "diff --to-file x a",
                                            "diff -X x a b",
                                            "diff --horizon-lines=1 -l a b",
                                            "du -L a",
                                            "du -D a",
                                            "du -H a",
                                            "du --dereference a",
                                            "du -X x a",
                                            "du --exclude-from=x a",
                                            "du --files0-from=x",
                                            "nl --unknown a",
                                            "cut --output=x a",
                                            "realpath --relative-to=/x a",
                                            "realpath --relative-base /x a",
                                            "sha256sum -c x",
                                            "sha256sum --check x",
                                            "md5sum -bc x",
                                            "date -s x",
                                            "date --set=x",
                                            "date --se x",
                                            "date 01010000",
                                            "date -u 01010000",
                                            "date + 01010000",
                                            "date -- 01010000",
                                            "date -f x",
                                            "date --file=x",
                                            "date -r x",
                                            "date --reference=x",
                                            "date -us x",
                                            "date -Is x",
                                            "date -d 'TZ=\"/x\" now'",
                                            "date --date='TZ=\":/x\"'",
                                            "tr a b",
                                            "test -f x",
                                            "tee x",
                                            "awk 1 x"};
  for (const auto line : lines) {
    CAPTURE(line);
    CHECK_FALSE(riffle::core::as_read_command(line, list));
  }
}

TEST_CASE("the value of an option of git may be attached only") {
  using list = std::vector<std::string>;
  const auto usual = riffle::config::with_tool_defaults("bash", {}).read_only;
  const auto places = [&](std::string_view line) {
    const auto x = riffle::core::as_read_command(line, usual);
    REQUIRE(x);
    return x->places;
  };
  for (const std::string command : {"git diff", "git log", "git show"})
    for (const std::string option :
         {"--unified", "--unified=3", "--stat", "--color", "--word-diff",
          "--find-renames", "--find-copies", "--abbrev", "--dirstat",
          "--relative", "-M", "-C"}) {
      CAPTURE(command, option);
      CHECK(places(command + " " + option + " /x/f") == list{"/x/f"});
    }
  for (const std::string option : {"--pretty", "--format", "--branches",
                                   "--tags", "--remotes", "--decorate"})
    CHECK(places("git log " + option + " /x/f") == list{"/x/f"});
  for (const std::string option :
       {"--porcelain", "--untracked-files", "--ignored", "--column"})
    CHECK(places("git status " + option + " /x/f") == list{"/x/f"});
  CHECK(places("diff --unified --color a b") == list{"a", "b"});
  CHECK(places("diff -U 3 a b") == list{"a", "b"});
}
