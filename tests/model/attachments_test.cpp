// SPDX-License-Identifier: MIT
// Pictures and files in requests of each dialect.
#include <nlohmann/json.hpp>

#include "runtime/model/dialect.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using nlohmann::json;

namespace {

const json png_url = "data:image/png;base64,cG5n";
const json pdf_url = "data:application/pdf;base64,cGRm";

std::vector<model::told_file> files(bool pdf = true) {
  std::vector<model::told_file> out;
  out.push_back({{"a.png", "image/png", 3, "d1"},
                 std::make_shared<const std::string>("png")});
  if (pdf)
    out.push_back({{"b \"x\".pdf", "application/pdf", 3, "d2"},
                   std::make_shared<const std::string>("pdf")});
  return out;
}

json told(const std::string& dialect, bool pdf = true) {
  return json::parse(
      model::make_dialect(dialect)->user_message("look", files(pdf)));
}

json result(const std::string& dialect, bool pdf = true,
            model::quirks odd = {}) {
  return json::parse(model::make_dialect(dialect, std::move(odd))
                         ->tool_message("id", "read", "text", files(pdf)));
}

}  // namespace

TEST_CASE("openai: parts of the user's message; a PDF is a file part") {
  CHECK(told("openai") ==
        json{{"role", "user"},
             {"content",
              {{{"type", "text"}, {"text", "look"}},
               {{"type", "image_url"}, {"image_url", {{"url", png_url}}}},
               {{"type", "file"},
                {"file",
                 {{"filename", "b \"x\".pdf"}, {"file_data", pdf_url}}}}}}});
  CHECK_FALSE(model::make_dialect("openai")->results_show_files());
}

TEST_CASE("openai: a server whose results show pictures gets them there") {
  model::quirks odd;
  odd.results_show_files = true;
  CHECK(model::make_dialect("openai", odd)->results_show_files());
  // Such a server takes no user's message behind them.
  CHECK(json::parse(model::make_dialect("openai", odd)->behind_results())
            .at("role") == "assistant");
  for (const auto* name : {"openai", "anthropic", "responses", "ollama"})
    CHECK(model::make_dialect(name)->behind_results().empty());
  const auto x = result("openai", false, odd);
  CHECK(x.at("role") == "tool");
  CHECK(x.at("content") ==
        json{{{"type", "text"}, {"text", "text"}},
             {{"type", "image_url"}, {"image_url", {{"url", png_url}}}}});
}

TEST_CASE("responses: input_image and input_file, in outputs, too") {
  const json content = {
      {{"type", "input_text"}, {"text", "look"}},
      {{"type", "input_image"}, {"detail", "auto"}, {"image_url", png_url}},
      {{"type", "input_file"},
       {"filename", "b \"x\".pdf"},
       {"file_data", pdf_url}}};
  CHECK(told("responses") == json{{"role", "user"}, {"content", content}});
  auto output = content;
  output[0]["text"] = "text";
  CHECK(result("responses") == json{{"type", "function_call_output"},
                                    {"call_id", "id"},
                                    {"output", output}});
  CHECK(model::make_dialect("responses")->results_show_files());
}

TEST_CASE("anthropic: blocks before the text, in results, too") {
  json blocks = {
      {{"type", "image"},
       {"source",
        {{"type", "base64"}, {"media_type", "image/png"}, {"data", "cG5n"}}}},
      {{"type", "document"},
       {"source",
        {{"type", "base64"},
         {"media_type", "application/pdf"},
         {"data", "cGRm"}}},
       {"title", "b \"x\".pdf"}},
      {{"type", "text"}, {"text", "look"}}};
  CHECK(told("anthropic") == json{{"role", "user"}, {"content", blocks}});
  blocks[2]["text"] = "text";
  CHECK(result("anthropic") == json{{"type", "tool_result"},
                                    {"tool_use_id", "id"},
                                    {"content", blocks}});
  CHECK(model::make_dialect("anthropic")->results_show_files());
}

TEST_CASE("anthropic: the mark of the cache stays inside the last block") {
  const auto dialect = model::make_dialect("anthropic");
  const auto mark = dialect->mark_of_cache();
  auto text = dialect->user_message("look", files());
  text.insert(text.size() - mark.from_end, mark.text);
  CHECK(json::parse(text)["content"][2].contains("cache_control"));
  const auto frame = dialect->frame_of_results();
  text = std::string{frame.begin} +
         dialect->tool_message("id", "read", "text", files()) +
         std::string{frame.end};
  text.insert(text.size() - mark.from_end, mark.text);
  CHECK(json::parse(text)["content"][0].contains("cache_control"));
}

TEST_CASE("ollama: images beside the text, of results, too, and no PDF") {
  CHECK(told("ollama", false) == json{{"role", "user"},
                                      {"content", "look"},
                                      {"images", json::array({"cG5n"})}});
  CHECK(result("ollama", false) == json{{"role", "tool"},
                                        {"tool_name", "read"},
                                        {"content", "text"},
                                        {"images", json::array({"cG5n"})}});
  CHECK(model::can_show("ollama", "image/webp"));
  CHECK_FALSE(model::can_show("ollama", "application/pdf"));
  for (const auto* name : {"openai", "anthropic", "responses"})
    CHECK(model::can_show(name, "application/pdf"));
  CHECK_FALSE(model::can_show("anthropic", "image"));
  CHECK_FALSE(model::can_show("anthropic", "text/plain"));
}

TEST_CASE("without files every message is what it was") {
  for (const auto* name : {"openai", "anthropic", "responses", "ollama"}) {
    const auto dialect = model::make_dialect(name);
    CHECK(dialect->user_message("x", {}) == dialect->user_message("x"));
    CHECK(dialect->user_message("x").find("image") == std::string::npos);
    CHECK(dialect->tool_message("a", "b", "c", {}) ==
          dialect->tool_message("a", "b", "c"));
  }
}
