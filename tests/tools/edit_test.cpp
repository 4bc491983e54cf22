// SPDX-License-Identifier: MIT
#include <cerrno>
#include <ctime>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "runtime/base/digest.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/time_scale.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/files/files.hpp"
#include "tools/builtin/files/near_text.hpp"
#include "tools/builtin/files/replace_file.hpp"
#include "tools/builtin/files/text_places.hpp"

using namespace riffle;
using namespace riffle::tools;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct edit_fixture : testing::tool_fixture {
  tool_ptr edit = make_edit();

  tool_output change(const std::string& before, const std::string& after,
                     bool all = false, const std::string& path = "f") {
    return run(*edit, {{"path", path},
                       {"old_string", before},
                       {"new_string", after},
                       {"replace_all", all}});
  }
  /// The content after a change that works.
  std::string changed(const std::string& content, const std::string& before,
                      const std::string& after, bool all = false) {
    folder.write("f", content);
    const auto result = change(before, after, all);
    return result.err ? result.text : testing::slurp(folder.path() / "f");
  }
  std::string failure(const std::string& content, const std::string& before) {
    folder.write("f", content);
    const auto result = change(before, "new");
    if (!result.err) return "no failure: " + result.text;
    CHECK(testing::slurp(folder.path() / "f") == content);
    return result.text;
  }
};

std::string replaced(std::string text, const std::string& before,
                     const std::string& after) {
  for (std::size_t at = 0; (at = text.find(before, at)) != text.npos;
       at += after.size())
    text.replace(at, before.size(), after);
  return text;
}

}  // namespace

