// SPDX-License-Identifier: MIT
// Where links lead the words of a command line.
#include "tools/led_words.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/tools/tool_fixture.hpp"

using namespace riffle;
using riffle::tools::find_led_words;
namespace fs = std::filesystem;

namespace {

/// w/programs is a folder with a program, w/d and a chain of links to it.
struct place {
  place() {
    home = fs::canonical(folder.path());
    fs::create_directories(home / "w" / "sub");
    fs::create_directories(home / "x" / "bin");
    folder.write("x/bin/zap", "");
    fs::create_directory_symlink("../x/bin", home / "w" / "d");
    fs::create_directory_symlink("d", home / "w" / "e");
    fs::create_directory_symlink(home / "w" / "e", home / "w" / "sub" / "f");
    fs::create_symlink("e/zap", home / "w" / "l");
    fs::create_symlink("r", home / "w" / "r");
    folder.write("w/plain", "");
  }
  [[nodiscard]] auto of(const std::string& line) const {
    std::map<std::string, std::string, std::less<>> out;
    for (const auto& [word, to] : find_led_words(line, home / "w").to) {
      CHECK(to.size() == 1);
      out[word] = to.at(0);
    }
    return out;
  }
  testing::temp_folder folder;
  fs::path home;
};

using words = std::map<std::string, std::string, std::less<>>;

}  // namespace

TEST_CASE("a word goes where links lead it, one behind another") {
  const place x;
  const auto bin = (x.home / "x" / "bin").string();
  CHECK(x.of("cat d/* > q") == words{{"d/*", bin + "/*"}});
  CHECK(x.of("cat e/z?p sub/f/zap l") == words{{"e/z?p", bin + "/z?p"},
                                               {"sub/f/zap", bin + "/zap"},
                                               {"l", bin + "/zap"}});
  CHECK(x.of("cd e; cat zap") == words{{"e", bin}});
  CHECK(x.of("cat < e/zap") == words{{"e/zap", bin + "/zap"}});
  CHECK(x.of("dd if=e/zap of=q") == words{{"if=e/zap", "if=" + bin + "/zap"}});
  CHECK(x.of("cat \"$(cat d/zap)\"") == words{{"d/zap", bin + "/zap"}});
  CHECK(x.of("cat " + (x.home / "w/d/*").string()) ==
        words{{(x.home / "w/d/*").string(), bin + "/*"}});
}

TEST_CASE("a word is followed from where a step of the line leads") {
  const place x;
  const auto bin = (x.home / "x" / "bin").string();
  CHECK(x.of("cat f/zap").empty());
  CHECK(x.of("cd sub; cat f/zap") == words{{"f/zap", bin + "/zap"}});
  CHECK(x.of("cd sub && cat f/*") == words{{"f/*", bin + "/*"}});
  CHECK(x.of("cd sub && cp -rL f/ q") == words{{"f/", bin}});
  CHECK(x.of("cd sub && cp -r f/. q") == words{{"f/.", bin}});
  for (const auto* step : {"-C sub", "--directory=sub", "--chdir sub"}) {
    CAPTURE(step);
    CHECK(x.of(std::string{"tar "} + step + " -chf q.tar f")["f"] == bin);
  }
}

TEST_CASE("a word may lead to two places") {
  const place x;
  fs::create_directory_symlink("sub", x.home / "w" / "f");
  const auto found = find_led_words("cd sub; cp -rL f q", x.home / "w");
  CHECK(found.all);
  CHECK(found.to.at("f") ==
        std::vector{(x.home / "w/sub").string(), (x.home / "x/bin").string()});
}

