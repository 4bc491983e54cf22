// SPDX-License-Identifier: MIT
// A second judge of what a terminal shows: tmux, which is one, beside the
// pictures that the other tests make by themselves.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <regex>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle::testing;

namespace {

constexpr const char* no_tmux = "tmux is not installed";

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe{
      ::popen((command + " 2>/dev/null").c_str(), "r"), ::pclose};
  std::string out;
  std::array<char, 4096> piece{};
  for (std::size_t n = 1; pipe && n > 0;) {
    n = std::fread(piece.data(), 1, piece.size(), pipe.get());
    out.append(piece.data(), n);
  }
  return out;
}

bool has_tmux() { return output_of("tmux -V").starts_with("tmux "); }

/// A tmux of its own with the program in it, below lines of somebody else, as
/// in a terminal that is used. For each row that wrapping adds tmux moves one
/// into its history, from the top, also where there is room below: nobody can
/// erase it there.
class tmux_pane {
 public:
  tmux_pane(const temp_folder& folder, const std::string& arguments,
            int columns, int rows = 40)
      : socket_{(folder.path() / "tmux").string()} {
    tmux("-f /dev/null new-session -d -x " + std::to_string(columns) + " -y " +
         std::to_string(rows) + " \"cd '" + folder.path().string() +
         "' && seq 30; echo top; LC_ALL=C.UTF-8 RIFFLE_CONFIG=riffle.toml '" +
         terminal_program::built().string() + "' " + arguments +
         "; sleep 100\"");
  }
  ~tmux_pane() { tmux("kill-server"); }
  tmux_pane(const tmux_pane&) = delete;
  tmux_pane& operator=(const tmux_pane&) = delete;

  void type(const std::string& keys) const { tmux("send-keys " + keys); }
  void resize(int columns) const {
    tmux("resize-window -x " + std::to_string(columns));
  }
  /// All lines, also those that have left the screen.
  [[nodiscard]] std::string text() const {
    auto out = tmux("capture-pane -p -S -");
    while (out.ends_with("\n\n")) out.pop_back();
    return out;
  }
  [[nodiscard]] bool shows(const std::string& part) const {
    return eventually([&] { return text().find(part) != std::string::npos; },
                      scaled(std::chrono::seconds{20}));
  }

 private:
  std::string tmux(const std::string& words) const {
    return output_of("tmux -u -S '" + socket_ + "' " + words);
  }
  std::string socket_;
};

void prepare(const temp_folder& folder, const std::string& approval) {
  folder.write("s.toml", R"toml(
[[steps]]
text = """
# What I do

I look at **both** files of 日本 first, and say which of them has to be another one:

- `a.txt`
- b.txt

| File | Lines |
|------|------:|
| a.txt | 12 |
"""
[[steps.calls]]
tool = "bash"
arguments = { command = "touch a; while [ -e a ]; do sleep 0.05; done; echo done" }
[[steps]]
text = "All is done: {{step.0.result.0}}"
)toml");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n"
               "[tools.bash]\napproval = \"" +
                   approval + "\"\n");
}

bool remove_when_there(const temp_folder& folder, const char* name) {
  return eventually(
      [&] { return std::filesystem::remove(folder.path() / name); },
      scaled(std::chrono::seconds{20}));
}

std::string normal(const std::string& text) {
  return std::regex_replace(text, std::regex{"— [0-9.]+s"}, "— TIME");
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++n;
  return n;
}

}  // namespace

TEST_CASE("tmux shows what our own terminal of the tests shows") {
  if (!has_tmux()) return skip(no_tmux);
  if (!has_terminals()) return skip(no_terminals);
  for (const int columns : {60, 80, 110, 200}) {
    CAPTURE(columns);
    const temp_folder folder;
    prepare(folder, "allow");
    terminal_program riffle{folder.path(),
                            {"run", "--no-color", "go"},
                            static_cast<unsigned short>(columns)};
    // The table waits for its end, as long as nothing else comes.
    REQUIRE(riffle.read_next("a.txt │"));
    REQUIRE(remove_when_there(folder, "a"));
    REQUIRE(riffle.finish() == 0);
    terminal_picture picture{static_cast<std::size_t>(columns)};
    picture.feed("top\r\n" + riffle.written());
    const tmux_pane pane{folder, "run --no-color go", columns};
    REQUIRE(pane.shows("a.txt │"));
    REQUIRE(remove_when_there(folder, "a"));
    REQUIRE(pane.shows("Go on: riffle run -c"));
    const auto shown = pane.text();
    CHECK(normal(shown.substr(shown.find("top\n"))) == normal(picture.text()));
  }
}

