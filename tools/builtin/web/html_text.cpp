// SPDX-License-Identifier: MIT
#include "tools/builtin/web/html_text.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

#include <libxml/HTMLparser.h>

#include "tools/builtin/web/text_writer.hpp"
#include "tools/builtin/web/url.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

constexpr std::size_t piece = 16u << 10;
// Deeper than any page; what nests on costs time at each of its ends.
constexpr int deepest = 512;
constexpr std::size_t longest_title = 300;

template <std::size_t N>
bool is_one_of(std::string_view x,
               const std::array<std::string_view, N>& sorted) {
  return std::binary_search(sorted.begin(), sorted.end(), x);
}

constexpr std::array<std::string_view, 11> unread{
    "audio",  "canvas", "head", "iframe",   "math", "object",
    "script", "style",  "svg",  "template", "video"};
static_assert(std::is_sorted(unread.begin(), unread.end()));

constexpr std::array<std::string_view, 28> blocks{
    "address",  "article",    "aside",   "blockquote", "body",   "caption",
    "center",   "dd",         "details", "div",        "dl",     "dt",
    "fieldset", "figcaption", "figure",  "footer",     "form",   "header",
    "legend",   "main",       "nav",     "optgroup",   "option", "section",
    "select",   "summary",    "tbody",   "tr"};
static_assert(std::is_sorted(blocks.begin(), blocks.end()));

constexpr std::array<std::string_view, 5> spaced{"menu", "ol", "p", "table",
                                                 "ul"};
static_assert(std::is_sorted(spaced.begin(), spaced.end()));

bool is_heading(std::string_view x) {
  return x.size() == 2 && x[0] == 'h' && x[1] >= '1' && x[1] <= '6';
}

std::string heading_mark(std::string_view name) {
  return std::string(static_cast<std::size_t>(name[1] - '0'), '#') + ' ';
}

std::string_view view(const xmlChar* x) {
  return x ? reinterpret_cast<const char*>(x) : std::string_view{};
}

std::string_view attribute(const xmlChar** all, std::string_view name) {
  for (; all && all[0]; all += 2)
    if (view(all[0]) == name) return view(all[1]);
  return {};
}

class page_reader {
 public:
  page_reader(const std::string& url, std::size_t limit)
      : base_{url}, writer_{limit} {}

  void open(std::string_view name, const xmlChar** attributes) {
    ++depth_;
    if (name == "title" && title_at_ == 0 && title_.empty()) title_at_ = depth_;
    if (name == "base" && !based_) read_base(attribute(attributes, "href"));
    if (unread_at_ > 0) return;
    if (is_one_of(name, unread)) {
      unread_at_ = depth_;
      return;
    }
    if (name == "pre" || name == "textarea") {
      writer_.line_break(2);
      if (pre_at_ == 0) pre_at_ = depth_;
    }
    open_block(name);
    open_inline(name, attributes);
  }

  void close(std::string_view name) {
    if (title_at_ == depth_) title_at_ = 0;
    const bool hidden = unread_at_ > 0;
    if (unread_at_ == depth_) unread_at_ = 0;
    if (!hidden) close_read(name);
    if (depth_ > 0) --depth_;
  }

  void text(std::string_view x) {
    if (title_at_ > 0 && title_.size() < longest_title) title_ += x;
    if (unread_at_ > 0 || title_at_ > 0) return;
    if (pre_at_ > 0)
      writer_.verbatim(x);
    else
      writer_.flow(x);
  }

  [[nodiscard]] bool full() const { return writer_.full(); }
  [[nodiscard]] bool too_deep() const { return depth_ > deepest; }

  page_text take() {
    page_text out;
    out.cut = full();
    out.too_deep = too_deep();
    out.text = writer_.take();
    text_writer line{longest_title};
    line.flow(title_);
    out.title = cut_utf8(line.take(), longest_title);
    return out;
  }

