// SPDX-License-Identifier: MIT
#include "tests/lint/laws.hpp"

#include <map>
#include <string>

#include "tests/support/catch.hpp"

using namespace riffle::lint;

namespace {

std::string include(const std::string& name) {
  return "// SPDX-License-Identifier: MIT\n#include " + name + "\n";
}

bool allowed(std::string_view path, const std::string& name) {
  return check_includes(path, include(name)).empty();
}

/// What the text laws say about one more line in a header that keeps them all.
violations about(const std::string& line) {
  return check_text(
      "tools/x.hpp",
      "// SPDX-License-Identifier: MIT\n#pragma once\n" + line + "\n");
}

}  // namespace

TEST_CASE("a layer includes itself and what is below") {
  CHECK(allowed("messages/call.hpp", "\"messages/ids.hpp\""));
  CHECK(allowed("tools/tool.hpp", "\"messages/call.hpp\""));
  CHECK(allowed("tools/builtin/files/read.cpp", "\"runtime/base/clock.hpp\""));
  CHECK(allowed("runtime/cli/main.cpp", "\"actors/interfaces.hpp\""));
  CHECK(allowed("runtime/node/node.cpp", "\"tools/builtin/files/files.hpp\""));
}

TEST_CASE("a layer never includes a higher one") {
  CHECK_FALSE(
      allowed("messages/call.hpp", "\"actors/core/dispatch_queue.hpp\""));
  CHECK_FALSE(allowed("actors/core/x.hpp", "\"tools/tool.hpp\""));
  CHECK_FALSE(allowed("runtime/base/x.hpp", "\"runtime/model/dialect.hpp\""));
  CHECK_FALSE(allowed("runtime/storage/x.cpp", "\"actors/interfaces.hpp\""));
  CHECK_FALSE(allowed("actors/x.cpp", "\"runtime/node/node.hpp\""));
  CHECK_FALSE(allowed("runtime/http/x.cpp", "\"runtime/cli/args.hpp\""));
}

TEST_CASE("cores and parts know no CAF, messages and shells may") {
  for (const auto* path :
       {"actors/core/x.cpp", "runtime/base/x.hpp", "tools/x.hpp",
        "runtime/model/x.cpp", "runtime/storage/x.cpp", "runtime/config/x.cpp"})
    CHECK_FALSE(allowed(path, "<caf/all.hpp>"));
  CHECK(allowed("messages/type_ids.hpp", "<caf/type_id.hpp>"));
  CHECK(allowed("actors/interfaces.hpp", "<caf/typed_actor.hpp>"));
  CHECK(allowed("runtime/node/node.cpp", "<caf/all.hpp>"));
}

TEST_CASE("inner parts of CAF are used behind an assertion of its version") {
  for (const std::string used :
       {"#include <caf/io/network/stream_impl.hpp>",
        "#include <caf/scheduler/coordinator.hpp>", "caf::detail::tail x;"}) {
    CAPTURE(used);
    const violations expected{
        {"tools/x.hpp", 0,
         "uses inner parts of CAF and asserts no version of it"}};
    CHECK(about(used) == expected);
    CHECK(about("static_assert(CAF_VERSION < 1800);\n" + used).empty());
  }
  CHECK(about("#include <caf/typed_actor.hpp>").empty());
}

TEST_CASE("only the log knows the library that writes it") {
  CHECK(allowed("runtime/base/log.cpp", "<spdlog/logger.h>"));
  for (const auto* path : {"runtime/base/log.hpp", "runtime/storage/x.cpp",
                           "runtime/cli/x.cpp", "tests/base/x.cpp"})
    CHECK_FALSE(allowed(path, "<spdlog/spdlog.h>"));
}

TEST_CASE("actors see the ports of the parts and nothing behind them") {
  CHECK(allowed("actors/tools/tool_worker.cpp", "\"tools/tool.hpp\""));
  CHECK(allowed("actors/process/session_store.cpp",
                "\"runtime/storage/journal.hpp\""));
  CHECK_FALSE(allowed("actors/tools/tool_worker.cpp",
                      "\"tools/builtin/files/files.hpp\""));
  CHECK_FALSE(
      allowed("actors/x.cpp", "\"runtime/storage/sqlite_journal.hpp\""));
}

