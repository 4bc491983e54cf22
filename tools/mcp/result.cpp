// SPDX-License-Identifier: MIT
#include "tools/mcp/result.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/base/digest.hpp"
#include "runtime/base/media.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "tools/builtin/shell/output_spool.hpp"
#include "tools/schema.hpp"

namespace riffle::mcp {

namespace {

constexpr std::size_t most_files = 8;
constexpr std::size_t most_blocks = 10000;
constexpr std::size_t largest_metadata = 16u << 10;

std::string text_at(const json& x, const char* key) {
  const auto found = x.find(key);
  if (found == x.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

class result_reader {
 public:
  explicit result_reader(const tools::tool_context& context)
      : context_{context}, text_{context.output_cap, context.output_file} {}

  void add(const json& content) {
    if (!content.is_array()) return;
    std::size_t count = 0;
    for (const auto& x : content) {
      if (++count > most_blocks) return add_line("[more is left out]");
      if (x.is_object()) add_block(x);
    }
  }

  void add_line(const std::string& line) {
    if (line.empty()) return;
    if (begun_) text_.append("\n");
    begun_ = true;
    text_.append(line);
  }

  [[nodiscard]] bool empty() const { return !begun_ && files_.empty(); }
  [[nodiscard]] const tools::output_spool& text() const { return text_; }
  std::vector<result_file> take_files() { return std::move(files_); }

 private:
  void add_block(const json& x) {
    const auto type = text_at(x, "type");
    if (type == "text") return add_line(text_at(x, "text"));
    if (type == "image" || type == "audio")
      return add_bytes(type, text_at(x, "mimeType"), text_at(x, "data"));
    if (type == "resource_link") return add_link(x);
    if (type == "resource" && x.contains("resource") &&
        x.at("resource").is_object())
      return add_resource(x.at("resource"));
    add_line("[a block of the type \"" + with_dots(redact(type), 40) +
             "\", which is not shown]");
  }

  void add_link(const json& x) {
    auto line = "[resource " + with_dots(redact(text_at(x, "uri")), 1000);
    if (auto name = text_at(x, "name"); !name.empty())
      line += ": " + with_dots(redact(name), 200);
    add_line(line + "]");
    add_line(with_dots(redact(text_at(x, "description")), 1000));
  }

  void add_resource(const json& x) {
    if (x.contains("text")) return add_line(text_at(x, "text"));
    add_bytes("resource", text_at(x, "mimeType"), text_at(x, "blob"));
  }

  void add_bytes(const std::string& kind, const std::string& claimed,
                 const std::string& base64) {
    auto bytes = from_base64(base64);
    if (bytes.empty())
      return add_line("[" + kind + " whose data is no base64]");
    auto about = describe_media(kind, bytes);
    const auto& taken = context_.files;
    const bool shown =
        about && files_.size() < most_files &&
        bytes.size() <= taken.most_bytes &&
        std::ranges::find(taken.types, about->type) != taken.types.end();
    const auto type = about ? about->type : with_dots(redact(claimed), 100);
    add_line("[" + kind + ", " + type + ", " + size_text(bytes.size()) +
             (shown ? "]" : ", which is not shown]"));
    if (!shown) return;
    files_.push_back({std::move(*about), std::move(bytes)});
  }

  const tools::tool_context& context_;
  tools::output_spool text_;
  bool begun_ = false;
  std::vector<result_file> files_;
};

/// Of a list, alone or as the only member.
std::optional<std::size_t> count_items(const json& structured) {
  if (structured.is_array()) return structured.size();
  if (structured.is_object() && structured.size() == 1 &&
      structured.begin()->is_array())
    return structured.begin()->size();
  return std::nullopt;
}

/// Why a structured result is not what its tool promised; empty: it is.
std::string check_structured(const json& result, const tool_def& tool) {
  if (tool.output_schema.empty()) return {};
  const auto found = result.find("structuredContent");
  if (found == result.end())
    return "the tool promises structured content (outputSchema) and gave none";
  const auto schema = tools::schema::compile(tool.output_schema);
  if (!schema) return {};  // nobody can judge by it
  std::string out;
  for (const auto& x : schema->check(*found)) {
    out +=
        out.empty() ? "its structured content breaks its outputSchema: " : "; ";
    if (!x.pointer.empty())
      out += "at " + with_dots(redact(x.pointer), 200) + ": ";
    out += x.message;
  }
  return out;
}

}  // namespace

tools::tool_output read_result(const json& result, const tool_def& tool,
                               const tools::tool_context& context) {
  result_reader reader{context};
  reader.add(result.value("content", json::array()));
  const bool failed = result.value("isError", json()) == true;
  auto metadata = json::object();
  if (const auto x = result.find("structuredContent"); x != result.end()) {
    if (const auto n = count_items(*x)) metadata["items"] = *n;
    auto text = to_text(*x);
    if (text.size() <= largest_metadata) metadata["structured"] = *x;
    if (reader.empty()) reader.add_line(text);
  }
  tools::tool_output out;
  out.text = reader.text().text();
  if (const auto bytes = reader.text().bytes(); bytes > 0) {
    metadata["lines"] = reader.text().lines();
    metadata["bytes"] = bytes;
  }
  if (reader.text().truncated()) {
    metadata["truncated"] = true;
    metadata["whole_kept"] = reader.text().whole().good();
  }
  if (!metadata.empty()) out.metadata = to_text(metadata);
  out.files = reader.take_files();
  if (failed) {
    out.err = error{errc::tool_execution_error, tool.name,
                    out.text.empty() ? "the tool says that it failed"
                                     : with_dots(redact(out.text), 1000)};
  } else if (auto why = check_structured(result, tool); !why.empty()) {
    out.err = error{errc::tool_execution_error, tool.name, why};
    out.text += (out.text.empty() ? "" : "\n") + why;
  }
  return out;
}

std::string read_contents(const json& contents) {
  const tools::tool_context plain;
  result_reader reader{plain};
  if (!contents.is_array()) return {};
  for (const auto& x : contents) {
    if (!x.is_object()) continue;
    if (x.contains("uri"))  // of a resource
      reader.add(json::array({{{"type", "resource"}, {"resource", x}}}));
    else if (const auto c = x.find("content"); c != x.end())  // of a prompt
      reader.add(c->is_array() ? *c : json::array({*c}));
  }
  return reader.text().text();
}

}  // namespace riffle::mcp
