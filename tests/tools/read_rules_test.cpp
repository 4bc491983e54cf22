// SPDX-License-Identifier: MIT
// What `read` is denied, no search shows.

#include "tests/support/catch.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/files/files.hpp"
#include "tools/builtin/search/search.hpp"

using namespace riffle;
using namespace riffle::tools;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

using core::approval_policy;

struct read_rules_fixture : testing::tool_fixture {
  read_rules_fixture() {
    folder.write(".env", "key = secret\n");
    folder.write("a.txt", "key = public\n");
    folder.write("app/prod.env", "key = secret\n");
    folder.write("app/main.c", "key = public\n");
    folder.write("keys/id", "key = secret\n");
    folder.write("keys/public/id.pub", "key = public\n");
    folder.write("keys-other/id", "key = public\n");
    const auto root = folder.path();
    fs::create_directory_symlink("keys", root / "k");
    fs::create_directory_symlink("../keys", root / "app/k");
    fs::create_symlink("../.env", root / "app/link");
    rules.rules = {{"keys/public/*", approval_policy::allow},
                   {"keys/*", approval_policy::deny},
                   {"*.env", approval_policy::deny},
                   {"app/main.c", approval_policy::ask}};
  }

  json metadata;
  read_rules rules;

  std::string say(tool& x, const json& arguments) {
    const auto result = run(x, arguments);
    metadata = result.metadata.empty() ? json{} : json::parse(result.metadata);
    return (result.err ? "failed: " : "") + result.text;
  }
  std::string glob(json arguments) { return say(*make_glob(rules), arguments); }
  std::string grep(json arguments) {
    arguments["pattern"] = "key";
    return say(*make_grep(rules), arguments);
  }
};

}  // namespace

TEST_CASE("a search leaves out what may not be read, and says how much") {
  read_rules_fixture x;
  CHECK(x.grep({}) ==
        "a.txt:1:key = public\n"
        "keys/public/id.pub:1:key = public\n"
        "keys-other/id:1:key = public\n"
        "[left out, as reading is not allowed: 4 files]");
  CHECK(x.metadata["denied_files"] == 4);
  CHECK(x.metadata["matches"] == 3);
  CHECK(x.grep({{"output", "files"}}) ==
        "a.txt\nkeys/public/id.pub\nkeys-other/id\n"
        "[left out, as reading is not allowed: 4 files]");
  CHECK(x.grep({{"output", "count"}}).find(".env") == std::string::npos);
  CHECK(x.glob({{"pattern", "**"}}) ==
        "a.txt\napp/k\nk\nkeys/public/id.pub\n"
        "keys-other/id\n[left out, as reading is not allowed: 5 files]");
  CHECK(x.metadata["denied_files"] == 5);
  CHECK(x.metadata["matches"] == 5);
  CHECK(x.glob({{"pattern", "*.env"}}) ==
        "[nothing matches]\n[left out, as reading is not allowed: 1 file]");
}

TEST_CASE("no way to name a folder or file gets past what is denied") {
  read_rules_fixture x;
  const auto at = [&](const std::string& path) {
    return (x.folder.path() / path).string();
  };
  for (const auto& path :
       {std::string{"keys/id"}, std::string{"k/id"}, std::string{"app/k/id"},
        std::string{"app/../keys/id"}, std::string{"keys/./id"},
        std::string{"app/k/../.env"}, std::string{".env"},
        std::string{"app/link"}, at("keys/id"), at("k/id")}) {
    CAPTURE(path);
    const auto said = x.grep({{"path", path}});
    CAPTURE(said);
    CHECK(said.find("secret") == std::string::npos);
    CHECK(x.metadata["denied_files"] == 1);
  }
  for (const auto& path :
       {std::string{"keys"}, std::string{"k"}, std::string{"app/k"},
        std::string{"k/"}, std::string{"app/k/../keys"}, at("k")}) {
    CAPTURE(path);
    const auto found = x.grep({{"path", path}});
    CAPTURE(found);
    CHECK(found.find("secret") == std::string::npos);
    CHECK(found.find("id.pub:1:key = public") != std::string::npos);
    CHECK(x.metadata["denied_files"] == 1);
    const auto names = x.glob({{"path", path}, {"pattern", "**"}});
    CAPTURE(names);
    CHECK(names.find("id.pub") != std::string::npos);
    CHECK(names.find("/id\n") == std::string::npos);
    CHECK(x.metadata["denied_files"] == 1);
  }
  CHECK(x.glob({{"pattern", "k/*"}}).find("k/id") == std::string::npos);
  CHECK(x.glob({{"pattern", "app/k/*"}}).find("id") == std::string::npos);
  // Paths are told as they were asked for.
  CHECK(x.glob({{"path", "k"}, {"pattern", "**"}}) ==
        "k/public/id.pub\n[left out, as reading is not allowed: 1 file]");
}

