// SPDX-License-Identifier: MIT
#include <system_error>
#include <utility>

#include "runtime/base/digest.hpp"
#include "runtime/config/checks.hpp"
#include "runtime/config/document.hpp"
#include "runtime/config/providers.hpp"
#include "runtime/config/reader.hpp"
#include "runtime/config/source.hpp"
#include "runtime/config/trust.hpp"

namespace riffle::config {

namespace {

value parse(const std::string& text, const std::string& name,
            mistake_list& mistakes) {
  auto document = parse_toml(text, name);
  if (document) return std::move(*document);
  mistakes.add(std::move(document.error()));
  return {};
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
    const auto key =
        path.empty() ? key_text(item.key) : path + "." + key_text(item.key);
    if (item.type == kind::table) {
      add_origins(item, key, out);
    } else {
      out[key] = item.at.set ? "--set" : "line " + std::to_string(item.at.line);
    }
  }
}

std::string name_of(const load_request& request, const source& from) {
  if (!from.file.empty()) return from.file.string();
  return request.text ? "text" : "built-in defaults";
}

/// The text, and `--set`, into the structs.
value bind(const load_request& request, const source& from, config& out,
           mistake_list& mistakes) {
  auto document = parse(from.text, name_of(request, from), mistakes);
  apply_sets(request.sets, document, mistakes);
  reader r{document, out.base_dir, mistakes};
  out.tools.by_name.clear();  // comes back, over the file's [tools]
  visit(r, out);
  r.finish();
  return document;
}

}  // namespace

std::vector<mistake> mistakes_in_text(const load_request& request,
                                      const source& from) {
  config out;
  mistake_list mistakes{name_of(request, from)};
  bind(request, from, out, mistakes);
  return mistakes.take();
}

tl::expected<config, std::vector<mistake>> load(const load_request& request,
                                                const source& from) {
  std::error_code ignored;
  config out;
  const bool is_file = !from.file.empty();
  if (is_file) {
    out.file = std::filesystem::absolute(from.file, ignored);
    out.digest = sha256(from.text);
  }
  out.base_dir =
      is_file ? out.file.parent_path() : std::filesystem::current_path(ignored);

  mistake_list mistakes{name_of(request, from)};
  const auto document = bind(request, from, out, mistakes);
  for (const auto& [tool, unused] : tools_config{}.by_name) {
    out.tools.by_name.try_emplace(tool,
                                  with_tool_defaults(tool, out.tools.defaults));
  }
  add_provided_models(out);
  check(out, document, request, mistakes);
  add_origins(document, {}, out.origins);
  if (!mistakes.empty()) return tl::unexpected{mistakes.take()};
  return out;
}

tl::expected<config, std::vector<mistake>> load(const load_request& request) {
  const auto from = find_source(request).and_then(read_source);
  if (!from) return tl::unexpected{std::vector{from.error()}};
  auto out = load(request, *from);
  if (!out) return out;
  const auto judged = judge_trust(*from);
  if (judged && judged->trusted) return out;
  return tl::unexpected{std::vector{
      mistake{from->file.string(), 0, 0,
              judged ? trust_problem(*judged) : judged.error().message}}};
}

}  // namespace riffle::config