 private:
  void open_block(std::string_view name) {
    if (is_heading(name)) {
      writer_.line_break(2);
      writer_.before_next(heading_mark(name));
    } else if (is_one_of(name, spaced)) {
      if (name == "ul" || name == "ol" || name == "menu") ++lists_;
      writer_.line_break(lists_ > 1 ? 1 : 2);
    } else if (is_one_of(name, blocks)) {
      writer_.line_break(1);
      if (name == "tr") cells_ = 0;
    } else if (name == "li") {
      writer_.line_break(1);
      const auto indent = static_cast<std::size_t>(std::clamp(lists_, 1, 9));
      writer_.before_next(std::string(2 * (indent - 1), ' ') + "- ");
    } else if (name == "br") {
      writer_.line_break(1);
    } else if (name == "hr") {
      writer_.line_break(2);
      writer_.verbatim("---");
      writer_.line_break(2);
    }
  }

  void open_inline(std::string_view name, const xmlChar** attributes) {
    if ((name == "td" || name == "th") && cells_++ > 0) {
      writer_.flow(" | ");
    } else if (name == "img") {
      writer_.flow(attribute(attributes, "alt"));
    } else if (name == "a") {
      link_ = resolve_link(base_, attribute(attributes, "href"));
      if (!link_.empty()) writer_.before_next("[");
    }
  }

  void close_read(std::string_view name) {
    if (pre_at_ == depth_) pre_at_ = 0;
    if (name == "a") return close_link();
    if (name == "ul" || name == "ol" || name == "menu")
      lists_ = std::max(0, lists_ - 1);
    if (is_heading(name)) {
      writer_.take_back(heading_mark(name));  // if there was nothing in it
      writer_.line_break(2);
    } else if (is_one_of(name, spaced) || name == "pre") {
      writer_.line_break(lists_ > 0 ? 1 : 2);
    } else if (is_one_of(name, blocks) || name == "li") {
      writer_.line_break(1);
    }
  }

  void close_link() {
    if (link_.empty()) return;
    // Taken back: there was nothing to read in it.
    if (!writer_.take_back("[")) writer_.after_last("](" + link_ + ")");
    link_.clear();
  }

  void read_base(std::string_view href) {
    auto url = resolve_link(base_, href);
    if (!url.starts_with("http")) return;
    base_ = std::move(url);
    based_ = true;
  }

  std::string base_;
  bool based_ = false;
  text_writer writer_;
  std::string title_;
  std::string link_;
  // Depth of the element that began it; 0: none did.
  int depth_ = 0;
  int title_at_ = 0;
  int unread_at_ = 0;
  int pre_at_ = 0;
  int lists_ = 0;
  int cells_ = 0;
};

page_reader& reader(void* x) { return *static_cast<page_reader*>(x); }

htmlSAXHandler make_handler() {
  htmlSAXHandler out{};
  out.startElement = [](void* x, const xmlChar* name, const xmlChar** all) {
    reader(x).open(view(name), all);
  };
  out.endElement = [](void* x, const xmlChar* name) {
    reader(x).close(view(name));
  };
  out.characters = [](void* x, const xmlChar* text, int size) {
    reader(x).text(
        {reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)});
  };
  out.ignorableWhitespace = out.characters;
  out.cdataBlock = out.characters;
  return out;
}

struct parser_deleter {
  void operator()(htmlParserCtxt* x) const noexcept { htmlFreeParserCtxt(x); }
};

}  // namespace

page_text html_to_text(std::string_view html, const std::string& page_url,
                       std::size_t limit, const std::stop_token& stop) {
  static std::once_flag once;
  std::call_once(once, [] { xmlInitParser(); });
  page_reader page{page_url, limit};
  auto handler = make_handler();
  const std::unique_ptr<htmlParserCtxt, parser_deleter> parser{
      htmlCreatePushParserCtxt(&handler, &page, nullptr, 0, nullptr,
                               XML_CHAR_ENCODING_UTF8)};
  if (!parser) return {};
  htmlCtxtUseOptions(parser.get(), HTML_PARSE_RECOVER | HTML_PARSE_NOERROR |
                                       HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                                       HTML_PARSE_IGNORE_ENC);
  while (!html.empty() && !stop.stop_requested() && !page.full() &&
         !page.too_deep()) {
    const auto part = cut_utf8(html, piece);
    htmlParseChunk(parser.get(), part.data(), static_cast<int>(part.size()), 0);
    html.remove_prefix(part.size());
  }
  if (html.empty()) htmlParseChunk(parser.get(), nullptr, 0, 1);
  return page.take();
}

}  // namespace riffle::tools
