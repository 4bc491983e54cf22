// SPDX-License-Identifier: MIT
#include "tools/builtin/web/html_text.hpp"

#include <chrono>

#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace riffle::tools;

namespace {

page_text page(std::string_view html, std::size_t limit = 1u << 20) {
  return html_to_text(html, "https://example.org/a/b.html", limit, {});
}

std::string text(std::string_view html) { return page(html).text; }

}  // namespace

TEST_CASE("text is read in order, with white space folded") {
  CHECK(text("<p>One\n  <b>two</b>   three</p><p>four<br>five</p>") ==
        "One two three\n\nfour\nfive");
  CHECK(text("a<div>b<div>c</div></div>d") == "a\n\nb\nc\nd");
  CHECK(text("<b>bo</b>ld") == "bold");
  CHECK(text("") == "");
  CHECK(text("just text") == "just text");
}

TEST_CASE("what nobody reads is dropped") {
  const auto x = page(
      "<!DOCTYPE html><html><head><title> A\n &amp; B </title>"
      "<style>p{color:red}</style><script>if (a<b) alert('<p>')</script></head>"
      "<body><script>document.write('no')</script><!-- no --><p>yes</p>"
      "<template>no</template><svg><text>no</text></svg><noscript>plain"
      "</noscript><iframe>no</iframe></body></html>");
  CHECK(x.title == "A & B");
  CHECK(x.text == "yes\n\nplain");
}

TEST_CASE("links are kept with whole URLs") {
  CHECK(text("<a href='c.html'>c</a>, <a href='/d?x=1&amp;y=2'> d</a>, "
             "<a href='//other.net/'><b>o</b></a>") ==
        "[c](https://example.org/a/c.html), "
        "[d](https://example.org/d?x=1&y=2), [o](https://other.net/)");
  CHECK(text("<a href='#top'>top</a> <a href='javascript:x()'>js</a> "
             "<a href='data:text/html,x'>data</a> <a>none</a> "
             "<a href='mailto:a@b.c'>mail</a>") ==
        "top js data none [mail](mailto:a@b.c)");
  CHECK(text("<a href='x'></a>after<a href='y'><img alt='pic'></a>") ==
        "after[pic](https://example.org/a/y)");
  CHECK(text("<base href='https://b.org/z/'><a href='x'>x</a>") ==
        "[x](https://b.org/z/x)");
  CHECK(text("<li><a href='x'></a>item") == "- item");
}

TEST_CASE("headings, lists, tables and pre keep their form") {
  CHECK(text("<h1>Big</h1>x<h3>small</h3>y<h2></h2>z") ==
        "# Big\n\nx\n\n### small\n\ny\n\nz");
  CHECK(text("<ul><li>a<li>b<ul><li>c</ul></ul>d") == "- a\n- b\n  - c\n\nd");
  CHECK(text("<table><tr><th>k<th>v<tr><td>1<td>2</table>") == "k | v\n1 | 2");
  CHECK(text("x<pre>  a\n    b\n</pre>y") == "x\n\n  a\n    b\n\ny");
}

TEST_CASE("entities and damaged pages are read as far as possible") {
  CHECK(text("&lt;b&gt; &eacute; &#8364; &#x1F600; &amp;amp; &nosuch; a&b") ==
        "<b> \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 &amp; &nosuch; a&b");
  CHECK(text("<p>a</div></b>b<i>c") == "abc");
  CHECK(text("<p>open <a href='x'>li") == "open [li](https://example.org/a/x)");
  CHECK(text("a <3 b") == "a <3 b");
}

TEST_CASE("the text is limited") {
  std::string html;
  for (int i = 0; i < 10'000; ++i) html += "<p>word</p>";
  const auto x = page(html, 1000);
  CHECK(x.cut);
  CHECK(x.text.size() <= 1100);
  CHECK_FALSE(page(html, 1u << 20).cut);
}

TEST_CASE("characters stay whole wherever the parser's pieces end") {
  std::string html, want;
  for (int i = 0; i < 20'000; ++i) want += "\xE2\x82\xAC";
  for (std::size_t shift = 0; shift < 3; ++shift) {
    html = "<p>" + std::string(shift, 'x') + want;
    CHECK(text(html) == std::string(shift, 'x') + want);
  }
}

TEST_CASE("hostile pages cost neither stack nor time") {
  const auto many = [](std::string_view unit) {
    std::string out;
    while (out.size() < (1u << 20)) out += unit;
    return out;
  };
  for (const auto* unit : {"<b>",
                           "<div>",
                           "<p><b>",
                           "<a href=x>",
                           "<table><tr><td>",
                           "<ul><li>",
                           "<",
                           "<!--",
                           "<!",
                           "<a ",
                           "<a b='",
                           "&",
                           "&#",
                           "&amp",
                           "</p>",
                           "</x>",
                           "<svg>",
                           "<title>",
                           "<script>",
                           "<pre>",
                           "<h1>",
                           "]]>",
                           "<?x ",
                           "<select><option>",
                           "\xFF",
                           "<a b=c ",
                           "<i></b>"}) {
    CAPTURE(unit);
    const auto begin = std::chrono::steady_clock::now();
    const auto x = page(many(unit));
    CHECK(x.text.size() <= (5u << 20));
    CHECK(std::chrono::steady_clock::now() - begin <
          testing::scaled(std::chrono::seconds{20}));
  }
  CHECK(page(many("<div>")).too_deep);
}

TEST_CASE("reading a page ends when it is stopped") {
  std::stop_source stop;
  stop.request_stop();
  CHECK(html_to_text("<p>x", "http://a/", 100, stop.get_token()).text.empty());
}