TEST_CASE("tmux shows a list below the line, and keeps nothing of it") {
  if (!has_tmux()) return skip(no_tmux);
  if (!has_terminals()) return skip(no_terminals);
  for (const int rows : {40, 9, 4}) {
    CAPTURE(rows);
    const temp_folder folder;
    prepare(folder, "allow");
    const tmux_pane pane{folder, "chat --no-color", 60, rows};
    REQUIRE(pane.shows("\n>"));  // tmux leaves out blanks at the end
    const auto before = pane.text();
    pane.type("/");
    REQUIRE(pane.shows("    1 of 19"));
    // Half of the screen, and 8 rows at most, the last with the number.
    CHECK(count(pane.text(), "\n    /") ==
          static_cast<std::size_t>(rows > 16 ? 6 : rows / 2 - 2));
    pane.type("co");
    REQUIRE(pane.shows("\n> /co\n  > /context"));
    pane.type("Down");
    REQUIRE(pane.shows("  > /cost"));
    pane.type("Escape");
    CHECK(eventually([&] {
      return pane.text().find("tokens of this") == std::string::npos;
    }));
    CHECK(pane.text().find("/context") == std::string::npos);
    pane.type("C-u");
    CHECK(eventually([&] { return pane.text() == before; }));
    pane.type("/co");
    REQUIRE(pane.shows("  > /context"));
    pane.type("Down");
    REQUIRE(pane.shows("  > /cost"));
    pane.type("Enter");
    REQUIRE(pane.shows("\n> /cost\nNothing yet.\n"));
    CHECK(pane.text().find("  > ") == std::string::npos);
  }
}

namespace {

/// Resizes it again and again; each of these stands there once, whatever the
/// width: they are short.
void check_each_width(const tmux_pane& pane,
                      const std::vector<std::string>& once) {
  // First as a window that is pulled slowly, then to each at one go.
  for (const int columns : {60, 40, 25, 110, 25, 80}) {
    pane.resize(columns);
    // Longer than tmux needs to tell of it and we to believe it.
    std::this_thread::sleep_for(std::chrono::milliseconds{700});
    const auto text = pane.text();
    for (const auto& part : once) {
      CAPTURE(columns, part);
      INFO(text);
      CHECK(count(text, part) == 1);
    }
  }
}

bool asked_to_look() {
  if (!has_tmux()) skip(no_tmux);
  if (std::getenv("RIFFLE_TORTURE") == nullptr)
    skip("RIFFLE_TORTURE is not set: it looks at moments");
  return has_tmux() && std::getenv("RIFFLE_TORTURE") != nullptr;
}

/// As somebody who has read the question: no key answers in the first moment.
void press(const tmux_pane& pane, const std::string& keys) {
  std::this_thread::sleep_for(std::chrono::milliseconds{350});
  pane.type(keys);
}

}  // namespace

TEST_CASE("tmux keeps what stands above a program that was killed") {
  if (!has_terminals()) return skip(no_terminals);
  if (!has_tmux()) return skip(no_tmux);
  const temp_folder folder;
  folder.write("s.toml", "[[steps]]\ntext = \"hi\"\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n");
  tmux_pane pane{folder, "chat --no-color", 80};
  REQUIRE(pane.shows("/help shows"));
  // A screen of before, which was left in order.
  pane.type("'!!printf \"\\033[?1049h\\033[?1049l\"' Enter");
  REQUIRE(pane.shows("not what it showed.\n\n>"));
  pane.type("'!seq 501 509' Enter");
  REQUIRE(pane.shows("\n509\n\n>"));
  pane.type("'!!kill -9 $$' Enter");
  REQUIRE(
      pane.shows("exit status 137\nThe model is told that it ran, not what it "
                 "showed.\n\n>"));
  pane.type("'!echo e''nd' Enter");
  REQUIRE(pane.shows("\nend\n"));
  const auto text = pane.text();
  CAPTURE(text);
  CHECK(text.find("\n501\n502\n503\n504\n505\n506\n507\n508\n509\n") !=
        std::string::npos);
  CHECK(text.find("exit status 137\nThe model is told") != std::string::npos);
}

