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

/// A tmux of its own with the program in it, below a line of somebody else: a
/// tmux that erases from its first row on keeps that in its history.
class tmux_pane {
 public:
  tmux_pane(const temp_folder& folder, const std::string& arguments,
            int columns)
      : socket_{(folder.path() / "tmux").string()} {
    tmux("-f /dev/null new-session -d -x " + std::to_string(columns) +
         " -y 40 \"cd '" + folder.path().string() +
         "' && echo top; LC_ALL=C.UTF-8 RIFFLE_CONFIG=riffle.toml '" +
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
    // Before the turn is over the table may still grow, and is not drawn.
    const std::string table = "a.txt │    12";
    REQUIRE(riffle.read_until(table));
    REQUIRE(remove_when_there(folder, "a"));
    REQUIRE(riffle.finish() == 0);
    terminal_picture picture{static_cast<std::size_t>(columns)};
    picture.feed("top\r\n" + riffle.written());
    const tmux_pane pane{folder, "run --no-color go", columns};
    REQUIRE(pane.shows(table));
    REQUIRE(remove_when_there(folder, "a"));
    REQUIRE(pane.shows("Go on: riffle run -c"));
    CHECK(normal(pane.text()) == normal(picture.text()));
  }
}

TEST_CASE("tmux, resized in each state, shows everything once", "[torture]") {
  if (!has_tmux()) return skip(no_tmux);
  if (std::getenv("RIFFLE_TORTURE") == nullptr)
    return skip("RIFFLE_TORTURE is not set: it looks at moments");
  const temp_folder folder;
  prepare(folder, "ask");
  const tmux_pane pane{folder, "chat --no-color", 80};
  const auto resized = [&](const std::string& part) {
    // Not 25: there a question or a status that is wrapped leaves a copy.
    for (const int columns : {60, 40, 110, 80}) {
      CAPTURE(columns, part);
      pane.resize(columns);
      // It draws again within a few looks; a second drawing would stay.
      eventually([&] { return count(pane.text(), part) > 1; },
                 std::chrono::milliseconds{400});
      const auto text = pane.text();
      INFO(text);
      CHECK(count(text, part) == 1);
      CHECK(count(text, "/help") == 1);
    }
  };
  REQUIRE(pane.shows("\n>"));  // tmux leaves out blanks at the end
  pane.type("short");
  REQUIRE(pane.shows("> short"));
  resized("> short");
  pane.type("Enter");
  REQUIRE(pane.shows("[s]top"));
  resized("Run it?");
  resized("[APPROVAL]");
  CHECK(count(pane.text(), "What I do") == 1);
  // As somebody who has read it: no key answers in the first moment.
  std::this_thread::sleep_for(std::chrono::milliseconds{350});
  pane.type("y");
  REQUIRE(pane.shows(" Running: "));
  resized(" Running: ");
  REQUIRE(remove_when_there(folder, "a"));
  REQUIRE(pane.shows("All is done: done"));
  resized("All is done: done");
  pane.type("C-d");
  REQUIRE(pane.shows("Go on: riffle -c"));
  CHECK(count(pane.text(), " Running: ") == 0);
  CHECK(count(pane.text(), "Run it?") == 0);
}
