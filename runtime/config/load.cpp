// SPDX-License-Identifier: MIT
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "runtime/config/checks.hpp"
#include "runtime/config/document.hpp"
#include "runtime/config/reader.hpp"

namespace riffle::config {

namespace {

constexpr std::uintmax_t largest_file = 4u << 20;

tl::expected<std::string, std::string> read_text(
    const std::filesystem::path& file) {
  std::error_code error;
  const auto type = std::filesystem::status(file, error).type();
  if (type == std::filesystem::file_type::directory) {
    return tl::unexpected{std::string{"is a folder, not a file"}};
  }
  errno = 0;
  std::ifstream in{file, std::ios::binary};
  if (!in) {
    const int why = errno != 0 ? errno : EIO;
    return tl::unexpected{std::string{"cannot be read: "} +
                          std::generic_category().message(why)};
  }
  std::string text;
  std::string piece(64u << 10, '\0');
  while (in && text.size() <= largest_file) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece, 0, static_cast<std::size_t>(in.gcount()));
  }
  if (text.size() > largest_file) {
    return tl::unexpected{std::string{"is larger than 4 MiB"}};
  }
  return text;
}

value parse(const std::string& text, const std::string& name,
            mistake_list& mistakes) {
  auto document = parse_toml(text, name);
  if (document) return std::move(*document);
  mistakes.add(std::move(document.error()));
  return {};
}

/// The file's tables; an empty document after a mistake.
value read_file(const std::filesystem::path& file, mistake_list& mistakes) {
  const auto text = read_text(file);
  if (!text) {
    mistakes.add(mistake{file.string(), 0, 0, text.error()});
    return {};
  }
  return parse(*text, file.string(), mistakes);
}

void apply_sets(const std::vector<std::string>& sets, value& document,
                mistake_list& mistakes) {
  for (const auto& x : sets) {
    auto tree = parse_set(x);
    if (tree) {
      overlay(document, std::move(*tree));
    } else {
      mistakes.add(std::move(tree.error()));
    }
  }
}

void add_origins(const value& x, const std::string& path,
                 std::map<std::string, std::string>& out) {
  for (const auto& item : x.items) {
    const auto key = path.empty() ? item.key : path + "." + item.key;
    if (item.type == kind::table) {
      add_origins(item, key, out);
    } else {
      out[key] = item.at.set ? "--set" : "line " + std::to_string(item.at.line);
    }
  }
}

}  // namespace

tl::expected<config, std::vector<mistake>> load(const load_request& request) {
  std::error_code ignored;
  config out;
  const auto file = request.text ? std::nullopt : find_file(request);
  if (file) out.file = std::filesystem::absolute(*file, ignored);
  out.base_dir =
      file ? out.file.parent_path() : std::filesystem::current_path(ignored);

  mistake_list mistakes{file ? file->string() : "built-in defaults"};
  value document;
  if (file) document = read_file(*file, mistakes);
  if (request.text) document = parse(*request.text, "text", mistakes);
  apply_sets(request.sets, document, mistakes);

  reader r{document, out.base_dir, mistakes};
  out.tools.by_name.clear();  // comes back below, over the file's [tools]
  visit(r, out);
  r.finish();
  for (const auto& [name, unused] : tools_config{}.by_name) {
    out.tools.by_name.try_emplace(name,
                                  with_tool_defaults(name, out.tools.defaults));
  }
  check(out, document, request, mistakes);
  add_origins(document, {}, out.origins);
  if (!mistakes.empty()) return tl::unexpected{mistakes.take()};
  return out;
}

}  // namespace riffle::config