TEST_CASE("edit replaces a text that is there once") {
  edit_fixture x;
  x.folder.write("f", "1\n2\n3\nold\n5\n");
  REQUIRE(::chmod((x.folder.path() / "f").c_str(), 0640) == 0);
  const auto result = x.change("old\n5", "new");
  CHECK(result.text == "Edited f (1 replacement, +1 -2 lines)");
  CHECK(json::parse(result.metadata) ==
        json{{"path", "f"},
             {"replacements", 1},
             {"added", 1},
             {"removed", 2},
             {"digest_before", "sha256 " + sha256("1\n2\n3\nold\n5\n")},
             {"digest_after", "sha256 " + sha256("1\n2\n3\nnew\n")},
             {"diff",
              "--- a/f\n+++ b/f\n@@ -1,5 +1,4 @@\n 1\n 2\n 3\n-old\n-5\n"
              "+new\n"}});
  CHECK(testing::slurp(x.folder.path() / "f") == "1\n2\n3\nnew\n");
  struct stat info{};
  REQUIRE(::stat((x.folder.path() / "f").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0640);
  CHECK(x.changed("a b c", "b", "") == "a  c");
  CHECK(x.changed("a b a", "a", "x", true) == "x b x");
  CHECK(x.changed("aaaa", "aa", "b", true) == "bb");
  CHECK(x.changed("no end", "end", "stop") == "no stop");
  CHECK(x.changed("c\xe9 a", "a", "b") == "c\xe9 b");
}

TEST_CASE("line ends stay as the file has them") {
  edit_fixture x;
  CHECK(x.changed("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz") ==
        "x\r\ny\r\nz\r\nc\r\n");
  CHECK(x.changed("a\r\nb\r\n", "b", "b\nc") == "a\r\nb\r\nc\r\n");
  CHECK(x.changed("a\r\nb", "a\r\nb", "x\r\ny") == "x\r\ny");
  CHECK(x.changed("a\r\nb\nc\n", "b\nc", "x\ny") == "a\r\nx\ny\n");
  CHECK(x.changed("a\nb\n", "a\nb", "x\ny") == "x\ny\n");
}

TEST_CASE("a text that is there more than once is named with its lines") {
  edit_fixture x;
  CHECK(x.failure("a\nb\na\n\na", "a") ==
        "old_string is in f 3 times (lines 1, 3, 5); give more text around "
        "it, or set replace_all");
  std::string many;
  for (int i = 0; i < 20; ++i) many += "a\n";
  CHECK(x.failure(many, "a").find("20 times (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, "
                                  "10, \u2026)") != std::string::npos);
  CHECK(x.failure("aaa", "aa") ==
        "old_string is in f at places that overlap; give more text around it");
}

TEST_CASE("a text that is not there is answered with what is near") {
  edit_fixture x;
  const std::string code = "int main() {\n  return 1;\n}\n";
  CHECK(x.failure(code, "int main()\n{") ==
        "old_string is not in f; the nearest is line 1: `int main() {`");
  CHECK(x.failure(code, "    return 1;\n}\n") ==
        "old_string is not in f; line 2 differs only in white space: `  "
        "return 1;`");
  CHECK(x.failure(code, "int main() {\n  return 2;\n") ==
        "old_string is not in f; its first line is there from line 1 on, but "
        "line 2 is `  return 1;`");
  CHECK(x.failure(code, "something else entirely") ==
        "old_string is not in f; read the file to see what is there");
  CHECK(x.failure("", "a") ==
        "old_string is not in f; read the file to see what is there");
}

TEST_CASE("edit refuses what cannot be edited") {
  edit_fixture x;
  CHECK(x.failure("a", "new").find("equal: nothing to do") !=
        std::string::npos);
  const auto gone = x.change("a", "b", false, "g");
  CHECK(gone.text.starts_with("no such file: g; "));
  CHECK(gone.err->code == errc::not_found);
  fs::create_directory(x.folder.path() / "d");
  CHECK(x.change("a", "b", false, "d").text == "d is a folder; it is empty");
  CHECK(x.change("a", "b", false, "d/x/y").err->code == errc::not_found);
  CHECK_FALSE(x.folder.has("d/x"));
  REQUIRE(::mkfifo((x.folder.path() / "p").c_str(), 0600) == 0);
  CHECK(x.change("a", "b", false, "p").text.starts_with("p is no regular"));
}

TEST_CASE("a change in between is an error, and nothing is written") {
  const testing::temp_folder folder;
  folder.write("f", "one two three");
  const auto target = find_target("edit", folder.path(), "f");
  REQUIRE(target);
  text_change change{.before = "two", .after = "2"};
  change.places = *find_places(target->current.get(), "two", {});
  for (const std::string meanwhile :
       {"one two threE", "one twO three", "One two three", "one two three ",
        "one two thre", ""}) {
    CAPTURE(meanwhile);
    const auto number = replace_file(
        *target,
        [&](int fd) {
          const auto done =
              write_changed(target->current.get(), fd, change, {});
          folder.write("g", meanwhile);
          fs::rename(folder.path() / "g", folder.path() / "f");
          return done;
        },
        [&](int fd) {
          const auto now = open_now(*target);
          return compare_unchanged(now->get(), fd, change, {});
        });
    CHECK(number == ESTALE);
    CHECK(testing::slurp(folder.path() / "f") == meanwhile);
  }
  CHECK(std::distance(fs::directory_iterator{folder.path()},
                      fs::directory_iterator{}) == 1);
}

TEST_CASE("an edit notices somebody who writes the file all the time") {
  edit_fixture x;
  std::string text(3u << 20, '-');
  x.folder.write("f", text + "old");
  bool stopped = false;
  x.context.progress = {};
  std::jthread writer{[&](const std::stop_token& stop) {
    for (char c = 'a'; !stop.stop_requested(); c = c == 'z' ? 'a' : c + 1) {
      std::fstream file{x.folder.path() / "f",
                        std::ios::in | std::ios::out | std::ios::binary};
      file.seekp(0);
      file << c;
    }
    stopped = true;
  }};
  // Either it was in time, or it says so; never a torn file.
  const auto result = x.change("old", "new");
  writer.request_stop();
  writer.join();
  CHECK(stopped);
  const auto now = testing::slurp(x.folder.path() / "f");
  CHECK(now.size() == text.size() + 3);
  if (result.err)
    CHECK(result.text.find("was changed by something else") !=
          std::string::npos);
  CHECK(now.ends_with(result.err ? "old" : "new"));
}

TEST_CASE("places are found wherever they lie between two windows") {
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  testing::random_values random{seed};
  edit_fixture x;
  for (int round = 0; round < 20; ++round) {
    std::string text;
    const std::string needle = random.chance(0.5) ? "abab" : "a\nb";
    while (text.size() < (600u << 10)) {
      text +=
          std::string(random.below(100'000), random.chance(0.5) ? '-' : 'x');
      text += random.chance(0.5) ? needle : needle.substr(0, 3);
      if (random.chance(0.2))
        text.resize(text.size() / (256u << 10) * (256u << 10) + 262'142, '.');
      text += needle;
    }
    const auto wanted = replaced(text, needle, "REPLACED");
    REQUIRE((x.changed(text, needle, "REPLACED", true) == wanted));
  }
}

TEST_CASE("a big file is edited in bounded memory, its diff has the lines") {
  edit_fixture x;
  {
    std::ofstream file{x.folder.path() / "f", std::ios::binary};
    for (int i = 1; i <= 1'500'000; ++i) file << "this is line " << i << "\n";
  }
  testing::reset_peak_memory();
  const auto before = testing::peak_memory();
  const auto result = x.change("line 1400000\n", "line X\n");
  CHECK(testing::peak_memory() < before + testing::scaled(16u << 20));
  CHECK_FALSE(result.err);
  CHECK(json::parse(result.metadata)["diff"] ==
        "--- a/f\n+++ b/f\n@@ -1399997,7 +1399997,7 @@\n this is line "
        "1399997\n this is line 1399998\n this is line 1399999\n-this is line "
        "1400000\n+this is line X\n this is line 1400001\n this is line "
        "1400002\n this is line 1400003\n");
  const auto far = x.change("line 1", "LINE 1", true);
  CHECK_FALSE(far.err);
  CHECK_FALSE(json::parse(far.metadata).contains("diff"));
}

TEST_CASE("a person sees the diff before a file is edited") {
  edit_fixture x;
  x.folder.write("f", "a\nb\n");
  const auto preview = [&](const std::string& before) {
    return x.edit
        ->preview({{"path", "f"}, {"old_string", before}, {"new_string", "x"}},
                  x.folder.path())
        .text;
  };
  CHECK(preview("b") == "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+x\n");
  CHECK(preview("c").starts_with("This cannot be done: old_string is not"));
  CHECK(testing::slurp(x.folder.path() / "f") == "a\nb\n");
}

TEST_CASE("an edit that can only fail says so, but not of what is not read") {
  edit_fixture x;
  std::filesystem::create_directory(x.folder.path() / "secret");
  x.folder.write("f", "a\nb\nb\n");
  x.folder.write("secret/key", "KEY=abc\n");
  const auto impossible = [&](const tool_ptr& edit, const std::string& path,
                              const std::string& before) {
    return edit
        ->preview({{"path", path}, {"old_string", before}, {"new_string", "x"}},
                  x.folder.path())
        .impossible;
  };
  CHECK_FALSE(impossible(x.edit, "f", "a"));
  REQUIRE(impossible(x.edit, "f", "c"));
  CHECK(impossible(x.edit, "f", "c")->code == errc::invalid_arguments);
  CHECK(impossible(x.edit, "f", "b"));
  CHECK(impossible(x.edit, "none", "b"));
  CHECK(impossible(x.edit, "secret/key", "KEY=b"));
  // What may not be read is no oracle: each try is a question to a person.
  const auto kept =
      make_edit({.rules = {{"secret/*", core::approval_policy::deny}}});
  CHECK(impossible(kept, "f", "c"));
  CHECK_FALSE(impossible(kept, "secret/key", "KEY=b"));
  CHECK_FALSE(impossible(kept, "secret/key", "b"));
  CHECK_FALSE(impossible(kept, "secret/none", "b"));
}

TEST_CASE("an approved edit changes what was shown, and nothing else") {
  edit_fixture x;
  x.folder.write("f", "a\nb\n");
  const json arguments = {
      {"path", "f"}, {"old_string", "b"}, {"new_string", "x"}};
  x.context.basis = x.edit->preview(arguments, x.folder.path()).basis;
  REQUIRE_FALSE(x.context.basis.empty());
  // The place is still there, but what is around it is not what was shown.
  const bool changed = GENERATE(false, true);
  if (changed) x.folder.write("f", "rm -rf /\nb\n");
  const auto result = x.change("b", "x");
  CHECK(result.err.has_value() == changed);
  CHECK(testing::slurp(x.folder.path() / "f") ==
        (changed ? "rm -rf /\nb\n" : "a\nx\n"));
}

TEST_CASE("edit tells what it does and what it touches") {
  const auto edit = make_edit();
  const json arguments = {
      {"path", "a"}, {"old_string", "b"}, {"new_string", "c"}};
  CHECK(edit->title(arguments) == "Editing a");
  CHECK(edit->keys(arguments, "/ws") == std::vector<std::string>{"/ws/a"});
  CHECK(edit->spec().eff == effect::mutating);
  CHECK_FALSE(edit->spec().idempotent);
}

TEST_CASE("a hint about many lines that are alike costs little") {
  std::string content;
  std::string wanted;
  for (int i = 0; i < 20'000; ++i) content += "}\n";
  for (int i = 0; i < 19'998; ++i) wanted += "}\n";
  const auto begin = std::clock();
  static_cast<void>(near_text(content, wanted + "x"));
  // Of their product it was a quarter of a minute.
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 2);
}