TEST_CASE("a broken include is reported with its line and its reason") {
  const violations expected{
      {"actors/core/x.cpp", 2, "includes CAF (caf/all.hpp)"}};
  CHECK(check_includes("actors/core/x.cpp", include("<caf/all.hpp>")) ==
        expected);
}

TEST_CASE("tests include what they like, and an include can be odd") {
  CHECK(allowed("tests/core/x.cpp", "<caf/all.hpp>"));
  CHECK_FALSE(
      check_includes("tools/x.hpp", "  #  include <caf/all.hpp>").empty());
  CHECK(check_includes("tools/x.hpp", "// #include <caf/all.hpp>").empty());
}

TEST_CASE("a file needs its licence line near its top") {
  CHECK(check_text("x.sh", "#!/bin/sh\n# SPDX-License-Identifier: MIT\n")
            .empty());
  CHECK(check_text("x.sh", "#!/bin/sh\n\n# SPDX-License-Identifier: MIT\n")
            .size() == 1);
  CHECK(check_text("x.cpp", "int x;\n").size() == 1);
  CHECK(check_text("README.md", "# words\n").empty());
}

TEST_CASE("a file has 400 lines at most") {
  std::string text = "// SPDX-License-Identifier: MIT\n";
  for (int i = 1; i < 400; ++i) text += "\n";
  CHECK(check_text("x.cpp", text).empty());
  CHECK(check_text("x.cpp", text + "\n").size() == 1);
}

TEST_CASE("a short header is the face of definitions, or has many users") {
  const std::map<std::string, std::string> use{
      {"tools/a.cpp", "#include \"tools/x.hpp\"\n"},
      {"tools/b.cpp", "#include \"tools/x.hpp\"\n"},
      {"tests/c.cpp", "#include \"tools/x.hpp\"\n"}};
  auto all = use;
  all["tools/x.hpp"] = std::string(24, '\n');
  REQUIRE(check_short_headers(all).size() == 1);
  CHECK(check_short_headers(all).front().path == "tools/x.hpp");
  all["tools/x.cpp"] = "";
  CHECK(check_short_headers(all).empty());
  all.erase("tools/x.cpp");
  all["tools/d.hpp"] = std::string(25, '\n') + "#include \"tools/x.hpp\"\n";
  CHECK(check_short_headers(all).empty());
  all = use;
  all["tools/x.hpp"] = std::string(25, '\n');
  CHECK(check_short_headers(all).empty());
}

TEST_CASE("a header says #pragma once, opens no namespace, ends its line") {
  const std::string top = "// SPDX-License-Identifier: MIT\n";
  CHECK(about("int x();").empty());
  CHECK(about("using namespace std;").size() == 1);
  CHECK(about("using namespace std::chrono_literals;").empty());
  CHECK(check_text("x.hpp", top + "int x();\n").size() == 1);
  CHECK(check_text("x.cpp", top + "int x").size() == 1);
}

TEST_CASE("names of OpenTelemetry stand in one table") {
  const std::string text =
      std::string{"// SPDX-License-Identifier: MIT\nauto x = \"gen_"} +
      "ai.tool.name\";\n";
  CHECK(check_text("actors/x.cpp", text).size() == 1);
  CHECK(check_text("runtime/base/metrics.cpp", text).empty());
  CHECK(check_text("tests/x.cpp", text).empty());
}

TEST_CASE("endless waits, bare notes and machine paths are refused") {
  CHECK(about(std::string{"f(caf::infin"} + "ite);").size() == 1);
  CHECK(about(std::string{"// TO"} + "DO later").size() == 1);
  CHECK(
      about(std::string{"// TO"} + "DO: CAF 0.18 renames this, see its notes.")
          .empty());
  CHECK(about(std::string{"// FIX"} + "ME").size() == 1);
  CHECK(about("auto x = \"/home/ann/x\";").size() == 1);
  CHECK(about(std::string{"auto x = \"/wo"} + "rk/main\";").size() == 1);
}
