// SPDX-License-Identifier: MIT
// What `write` and `edit` did is taken back exactly, or not at all.
#include "tools/builtin/files/take_back.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/repetitions.hpp"
#include "tests/support/seed.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/files/files.hpp"
#include "tools/builtin/files/line_diff.hpp"

using namespace riffle;
using namespace riffle::tools;
using nlohmann::json;

namespace {

struct take_back_fixture : testing::tool_fixture {
  void note(const tool_output& x, const std::string& path) {
    INFO(x.text);
    REQUIRE_FALSE(x.err);
    const auto told = json::parse(x.metadata);
    done.push_back({path, told.value("diff", ""),
                    told.value("digest_before", ""),
                    told.value("digest_after", ""), told.value("place", "")});
  }
  void write(const std::string& path, const std::string& content) {
    const auto tool = make_write();
    note(run(*tool, {{"path", path}, {"content", content}}), path);
  }
  void edit(const std::string& path, const std::string& before,
            const std::string& after) {
    const auto tool = make_edit();
    note(run(*tool,
             {{"path", path}, {"old_string", before}, {"new_string", after}}),
         path);
  }
  [[nodiscard]] tl::expected<earlier_file, std::string> before() const {
    return earlier(folder.path(), done);
  }
  [[nodiscard]] std::string why_not() const {
    const auto x = before();
    return x ? "it can be taken back" : x.error();
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    return testing::slurp(folder.path() / name);
  }

  std::vector<made_change> done;  ///< of one file
};

std::string random_lines(testing::random_values& random) {
  std::string out;
  const auto n = random.below(30);
  for (std::size_t i = 0; i < n; ++i)
    out += std::string(1 + random.below(2),
                       static_cast<char>('a' + random.below(3))) +
           (random.chance(0.1) ? "\r\n" : "\n");
  if (random.chance(0.3) && !out.empty()) out.pop_back();
  return out;
}

}  // namespace