TEST_CASE("where a line stands behind a step that is not plain nobody knows") {
  const place x;
  const auto all = [&](const std::string& line) {
    return find_led_words(line, x.home / "w").all;
  };
  for (const std::string step :
       {"cd s?b", "cd $X", "cd \"$(pwd)\"", "cd -", "cd {a,b}", "cd ~+/sub",
        "for i in sub; do cd $i", "pushd -n $X", "cd -P s*", "cd ~/s*",
        "cd ~/$X"}) {
    CAPTURE(step);
    CHECK_FALSE(all(step + "; ./f/zap"));
  }
  for (const std::string line :
       {"for i in 1 2; do cd sub; done; ./f/zap", "f() { cd sub; }; f; f; ./x",
        "cd $X && make", "tar chfC q.tar $X f", "cd -; cat zap > q"}) {
    CAPTURE(line);
    CHECK_FALSE(all(line));
  }
  for (const std::string line :
       {"cd - && ls", "cd \"$(pwd)\" && ls -l sub/*", "curl -C - -O u",
        "echo cd *", "grep -C \"$N\" a b", "for i in 1 2; do cd /tmp; done; x",
        "ls d/* d/*"}) {
    CAPTURE(line);
    CHECK(all(line));
  }
  CHECK_FALSE(all("tar -C $X -cf q.tar f"));
  CHECK_FALSE(all("tar -C$X -cf q.tar f"));
  CHECK_FALSE(all("make --directory=$X f"));
  for (const std::string step :
       {"cd sub", "cd -P -- sub", "mkdir new; cd new", "cd ~/x", "cd ~",
        "cd ..", "git -C sub add f/*"}) {
    CAPTURE(step);
    CHECK(all(step + "; cat $X"));
  }
  const auto bin = (x.home / "x" / "bin").string();
  for (const std::string how :
       {"-Csub -chf q.tar", "-chC sub -f q.tar", "chfC q.tar sub",
        "--dir=sub -chf q.tar", "--direct sub -chf q.tar"}) {
    CAPTURE(how);
    CHECK(x.of("tar " + how + " f")["f"] == bin);
  }
}

TEST_CASE("what leads where it says is no word that is led") {
  const place x;
  CHECK(x.of("cat plain sub/gone ./plain sub/../plain gone/* *.c r").empty());
  CHECK(x.of("echo x > /dev/stdout").empty());
  CHECK(x.of("").empty());
}

TEST_CASE("a pattern takes in what its links lead to") {
  const place x;
  const auto zap = (x.home / "x" / "bin" / "zap").string();
  fs::create_symlink("../d/zap", x.home / "w" / "sub" / "a.c");
  fs::create_symlink("../d/zap", x.home / "w" / "sub" / "zap");
  x.folder.write("w/sub/b.c", "");
  using taken = std::map<std::string, std::vector<std::string>, std::less<>>;
  const auto of = [&](const std::string& line) {
    return find_led_words(line, x.home / "w").taken_in;
  };
  for (const std::string word : {"sub/*.c", "sub/?.c", "s*/[ab].c", "*/a.*"}) {
    CAPTURE(word);
    CHECK(of("cp " + word + " q/") == taken{{word, {zap}}});
  }
  CHECK(of("cd sub; cat *.c > q") == taken{{"*.c", {zap}}});
  CHECK(of("cat sub/*ap > q") == taken{{"sub/*ap", {zap}}});
  CHECK(of("cat d*/*ap > q") == taken{{"d*/*ap", {zap}}});
  CHECK(of("cp sub/b* 'sub/*.c' sub/*.h q/").empty());
  CHECK(of("ls sub/*.c").empty());  // shows nothing of it
}

TEST_CASE("a file may be named behind each equals sign, or have some") {
  const place x;
  const auto zap = (x.home / "x" / "bin" / "zap").string();
  fs::create_directories(x.home / "w" / "k=v");
  fs::create_symlink("../d/zap", x.home / "w" / "k=v" / "a.c");
  CHECK(x.of("cat k=v/a.c > q") == words{{"k=v/a.c", zap}});
  CHECK(x.of("dd if=k=v/a.c") == words{{"if=k=v/a.c", "if=" + zap}});
  CHECK(find_led_words("cat k=v/*.c > q", x.home / "w").taken_in.size() == 1);
}

TEST_CASE("a pattern of very many files, or links, is in doubt") {
  const place x;
  for (int i = 0; i < 501; ++i)
    fs::create_symlink("../d/zap",
                       x.home / "w" / "sub" / (std::to_string(i) + ".c"));
  CHECK_FALSE(find_led_words("cp sub/*.c q", x.home / "w").all);
  CHECK(find_led_words("cp sub/1?.c q", x.home / "w").all);
  std::string many;  // the same folder is read for each
  for (int i = 0; i < 300; ++i) many += "cp sub/x*" + std::to_string(i) + " q;";
  CHECK_FALSE(find_led_words(many, x.home / "w").all);
}

TEST_CASE("a line is followed with a bounded number of looks") {
  const place x;
  std::string many = "cd sub; cat";
  for (int i = 0; i < 5000; ++i) many += " w" + std::to_string(i);
  CHECK_FALSE(find_led_words(many, x.home / "w").all);
  CHECK(find_led_words("cat d/*", x.home / "w").all);
  std::string steps;
  for (int i = 0; i < 40; ++i) {
    const auto name = "s" + std::to_string(i);
    fs::create_directories(x.home / "w" / name);
    steps += "cd " + (x.home / "w" / name).string() + "; ";
  }
  CHECK_FALSE(find_led_words(steps, x.home / "w").all);
}
