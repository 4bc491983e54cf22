// SPDX-License-Identifier: MIT
// `read` on pictures and PDFs.
#include "runtime/base/media.hpp"
#include "tests/support/catch.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/files/files.hpp"

using namespace riffle;
using namespace riffle::tools;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

const std::string png{"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16};

struct shown_file_fixture : testing::tool_fixture {
  shown_file_fixture() {
    context.files = {{"image/png", "application/pdf"}, 1'000};
  }
  tool_ptr read = make_read();
  tool_output get(const std::string& path) {
    return run(*read, json{{"path", path}});
  }
};

}  // namespace

TEST_CASE("a picture is shown, told by its bytes and not by its name") {
  shown_file_fixture x;
  x.folder.write("dir/photo.txt", png);
  const auto result = x.get("dir/photo.txt");
  CHECK_FALSE(result.err);
  REQUIRE(result.files.size() == 1);
  CHECK(result.files[0].bytes == png);
  CHECK(result.files[0].about == describe_media("photo.txt", png).value());
  CHECK_THAT(result.text,
             Contains("dir/photo.txt is shown") && Contains("image/png") &&
                 Contains(result.files[0].about.digest.substr(0, 12)));
  const auto metadata = json::parse(result.metadata);
  CHECK(metadata ==
        json{{"path", "dir/photo.txt"}, {"type", "image/png"}, {"bytes", 16}});
}

TEST_CASE("a PDF is shown where the model takes one, else it is as before") {
  shown_file_fixture x;
  x.folder.write("a.pdf", "%PDF-1.4\nplain");
  CHECK(x.get("a.pdf").files.size() == 1);
  x.context.files.types = {"image/png"};
  CHECK(x.get("a.pdf").files.empty());
  CHECK(x.get("a.pdf").text == "%PDF-1.4\nplain");
  x.folder.write("b.png", png);
  x.context.files = {};
  const auto result = x.get("b.png");
  REQUIRE(result.err);
  CHECK_THAT(result.text, Contains("is a binary file"));
}

TEST_CASE("what only has the name of a picture is text") {
  shown_file_fixture x;
  x.folder.write("a.png", "not one\n");
  const auto result = x.get("a.png");
  CHECK_FALSE(result.err);
  CHECK(result.files.empty());
  CHECK(result.text == "not one\n");
  x.folder.write("empty.png", "");
  CHECK(x.get("empty.png").text == "[the file is empty]");
}

TEST_CASE("one over the limit is refused with what to do") {
  shown_file_fixture x;
  x.folder.write("edge.png", png + std::string(1'000 - png.size(), 'x'));
  CHECK(x.get("edge.png").files.size() == 1);
  x.folder.write("large.png", png + std::string(1'001 - png.size(), 'x'));
  const auto result = x.get("large.png");
  REQUIRE(result.err);
  CHECK(result.files.empty());
  CHECK_THAT(result.text, Contains("large.png") &&
                              Contains("attachments.max_file_bytes") &&
                              Contains("smaller"));
}
