// SPDX-License-Identifier: MIT
#include "runtime/config/source.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "runtime/base/digest.hpp"
#include "runtime/base/read_within.hpp"
#include "runtime/config/document.hpp"
#include "runtime/config/home.hpp"
#include "runtime/config/trust_store.hpp"

namespace riffle::config {

namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& x) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(x, ignored));
}

/// The person's own file, or nothing. A folder that cannot be known has none.
fs::path own_file() {
  const auto base = user_folder("XDG_CONFIG_HOME", "~/.config");
  if (!base) return {};
  auto file = *base / "riffle" / "riffle.toml";
  return is_there(file) ? file : fs::path{};
}

/// No value, in no table.
bool sets_nothing(const value& x) {
  return std::ranges::all_of(x.items, [](const value& item) {
    return item.type == kind::table && sets_nothing(item);
  });
}

bool is_trusted(const fs::path& file, const std::string& text) {
  const auto store = trust_store::of_user();
  if (!store) return false;
  const auto kept = store->find(trust_name(file));
  return kept && *kept && (*kept)->digest == sha256(text);
}

/// Comments and empty tables alone, and nobody has asked that it counts. What
/// cannot be read may be more.
bool gives_way(const fs::path& file) {
  const auto text = read_within(file);
  if (!text) return false;
  const auto document = parse_toml(*text, {});
  return document && sets_nothing(*document) && !is_trusted(file, *text);
}

}  // namespace

tl::expected<source, mistake> find_own_source(const load_request& request) {
  source out;
  if (request.text) {
    out.text = *request.text;
  } else if (request.file) {
    if (request.file->empty())
      return tl::unexpected{mistake{"--config", 0, 0, "names no file"}};
    out.file = *request.file;
  } else if (const char* named = std::getenv("RIFFLE_CONFIG");
             named != nullptr && *named != '\0') {
    auto file = resolve_home(named);
    if (!file)
      return tl::unexpected{
          mistake{"$RIFFLE_CONFIG", 0, 0, file.error().message}};
    out.file = std::move(*file);
  } else {
    out.file = own_file();
  }
  return out;
}

tl::expected<source, mistake> find_source(const load_request& request) {
  const char* named = std::getenv("RIFFLE_CONFIG");
  const bool asked =
      request.text || request.file || (named != nullptr && *named != '\0');
  const fs::path here{"riffle.toml"};
  if (asked || !is_there(here)) return find_own_source(request);
  source out;
  out.file = here;
  std::error_code different;
  const auto own = own_file();
  out.found_in_folder = !fs::equivalent(here, own, different);
  // A link to it leads to what it says, but not to what lies beside the link.
  if (!out.found_in_folder) out.file = own;
  if (own.empty() || !out.found_in_folder || !gives_way(here)) return out;
  return find_own_source(request);
}

std::optional<std::filesystem::path> find_file(const load_request& request) {
  const auto found = find_source(request);
  if (!found || found->file.empty()) return std::nullopt;
  return found->file;
}

tl::expected<source, mistake> read_source(source from) {
  if (from.file.empty()) return from;
  auto text = read_within(from.file);
  if (!text)
    return tl::unexpected{
        mistake{from.file.string(), 0, 0, std::move(text.error())}};
  from.text = std::move(*text);
  return from;
}

}  // namespace riffle::config
