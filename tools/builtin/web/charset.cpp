// SPDX-License-Identifier: MIT
#include "tools/builtin/web/charset.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iconv.h>
#include <utility>

#include "runtime/base/text.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

constexpr std::size_t head_size = 1024;  ///< where a `meta` may stand (HTML)
constexpr std::size_t probe_size = 8192;
constexpr std::string_view blanks = " \t\r\n\f";

struct label {
  std::string_view prefix;  ///< of the name, or the whole of it
  std::string_view name;    ///< as iconv calls it; empty: as it is written
};

// Only these: iconv knows hundreds, and some of them were its weak places.
// The words are those of the WHATWG Encoding standard.
constexpr std::array labels{
    label{"utf-16le", "UTF-16LE"},
    label{"utf-16be", "UTF-16BE"},
    label{"utf-16", "UTF-16LE"},
    label{"windows-125", ""},
    label{"windows-874", "CP874"},
    label{"cp125", ""},
    label{"iso-8859-1", ""},
    label{"iso-8859-", ""},
    label{"latin1", "CP1252"},
    label{"us-ascii", "CP1252"},
    label{"ascii", "CP1252"},
    label{"koi8-r", "KOI8-R"},
    label{"koi8-u", "KOI8-U"},
    label{"ibm866", "IBM866"},
    label{"macintosh", "MACINTOSH"},
    label{"gb18030", "GB18030"},
    label{"gbk", "GB18030"},
    label{"gb2312", "GB18030"},
    label{"big5", "BIG5-HKSCS"},
    label{"euc-jp", "EUC-JP"},
    label{"shift_jis", "CP932"},
    label{"shift-jis", "CP932"},
    label{"sjis", "CP932"},
    label{"x-sjis", "CP932"},
    label{"iso-2022-jp", "CSISO2022JP"},
    label{"euc-kr", "CP949"},
    label{"ks_c_5601-1987", "CP949"},
    label{"tis-620", "CP874"},
};

bool is_prefix(const label& x) {
  return x.prefix.ends_with('-') || x.prefix.ends_with("125");
}

/// iconv's name of a charset; empty for UTF-8 and what nobody knows.
std::string iconv_name(std::string_view charset) {
  if (charset == "iso-8859-1" || charset == "cp1252") return "CP1252";
  for (const auto& x : labels) {
    if (charset == x.prefix && !x.name.empty()) return std::string{x.name};
    if (!is_prefix(x) || !charset.starts_with(x.prefix)) continue;
    const auto rest = charset.substr(x.prefix.size());
    if (rest.empty() || rest.size() > 2 ||
        rest.find_first_not_of("0123456789") != std::string_view::npos)
      return {};
    if (x.prefix.ends_with("125")) return "CP125" + std::string{rest};
    return "ISO-8859-" + std::string{rest};
  }
  return {};
}

/// The charset of a `meta` element, found by its word alone, as it may stand
/// in two shapes; what is taken for one by mistake does little harm.
std::string charset_of_meta(std::string_view bytes) {
  const auto head = lower(bytes.substr(0, head_size));
  for (auto at = head.find("<meta"); at != std::string_view::npos;
       at = head.find("<meta", at + 1)) {
    const auto end = std::min(head.find('>', at), head.size());
    const auto tag = std::string_view{head}.substr(at, end - at);
    const auto word = tag.find("charset");
    if (word == std::string_view::npos) continue;
    auto rest = trimmed(tag.substr(word + 7), blanks);
    if (!rest.starts_with('=')) continue;
    rest = trimmed(rest.substr(1), " \t\r\n\f\"'");
    auto name = std::string{rest.substr(0, rest.find_first_of("\"' ;/\t\n"))};
    // A page whose `meta` could be read is not of 16-bit units.
    return name.starts_with("utf-16") ? "utf-8" : name;
  }
  return {};
}

bool is_utf8(std::string_view bytes, bool complete) {
  std::string ignored;
  utf8_stream reader;
  reader.feed(bytes, ignored);
  if (complete) reader.finish(ignored);
  return reader.replaced() == 0;
}

std::string from_utf8(std::string_view bytes, bool complete) {
  std::string out;
  utf8_stream reader;
  reader.feed(bytes, out);
  if (complete) reader.finish(out);
  return out;
}