TEST_CASE("a diff leads back to the text that it was made of") {
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  testing::random_values random{seed};
  for (int i = 0; i < testing::repetitions(500, 2000, 20'000); ++i) {
    const auto before = random_lines(random);
    const auto after = random_lines(random);
    const auto diff =
        unified_diff(before, after, {.before = "a", .after = "b"});
    CAPTURE(before, after, diff.text);
    REQUIRE_FALSE(diff.cut);
    CHECK(before_diff(after, diff.text) == before);
  }
}

TEST_CASE("a diff of another text leads nowhere") {
  const auto diff =
      unified_diff("1\n2\n3\n", "1\ntwo\n3\n", {.before = "a", .after = "b"});
  CHECK(before_diff("1\ntwo\n3\n", diff.text) == "1\n2\n3\n");
  for (const auto* other : {"1\n2\n3\n", "0\n1\ntwo\n3\n", "1\ntwo\n", ""})
    CHECK_FALSE(before_diff(other, diff.text));
  CHECK_FALSE(before_diff("1\n", "@@ nonsense\n"));
  CHECK(before_diff("same", "") == "same");
}

TEST_CASE("several calls on a file are taken back at once") {
  take_back_fixture x;
  std::string old;
  for (int i = 0; i < 3000; ++i) old += "line " + std::to_string(i) + "\n";
  x.folder.write("f", old);
  x.edit("f", "line 2500\n", "another\nand one more\n");
  x.edit("f", "line 7\n", "");
  x.edit("f", "line 2999\n", "the end, without a line end");
  const auto was = x.before();
  INFO((was ? "" : was.error()));
  REQUIRE(was);
  CHECK(was->was == old);
  CHECK(was->diff.find("+line 2500\n") != std::string::npos);
  CHECK(was->diff.find("-another\n") != std::string::npos);
  REQUIRE(put_back(x.folder.path(), {{*was}}));
  CHECK(x.content("f") == old);
}

TEST_CASE("a file that was made goes, one that was replaced comes back") {
  take_back_fixture x;
  SECTION("made") {
    x.write("a/new", "one\n");
    x.edit("a/new", "one", "two");
    const auto was = x.before();
    REQUIRE(was);
    CHECK_FALSE(was->was);
    REQUIRE(put_back(x.folder.path(), {{*was}}));
    CHECK_FALSE(x.folder.has("a/new"));
  }
  SECTION("replaced") {
    x.folder.write("f", "old\n");
    x.write("f", "");
    const auto was = x.before();
    REQUIRE(was);
    REQUIRE(put_back(x.folder.path(), {{*was}}));
    CHECK(x.content("f") == "old\n");
  }
}

TEST_CASE("what cannot be restored exactly is said, and stays") {
  take_back_fixture x;
  x.folder.write("f", "1\n2\n3\n");
  SECTION("changed since") {
    x.edit("f", "2", "two");
    x.folder.write("f", "1\ntwo\n3\nmine\n");
    CHECK(x.why_not() == "f was changed since");
    CHECK(x.content("f") == "1\ntwo\n3\nmine\n");
  }
  SECTION("changed between") {
    x.edit("f", "2", "two");
    x.folder.write("f", "1\ntwo\n3\nmine\n");
    x.edit("f", "3", "three");
    CHECK(x.why_not() == "f was changed by something else between these calls");
  }
  SECTION("gone") {
    x.edit("f", "2", "two");
    std::filesystem::remove(x.folder.path() / "f");
    CHECK(x.why_not() == "f is not there any more");
  }
  SECTION("too much for the log") {
    x.write("f", std::string(40'000, 'x'));
    x.write("f", "short\n");
    CHECK(x.why_not() ==
          "f cannot be restored: the log holds only a part of the change");
  }
  SECTION("no digest on record") {
    x.edit("f", "2", "two");
    x.done.back().after.clear();
    CHECK(x.why_not() == "f was changed without a record of what came of it");
  }
  SECTION("outside") {
    x.done.push_back({"../f", "", "", "sha256 x"});
    CHECK(x.why_not().find("..") != std::string::npos);
  }
}

TEST_CASE("a file that is a link by now is not taken back") {
  take_back_fixture x;
  const auto at = [&](const char* name) { return x.folder.path() / name; };
  const bool made = GENERATE(true, false);
  CAPTURE(made);
  if (!made) x.folder.write("c.txt", "old\n");
  x.write("c.txt", "new\n");
  const auto was = x.before();
  REQUIRE(was);
  std::filesystem::rename(at("c.txt"), at("real"));
  std::filesystem::create_symlink("real", at("c.txt"));
  CHECK(x.why_not() == "c.txt leads to real through a link now");
  // Neither behind the question.
  const auto done = put_back(x.folder.path(), {{*was}});
  REQUIRE_FALSE(done);
  CHECK(done.error() == "c.txt leads to real through a link now");
  CHECK(x.content("real") == "new\n");
  CHECK(std::filesystem::is_symlink(at("c.txt")));
}

TEST_CASE("what was written through a link is taken back where it was") {
  take_back_fixture x;
  const auto at = [&](const char* name) { return x.folder.path() / name; };
  x.folder.write("far/f", "old\n");
  x.folder.write("other/f", "new\n");
  std::filesystem::create_directory_symlink("far", at("near"));
  x.write("near/f", "new\n");
  SECTION("the link is as it was") {
    const auto was = x.before();
    INFO(x.why_not());
    REQUIRE(was);
    REQUIRE(put_back(x.folder.path(), {{*was}}));
    CHECK(x.content("far/f") == "old\n");
  }
  SECTION("it was named in other ways as well") {
    x.edit("far/f", "new", "newer");
    x.edit(at("far/f").string(), "newer", "newest");
    const auto was = x.before();
    INFO(x.why_not());
    REQUIRE(was);
    REQUIRE(put_back(x.folder.path(), {{*was}}));
    CHECK(x.content("far/f") == "old\n");
  }
  SECTION("the link leads elsewhere") {
    std::filesystem::remove(at("near"));
    std::filesystem::create_directory_symlink("other", at("near"));
    CHECK(x.why_not() ==
          "near/f was written at far/f, and leads to other/f now");
  }
  SECTION("the link is a folder now") {
    std::filesystem::remove(at("near"));
    x.folder.write("near/f", "new\n");
    CHECK(x.why_not() ==
          "near/f was written at far/f, and leads to near/f now");
  }
}

TEST_CASE("who was killed while he put files back goes on") {
  take_back_fixture made;
  made.folder.write("a.txt", "old\n");
  made.write("a.txt", "new\n");
  made.folder.write("a.txt", "old\n");  // put back before the kill
  const auto again = made.before();
  REQUIRE(again);
  CHECK(again->done);
  CHECK(put_back(made.folder.path(), std::vector{*again}));
  CHECK(made.content("a.txt") == "old\n");
  made.done.clear();
  made.write("fresh.txt", "x\n");
  std::filesystem::remove(made.folder.path() / "fresh.txt");
  REQUIRE(made.before());
  CHECK(made.before()->done);
}

TEST_CASE("two who put the same files back disturb each other not") {
  const take_back_fixture made;
  made.folder.write("a.txt", "new\n");
  made.folder.write("b.txt", "new\n");
  const std::vector<earlier_file> all{{"a.txt", "new\n", "old\n", ""},
                                      {"b.txt", "new\n", "old\n", ""}};
  made.folder.write("b.txt", "old\n");  // the other one was faster
  CHECK(put_back(made.folder.path(), all));
  CHECK(made.content("a.txt") == "old\n");
  CHECK(made.content("b.txt") == "old\n");
  // Nothing but what one did oneself is put forward again.
  made.folder.write("a.txt", "old\n");
  made.folder.write("b.txt", "mine\n");
  CHECK_FALSE(put_back(made.folder.path(), all));
  CHECK(made.content("a.txt") == "old\n");
  CHECK(made.content("b.txt") == "mine\n");
}

TEST_CASE("several files are put back all or none") {
  take_back_fixture x;
  for (const auto* name : {"a", "b", "c"}) x.folder.write(name, "old\n");
  std::vector<earlier_file> all;
  for (const auto* name : {"a", "b", "c"}) {
    x.done.clear();
    x.edit(name, "old", "new");
    const auto was = x.before();
    REQUIRE(was);
    all.push_back(*was);
  }
  x.folder.write("c", "somebody's\n");
  const auto done = put_back(x.folder.path(), all);
  REQUIRE_FALSE(done);
  CHECK(done.error() == "c was changed by something else");
  CHECK(x.content("a") == "new\n");
  CHECK(x.content("b") == "new\n");
  CHECK(x.content("c") == "somebody's\n");
}