TEST_CASE("tmux, resized in each state, shows everything once", "[torture]") {
  if (!has_terminals()) return skip(no_terminals);
  if (!asked_to_look()) return;
  const temp_folder folder;
  prepare(folder, "ask");
  const tmux_pane pane{folder, "chat --no-color", 80};
  REQUIRE(pane.shows("\n>"));  // tmux leaves out blanks at the end
  pane.type("short");
  REQUIRE(pane.shows("> short"));
  check_each_width(pane, {"top\n", "/help", "> short"});
  pane.type("C-u");
  pane.type("/cos");
  REQUIRE(pane.shows("  > /cost"));
  check_each_width(pane, {"top\n", "\n> /cos\n", "  > /cost"});
  pane.type("C-u");
  pane.type("short");
  REQUIRE(pane.shows("> short"));
  pane.type("Enter");
  REQUIRE(pane.shows("[s]top"));
  check_each_width(pane, {"top\n", "/help", "What I do", "a.txt │",
                          "[APPROVAL]", "Run it?"});
  press(pane, "y");
  REQUIRE(pane.shows(" Running: "));
  check_each_width(pane, {"top\n", "/help", "a.txt │", " Running: "});
  REQUIRE(remove_when_there(folder, "a"));
  REQUIRE(pane.shows("All is done: done"));
  check_each_width(pane,
                   {"top\n", "/help", "a.txt │", "[TOOL]", "All is done"});
  pane.type("C-d");
  REQUIRE(pane.shows("Go on: riffle -c"));
  CHECK(count(pane.text(), " Running: ") == 0);
  CHECK(count(pane.text(), "Run it?") == 0);
}

TEST_CASE("tmux, resized while a volley works and asks, shows each row once",
          "[torture]") {
  if (!has_terminals()) return skip(no_terminals);
  if (!asked_to_look()) return;
  const temp_folder folder;
  prepare(folder, "ask");
  const tmux_pane pane{
      folder, "run --no-color --workers 1 'Make a' 'Make it once more'", 80};
  REQUIRE(pane.shows("[s]top"));
  check_each_width(pane,
                   {"top\n", "[VOLLEY]", "[1/2]", "[APPROVAL]", "Run it?"});
  press(pane, "Tab");  // without an input line it says that somebody answers
  press(pane, "y");
  REQUIRE(pane.shows("0/2 ended"));
  check_each_width(pane, {"top\n", "[VOLLEY]", "[1/2] ▶", "0/2 ended"});
  REQUIRE(remove_when_there(folder, "a"));
  REQUIRE(pane.shows("[2/2]"));
  REQUIRE(pane.shows("[s]top"));
  check_each_width(pane, {"top\n", "[VOLLEY]", "[1/2] ✓", "[2/2]", "Run it?"});
  press(pane, "Tab");
  press(pane, "y");
  REQUIRE(remove_when_there(folder, "a"));
  REQUIRE(pane.shows("[2/2] ✓"));
  check_each_width(pane, {"top\n", "[VOLLEY]", "[1/2] ✓", "[2/2] ✓"});
  CHECK(count(pane.text(), "/2 ended") == 0);
}

TEST_CASE("tmux, resized while a plan works and asks, shows each row once",
          "[torture]") {
  if (!has_terminals()) return skip(no_terminals);
  if (!asked_to_look()) return;
  const temp_folder folder;
  prepare(folder, "ask");
  folder.write("p.toml", R"toml(
[[steps]]
id = "look"
tool = "glob"
arguments = { pattern = "*.toml" }
[[steps]]
id = "make"
instruction = "Make a"
)toml");
  const tmux_pane pane{folder, "plan --no-color p.toml", 80};
  REQUIRE(pane.shows("[s]top"));
  check_each_width(pane,
                   {"top\n", "[PLAN]", "[1/2] ✓", "[APPROVAL]", "Run it?"});
  press(pane, "Tab");
  press(pane, "y");
  REQUIRE(pane.shows("1/2 ended"));
  check_each_width(pane,
                   {"top\n", "[PLAN]", "[1/2] ✓", "[2/2] ▶", "1/2 ended"});
  REQUIRE(remove_when_there(folder, "a"));
  REQUIRE(pane.shows("[2/2] ✓"));
  check_each_width(pane, {"top\n", "[PLAN]", "[1/2] ✓", "[2/2] ✓"});
}
