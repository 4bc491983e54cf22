// SPDX-License-Identifier: MIT
// What a node makes of a call that somebody else judged.
#include <filesystem>

#include "runtime/node/hosted_calls.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tools/builtin/files/files.hpp"

using namespace riffle;

namespace {

/// A node with the tool `write`; behind `docs` is another folder.
struct hosting_place {
  hosting_place() {
    std::filesystem::create_directory(folder.path() / "real");
    std::filesystem::create_directory_symlink("real", folder.path() / "docs");
    settings.defaults.workspace = folder.path().string();
    REQUIRE(own.add(tools::make_write()));
  }
  /// As it comes from a process for whom it led elsewhere.
  [[nodiscard]] tool_call call(const std::string& path) const {
    tool_call x;
    x.id = call_id{"call_1"};
    x.tool = "write";
    x.arguments = R"({"path":")" + path + R"(","content":"x"})";
    x.needs_approval = true;
    x.judged = "elsewhere/a.txt";
    x.basis = "what was there";
    return x;
  }

  testing::temp_folder folder;
  config::tools_config settings;
  tools::registry own;
};

}  // namespace

TEST_CASE("a node judges anew where a call leads, and by what it is there") {
  const hosting_place x;
  auto call = x.call("docs/a.txt");
  const auto why = admit_call(call, x.own, x.settings);
  INFO((why ? render(*why) : ""));
  REQUIRE_FALSE(why);
  CHECK(call.judged == "real/a.txt");
  CHECK(call.basis.empty());
}

TEST_CASE("a node's own rules see where a call leads there") {
  hosting_place x;
  auto own = x.settings.defaults;
  own.rules = {{"real/**", "deny"}};
  x.settings.by_name["write"] = own;
  auto call = x.call("docs/a.txt");
  const auto why = admit_call(call, x.own, x.settings);
  REQUIRE(why);
  CHECK(why->code == errc::approval_denied);
  auto other = x.call("b.txt");
  CHECK_FALSE(admit_call(other, x.own, x.settings));
}
