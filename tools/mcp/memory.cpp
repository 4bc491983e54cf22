// SPDX-License-Identifier: MIT
#include "tools/mcp/memory.hpp"

#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>

#include "messages/json_strict.hpp"
#include "runtime/base/file_lock.hpp"
#include "runtime/base/read_within.hpp"
#include "tools/mcp/private_file.hpp"

namespace riffle::mcp {

namespace {

std::string text_at(const json& x, const char* key) {
  const auto found = x.find(key);
  if (found == x.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

std::map<std::string, approved_tool> tools_in(const json& x, const char* key) {
  std::map<std::string, approved_tool> out;
  const auto tools = x.value(key, json::object());
  if (!tools.is_object()) return out;
  for (const auto& [name, tool] : tools.items())
    if (tool.is_object())
      out[name] = {text_at(tool, "digest"), text_at(tool, "shown"),
                   tool.value("late", json()) == true};
  return out;
}

json json_of(const std::map<std::string, approved_tool>& tools) {
  auto out = json::object();
  for (const auto& [name, tool] : tools) {
    out[name] = {{"digest", tool.digest}, {"shown", tool.shown}};
    if (tool.late) out[name]["late"] = true;
  }
  return out;
}

}  // namespace

remembered recall(const std::filesystem::path& folder,
                  const std::string& server) {
  remembered out;
  const auto text = read_within(folder / (server + ".json"),
                                {.bytes = std::size_t{64} << 20});
  if (!text) return out;
  const auto x = parse_strict(*text);
  if (!x || !x->is_object()) return out;
  out.speaks = parse_era(text_at(*x, "era"));
  out.identity = text_at(*x, "identity");
  out.approved = x->value("approved", json()) == true;
  out.instructions = text_at(*x, "instructions");
  out.tools = tools_in(*x, "tools");
  out.pending = tools_in(*x, "pending");
  return out;
}

expected<void> remember(const std::filesystem::path& folder,
                        const std::string& server, const remembered& x) {
  make_private_folder(folder);
  json out = {{"identity", x.identity}, {"approved", x.approved}};
  if (x.speaks) out["era"] = to_string(*x.speaks);
  if (!x.instructions.empty()) out["instructions"] = x.instructions;
  out["tools"] = json_of(x.tools);
  if (!x.pending.empty()) out["pending"] = json_of(x.pending);
  return write_private_file(
      folder / (server + ".json"),
      out.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

std::string memory_stamp(const std::filesystem::path& folder,
                         const std::string& server) {
  struct stat x{};
  if (::stat((folder / (server + ".json")).c_str(), &x) != 0) return {};
  return std::to_string(x.st_ino) + " " + std::to_string(x.st_size) + " " +
         std::to_string(x.st_mtim.tv_sec) + " " +
         std::to_string(x.st_mtim.tv_nsec);
}

expected<void> change_memory(const std::filesystem::path& folder,
                             const std::string& server,
                             const std::string& identity,
                             const std::function<void(remembered&)>& change) {
  constexpr auto timeout = std::chrono::seconds{5};
  make_private_folder(folder);
  const auto name = folder / (server + ".lock");
  const unique_fd fd{::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  if (!fd || !lock_until(fd, lock_kind::exclusive,
                         std::chrono::steady_clock::now() + timeout))
    return unexpected{error{.code = errc::storage_unavailable,
                            .op = "mcp",
                            .message = name.string() + " cannot be locked"}};
  auto known = recall(folder, server);
  if (known.identity != identity) known = {.identity = identity};
  change(known);
  return remember(folder, server, known);
}

approved_tool approval_of(const tool_def& x) {
  return {digest_of(x), shown_text(x)};
}

std::string shown_text(const tool_def& x) {
  std::string out = x.description;
  if (!out.empty()) out += '\n';
  if (!x.title.empty()) out += "title: " + x.title + '\n';
  std::string hints;
  const auto hint = [&](const char* name, const std::optional<bool>& says) {
    if (says)
      hints += std::string{hints.empty() ? "" : ", "} + name + " " +
               (*says ? "yes" : "no");
  };
  hint("reads only", x.read_only);
  hint("destructive", x.destructive);
  hint("idempotent", x.idempotent);
  hint("reaches the outside", x.open_world);
  if (!hints.empty()) out += "says of itself: " + hints + '\n';
  const auto schema = [&](const char* what, const std::string& text) {
    const auto value = json::parse(text, nullptr, false);
    if (!text.empty())
      out += std::string{what} + ": " +
             value.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
  };
  schema("arguments", x.input_schema);
  schema("result", x.output_schema);
  return out;
}

std::vector<change> changes(const remembered& before,
                            const std::vector<tool_def>& now) {
  std::vector<change> out;
  auto gone = before.tools;
  for (const auto& x : now) {
    const auto known = before.tools.find(x.name);
    gone.erase(x.name);
    if (known == before.tools.end())
      out.push_back({change::what::added, x.name, x, {}});
    else if (known->second.digest != digest_of(x))
      out.push_back({change::what::changed, x.name, x, known->second});
  }
  for (const auto& [name, tool] : gone)
    if (!tool.late) out.push_back({change::what::removed, name, {}, tool});
  return out;
}

}  // namespace riffle::mcp