struct converter {
  iconv_t handle;
  explicit converter(const std::string& from)
      : handle{::iconv_open("UTF-8", from.c_str())} {}
  ~converter() {
    if (good()) ::iconv_close(handle);
  }
  converter(const converter&) = delete;
  converter& operator=(const converter&) = delete;
  [[nodiscard]] bool good() const {
    return handle != reinterpret_cast<iconv_t>(-1);
  }
};

std::string convert(std::string_view bytes, const std::string& from,
                    bool complete) {
  const converter x{from};
  if (!x.good()) return from_utf8(bytes, complete);
  std::string out;
  std::array<char, 8192> buffer{};
  auto* in = const_cast<char*>(bytes.data());  // its interface; not written
  auto left = bytes.size();
  while (left > 0) {
    auto* to = buffer.data();
    auto room = buffer.size();
    const auto done = ::iconv(x.handle, &in, &left, &to, &room);
    out.append(buffer.data(), buffer.size() - room);
    if (done != static_cast<std::size_t>(-1) || errno == E2BIG) continue;
    if (errno == EINVAL && !complete) break;  // a character that was cut
    out.append("\xEF\xBF\xBD");
    ++in;
    --left;
  }
  return out;
}

std::string_view mark_of(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) return "utf-8";
  if (bytes.starts_with("\xFF\xFE")) return "utf-16le";
  if (bytes.starts_with("\xFE\xFF")) return "utf-16be";
  return {};
}

}  // namespace

content_type parse_content_type(std::string_view header) {
  const auto end = std::min(header.find(';'), header.size());
  content_type out{lower(trimmed(header.substr(0, end), blanks)), {}};
  header.remove_prefix(end);
  while (!header.empty()) {
    header.remove_prefix(1);  // the semicolon
    const auto next = std::min(header.find(';'), header.size());
    const auto pair = header.substr(0, next);
    const auto equals = pair.find('=');
    if (equals != std::string_view::npos && out.charset.empty() &&
        lower(trimmed(pair.substr(0, equals), blanks)) == "charset")
      out.charset = lower(trimmed(pair.substr(equals + 1), " \t\"'"));
    header.remove_prefix(next);
  }
  return out;
}

bool is_html(std::string_view type) {
  return type == "text/html" || type == "application/xhtml+xml";
}

text_kind kind_of(std::string_view type) {
  static constexpr std::array<std::string_view, 15> texts{
      "application/json",
      "application/xml",
      "application/javascript",
      "application/ecmascript",
      "application/yaml",
      "application/x-yaml",
      "application/toml",
      "application/x-ndjson",
      "application/jsonl",
      "application/sql",
      "application/graphql",
      "application/x-sh",
      "application/rtf",
      "application/x-javascript",
      "application/x-www-form-urlencoded"};
  if (type.starts_with("text/") || type.starts_with("message/") ||
      type.ends_with("+json") || type.ends_with("+xml") ||
      type.ends_with("+yaml") ||
      std::find(texts.begin(), texts.end(), type) != texts.end())
    return text_kind::text;
  if (type.empty() || type.find('/') == std::string_view::npos ||
      type.ends_with("/octet-stream") || type.ends_with("/unknown"))
    return text_kind::unknown;
  return text_kind::binary;
}

bool looks_binary(std::string_view bytes) {
  const auto probe = bytes.substr(0, probe_size);
  if (mark_of(probe).starts_with("utf-16")) return false;
  const auto controls = std::count_if(probe.begin(), probe.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\x1b' &&
           (c < '\t' || c > '\r');
  });
  return probe.find('\0') != std::string_view::npos ||
         static_cast<std::size_t>(controls) * 50 > probe.size();
}

std::string to_utf8(std::string_view bytes, const content_type& type,
                    bool complete) {
  std::string charset{mark_of(bytes)};
  if (!charset.empty())
    bytes.remove_prefix(charset == "utf-8" ? 3 : 2);
  else if (!iconv_name(type.charset).empty() || type.charset == "utf-8")
    charset = type.charset;
  else if (is_html(type.type))
    charset = charset_of_meta(bytes);
  const auto from = iconv_name(charset);
  if (!from.empty()) return convert(bytes, from, complete);
  const bool said = charset == "utf-8" || charset == "utf8";
  if (said || is_utf8(bytes, complete)) return from_utf8(bytes, complete);
  return convert(bytes, "CP1252", complete);
}

}  // namespace riffle::tools
