// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/net_changes.hpp"

#include <string>
#include <vector>

#include "runtime/base/digest.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tools/builtin/files/line_diff.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

std::string digest(const std::string& content) {
  return "sha256 " + sha256(content);  // as tools have it
}

/// A file whose content went through these, and is the last of them.
struct changed {
  explicit changed(const std::vector<std::string>& contents) {
    for (std::size_t i = 1; i < contents.size(); ++i) {
      const auto& was = contents[i - 1];
      file_change x;
      x.path = "a.txt";
      x.folder = folder.path().string();
      x.diff = tools::unified_diff(was, contents[i], {}).text;
      if (i > 1 || !was.empty()) x.before = digest(was);
      x.after = digest(contents[i]);
      x.added = x.removed = 1;
      all.files.push_back(x);
    }
    folder.write("a.txt", contents.back());
  }
  std::string text() {
    auto files = by_file(all);
    find_net(files);
    return changes_text(files, {});
  }
  testing::temp_folder folder;
  session_changes all;
};

}  // namespace

TEST_CASE("several changes of a file are shown as what they come to") {
  changed x{{"one\ntwo\n", "one\n2\n", "one\nzwei\n"}};
  CHECK(x.text() ==
        "a.txt  +1 -1, 2 changes\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n");
  CHECK(changed{{"", "one\n", "two\n", "three\n"}}.text() ==
        "a.txt  +1 -0, new, 3 changes\n@@ -0,0 +1 @@\n+three\n");
  // It is as it was.
  CHECK(changed{{"one\n", "two\n", "one\n"}}.text() ==
        "a.txt  +0 -0, 2 changes\n");
}

TEST_CASE("where a file is not what they left each change stands for itself") {
  const std::string each =
      "a.txt  +2 -2, 2 changes\n@@ -1 +1 @@\n-one\n+two\n"
      "@@ -1 +1 @@\n-two\n+three\n";
  const std::vector<std::string> contents{"one\n", "two\n", "three\n"};
  SECTION("somebody changed it since") {
    changed x{contents};
    x.folder.write("a.txt", "four\n");
    CHECK(x.text() == each);
  }
  SECTION("and between") {
    changed x{contents};
    x.all.files[1].before = digest("other");
    CHECK(x.text() == each);
  }
  SECTION("somebody took them back by hand") {
    changed x{contents};
    x.folder.write("a.txt", "one\n");
    CHECK(x.text() == each);
  }
  SECTION("the folder is not on record") {
    changed x{contents};
    for (auto& one : x.all.files) one.folder.clear();
    CHECK(x.text() == each);
  }
  SECTION("it is on a node") {
    changed x{contents};
    for (auto& one : x.all.files) one.node = "far";
    CHECK(x.text().starts_with("a.txt  +2 -2, 2 changes, on far\n"));
  }
}
