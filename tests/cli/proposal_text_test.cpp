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
