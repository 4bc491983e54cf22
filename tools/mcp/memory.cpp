// SPDX-License-Identifier: MIT
#include "tools/mcp/memory.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messages/json_strict.hpp"
#include "runtime/base/read_within.hpp"
#include "runtime/base/unique_fd.hpp"

namespace riffle::mcp {

namespace {

std::string text_at(const json& x, const char* key) {
  const auto found = x.find(key);
  if (found == x.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

unexpected failure(const std::filesystem::path& file) {
  return unexpected{error{.code = errc::storage_unavailable,
                          .op = "mcp",
                          .message = "cannot write " + file.string(),
                          .cause = std::strerror(errno)}};
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
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
  const auto tools = x->value("tools", json::object());
  if (!tools.is_object()) return out;
  for (const auto& [name, tool] : tools.items())
    if (tool.is_object())
      out.tools[name] = {text_at(tool, "digest"), text_at(tool, "description"),
                         text_at(tool, "input_schema")};
  return out;
}

expected<void> remember(const std::filesystem::path& folder,
                        const std::string& server, const remembered& x) {
  std::error_code ignored;
  // The folder of all data, if it is the first in it, is nobody else's either.
  std::filesystem::create_directories(folder.parent_path().parent_path(),
                                      ignored);
  ::mkdir(folder.parent_path().c_str(), S_IRWXU);
  ::mkdir(folder.c_str(), S_IRWXU);
  ::chmod(folder.c_str(), S_IRWXU);
  json out = {{"identity", x.identity}, {"approved", x.approved}};
  if (x.speaks) out["era"] = to_string(*x.speaks);
  out["tools"] = json::object();
  for (const auto& [name, tool] : x.tools)
    out["tools"][name] = {{"digest", tool.digest},
                          {"description", tool.description},
                          {"input_schema", tool.input_schema}};
  const auto file = folder / (server + ".json");
  const auto fresh = folder / (server + "." + std::to_string(::getpid()));
  {
    const unique_fd fd{::open(fresh.c_str(),
                              O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                              S_IRUSR | S_IWUSR)};
    if (!fd || !write_all(fd.get(), out.dump(1) + "\n")) return failure(fresh);
  }
  if (::rename(fresh.c_str(), file.c_str()) != 0) return failure(file);
  return {};
}

approved_tool approval_of(const tool_def& x) {
  return {digest_of(x), x.description, x.input_schema};
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
    out.push_back({change::what::removed, name, {}, tool});
  return out;
}

}  // namespace riffle::mcp
