// SPDX-License-Identifier: MIT
#include "runtime/cli/view/config_text.hpp"

#include <map>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/secrets.hpp"
#include "runtime/config/mcp_checks.hpp"

namespace riffle::embedded {
extern const std::string_view default_toml;
}

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;

std::string key_of(const config::setting& x) { return x.section + "." + x.key; }

/// "https://user:secret@host/" -> "https://…@host/".
std::string without_password(std::string value) {
  const auto scheme = value.find("://");
  if (scheme == std::string::npos) return value;
  const auto begin = scheme + 3;
  const auto end = value.find_first_of("/?#\"", begin);
  const auto at = value.rfind('@', end);
  if (at == std::string::npos || at < begin) return value;
  return value.replace(begin, at - begin, "…");
}

/// [tools.NAME] has what stands in [tools] unless it says otherwise.
std::string inherited_key(const config::setting& x) {
  return x.section.starts_with("tools.") ? "tools." + x.key : std::string{};
}

}  // namespace

std::vector<sourced_setting> sourced_settings(const config::config& x) {
  const auto all = config::settings(x);
  std::map<std::string, std::string> values;
  for (const auto& s : all) values[key_of(s)] = s.value;
  const auto origin = [&](const config::setting& s) -> std::string {
    auto found = x.origins.find(key_of(s));
    if (found == x.origins.end()) {  // of a table that is one value
      const auto inside = x.origins.lower_bound(key_of(s) + ".");
      if (inside != x.origins.end() &&
          inside->first.starts_with(key_of(s) + "."))
        found = inside;
    }
    const auto parent = inherited_key(s);
    if (found == x.origins.end() && !parent.empty() &&
        values[parent] == s.value) {
      found = x.origins.find(parent);
    }
    if (found == x.origins.end()) return "default";
    constexpr std::string_view line = "line ";
    if (!found->second.starts_with(line)) return found->second;
    return x.file.string() + ":" + found->second.substr(line.size());
  };
  config::keep_secrets_of_mcp(x);
  std::vector<sourced_setting> out;
  for (const auto& s : all) {
    auto source = origin(s);
    auto value = without_password(s.value);
    if (s.key == "variables" && s.section.starts_with("mcp."))
      value = redact(std::move(value));
    out.push_back({{s.section, s.key, std::move(value)}, std::move(source)});
  }
  return out;
}

std::string to_toml(const std::vector<sourced_setting>& all) {
  std::string out;
  std::string section;
  for (const auto& [s, source] : all) {
    if (s.section != section) {
      if (!out.empty()) out += '\n';
      out.append("[").append(s.section).append("]\n");
      section = s.section;
    }
    out.append(s.key).append(" = ").append(s.value);
    if (source != "default") out.append("  # ").append(source);
    out += '\n';
  }
  return out;
}

std::string to_json(const std::vector<sourced_setting>& all) {
  auto out = json::object();
  for (const auto& [s, source] : all) {
    out[key_of(s)] = {{"value", s.value}, {"source", source}};
  }
  return out.dump();
}

std::string to_json_lines(const std::vector<sourced_setting>& all) {
  std::string out;
  for (const auto& [s, source] : all) {
    const json line = {
        {"key", key_of(s)}, {"value", s.value}, {"source", source}};
    out += line.dump() + "\n";
  }
  return out;
}

std::string commented_defaults() {
  std::string out;
  std::string_view rest = embedded::default_toml;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const auto line = rest.substr(0, end);
    const bool is_key = line[0] >= 'a' && line[0] <= 'z';
    out.append(is_key ? "# " : "").append(line);
    rest.remove_prefix(end);
  }
  return out;
}

}  // namespace riffle::cli
