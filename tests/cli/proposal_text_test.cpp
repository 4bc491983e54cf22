// SPDX-License-Identifier: MIT
#include "runtime/cli/view/proposal_text.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

TEST_CASE("a long line of a proposal goes on behind a mark") {
  service::proposal_view x;
  x.it.what.source = events::proposal_source::tool_call;
  x.it.what.tool = "edit";
  x.it.what.arguments = "{}";
  x.it.what.preview = "-a\n+one two - three\n";
  CHECK(whole_text(x, {}).find("\n│ -a\n│ +one two - three\n") !=
        std::string::npos);
  CHECK(whole_text(x, {}, 15).find("\n│ -a\n│ +one two - \n┊ three\n") !=
        std::string::npos);
}

TEST_CASE("a proposal that changes line ends says so") {
  service::proposal_view x;
  x.it.what.source = events::proposal_source::tool_call;
  x.it.what.tool = "write";
  x.it.what.arguments = "{}";
  x.it.what.preview = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-l1\r\n+l1\n";
  CHECK(whole_text(x, {}).find("\nline ends: CRLF → LF\n│ --- a/x\n│ +++ b/x\n"
                               "│ @@ -1 +1 @@\n│ -l1\\x0d\n│ +l1\n") !=
        std::string::npos);
}

TEST_CASE("a command of several lines that is always allowed says so") {
  storage::grant_record x;
  x.tool = "bash";
  x.scope = always_scope::call;
  x.what = R"({"command":"echo one\ntouch two\ntouch three\n"})";
  CHECK(covered_text(x) == "bash: this very call, echo one … (2 more lines)");
  x.what = R"({"command":"echo one\n"})";
  CHECK(covered_text(x) == "bash: this very call, echo one");
}

TEST_CASE("a pattern that names a file shows what nobody would see of it") {
  storage::grant_record x;
  x.tool = "write";
  x.scope = always_scope::pattern;
  x.what = "README.md ";
  CHECK(covered_text(x) == "write: any write of README.md\\u{0020}");
  CHECK(always_text("write", "README.md ", always_scope::pattern, false) ==
        "From now on without a question: any write of README.md\\u{0020}, in "
        "this session");
}
