// SPDX-License-Identifier: MIT
#include "runtime/config/reader.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <tuple>
#include <utility>

#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "runtime/config/assign.hpp"

namespace riffle::config {

namespace {

bool has(const std::vector<std::string>& keys, const std::string& key) {
  return std::ranges::find(keys, key) != keys.end();
}

/// Keys that people look for here, and where they are instead.
std::string_view hint(std::string_view key) {
  if (key == "api_key") {
    return "keys never stand in files: put it into an environment variable "
           "and name that in api_key_env";
  }
  return {};
}

/// Of keys that are written at the top of a file, or behind another table, the
/// table that has them.
std::string_view table_of(std::string_view key) {
  using row = std::pair<std::string_view, std::string_view>;
  constexpr std::array all{
      row{"data_dir", "runtime"},
      row{"threads", "runtime"},
      row{"durability", "runtime"},
      row{"log", "runtime"},
      row{"model", "agents.default"},
      row{"system_prompt", "agents.default"},
      row{"context_files", "agents.default"},
      row{"max_steps", "agents.default"},
      row{"budget", "agents.default"},
      row{"provider", "models.default"},
      row{"base_url", "models.default"},
      row{"api_key_env", "models.default"},
      row{"approval", "tools"},
      row{"workspace", "tools"},
      row{"expire_after", "approvals"},
      row{"listen", "server"},
      row{"token_env", "server"},
  };
  const auto* found = std::ranges::find(all, key, &row::first);
  return found == all.end() ? std::string_view{} : found->second;
}

/// `beside`: the table that it stands in.
std::string unknown_key(const std::string& prefix, const std::string& key,
                        const std::vector<std::string>& known,
                        const value& beside) {
  auto out = prefix + key_text(key) + ": unknown key";
  if (const auto text = hint(key); !text.empty()) {
    return out.append("; ").append(text);
  }
  // Of a provider it is that one's name, else a whole PROVIDER/MODEL.
  const bool named = key == "model" && beside.find("provider") != nullptr;
  if (const std::string place{named ? "models.default" : table_of(key)};
      !place.empty())
    return out + "; did you mean " + place + "." + key + ", in the table [" +
           place + "]?";
  if (const auto near = nearest(key, known); !near.empty()) {
    return out + "; did you mean \"" + near + "\"?";
  }
  return out + "; allowed here: " + join_some(known);
}

}  // namespace

bool is_name(std::string_view x, bool path) noexcept {
  constexpr std::size_t most = 64;
  constexpr std::size_t most_of_path = 200;
  const auto fits = [path](char c) {
    const bool plain = c == '_' || c == '-' || (c >= '0' && c <= '9') ||
                       (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return plain || (path && (c == '/' || c == '.' || c == ':' || c == '@'));
  };
  return !x.empty() && x.size() <= (path ? most_of_path : most) &&
         std::ranges::all_of(x, fits);
}

std::string key_text(std::string_view x) {
  const bool bare = std::ranges::all_of(x, [](char c) {
    return c == '_' || c == '-' || (c >= '0' && c <= '9') ||
           (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  });
  return bare && !x.empty() ? std::string{x} : in_quotes(x);
}

void mistake_list::add(const place& at, std::string message) {
  add({at.set ? "--set" : file_, at.line, at.column, std::move(message)});
}

/// Whoever reads it must not be acted on by what the file holds, nor see what
/// stands before the "@" of a URL.
void mistake_list::add(mistake x) {
  x.message = toml_escaped(redact(std::move(x.message)));
  all_.push_back(std::move(x));
}

std::vector<mistake> mistake_list::take() {
  std::ranges::stable_sort(all_, {}, [](const mistake& x) {
    return std::tuple{x.file == "--set", x.line, x.column};
  });
  return std::move(all_);
}

reader::reader(const value& document, std::filesystem::path folder,
               mistake_list& mistakes)
    : folder_{std::move(folder)}, mistakes_{mistakes} {
  levels_.push_back({&document, "", {}, {}});
}

const value* reader::take(std::string_view key) {
  auto& here = levels_.back();
  here.keys.emplace_back(key);
  return here.table ? here.table->find(key) : nullptr;
}

void reader::field(std::string_view key, slot target, const rule& allowed) {
  const auto* x = take(key);
  if (!x) return;
  std::error_code ignored;
  const auto anchor =
      x->at.set ? std::filesystem::current_path(ignored) : folder_;
  const auto problem = assign(target, *x, allowed, anchor);
  if (!problem.empty()) {
    mistakes_.add(x->at,
                  levels_.back().prefix + std::string{key} + ": " + problem);
  }
}

void reader::unsupported(std::string_view key) {
  auto& here = levels_.back();
  const auto* x = here.table ? here.table->find(key) : nullptr;
  if (!x) return;
  here.keys.emplace_back(key);
  mistakes_.add(x->key_at, here.prefix + std::string{key} +
                               ": not supported by this version");
}

void reader::table(std::string_view key, const std::function<void()>& inside) {
  const auto* x = take(key);
  if (x && x->type != kind::table) {
    mistakes_.add(x->at, levels_.back().prefix + std::string{key} +
                             ": must be a table, not " +
                             std::string{describe(x->type)});
    return;
  }
  enter(x, key, inside);
}

void reader::enter(const value* x, std::string_view key,
                   const std::function<void()>& inside) {
  levels_.push_back(
      {x, levels_.back().prefix + std::string{key} + ".", {}, {}});
  inside();
  report_unknown(levels_.back());
  levels_.pop_back();
}

void reader::rest(const std::vector<std::string>&, bool paths,
                  const std::function<void(const std::string&)>& inside) {
  const auto* table = levels_.back().table;
  if (!table) return;
  for (const auto& x : table->items) {
    auto& here = levels_.back();
    if (has(here.keys, x.key)) continue;
    if (x.type != kind::table) continue;
    here.names.push_back(x.key);
    if (!is_name(x.key, paths)) {
      mistakes_.add(x.key_at,
                    here.prefix + key_text(x.key) +
                        (paths ? ": a name holds letters, digits, '_', '-', "
                                 "'/', '.', ':' and '@', at most 200"
                               : ": a name holds letters, digits, '_' and "
                                 "'-', at most 64"));
      continue;
    }
    enter(&x, x.key, [&] { inside(x.key); });
  }
}

void reader::report_unknown(const level& here) {
  if (!here.table) return;
  for (const auto& x : here.table->items) {
    if (has(here.keys, x.key) || has(here.names, x.key)) continue;
    // Only tables that users name stand here.
    const auto problem =
        here.keys.empty()
            ? here.prefix + key_text(x.key) + ": must be a table, not " +
                  std::string{describe(x.type)}
            : unknown_key(here.prefix, x.key, here.keys, *here.table);
    mistakes_.add(x.key_at, problem);
  }
}

void reader::finish() { report_unknown(levels_.front()); }

}  // namespace riffle::config