TEST_CASE("no failure tells names where some must not be read") {
  read_rules_fixture x;
  for (const auto& said :
       {x.grep({{"path", "app/gone"}}), x.glob({{"pattern", "app/gone/*"}}),
        x.glob({{"pattern", "*"}, {"path", "keys/gone"}}),
        x.say(*make_read(x.rules), {{"path", "app/gone"}}),
        x.say(*make_read(x.rules), {{"path", "app"}})}) {
    CAPTURE(said);
    CHECK(said.find("env") == std::string::npos);
    CHECK(said.find("id") == std::string::npos);
  }
  CHECK(x.say(*make_read(x.rules), {{"path", "app/gone"}}) ==
        "failed: no such file: app/gone");
  x.rules = {};
  CHECK(x.say(*make_read(), {{"path", "app/gone"}}).find("prod.env") !=
        std::string::npos);
}

TEST_CASE("what writes tells nothing of what must not be read") {
  read_rules_fixture x;
  const auto write = make_write(x.rules);
  const auto edit = make_edit(x.rules);
  const auto change = [&](const char* path, const char* from) {
    return x.say(*edit,
                 {{"path", path}, {"old_string", from}, {"new_string", "x"}});
  };
  for (const auto& said :
       {change("app/gone", "a"), change("app", "a"), change("keys/gone/f", "a"),
        x.say(*write, {{"path", "app"}, {"content", ""}})}) {
    CAPTURE(said);
    CHECK(said.find("env") == std::string::npos);
    CHECK(said.find("id") == std::string::npos);
  }
  x.folder.write("app/prod.env", "alpha secret\nalpha secret\n");
  CHECK(change("app/prod.env", "alpha sekret") ==
        "failed: old_string is not in app/prod.env");
  x.rules = {};
  CHECK(x.say(*make_edit(), {{"path", "app/prod.env"},
                             {"old_string", "alpha sekret"},
                             {"new_string", "x"}})
            .find("alpha secret") != std::string::npos);
}

TEST_CASE("where reading is denied as a whole, a search shows nothing") {
  read_rules_fixture x;
  x.rules = {{}, approval_policy::deny};
  CHECK(x.grep({}).find("key =") == std::string::npos);
  CHECK(x.metadata["denied_files"] == 7);
  x.rules = {};
  CHECK(x.grep({{"path", "keys/id"}}) == "keys/id:1:key = secret");
}

TEST_CASE("a search shows nothing that reading would have to ask for") {
  read_rules_fixture x;
  x.rules = {{}, approval_policy::ask};
  CHECK(x.grep({}).find("key =") == std::string::npos);
  CHECK(x.metadata["denied_files"] == 7);
  CHECK(x.glob({{"pattern", "**"}}).find("main.c") == std::string::npos);
  CHECK(x.say(*make_read(x.rules), {{"path", "app/gone"}}) ==
        "failed: no such file: app/gone");
  x.rules = {{{"keys/public/*", approval_policy::allow}}, approval_policy::ask};
  CHECK(x.grep({}) ==
        "keys/public/id.pub:1:key = public\n"
        "[left out, as reading is not allowed: 6 files]");
}

TEST_CASE("rules see where a search begins") {
  read_rules_fixture x;
  const auto glob = make_glob();
  const auto grep = make_grep();
  const auto place = [&](const tool& tool, const json& arguments) {
    const auto subject = tool.subject(arguments, x.context.workspace);
    CHECK(subject.place);
    return subject.known ? subject.text : "unknown";
  };
  CHECK(place(*grep, {{"pattern", "x"}}) == ".");
  CHECK(place(*grep, {{"pattern", "x"}, {"path", "app/k/id"}}) == "keys/id");
  CHECK(place(*grep, {{"pattern", "x"}, {"path", ".."}}) == "unknown");
  CHECK(place(*glob, {{"pattern", "**"}}) == ".");
  CHECK(place(*glob, {{"pattern", "app/k/*"}}) == "keys");
  CHECK(place(*glob, {{"pattern", "k/*"}, {"path", "app"}}) == "keys");
  CHECK(place(*glob, {{"pattern", "{"}, {"path", "app"}}) == "app");
}
